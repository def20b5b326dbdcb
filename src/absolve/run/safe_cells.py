"""Make the text of rows safe: mask user information, escape invisible characters.

Input: rows or columns of the inventory. Output: the same with changed text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from absolve.core import printable as shown
from absolve.inventory.columns import NUMBERS, Columns

if TYPE_CHECKING:
    from collections.abc import Sequence

    from absolve.core.column_buffers import TextColumn

    Rows = Columns | Sequence[Sequence[Any]]


class Cells(NamedTuple):
    """Changes to the text of rows before a sink encodes them; by default none.

    `masked`: mask user information in URLs. `printable`: escape invisible characters.
    """

    masked: bool = False
    printable: bool = False

    def of(self, columns: Sequence[str], rows: Rows) -> Rows:
        """Return rows of these columns with changed text; the same object if there is nothing to change."""
        if not any(self):
            return rows
        if not isinstance(rows, Columns):
            return [[self._cell(cell) for cell in row] for row in rows]
        if not self.printable and not _has_user_information(rows):
            return rows
        cells = [rows.cells(name, None if name in NUMBERS else self._cell) for name in columns]
        return list(zip(*cells, strict=True))

    def _cell(self, cell: Any) -> Any:
        if isinstance(cell, (list, tuple)):
            return [*map(self._cell, cell)]
        if not isinstance(cell, str):
            return cell
        if self.masked:
            cell = shown.masked(cell)
        return shown.printable(cell) if self.printable else cell


def _has_user_information(rows: Columns) -> bool:
    """Return whether any text has user information."""
    for words in (*rows.ruled.words, rows.rel.words):
        if any("@" in text and shown.masked(text) != text for text in words):
            return True
    if any(isinstance(text, str) and shown.masked(text) != text for texts in rows.more.values() for text in texts):
        return True
    columns = rows.reference, rows.target, rows.text
    return any(shown.masked(text) != text for texts in columns for text in _with_at(texts))


def _with_at(texts: TextColumn) -> list[str]:
    """Return the texts of a column that contain @: most have none."""
    places = texts.with_any(b"@")
    cells = texts.cells() if places else []
    return [cells[place] or "" for place in places]
