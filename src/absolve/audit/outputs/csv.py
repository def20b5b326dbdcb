"""CSV: one file a table, in UTF-8; texts that a spreadsheet would run as a formula have an apostrophe before them."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING, Any

from absolve.inventory.sinks.spreadsheets import field, literal

if TYPE_CHECKING:
    from collections.abc import Iterable

    from absolve.audit.outputs.source import Source


def write(source: Source, table: str, file: IO[bytes]) -> None:
    """Write one table: a header line, then a line for each row."""
    file.write(_line(source.columns(table)))
    for rows in source.rows(source.select(table, joined=True)).batches():
        file.writelines(map(_line, rows))


def _line(cells: Iterable[Any]) -> bytes:
    return (",".join(map(_cell, cells)) + "\n").encode()


def _cell(cell: Any) -> str:
    return field(literal(cell)) if isinstance(cell, str) else "" if cell is None else str(cell)
