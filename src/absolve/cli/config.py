"""`absolve config`: print the options in effect as TOML, each with the file that sets it, and the ignored ones."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from absolve.cli import COMMANDS
from absolve.cli.configuration import configure, found_for
from absolve.cli.parsing import parser
from absolve.core import printable
from absolve.core.errors import UsageError

if TYPE_CHECKING:
    import argparse

    from absolve.cli.reporting import Report

EPILOG = """\
examples:
  absolve config                   all commands
  absolve config rewrite links
  absolve config --config mine.toml rewrite

A configuration file sets options by their long names. The command line
overrides it:

  profile = "whatwg"               for all commands that have it
  [rewrite]
  kind = ["image", "stylesheet"]
  verify = true

--config or $ABSOLVE_CONFIG names the file (an empty name: no file). It may set
every option; paths in it are relative to its folder. If neither is given,
absolve looks for absolve.toml, or [tool.absolve] in pyproject.toml, in this
folder and those above it, up to the root of a repository or your home folder.
Since such a file may come with a download, you or root must own it, and it sets
only options that cannot write files, run programs or use the network. Ignored
files and options are marked."""


def run(options: argparse.Namespace, report: Report) -> None:
    found = found_for(["--config", options.config] if options.config is not None else [])
    names = options.commands or list(COMMANDS)
    for name in names:
        if name not in COMMANDS:
            raise UsageError(f"unknown command {name!r}: choose from {', '.join(COMMANDS)}")
    whole = parser(names)
    blocks = ["".join(f"# {path} is ignored: {reason}\n" for path, reason in found.ignored)] if found.ignored else []
    for name in names:
        command = whole.commands[name]
        configure(command, name, (), found)
        lines = [f"[{name}]"]
        for option, (_, action) in sorted(command.options().items()):
            value = command.get_default(action.dest)
            if value is None or value == []:
                continue
            line = f"{f'{option} = {json.dumps(value)}':40}  # {command.set_by.get(action.dest, 'default')}"
            lines.append(printable.message(line, credentials=report.credentials))
        for option, value in sorted({**command.ignored, **command.raised}.items()):
            setting = f"# {option} = {json.dumps(value, default=str)}"
            line = f"{setting:40}  # ignored: {found.path} was found, not named by --config"
            lines.append(printable.message(line, credentials=report.credentials))
        if len(lines) > 1:
            blocks.append("".join(f"{line}\n" for line in lines))
    print("\n".join(blocks), end="")
