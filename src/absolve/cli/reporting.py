"""What a run says on the standard error, and the exit status that it comes to."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

from absolve.engine.pieces import fault
from absolve.errors import Diagnostic, DocumentError

if TYPE_CHECKING:
    from collections.abc import Iterator

# ECMA-48 8.3.117, Select Graphic Rendition
STYLES = {"bold": "1", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}


def colours(stream: TextIO | None) -> bool:
    """Whether a stream is a terminal that is to have colours (no-color.org)."""
    return bool(stream and stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb")


def paint(text: str, style: str, *, on: bool) -> str:
    return f"\x1b[{STYLES[style]}m{text}\x1b[0m" if on else text


class Report:
    """Collects what happens in one run: diagnostics go out as they come, failures are counted."""

    def __init__(self) -> None:
        self.failed = False

    @property
    def status(self) -> int:
        return 1 if self.failed else 0

    def notice(self, diagnostic: Diagnostic) -> None:
        """Say something that stops nothing; where something failed for it, the run ends with 1."""
        self.failed = self.failed or diagnostic.failed
        self._say(str(diagnostic), diagnostic.code, "red" if diagnostic.failed else "yellow")

    def failure(self, error: DocumentError) -> None:
        """Say that an input, or its output, failed: the run goes on with the next, and ends with 1."""
        self.failed = True
        self._say(error.show(), error.diagnostic.code, "red")

    @contextmanager
    def guard(self, name: str) -> Iterator[None]:
        """Work on one document: where it fails, even by a fault of ours, that is said and the run goes on."""
        try:
            yield
        except DocumentError as error:
            self.failure(error)
        except (RecursionError, ValueError, TypeError, LookupError, ArithmeticError, AttributeError) as error:
            if sys.flags.dev_mode:
                raise
            self.failure(DocumentError(Diagnostic("internal-error", fault(error), name)))

    def _say(self, message: str, code: str, style: str) -> None:
        print(message.replace(f": {code}: ", f": {paint(code, style, on=colours(sys.stderr))}: ", 1), file=sys.stderr)

