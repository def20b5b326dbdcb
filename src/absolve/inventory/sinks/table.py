"""Table sink: rows for people, on a terminal or in a text file.

In: rows as lists or `Columns`, and a `Screen`. Out: text. Rows of the inventory with all columns are grouped by
document, with the links of each aligned below it; rows with other columns are a grid. Every text is escaped.
"""

from __future__ import annotations

from itertools import groupby
from typing import IO, TYPE_CHECKING, Any, Final

from absolve.core import printable
from absolve.core.drawing import Screen, folded, padded
from absolve.inventory.columns import COLUMNS, Row
from absolve.inventory.sinks.grid import grid
from absolve.inventory.sinks.rows import joined

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from absolve.inventory.columns import Columns

# Problems of links that lead nowhere; the others are advice.
_SEVERE: Final = frozenset({"unresolved", "malformed", "too-long", "unsuitable-base"})
_NARROW: Final = 64  # columns below which a link takes a line for each of its URLs
_AT_MOST: Final = 48  # columns of a reference, if targets follow on the same line and the width is not limited
_INDENT: Final = "  "


def encode(columns: Sequence[str], rows: Iterable[Sequence[Any]] | Columns) -> list[tuple[Any, ...]]:
    """Return the rows as tuples, lists joined; only the parent process can draw them: it knows the terminal."""
    return [tuple(row) for row in joined(columns, rows)]


def write(
    columns: Sequence[str],
    chunks: Iterable[Iterable[Sequence[Any]] | Columns],
    file: IO[bytes],
    screen: Screen | None = None,
) -> None:
    """Draw the rows of the chunks as they come."""
    screen = screen or Screen()
    draw = _links(chunks, screen) if tuple(columns) == COLUMNS else grid(columns, chunks, screen)
    for lines in draw:
        file.write("".join(f"{line}\n" for line in lines).encode("utf-8" if screen.unicode else "ascii", "replace"))
        if screen.width is not None:
            file.flush()


def _links(chunks: Iterable[Iterable[Sequence[Any]] | Columns], screen: Screen) -> Iterator[list[str]]:
    """Yield the lines of each chunk, under a heading for each document."""
    shown: tuple[str, str] | None = None
    base = ""
    for chunk in chunks:
        lines: list[str] = []
        rows = map(Row._make, joined(COLUMNS, chunk))
        for where, group in groupby(rows, lambda row: (row.document, row.entity)):
            drawing = _Group(list(group), screen)
            if where != shown:
                lines += [""] if shown is not None else []
                lines.append(screen.paint(drawing.fit(" ".join(where).rstrip(), 0), "bold"))
                shown, base = where, ""
            lines += drawing.lines(base)
            base = drawing.base
        yield lines


class _Group:
    """The links of one document in one chunk; `base` is the last line about their base."""

    base = ""

    def __init__(self, rows: list[Row], screen: Screen) -> None:
        self._rows = rows
        self._screen = screen
        self._place = max(len(f"{row.line}:{row.column}") for row in rows)
        self._kind = max(len(row.kind) for row in rows)
        self._left = len(_INDENT) + self._place + 2 + self._kind + 2
        self._is_narrow = screen.width is not None and screen.width < max(_NARROW, self._left + 40)
        room = _AT_MOST if screen.width is None else (screen.width - self._left - 3) * 2 // 5
        widest = max((len(row.reference) for row in rows if row.reference != row.target), default=0)
        self._reference = min(widest, room)

    def fit(self, text: str, used: int) -> str:
        """Return the text visible, cut to the columns that `used` leaves."""
        text = self._screen.visible(text)
        return text if self._screen.width is None else self._screen.cut(text, max(8, self._screen.width - used))

    def lines(self, base: str) -> Iterator[str]:
        """Yield the lines of the links, and one for each base that differs from the one before them."""
        self.base = base
        for row in self._rows:
            if row.element != "base" and (about := _about(row)) != self.base:  # a claim has the base of the next layer
                self.base = about
                yield self._screen.paint(_INDENT + self.fit(about, len(_INDENT)), "dim")
            yield from self._link(row)

    def _link(self, row: Row) -> Iterator[str]:
        screen = self._screen
        place = f"{row.line}:{row.column}".rjust(self._place)
        head = f"{_INDENT}{screen.paint(place, 'cyan')}  "
        below = " " * self._left
        if self._is_narrow:
            below = _INDENT * 2
            yield head + row.kind
            if row.reference != row.target:
                yield below + self.fit(row.reference, len(below))
            yield below + self._target(row, len(below))
        elif row.reference == row.target:
            yield f"{head}{row.kind.ljust(self._kind)}  {self._target(row, self._left)}"
        else:
            reference = screen.visible(row.reference)
            if screen.width is not None:
                reference = screen.cut(reference, self._reference)
            target = self._target(row, self._left + max(self._reference, printable.width(reference)) + 1)
            yield f"{head}{row.kind.ljust(self._kind)}  {padded(reference, self._reference)} {target}"
        if row.problems:
            problems = str(row.problems).split()  # joined, as in each text
            style = "yellow" if _SEVERE.isdisjoint(problems) else "red"
            text = f"! {', '.join(problems)}"
            for line in folded(text, max(8, screen.width - len(below))) if screen.width is not None else [text]:
                yield below + screen.paint(line, style)

    def _target(self, row: Row, used: int) -> str:
        """Return where a link leads, as a hyperlink, with an arrow before it unless that is its reference."""
        arrow = "" if row.reference == row.target else f"{self._screen.arrow} "
        if row.target is None:
            return self._screen.paint(f"{arrow}(nowhere)", "dim")
        text = self.fit(row.target, used + len(arrow))
        return self._screen.paint(arrow, "dim") + self._screen.linked(text, row.target)


def _about(row: Row) -> str:
    if row.base_layer == "default":
        return "no base URL is known"
    return f"base {row.base} ({row.base_layer})"
