"""What a run says on the standard error, and the exit status that it comes to."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from itertools import islice
from typing import IO, TYPE_CHECKING, Final, TextIO

from absolve import cli
from absolve.core import printable
from absolve.core.errors import FAULTS, Diagnostic, DocumentError, fault, in_short

if TYPE_CHECKING:
    from collections.abc import Iterator

# ECMA-48 8.3.117, Select Graphic Rendition
STYLES = {"bold": "1", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}


def is_terminal(stream: TextIO | None) -> bool:
    return stream is not None and stream.isatty()


def visible_json(lines: bytes) -> bytes:
    r"""Return lines of JSON for a terminal: the same values, with `\u009b` for what is not visible."""
    return printable.printable(lines.decode(), keep="\n", escape=_json_escaped).encode()


def _json_escaped(character: str) -> str:
    import json

    return json.dumps(character)[1:-1]


def colours(stream: TextIO | None) -> bool:
    """Whether a stream is a terminal that is to have colours (no-color.org)."""
    return bool(is_terminal(stream) and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb")


def paint(text: str, style: str, *, on: bool) -> str:
    return f"\x1b[{STYLES[style]}m{text}\x1b[0m" if on else text


class Heard:
    """Of how many inputs something was said; what is said of one comes together."""

    def __init__(self) -> None:
        self.inputs = 0
        self._last: str | None = None
        self._said: set[Diagnostic] = set()  # of the last one

    def of(self, input_: str, diagnostic: Diagnostic) -> bool:
        """Hear one more; whether it is news: what has no place is found again in each part of an archive."""
        if input_ != self._last:
            self.inputs += 1
            self._last = input_
            self._said.clear()
        known = diagnostic in self._said
        if len(self._said) < _REMEMBERED:
            self._said.add(diagnostic)
        return not known


class Report:
    """Collects what happens in one run: diagnostics go out as they come, failures are kept for the end.

    `quiet`: only failures go out. `verbose`: all does; else what is said of many inputs is said of the first of them,
    and at the end how many more they are. `input` is the one that is worked on: what fails then is its failure.
    `errors` is a file that failures are written to, too, as JSON lines. `credentials`: user information in URLs is
    shown.
    """

    def __init__(self) -> None:
        self.quiet = self.verbose = self.credentials = False
        self.heard: dict[str, Heard] = {}  # by the code of what stops nothing
        self.input: str | None = None
        self.errors: IO[bytes] | None = None
        self.failures: dict[str, Diagnostic] = {}  # the first one of each input
        self.said = 0
        self._is_advised = False

    @property
    def status(self) -> int:
        return 1 if self.failures else 0

    def finding(self, diagnostic: Diagnostic) -> None:
        """Say something that stops nothing; where something failed for it, the run ends with 1."""
        if diagnostic.failed:
            self._fail(self.input or diagnostic.name, diagnostic)
            self._say(self._printed(diagnostic), diagnostic.code, "red")
        elif not self.quiet:
            heard = self.heard.setdefault(diagnostic.code, Heard())
            is_news = heard.of(self.input or diagnostic.name, diagnostic)
            if is_news and (self.verbose or heard.inputs <= _NAMED):
                self._say(self._printed(diagnostic), diagnostic.code, "yellow")

    def aside(self, diagnostic: Diagnostic) -> None:
        """Say something of what is found on the way to the inputs, while another one is worked on."""
        self.input, working = None, self.input
        self.finding(diagnostic)
        self.input = working

    def failure(self, error: DocumentError) -> None:
        """Say that an input, or its output, failed: the run goes on with the next, and ends with 1."""
        self._fail(self.input or error.diagnostic.name, error.diagnostic)
        self._say(error.show(credentials=self.credentials), error.diagnostic.code, "red")

    @contextmanager
    def guard(self, name: str) -> Iterator[None]:
        """Work on one document: where it fails, even by a fault of ours, that is said and the run goes on."""
        try:
            yield
        except DocumentError as error:
            self.failure(error)
        except FAULTS as error:
            if sys.flags.dev_mode:
                raise
            self.failure(DocumentError(Diagnostic("internal-error", fault(error), name)))

    def rest(self) -> None:
        """Say how many inputs more there were of which the same was to be said."""
        for code, heard in self.heard.items():
            more = heard.inputs - _NAMED
            if more > 0 and not self.verbose:
                self._say(f"absolve: {code}: {more:,} more input{'s'[: more > 1]} (--verbose says all)", code, "yellow")

    def took(self, seconds: float) -> None:
        """Print once, in a run that takes long (`LONG`) and is interpreted, how absolve gets faster."""
        if seconds < LONG or self.quiet or self._is_advised:
            return
        self._is_advised = True
        if not cli.is_compiled():
            print(INTERPRETED, file=sys.stderr)

    def summary(self, done: str) -> None:
        """Say what a run came to; and where something else was said, too, what failed, so that it stands at the end."""
        if self.failures and self.said > len(self.failures):
            for diagnostic in islice(self.failures.values(), _NAMED):
                self._say(self._printed(diagnostic), diagnostic.code, "red")
            if len(self.failures) > _NAMED:
                print(f"... and {len(self.failures) - _NAMED:,} more (--errors FILE has them all)", file=sys.stderr)
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
        except OSError as error:  # the run is worth more than the list
            self.unlisted(error)

    def unlisted(self, error: OSError) -> None:
        """Say that the file of failures cannot be written; nothing more goes there."""
        self._say(printable.message(f"--errors: unwritable: {error.strerror or error}"), "unwritable", "red")
        self.errors = None

    def _printed(self, diagnostic: Diagnostic) -> str:
        return diagnostic.printed(credentials=self.credentials)

    def _say(self, message: str, code: str, style: str) -> None:
        self.said += 1
        message = in_short(message, _LONGEST)
        print(message.replace(f": {code}: ", f": {paint(code, style, on=colours(sys.stderr))}: ", 1), file=sys.stderr)


LONG: Final = 5.0  # seconds of a run
INTERPRETED: Final = "absolve: running interpreted; installed again with a C compiler, it runs many times faster"
_FIELDS: Final = ("name", "line", "column", "code", "text")
_LONGEST: Final = 8000  # characters of a message: names of files may have 4,096
_REMEMBERED: Final = 1000  # diagnostics of one input that are not said again
_NAMED: Final = 20  # inputs of which the same is said, failures that are said once more at the end
