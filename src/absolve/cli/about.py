"""`absolve help`, `absolve config` and `absolve completion`: texts about the parser and the configuration.

Input: the parser of the whole command line. Output: help, the options in effect (TOML), a
script of shtab for a shell.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from absolve.cli import json_array
from absolve.cli.commands import COMMANDS
from absolve.cli.configuration import configure, found_for
from absolve.cli.option import called
from absolve.cli.parsing import parser
from absolve.core import printable
from absolve.core.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from absolve.cli.configuration import Configuration
    from absolve.cli.option_table import Options
    from absolve.cli.parsing import Whole
    from absolve.cli.reporting import Report


def help_(options: Options, report: Report) -> None:
    del report  # no input, so no diagnostics
    if options.about is None:
        print(parser(()).format_help(), end="")
    else:
        print(parser((options.about,)).commands[options.about].format_help(), end="")


def completion(options: Options, report: Report) -> None:
    import shtab

    del report  # no input, so no diagnostics
    whole = parser()
    for command in whole.commands.values():
        for action, row in command.rows.items():
            if row.completes_files:
                action.complete = shtab.FILE  # type: ignore[attr-defined]
            action.choices = action.choices or called(row.words) or None
    print(shtab.complete(whole, options.shell))


def config(options: Options, report: Report) -> None:
    del report  # no input, so no diagnostics
    found = found_for(["--config", options.config] if options.config is not None else [])
    names = options.commands or list(COMMANDS)
    for name in names:
        if name not in COMMANDS:
            raise UsageError(f"unknown command {name!r}: choose from {', '.join(COMMANDS)}")
    whole = parser(names)
    if options.format == "json":
        print(json_array.text_of(_settings(whole, names, found)))
        return
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
            lines.append(printable.message(line))
        for option, value in sorted({**command.ignored, **command.raised}.items()):
            setting = f"# {option} = {json.dumps(value, default=str)}"
            line = f"{setting:40}  # ignored: {found.path} was found, not named by --config"
            lines.append(printable.message(line))
        if len(lines) > 1:
            blocks.append("".join(f"{line}\n" for line in lines))
    print("\n".join(blocks), end="")


def _settings(whole: Whole, names: Iterable[str], found: Configuration) -> dict[str, dict[str, Any]]:
    """Return the options in effect by command and name, each with its value and the file that set it, or default."""
    settings: dict[str, dict[str, Any]] = {}
    for name in names:
        command = whole.commands[name]
        configure(command, name, (), found)
        settings[name] = {
            option: {"value": value, "set_by": str(command.set_by.get(action.dest, "default"))}
            for option, (_, action) in sorted(command.options().items())
            if (value := command.get_default(action.dest)) not in (None, [])
        }
    return settings
