"""`absolve config`: which options hold here, and what says so."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from absolve.cli import COMMANDS
from absolve.core import printable
from absolve.core.errors import UsageError

if TYPE_CHECKING:
    import argparse

    from absolve.cli.reporting import Report

EPILOG = """\
examples:
  absolve config                   of all commands
  absolve config rewrite links
  absolve config --config mine.toml rewrite

A file has options under their names on the command line, which wins:

  profile = "whatwg"               for all commands that have it
  [rewrite]
  kind = ["image", "stylesheet"]
  verify = true

The file that --config or $ABSOLVE_CONFIG names (an empty name: no file) may set every option;
paths in it are relative to it. Where neither names one, absolve.toml or [tool.absolve] of
pyproject.toml counts, in this folder or the next one above that has them, up to the root of a
repository or your home. Such a file may come with a download: it sets only options that can
neither write, run nor connect, and it must be yours or root's. What is ignored is marked."""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("commands", nargs="*", metavar="COMMAND", help="only of these")


def run(options: argparse.Namespace, report: Report) -> None:
    from absolve.cli.running import configured, found_for, parser

    found = found_for(["--config", options.config] if options.config is not None else [])
    names = options.commands or list(COMMANDS)
    for name in names:
        if name not in COMMANDS:
            raise UsageError(f"there is no command {name!r}: choose from {', '.join(COMMANDS)}")
    whole = parser(names)
    blocks = ["".join(f"# {path} is ignored: {reason}\n" for path, reason in found.ignored)] if found.ignored else []
    for name in names:
        command = whole.commands[name]
        configured(command, name, (), found)
        lines = [f"[{name}]"]
        for option, action in sorted(command.options()):
            value = command.get_default(action.dest)
            if value is None or value == []:
                continue
            line = f"{f'{option} = {json.dumps(value)}':40}  # {command.whence.get(action.dest, 'default')}"
            lines.append(printable.message(line, credentials=report.credentials))
        for option, value in sorted(command.ignored.items()):
            setting = f"# {option} = {json.dumps(value, default=str)}"
            line = f"{setting:40}  # ignored: {found.path} was not named by --config"
            lines.append(printable.message(line, credentials=report.credentials))
        if len(lines) > 1:
            blocks.append("".join(f"{line}\n" for line in lines))
    print("\n".join(blocks), end="")
