"""Batches of pyarrow, and Parquet: row groups compressed with zstd, dictionary encoding where values are repeated.

In: rows, or `Columns` of the inventory; for a file also batches, and streams of Arrow. Out: record batches and tables
with the types of `schema`, which share the memory of `inventory.batches`; a Parquet file.

    >>> batch(("document", "line"), [("a.html", 3)]).to_pylist()
    [{'document': 'a.html', 'line': 3}]
"""

from __future__ import annotations

from functools import cache, lru_cache
from typing import IO, TYPE_CHECKING, Any, Final

from absolve.core.arrow_stream import LISTS, NUMBER, TEXT, WORD
from absolve.core.errors import MissingPackageError
from absolve.inventory import batches
from absolve.inventory.batches import MOST_BYTES
from absolve.inventory.columns import COLUMNS, Columns, handed_over
from absolve.tables import SCHEMA_VERSION, Sink

try:
    import pyarrow as pa
except ImportError as error:
    raise MissingPackageError("this needs pyarrow: pip install 'absolve[parquet]'") from error

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from absolve.core.arrow_stream import Array
    from absolve.core.column_buffers import IntColumn, TextColumn
    from absolve.tables import Table

DICTIONARY: Final = pa.dictionary(pa.int32(), pa.string())  # for columns with few distinct values
_TYPES: Final = {TEXT: pa.string(), NUMBER: pa.int64(), LISTS: pa.list_(pa.string()), WORD: DICTIONARY}
_JOINED: Final = 256  # batches that are joined: batches of small documents take more memory than their rows


def schema(columns: Sequence[str] = COLUMNS) -> pa.Schema:
    """Return the schema of these columns of the table of links, where only `target` may be null, or of documents."""
    return _schema(tuple(columns))


@lru_cache(maxsize=64)
def _schema(columns: tuple[str, ...]) -> pa.Schema:
    found = batches.fields(columns)
    return pa.schema([pa.field(field.name, _TYPES[field.kind], nullable=field.nullable) for field in found])


@cache
def described() -> pa.Schema:
    """Return the schema of the table of links with the version in its metadata."""
    return schema().with_metadata({"absolve.schema": str(SCHEMA_VERSION)})


def batch(columns: Sequence[str], rows: Iterable[Sequence[Any]] | Columns) -> pa.RecordBatch:
    """Return rows with a value for each of these columns, or `Columns` of the inventory, as one record batch."""
    return batch_of(schema(columns), columns, rows)


def batch_of(fields: pa.Schema, columns: Sequence[str], rows: Iterable[Sequence[Any]] | Columns) -> pa.RecordBatch:
    """Return the same with the metadata of another schema."""
    arrays = batches.batch(columns, rows).arrays
    if address := handed_over(arrays):
        return pa.RecordBatch._import_from_c(address, fields)  # noqa: SLF001 - one step for all arrays
    return pa.RecordBatch.from_arrays(
        [_arrow_array(field.type, array) for field, array in zip(fields, arrays, strict=True)], schema=fields
    )


def _arrow_array(kind: pa.DataType, node: Array) -> pa.Array:
    size, raw, children, dictionary = node
    buffers = [_raw(buffer) if buffer is not None else None for buffer in raw]
    if dictionary is not None:
        return pa.DictionaryArray.from_buffers(kind, size, buffers, _arrow_array(pa.string(), dictionary))
    return pa.Array.from_buffers(kind, size, buffers, children=[_arrow_array(pa.string(), child) for child in children])


def _raw(buffer: IntColumn | TextColumn | bytes) -> pa.Buffer:
    return pa.py_buffer(buffer if isinstance(buffer, bytes) else buffer.raw())


def gathered(chunks: Iterable[pa.RecordBatch | Columns], schema: pa.Schema, rows: int) -> Iterator[pa.Table]:
    """Yield batches, and `Columns` of the inventory, as tables of at least `rows` rows, except for the last.

    A table of large rows has fewer: it is closed at MOST_BYTES.
    """
    waiting: list[pa.RecordBatch] = []
    small = number = size = 0  # batches at the end that are not joined yet; rows and bytes of all batches
    for chunk in batches.joined(chunks, tuple(schema.names)):
        waiting.append(batch(schema.names, chunk) if isinstance(chunk, Columns) else chunk)
        small += 1
        number += waiting[-1].num_rows
        size += waiting[-1].nbytes
        if number >= rows or size >= MOST_BYTES:
            yield pa.Table.from_batches(waiting, schema).unify_dictionaries()
            waiting, small, number, size = [], 0, 0, 0
        elif small == _JOINED:
            whole = pa.Table.from_batches(waiting[-small:], schema).unify_dictionaries().combine_chunks()
            waiting[-small:] = whole.to_batches()
            small = 0
    if waiting:
        yield pa.Table.from_batches(waiting, schema).unify_dictionaries()


# --- files ------------------------------------------------------------------------------------------------------------

ROW_GROUP: Final = 1 << 17  # rows


def write(tables: Sequence[Table], chunks: Iterable[tuple[str, Any]], file: IO[bytes]) -> None:
    """Write batches and columns in row groups of ROW_GROUP rows, fewer where rows are large."""
    from pyarrow import parquet  # batches do not need it

    (table,) = tables
    fields = None if table.rows is None else pa.RecordBatchReader.from_stream(table.rows).schema
    types = (fields or schema(tuple(table.columns))).with_metadata({"absolve.schema": str(SCHEMA_VERSION)})
    # Not for texts of the inventory: their dictionary would grow too large, and the writer would fall back to plain
    # encoding.
    words = True if fields else [field.name for field in types if field.type == DICTIONARY]
    with parquet.ParquetWriter(file, types, compression="zstd", use_dictionary=words) as writer:
        for rows in gathered(_batches(chunks), types, ROW_GROUP):
            writer.write_table(rows, ROW_GROUP)


def _batches(chunks: Iterable[tuple[str, Any]]) -> Iterator[Any]:
    """Yield the chunks, and each batch of a stream."""
    for _, chunk in chunks:
        is_stream = not isinstance(chunk, (Columns, pa.RecordBatch))
        yield from pa.RecordBatchReader.from_stream(chunk) if is_stream else (chunk,)


PARQUET: Final = Sink(batch, write)
