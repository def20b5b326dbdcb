"""Rows for sinks of formats without lists (CSV, SQLite)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from absolve.inventory.columns import Columns

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence


def joined(columns: Sequence[str], rows: Iterable[Sequence[Any]] | Columns) -> Iterator[Sequence[Any]]:
    """Yield the rows with lists joined to text by spaces."""
    if isinstance(rows, Columns):
        yield from zip(*[rows.cells(name, " ".join if name == "problems" else None) for name in columns], strict=True)
    else:
        for row in rows:
            yield [" ".join(cell) if isinstance(cell, list) else cell for cell in row]
