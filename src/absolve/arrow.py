"""The links of documents as Arrow tables and record batches; requires `pip install 'absolve[parquet]'`.

In: documents, as for `absolve.links`. Out: `pyarrow.Table` or `pyarrow.RecordBatch`, with all columns of the inventory.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from absolve import api
from absolve.inventory.batches import MOST_BYTES
from absolve.inventory.columns import COLUMNS, Columns
from absolve.tables.parquet import batch, batch_of, described, schema

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Unpack

    import pyarrow as pa

    from absolve.api import Source
    from absolve.core.options import Options

__all__ = ["ROWS", "batch", "batches", "links", "schema"]


def __dir__() -> list[str]:
    """Return the public names, for `dir`, `help` and completion."""
    return [*__all__]


ROWS: Final = 1 << 16  # default number of rows in a batch of `batches`


def links(source: Source, **options: Unpack[Options]) -> pa.Table:
    """Return the links of a document as a table with all columns; options and errors are those of `absolve.links`."""
    from pyarrow import Table

    return Table.from_batches([batch_of(described(), COLUMNS, api.columns(source, **options))])


def batches(sources: Iterable[Source], *, rows: int = ROWS, **options: Unpack[Options]) -> Iterator[pa.RecordBatch]:
    """Yield the links of many documents, with all columns, in batches of `rows` rows; the last one has fewer.

    A batch has fewer rows if references are long. This is faster than concatenating a table per document. Options and
    errors are those of `absolve.links`, for all documents; pass an `absolve.Document` to give one its own `url` and
    `name`.
    """
    found = Columns(rows, most=MOST_BYTES)
    for source in sources:
        for _ in api.into(found, source, **options):
            yield batch(COLUMNS, found)
    if len(found):
        yield batch(COLUMNS, found)
