"""CSV: one file a table, in UTF-8; texts that a spreadsheet would run as a formula have an apostrophe before them."""

from __future__ import annotations

import csv
import io
from typing import IO, TYPE_CHECKING, Any

from absolve.inventory.sinks.spreadsheets import literal

if TYPE_CHECKING:
    from absolve.audit.outputs.source import Source


def write(source: Source, table: str, file: IO[bytes]) -> None:
    """Write one table: a header line, then a line for each row."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(source.columns(table))
    for rows in source.rows(source.select(table, joined=True)).batches():
        writer.writerows([[_cell(cell) for cell in row] for row in rows])
        file.write(text.getvalue().encode())
        text.seek(0)
        text.truncate()
    file.write(text.getvalue().encode())


def _cell(cell: Any) -> Any:
    return literal(cell) if isinstance(cell, str) else cell
