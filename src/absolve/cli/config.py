"""`absolve config`: which options hold here, and what says so."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from absolve import shown
from absolve.cli import COMMANDS
from absolve.errors import UsageError

if TYPE_CHECKING:
    import argparse

    from absolve.cli.reporting import Report

EPILOG = """\
examples:
  absolve config                   of all commands
  absolve config rewrite links

Options stand in absolve.toml, or in [tool.absolve] of pyproject.toml, in this folder or the next
one above that has them, under their names on the command line, which wins:

  profile = "whatwg"               for all commands that have it
  [rewrite]
  remap = ["//old.example=https://new.example"]
  verify = true

Paths are relative to that file. ABSOLVE_CONFIG names another one; empty, it means none."""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("commands", nargs="*", metavar="COMMAND", help="only of these")


def run(options: argparse.Namespace, report: Report) -> None:
    from absolve.cli.running import configured, parser

    names = options.commands or list(COMMANDS)
    for name in names:
        if name not in COMMANDS:
            raise UsageError(f"there is no command {name!r}: choose from {', '.join(COMMANDS)}")
    whole = parser(names)
    blocks = []
    for name in names:
        command = whole.commands[name]
        configured(command, name, ())
        lines = [f"[{name}]"]
        for option, action in sorted(command.options()):
            value = command.get_default(action.dest)
            if value is None or value == []:
                continue
            line = f"{f'{option} = {json.dumps(value)}':40}  # {command.whence.get(action.dest, 'default')}"
            lines.append(shown.message(line, credentials=report.credentials))
        if len(lines) > 1:
            blocks.append("".join(f"{line}\n" for line in lines))
    print("\n".join(blocks), end="")
