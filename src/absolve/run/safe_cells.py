"""The text of rows as a list shows it: without user information, visible on a terminal, no formula in a spreadsheet."""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING, Any, NamedTuple

from absolve.core import printable as shown
from absolve.inventory.columns import NUMBERS, Columns
from absolve.inventory.sinks.spreadsheets import literal

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from absolve.core.column_buffers import TextColumn

    Rows = Columns | Sequence[Sequence[Any]]


class Cells(NamedTuple):
    """What is changed in the text of rows before a sink encodes them; by default nothing.

    `masked`: user information in URLs. `printable`: characters that are not visible. `literal`: what a spreadsheet
    would compute.
    """

    masked: bool = False
    printable: bool = False
    literal: bool = False

    def of(self, columns: Sequence[str], rows: Rows) -> Rows:
        """Return rows of these columns with their text changed; the very same ones where nothing is to be changed."""
        if not any(self):
            return rows
        if not isinstance(rows, Columns):
            return [[self._cell(cell) for cell in row] for row in rows]
        if not self.printable and not self.literal and not _has_user_information(rows):
            return rows
        cells = [rows.cells(name, None if name in NUMBERS else self._cell) for name in columns]
        return list(zip(*cells, strict=True))

    def _cell(self, cell: Any) -> Any:
        if not isinstance(cell, str):
            return list(cell) if isinstance(cell, tuple) else cell
        if self.masked:
            cell = shown.masked(cell)
        if self.printable:
            cell = shown.printable(cell)
        return literal(cell) if self.literal else cell


def _has_user_information(rows: Columns) -> bool:
    """Whether any text of the rows has some: most have no @ at all, which is seen in all of them at once."""
    for words in rows.ruled.words:
        if any("@" in text and shown.masked(text) != text for text in words):
            return True
    columns = rows.reference, rows.target, rows.text
    return any(shown.masked(text) != text for texts in columns for text in _with_at(texts))


def _with_at(texts: TextColumn) -> Iterator[str]:
    """The texts of a column that have an @ in them."""
    raw = texts.raw()
    place = raw.find(b"@")
    ends = texts.ends.cells() if place >= 0 else []
    while place >= 0:
        at = bisect_right(ends, place)
        yield raw[ends[at - 1] : ends[at]].decode()
        place = raw.find(b"@", ends[at])
