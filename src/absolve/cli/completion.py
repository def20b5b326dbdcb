"""`absolve completion`: what a shell needs to complete our command line, made by shtab from the parser itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

import shtab

from absolve.cli.running import parser as whole_parser

if TYPE_CHECKING:
    import argparse

    from absolve.cli.reporting import Report

EPILOG = """\
examples:
  absolve completion bash > ~/.local/share/bash-completion/completions/absolve
  absolve completion zsh > ~/.zfunc/_absolve        (a folder on $fpath)
  absolve completion tcsh > ~/.absolve.csh          (to be sourced by ~/.tcshrc)"""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", choices=("bash", "zsh", "tcsh"), help="the shell to write for")


def run(options: argparse.Namespace, report: Report) -> None:
    del report  # nothing can fail
    print(shtab.complete(whole_parser(), options.shell))
