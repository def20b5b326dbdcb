"""The inventory as Arrow: the schema of its columns, and batches that are built column by column."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from absolve import library
from absolve.errors import UsageError
from absolve.inventory import COLUMNS, shown

try:
    import pyarrow as pa
except ImportError as error:
    raise UsageError("this needs pyarrow: pip install 'absolve[parquet]'") from error

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from absolve.library import Source

TEXT: Final = pa.string()
WORD: Final = pa.dictionary(pa.int32(), pa.string())  # what few rows have for themselves
TYPES: Final = {
    **dict.fromkeys(("line", "column", "start", "end"), pa.int64()),
    **dict.fromkeys(("text", "reference", "target"), TEXT),
    "problems": pa.list_(pa.string()),
}


def schema(columns: Sequence[str] = COLUMNS) -> pa.Schema:
    """The schema of these columns of the inventory; only `target` may be null."""
    return pa.schema([pa.field(name, TYPES.get(name, WORD), nullable=name == "target") for name in columns])


def links(source: Source, **options: Any) -> pa.Table:
    """The links of a document as a table with all columns; options and errors as of `absolve.links`."""
    return pa.Table.from_batches([batch(COLUMNS, library.links(source, **options))])


def batch(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> pa.RecordBatch:
    """Rows with a value for each of these columns, as one batch."""
    fields = schema(columns)
    values = list(zip(*rows, strict=True)) or [()] * len(columns)
    arrays = [_array(cells, field.type) for cells, field in zip(values, fields, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=fields)


def _array(cells: Sequence[Any], kind: pa.DataType) -> pa.Array:
    try:
        return pa.array(cells, TEXT).dictionary_encode() if kind == WORD else pa.array(cells, kind)
    except UnicodeEncodeError:
        return _array([shown(cell) if isinstance(cell, str) else cell for cell in cells], kind)


def gathered(batches: Iterable[pa.RecordBatch], schema: pa.Schema, rows: int) -> Iterator[pa.Table]:
    """The batches as tables of at least so many rows, but for the last."""
    waiting: list[pa.RecordBatch] = []
    number = 0
    for batch_ in batches:
        waiting.append(batch_)
        number += batch_.num_rows
        if number >= rows:
            yield pa.Table.from_batches(waiting, schema).unify_dictionaries()
            waiting, number = [], 0
    if waiting:
        yield pa.Table.from_batches(waiting, schema).unify_dictionaries()
