"""The inventory as Arrow tables and record batches: `pip install 'absolve[parquet]'`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from absolve import api
from absolve.inventory.arrow_batches import MOST_BYTES, batch, schema
from absolve.inventory.columns import COLUMNS, Columns

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import pyarrow as pa

    from absolve.api import Source

__all__ = ["ROWS", "batch", "batches", "links", "schema"]

ROWS: Final = 1 << 16  # rows of a batch that `batches` yields


def links(source: Source, **options: Any) -> pa.Table:
    """The links of a document as a table with all columns; options and errors as of `absolve.links`."""
    from pyarrow import Table

    return Table.from_batches([batch(COLUMNS, api.columns(source, **options))])


def batches(sources: Iterable[Source], *, rows: int = ROWS, **options: Any) -> Iterator[pa.RecordBatch]:
    """The links of many documents, with all columns, in batches of so many rows, but for the last.

    Where references are long a batch has fewer. A table for each document, and joining them, takes longer.
    Options and errors are those of `absolve.links`; what documents do not have in common (`url`, `name`) their
    `absolve.Document` says.
    """
    found = Columns(rows, most=MOST_BYTES)
    for source in sources:
        for _ in api.into(found, source, **options):
            yield batch(COLUMNS, found)
    if len(found):
        yield batch(COLUMNS, found)
