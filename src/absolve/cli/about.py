"""`absolve help`, `absolve config` and `absolve completion`: what the parser and the configuration file say.

Input: the parser of the whole command line. Output: help, the manual page (roff), the options in effect (TOML), a
script of shtab for a shell.
"""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING

from absolve import __version__
from absolve.cli.commands import COMMANDS
from absolve.cli.configuration import NAME, PYPROJECT, VARIABLE, configure, found_for
from absolve.cli.option import called
from absolve.cli.parsing import parser
from absolve.core import printable
from absolve.core.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from absolve.cli.parsing import Parser, Whole
    from absolve.cli.reporting import Report


def help_(options: argparse.Namespace, report: Report) -> None:
    del report  # no input, so no diagnostics
    if options.man:
        print("".join(f"{line}\n" for line in _manual(parser())), end="")
    elif options.about is None:
        print(parser(()).format_help(), end="")
    else:
        print(parser((options.about,)).commands[options.about].format_help(), end="")


def completion(options: argparse.Namespace, report: Report) -> None:
    import shtab

    del report  # no input, so no diagnostics
    whole = parser()
    for command in whole.commands.values():
        for action, row in command.rows.items():
            if row.completes_files:
                action.complete = shtab.FILE  # type: ignore[attr-defined]
            action.choices = action.choices or called(row.words) or None
    print(shtab.complete(whole, options.shell))


def config(options: argparse.Namespace, report: Report) -> None:
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


# --- the manual page --------------------------------------------------------------------------------------------------

_ESCAPES = str.maketrans({"\\": r"\e", "-": r"\-", "'": r"\(aq", "`": r"\(ga", "^": r"\(ha", "~": r"\(ti"})
_STATUSES = (
    ("0", "Success."),
    ("1", "Completed, but an input failed or a check found a difference."),
    ("2", "Usage error."),
    ("130, 143, 129", "Ended by SIGINT, SIGTERM or SIGHUP."),
    ("141", "The reader closed the output pipe."),
)
_ENVIRONMENT = (
    (VARIABLE, "The configuration file; empty for none."),
    ("ABSOLVE_BROWSER", "The browser of absolve browser."),
    ("NO_COLOR, TERM=dumb", "No colours."),
    ("XDG_STATE_HOME", "The folder of the journals of absolve rewrite --resume."),
)
_FILES = ((NAME, f"Options, also in [tool.absolve] of {PYPROJECT}: see absolve config --help."),)


def _manual(whole: Whole) -> Iterator[str]:
    yield '.\\" made by absolve help --man'
    yield f'.TH ABSOLVE 1 "" "absolve {__version__}" "User Commands"'
    yield from (".SH NAME", rf"absolve \- {_text(_short(whole.description or ''))}")
    yield from (".SH SYNOPSIS", r".B absolve", r".I COMMAND", r"[\fIOPTION\fR ...] [\fIINPUT\fR ...]")
    yield ".SH DESCRIPTION"
    yield from _paragraph(whole.description or "")
    yield ".SH COMMANDS"
    for name, command in whole.commands.items():
        yield from (".TP", rf"\fB{_text(name)}\fR", _text(command.description or ""))
    yield ".SH OPTIONS"
    yield from _options(whole.all_options())
    for name, command in whole.commands.items():
        yield from _command(name, command)
    for title, rows in (("EXIT STATUS", _STATUSES), ("ENVIRONMENT", _ENVIRONMENT), ("FILES", _FILES)):
        yield f".SH {title}"
        for term, text in rows:
            yield from (".TP", rf"\fB{_text(term)}\fR", _text(text))


def _command(name: str, command: Parser) -> Iterator[str]:
    yield f'.SH "ABSOLVE {_text(name.upper())}"'
    yield _text(command.description or "")
    yield ".PP"
    yield _text(command.format_usage().removeprefix("usage: ").strip())
    for group in command.groups():
        actions = [action for action in group._group_actions if action.help != argparse.SUPPRESS]  # noqa: SLF001
        if actions and group.title:
            yield f'.SS "{_text(group.title)}"'
            yield from _options(actions)
    if command.epilog:
        yield from (".PP", ".nf", *map(_line, command.epilog.splitlines()), ".fi")


def _options(actions: list[argparse.Action]) -> Iterator[str]:
    formatter = argparse.HelpFormatter("absolve")
    for action in actions:
        value = "" if action.nargs == 0 else formatter._format_args(action, _metavar(action))  # noqa: SLF001
        names = [rf"\fB{_text(name)}\fR" for name in action.option_strings] or [rf"\fI{_text(value)}\fR"]
        yield ".TP"
        yield ", ".join(names) + (rf" \fI{_text(value)}\fR" if value and action.option_strings else "")
        yield _text(formatter._expand_help(action) if action.help else "")  # noqa: SLF001


def _metavar(action: argparse.Action) -> str:
    if action.choices is not None and action.metavar is None:
        return "{" + ",".join(map(str, action.choices)) + "}"
    return action.metavar if isinstance(action.metavar, str) else action.dest


def _paragraph(text: str) -> Iterator[str]:
    yield from map(_line, text.splitlines())


def _short(text: str) -> str:
    """Return a description on one line, without its full stop, as whatis(1) shows it."""
    return " ".join(text.split()).partition(". ")[0].rstrip(".")


def _line(text: str) -> str:
    return _text(text) or ".sp"


def _text(text: str) -> str:
    """Return text with escapes; a line that begins with a control character is none of roff's requests."""
    escaped = text.translate(_ESCAPES)
    return rf"\&{escaped}" if escaped.startswith(".") else escaped
