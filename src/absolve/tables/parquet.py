"""Parquet: row groups compressed with zstd, and dictionary encoding for columns with repeated values.

In: Arrow batches, streams of them, or `Columns`. Out: a Parquet file.
"""

from __future__ import annotations

from typing import IO, TYPE_CHECKING, Any, Final

from absolve.core.errors import MissingPackageError
from absolve.inventory import arrow_batches
from absolve.inventory.columns import Columns
from absolve.tables import SCHEMA_VERSION, Sink

try:
    import pyarrow as pa
    from pyarrow import parquet
except ImportError as error:
    raise MissingPackageError("this needs pyarrow: pip install 'absolve[parquet]'") from error

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from absolve.tables import Table

ROW_GROUP: Final = 1 << 17  # rows


def write(tables: Sequence[Table], chunks: Iterable[tuple[str, Any]], file: IO[bytes]) -> None:
    """Write batches and columns in row groups of ROW_GROUP rows, fewer where rows are large."""
    (table,) = tables
    fields = None if table.rows is None else pa.RecordBatchReader.from_stream(table.rows).schema
    schema = fields or arrow_batches.schema(tuple(table.columns))
    schema = schema.with_metadata({"absolve.schema": str(SCHEMA_VERSION)})
    # Not for texts of the inventory: their dictionary would grow too large, and the writer would fall back to plain
    # encoding.
    words = True if fields else [field.name for field in schema if field.type == arrow_batches.DICTIONARY]
    with parquet.ParquetWriter(file, schema, compression="zstd", use_dictionary=words) as writer:
        for rows in arrow_batches.gathered(_batches(chunks), schema, ROW_GROUP):
            writer.write_table(rows, ROW_GROUP)


def _batches(chunks: Iterable[tuple[str, Any]]) -> Iterator[Any]:
    """Yield the chunks, of streams each batch."""
    for _, chunk in chunks:
        is_stream = not isinstance(chunk, (Columns, pa.RecordBatch))
        yield from pa.RecordBatchReader.from_stream(chunk) if is_stream else (chunk,)


PARQUET: Final = Sink(arrow_batches.batch, write)
