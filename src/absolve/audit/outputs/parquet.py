"""Parquet: one file a table, compressed with zstd."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING, Final

from pyarrow import parquet

if TYPE_CHECKING:
    from absolve.audit.outputs.source import Source

ROW_GROUP: Final = 1 << 17  # rows


def write(source: Source, table: str, file: IO[bytes]) -> None:
    """Write one table."""
    reader = source.arrow(source.select(table))
    with parquet.ParquetWriter(file, reader.schema, compression="zstd") as writer:
        for batch in reader:
            writer.write_batch(batch, ROW_GROUP)
