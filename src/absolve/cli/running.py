"""From arguments to an exit status: builds the parser, runs the command, and turns what went wrong into words."""

from __future__ import annotations

import argparse
import os
import sys
from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING, NoReturn

from absolve.cli import COMMANDS, version
from absolve.cli.reporting import Report
from absolve.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

_DESCRIPTION = """\
Find the base URL of every document by RFC 1808 section 3, resolve every link in it,
and rewrite the links in place or list them. Only link bytes change."""

_EPILOG = """\
examples:
  absolve rewrite page.html --url http://example.com/dir/page.html > absolute.html
  absolve rewrite --in-place --backup .orig saved/*.html
  absolve links page.html -o links.csv
  absolve base page.html

absolve COMMAND --help tells the rest.
exit status: 0 done; 1 done, but some inputs failed; 2 used wrongly"""


class Parser(argparse.ArgumentParser):
    """Ours: examples stay as they are laid out, options are not abbreviated, and an error is said in two lines."""

    def __init__(self, **settings: object) -> None:
        super().__init__(formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False, **settings)  # type: ignore[arg-type]

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: error: {message}\ntry: {self.prog} --help\n")


def parser(wanted: Collection[str] = tuple(COMMANDS)) -> Parser:
    """The parser of the whole command line; only `wanted` commands know their options (and are imported)."""
    whole = Parser(prog="absolve", description=_DESCRIPTION, epilog=_EPILOG)
    whole.add_argument("--version", action="version", version=version())
    commands = whole.add_subparsers(title="commands", dest="command", metavar="COMMAND", required=True)
    for name, summary in COMMANDS.items():
        module = import_module(f"absolve.cli.{name}") if name in wanted else None
        described = f"{summary[0].upper()}{summary[1:]}."
        command = commands.add_parser(name, help=summary, description=described, epilog=getattr(module, "EPILOG", ""))
        if module is not None:
            module.configure(command)
            command.set_defaults(run=module.run, parser=command)
    return whole


def run(arguments: Sequence[str]) -> int:
    """Run one command and return its exit status; an interrupt is the caller's."""
    report = Report()
    try:
        options = parser(arguments[:1]).parse_args(arguments)
        try:
            options.run(options, report)
        except UsageError as error:
            options.parser.error(str(error))
        sys.stdout.flush()
    except SystemExit as end:  # argparse's way to say --help and what is wrong
        return end.code if isinstance(end.code, int) else 0
    except BrokenPipeError:
        _abandon_stdout()
        return 141  # as if SIGPIPE had ended us (128 + 13)
    except OSError as error:  # of the output: commands see to their inputs
        print(f"{error.filename or 'standard output'}: unwritable: {error.strerror or error}", file=sys.stderr)
        _abandon_stdout()
        return 1
    return report.status


def _abandon_stdout() -> None:
    """Nobody takes what is still buffered; let the interpreter's own flush at the end find no fault with it."""
    with suppress(OSError, ValueError, AttributeError):
        number = sys.stdout.fileno()
        with open(os.devnull, "wb") as nowhere:  # noqa: PTH123 - a device
            os.dup2(nowhere.fileno(), number)
