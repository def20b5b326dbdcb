"""Collect differences as diagnostics: the position in the original, and in the text the position in the rewrite.

In: a code, a text and positions (line and column, or byte offsets). Out: `Diagnostic`s.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from absolve.core.errors import Diagnostic

if TYPE_CHECKING:
    from absolve.document.entity import Entity

_LONGEST = 80  # characters of a quoted value


class Position(NamedTuple):
    """Line and column, counted from 1; columns in characters."""

    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.line}:{self.column}"


class Fault(NamedTuple):
    """A difference that the second check finds, with its positions in both documents, None for unknown ones."""

    code: str
    text: str
    before: Position | None = None
    after: Position | None = None

    @property
    def words(self) -> str:
        """The text, with the position in the rewrite."""
        return self.text if self.after is None else f"{self.text} (after: {self.after})"


class Differences:
    """The differences between two documents."""

    def __init__(self, before: Entity, after: Entity) -> None:
        self.diagnostics: list[Diagnostic] = []
        self._before = before
        self._after = after
        self._said: set[tuple[str, int, int]] = set()

    def add(self, fault: Fault) -> None:
        """Add a difference."""
        line, column = fault.before or (None, None)
        self.diagnostics.append(Diagnostic(fault.code, fault.words, self._before.name, line, column))

    def add_at(self, code: str, text: str, before: int, after: int) -> None:
        """Add a difference at byte offsets into the two documents, unless the code is already reported there."""
        if (code, before, after) not in self._said:
            self._said.add((code, before, after))
            places = (Position(*self._before.line_column(before)), Position(*self._after.line_column(after)))
            self.add(Fault(code, text, *places))


def shown(text: str | None) -> str:
    """Return a value for a message: quoted, and shortened where it is long; "nothing" for None."""
    if text is None:
        return "nothing"
    return repr(text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…")
