"""What the witnesses found: diagnostics with the place before and, in their text, the place after."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from absolve.core.errors import Diagnostic

if TYPE_CHECKING:
    from absolve.document.entity import Entity

_LONGEST = 80  # characters of what is quoted


class Position(NamedTuple):
    """Line and column, 1-based; columns count characters."""

    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.line}:{self.column}"


class Differences:
    """Collects the differences between two documents."""

    def __init__(self, before: Entity, after: Entity) -> None:
        self.diagnostics: list[Diagnostic] = []
        self._before = before
        self._after = after
        self._said: set[tuple[str, int, int]] = set()

    def add(self, code: str, text: str, before: Position | None, after: Position | None) -> None:
        """A difference between these places; None where there is none to name."""
        where = f" (after: {after})" if after is not None else ""
        line, column = before or (None, None)
        self.diagnostics.append(Diagnostic(code, f"{text}{where}", self._before.name, line, column))

    def add_at(self, code: str, text: str, before: int, after: int) -> None:
        """The same for byte offsets into the two documents; what is said inside is not said outside again."""
        if (code, before, after) not in self._said:
            self._said.add((code, before, after))
            places = (Position(*self._before.line_column(before)), Position(*self._after.line_column(after)))
            self.add(code, text, *places)


def shown(text: str | None) -> str:
    """A value in a message: quoted, and cut where it is long."""
    if text is None:
        return "nothing"
    return repr(text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…")
