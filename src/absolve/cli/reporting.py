"""Diagnostics, failures and the summary of a run on the standard error, and its exit status.

Input: diagnostics and errors as they occur. Output: lines FILE:line:column: code: text, and JSON lines for --errors.
"""

from __future__ import annotations

import sys
from contextlib import contextmanager
from itertools import islice
from typing import IO, TYPE_CHECKING, Final

from absolve import cli
from absolve.cli.terminal import colours, is_terminal
from absolve.cli.totals import Totals
from absolve.core import printable
from absolve.core.errors import FAULTS, Diagnostic, DocumentError, fault, in_short

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def visible_json(lines: bytes) -> bytes:
    r"""Return lines of JSON for a terminal: the same values, with invisible characters escaped (`\u009b`)."""
    return printable.printable(lines.decode(), keep="\n", escape=_json_escaped).encode()


def _json_escaped(character: str) -> str:
    import json

    return json.dumps(character)[1:-1]


def paint(text: str, style: str, *, on: bool) -> str:
    if not on:
        return text
    from absolve.core.drawing import painted  # most runs print nothing in colour

    return painted(text, style)


__all__ = ["Report", "colours", "is_terminal", "paint", "visible_json"]


class InputCount:
    """The number of inputs with diagnostics of one code; all diagnostics of an input come in succession."""

    def __init__(self) -> None:
        self.inputs = 0
        self._last: str | None = None
        self._seen: set[Diagnostic] = set()  # of the last one

    def add(self, input_: str, diagnostic: Diagnostic) -> bool:
        """Count a diagnostic and return whether it is new: those without a place recur in each part of an archive."""
        if input_ != self._last:
            self.inputs += 1
            self._last = input_
            self._seen.clear()
        known = diagnostic in self._seen
        if len(self._seen) < _REMEMBERED:
            self._seen.add(diagnostic)
        return not known


