"""Run the command line: parse, apply the configuration file, run the command, report errors.

Input: arguments. Output: an exit status (`cli.main` lists them).
"""

from __future__ import annotations

import atexit
import gc
import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

from absolve.cli import configuration, terminal
from absolve.cli.commands import COMMANDS
from absolve.cli.configuration import configure, found_for
from absolve.cli.option_table import Options
from absolve.cli.parsing import FIRST_STEPS, parser
from absolve.cli.reporting import ERROR, FAILED, Report, painted
from absolve.core import printable
from absolve.core.errors import OUT_OF_MEMORY, Diagnostic, UsageError, fault, is_out_of_memory
from absolve.run import interrupts, outputs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from absolve.cli.configuration import Configuration
    from absolve.cli.parsing import Parser


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
    if not found.named and (choosing := [name for name in ("include", "exclude") if name in command.set_by]):
        report.totals.globs_source = f"{' and '.join(choosing)} of {printable.printable(str(found.path))}"


_NO_COMMAND = ("-h", "--help", "-V", "--version")
_NAMED = f" (to use it, name it with --config FILE or ${configuration.VARIABLE})"


def run(arguments: Sequence[str], *, alone: bool = False) -> int:
    """Run one command and return its exit status. An interrupt is raised to the caller.

    `alone`: the process has no other purpose, and garbage collection is off; SIGINT, SIGTERM and SIGHUP raise
    Interrupted.
    """
    if not alone:
        return _run(arguments, alone=False)
    sys.unraisablehook = _raised_nowhere
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
    except Exception as error:
        if is_out_of_memory(error):
            code, text = "out-of-memory", OUT_OF_MEMORY
        elif isinstance(error, OSError):  # about the output: commands handle errors about inputs
            code, text = "unwritable", error.strerror or str(error)
        else:
            interrupts.check()
            if sys.flags.dev_mode or not alone:
                raise
            code, text = "internal-error", fault(error)
        if not report.knows(text):
            place = f"{getattr(error, 'filename', None) or 'standard output'}: " if code == "unwritable" else ""
            message = printable.message(f"{place}{code}: {text}")
            terminal.say(painted(ERROR, message, code))
        _abandon_stdout()
        if alone:
            sys.unraisablehook = lambda _: None  # generators of a library fail again when they are freed
        return FAILED
    return status


def _raised_nowhere(found: sys.UnraisableHookArgs) -> None:
    """Print an exception that no code can catch, except MemoryError, which the run reports."""
    if found.exc_value is None or not is_out_of_memory(found.exc_value):
        sys.__unraisablehook__(found)


def _ended(arguments: Sequence[str], report: Report, *, alone: bool) -> int:
    """Run the command to its end, and return the exit status. Raise OSError if an output cannot be written."""
    if not arguments and terminal.is_terminal(sys.stdout):
        print(FIRST_STEPS)
        return 0
    try:
        whole = parser(arguments[:1])
        if alone:
            terminal.guard()
            gc.freeze()
            gc.enable()
        command = whole.commands.get(arguments[0], whole) if arguments else whole
        found = configuration.Configuration()
        try:
            if arguments and command is not whole:
                found = found_for(arguments[1:])
                configure(command, arguments[0], arguments[1:], found)
                _report_ignored(command, found, report)
            elif arguments and arguments[0].partition("=")[0] not in _NO_COMMAND and arguments[0].startswith("-"):
                whole.check_all_known(arguments[:1])
            parsed, rest = whole.parse_known_args(arguments)
            command.check_all_known(rest)
            options = Options(**vars(parsed), is_url_found="url" in command.set_by and not found.named)
            terminal.choose(options.color)
            if any("://" in argument for argument in arguments):
                from absolve.cli.intake import check_stores

                check_stores(options)
            COMMANDS[options.command].run(options, report)
            _flush()
            report.end()
        except UsageError as error:
            if error.__cause__ is not None and is_out_of_memory(error.__cause__):  # no package is missing
                raise MemoryError from error
            place = command.setting_place(error.message)
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
