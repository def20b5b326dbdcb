"""Parquet sink: row groups compressed with zstd, and dictionary encoding for columns with repeated values.

In: Arrow batches or `Columns`. Out: a Parquet file.
"""

from __future__ import annotations

from typing import IO, TYPE_CHECKING, Any, Final

from absolve.core.errors import MissingPackageError
from absolve.inventory import arrow_batches

try:
    from pyarrow import parquet
except ImportError as error:
    raise MissingPackageError("this needs pyarrow: pip install 'absolve[parquet]'") from error

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

ROW_GROUP: Final = 1 << 17  # rows

encode = arrow_batches.batch


def write(columns: Sequence[str], chunks: Iterable[Any], file: IO[bytes]) -> None:
    """Write batches and columns in row groups of ROW_GROUP rows, fewer where rows are large."""
    schema = arrow_batches.schema(columns)
    # Not for texts: their dictionary would grow too large, and the writer would fall back to plain encoding.
    words = [field.name for field in schema if field.type == arrow_batches.WORD]
    with parquet.ParquetWriter(file, schema, compression="zstd", use_dictionary=words) as writer:
        for table in arrow_batches.gathered(chunks, schema, ROW_GROUP):
            writer.write_table(table, ROW_GROUP)