class Report:
    """Print diagnostics and failures of one run as they occur, and keep the failures for the summary.

    `quiet`: print failures only. `verbose`: print all; by default each code is printed for the first 20 inputs, and
    `rest` prints the number of the others. `input` is the name of the current input, to which failures are attributed.
    `errors` is a file to which failures are also written, as JSON lines. `credentials`: show user information in URLs.
    """

    def __init__(self) -> None:
        self.quiet = self.verbose = self.credentials = False
        self.has_findings = False  # a check found something, which is no failure
        self.counts: dict[str, InputCount] = {}  # by code, of diagnostics that are not failures
        self.input: str | None = None
        self.errors: IO[bytes] | None = None
        self.failures: dict[str, Diagnostic] = {}  # the first one of each input
        self.lines = 0
        self._is_advised = False
        self._end: tuple[Callable[[], str], bool] | None = None
        self.totals = Totals()

    @property
    def status(self) -> int:
        return 1 if self.failures or self.has_findings else 0

    def finding(self, diagnostic: Diagnostic) -> None:
        """Report a diagnostic that does not end the work on an input; if it has `failed` set, the exit status is 1."""
        if diagnostic.failed:
            self._fail(self.input or diagnostic.name, diagnostic)
            self._print(self._printed(diagnostic), diagnostic.code, "red")
        elif not self.quiet:
            count = self.counts.setdefault(diagnostic.code, InputCount())
            is_news = count.add(self.input or diagnostic.name, diagnostic)
            if is_news and (self.verbose or count.inputs <= _NAMED):
                self._print(self._printed(diagnostic), diagnostic.code, "yellow")

    def aside(self, diagnostic: Diagnostic) -> None:
        """Report a diagnostic from the search for inputs, without attributing it to the current input."""
        self.input, working = None, self.input
        self.finding(diagnostic)
        self.input = working

    def failure(self, error: DocumentError) -> None:
        """Report that an input or its output failed: the run continues with the next input; the exit status is 1."""
        self._fail(self.input or error.diagnostic.name, error.diagnostic)
        self._print(error.show(credentials=self.credentials), error.diagnostic.code, "red")

    @contextmanager
    def guard(self, name: str) -> Iterator[None]:
        """Report errors raised by the block, internal ones too, as failures of the input `name`; the run continues."""
        try:
            yield
        except DocumentError as error:
            self.failure(error)
        except FAULTS as error:
            if sys.flags.dev_mode:
                raise
            self.failure(DocumentError(Diagnostic("internal-error", fault(error), name)))

    def rest(self) -> None:
        """Print for each code the number of inputs beyond the first 20."""
        for code, count in self.counts.items():
            more = count.inputs - _NAMED
            if more > 0 and not self.verbose:
                text = f"{more:,} more input{'s'[: more > 1]} (--verbose lists all)"
                self._print(f"absolve: {code}: {text}", code, "yellow")

    def took(self, seconds: float) -> None:
        """Print once, in a run that takes long (`LONG`) and is interpreted, how absolve gets faster."""
        if seconds < LONG or self.quiet or self._is_advised:
            return
        self._is_advised = True
        if not cli.is_compiled():
            print(INTERPRETED, file=sys.stderr)

    def end_with(self, done: Callable[[], str], *, repeats: bool) -> None:
        """Set the function that returns the line for `end`; `repeats`: print the failures once more before it."""
        self._end = done, repeats

    def end(self) -> None:
        """Print the line that ends a run, if there is one: when all output is complete."""
        if self._end is not None:
            done, repeats = self._end
            self.summary(done(), repeats=repeats)

    def is_unwritten(self, input_: str | None) -> bool:
        """Return whether the output for an input could not be written."""
        failure = self.failures.get(input_) if input_ is not None else None
        return failure is not None and failure.code == "unwritable"

    def summary(self, done: str, *, repeats: bool = True) -> None:
        """Print the summary line; before it the failures once more, if other messages were printed as well."""
        if repeats and self.failures and self.lines > len(self.failures):
            for diagnostic in islice(self.failures.values(), _NAMED):
                self._print(self._printed(diagnostic), diagnostic.code, "red")
            if len(self.failures) > _NAMED:
                print(f"... and {len(self.failures) - _NAMED:,} more (--errors FILE lists all)", file=sys.stderr)
        if done:
            print(f"absolve: {done}", file=sys.stderr)

    def _fail(self, input_: str, diagnostic: Diagnostic) -> None:
        self.failures.setdefault(input_, diagnostic)
        if self.errors is None:
            return
        import json

        fields = {name: getattr(diagnostic, name) for name in _FIELDS}
        if not self.credentials:
            fields |= {name: printable.masked(fields[name]) for name in ("name", "text")}
        fields["text"] = in_short(fields["text"], _LONGEST)
        line = json.dumps({"input": input_, **fields})
        try:
            self.errors.write(f"{line}\n".encode())
            self.errors.flush()
        except OSError as error:  # the run continues without the list
            self.unlisted(error)

    def unlisted(self, error: OSError) -> None:
        """Report that the file of --errors cannot be written, and stop writing to it."""
        self._print(printable.message(f"--errors: unwritable: {error.strerror or error}"), "unwritable", "red")
        self.errors = None

    def _printed(self, diagnostic: Diagnostic) -> str:
        return diagnostic.printed(credentials=self.credentials)

    def _print(self, message: str, code: str, style: str) -> None:
        self.lines += 1
        message = in_short(message, _LONGEST)
        print(message.replace(f": {code}: ", f": {paint(code, style, on=colours(sys.stderr))}: ", 1), file=sys.stderr)


LONG: Final = 5.0  # seconds of a run
INTERPRETED: Final = "absolve: running interpreted; installed again with a C compiler, it runs many times faster"
_FIELDS: Final = ("name", "line", "column", "code", "text")
_LONGEST: Final = 8000  # characters of a message: names of files may have 4,096
_REMEMBERED: Final = 1000  # diagnostics of one input of which repetitions are suppressed
_NAMED: Final = 20  # inputs for which one code is printed; failures that the summary repeats
