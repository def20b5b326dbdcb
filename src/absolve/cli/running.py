"""Run the command line: build the parser, apply the configuration file, run the command, report errors.

Input: arguments. Output: an exit status (`cli.main` lists them).
"""

from __future__ import annotations

import atexit
import gc
import os
import sys
from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING

from absolve.cli import COMMANDS, configuration, terminal, version
from absolve.cli import options as shared
from absolve.cli.options import CREDENTIALS, add_credentials
from absolve.cli.parsing import Parser
from absolve.cli.reporting import ERROR, Report, painted
from absolve.core import printable
from absolve.core.errors import Diagnostic, UsageError, similar
from absolve.run import interrupts, outputs

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from absolve.cli.configuration import Configuration

_DESCRIPTION = """\
Find the base URL of each document by RFC 1808 section 3, resolve every link,
and rewrite the links in place or list them. Only link bytes change."""

_EPILOG = """\
examples:
  absolve rewrite page.html --url http://example.com/page.html > absolute.html
  absolve rewrite --in-place --backup .orig saved/*.html
  absolve links page.html -o links.csv
  absolve base page.html

absolve COMMAND -h lists the options of a command that are used most, --help all.
exit status: 0 success; 1 completed, but some inputs failed; 2 usage error"""


class Whole(Parser):
    """The parser of the whole command line; `commands` has the parser of each command."""

    commands: dict[str, Parser]


def parser(wanted: Collection[str] = tuple(COMMANDS)) -> Whole:
    """Return the parser of the whole command line; only `wanted` commands are imported and have their options.

    If a command is wanted there is no parser of the others: each takes as long as 1 KB of a page takes to rewrite.
    """
    alone = {*wanted} & {*COMMANDS}
    whole = Whole(prog="absolve", description=_DESCRIPTION, epilog=_EPILOG)
    whole.add_argument("-V", "--version", action="version", version=version(), help="print the version, and exit")
    commands = whole.add_subparsers(
        title="commands", dest="command", metavar="COMMAND", required=True, parser_class=Parser
    )
    whole.commands = commands.choices
    for name, summary in COMMANDS.items():
        if alone and name not in alone:
            continue
        module = import_module(f"absolve.cli.{name}") if name in wanted else None
        described = f"{summary[0].upper()}{summary[1:]}."
        epilog = getattr(module, "EPILOG", "")
        command = commands.add_parser(
            name, help=summary, description=described, epilog=epilog, has_help=module is not None
        )
        if module is not None:
            module.configure(command)
            shared.add_configuration(command)
            if name not in {"completion", "help"}:
                add_credentials(command)
            terminal.add_color(command)
            command.set_defaults(run=module.run, parser=command)
    return whole


def configured(command: Parser, name: str, arguments: Sequence[str], found: Configuration) -> None:
    """Use a configuration file for the defaults of a command. Raise UsageError for an unknown option in it."""
    if found.path is None:
        return
    foreign = command.default_to(found.of(name), arguments, named=found.named)
    if foreign:
        known = {option for one in parser().commands.values() for option, _ in one.options()}
        for option in foreign:
            hint = similar(option.name, [name for name, _ in command.options()] if option.table else known)
            if option.table:
                raise UsageError(f"{option.place}: {name} has no option {option.key!r}", hint)
            if option.name not in known:
                raise UsageError(f"{option.place}: unknown option {option.key!r}", hint)


def found_for(arguments: Sequence[str]) -> Configuration:
    """Return the configuration file named by --config or $ABSOLVE_CONFIG, or found in the working folder or above."""
    named = None
    for place, argument in enumerate(arguments):
        if argument == "--":
            break
        option, equals, value = argument.partition("=")
        if option == "--config":
            named = value if equals else next(iter(arguments[place + 1 :]), None)  # if missing, argparse reports it
    return configuration.find(tuple(COMMANDS), named)


def _report_ignored(command: Parser, found: Configuration, report: Report) -> None:
    for path, reason in found.ignored:
        report.finding(Diagnostic("ignored-file", f"{reason}{_NAMED}", str(path)))
    if command.ignored:
        options = ", ".join(command.ignored)
        text = f"a file that was found, not named, may not set {options}{_NAMED}"
        report.finding(Diagnostic("ignored-option", text, str(found.path)))
    if command.raised:
        text = f"a file that was found, not named, may not raise {', '.join(command.raised)}{_NAMED}"
        report.finding(Diagnostic("ignored-option", text, str(found.path)))


_NO_COMMAND = ("-h", "--help", "-V", "--version")
_NAMED = f" (to use it, name it with --config FILE or ${configuration.VARIABLE})"


def run(arguments: Sequence[str], *, alone: bool = False) -> int:
    """Run one command and return its exit status. An interrupt is raised to the caller.

    `alone`: the process has no other purpose, and garbage collection is off; SIGINT, SIGTERM and SIGHUP raise
    Interrupted.
    """
    if not alone:
        return _run(arguments, alone=False)
    atexit.register(interrupts.ignore, interrupts.SIGNALS)  # at shutdown no handler can run, and all work is done
    try:
        with interrupts.raising(ends=True):
            status = _run(arguments, alone=True)
            interrupts.check()
            return status
    finally:
        if interrupts.received() is not None:
            outputs.discard_unfinished()
            _abandon_stdout()  # a reader that has stopped reading would block the last flush


def _run(arguments: Sequence[str], *, alone: bool) -> int:
    report = Report()
    terminal.choose("auto")
    try:
        status = _ended(arguments, report, alone=alone)
        _flush()
    except BrokenPipeError:
        _abandon_stdout()
        return 141  # as after SIGPIPE (128 + 13)
    except OSError as error:  # of the output: commands handle errors of inputs
        text = f"{error.filename or 'standard output'}: unwritable: {error.strerror or error}"
        terminal.say(painted(ERROR, printable.message(text, credentials=report.credentials), "unwritable"))
        _abandon_stdout()
        if alone:
            sys.unraisablehook = _ignore  # generators of a library fail again when they are freed
        return 1
    return status


def _ignore(_: object) -> None:
    """Print nothing."""


def _ended(arguments: Sequence[str], report: Report, *, alone: bool) -> int:
    """Run the command to its end, and return the exit status. Raise OSError if an output cannot be written."""
    try:
        whole = parser(arguments[:1])
        if alone:
            terminal.guard()
            gc.freeze()
            gc.enable()
        command = whole.commands.get(arguments[0], whole) if arguments else whole
        report.credentials = command.credentials = whole.credentials = CREDENTIALS in arguments
        try:
            if arguments and command is not whole:
                found = found_for(arguments[1:])
                configured(command, arguments[0], arguments[1:], found)
                _report_ignored(command, found, report)
            elif arguments and arguments[0].partition("=")[0] not in _NO_COMMAND and arguments[0].startswith("-"):
                whole.check_all_known(arguments[:1])
            options, rest = whole.parse_known_args(arguments)
            command.check_all_known(rest)
            terminal.choose(getattr(options, "color", "auto"))
            report.credentials = command.credentials = getattr(options, "show_credentials", False)
            options.run(options, report)
            _flush()
            report.end()
        except UsageError as error:
            place = command.place_of(error.message)
            is_new = place and place not in error.message
            command.error(f"{place}: {error.message}" if is_new else error.message, error.hint)
    except SystemExit as end:  # argparse ends so after --help and after an error
        return end.code if isinstance(end.code, int) else 0
    return report.status


def _flush() -> None:
    """Flush the standard output, if there is one: it may be closed."""
    if sys.stdout is not None:
        sys.stdout.flush()


def _abandon_stdout() -> None:
    """Discard buffered output: redirect its descriptor to the null device, so that the flush at exit does not fail."""
    with suppress(OSError, ValueError, AttributeError):
        number = sys.stdout.fileno()
        with open(os.devnull, "wb") as nowhere:  # noqa: PTH123 - a device
            os.dup2(nowhere.fileno(), number)
