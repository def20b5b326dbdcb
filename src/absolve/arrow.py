"""The inventory as Arrow: the schema of its columns, and batches that are built column by column."""

from __future__ import annotations

from array import array
from functools import lru_cache
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
    return _schema(tuple(columns))


@lru_cache(maxsize=64)
def _schema(columns: tuple[str, ...]) -> pa.Schema:
    return pa.schema([pa.field(name, TYPES.get(name, WORD), nullable=name == "target") for name in columns])


def links(source: Source, **options: Any) -> pa.Table:
    """The links of a document as a table with all columns; options and errors as of `absolve.links`."""
    return pa.Table.from_batches([batch(COLUMNS, library.links(source, **options))])


def batch(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> pa.RecordBatch:
    """Rows with a value for each of these columns, as one batch."""
    fields = schema(columns)
    values = list(zip(*rows, strict=True)) or [()] * len(columns)
    arrays = [_array(cells, TYPES.get(name, WORD)) for cells, name in zip(values, columns, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=fields)


def _array(cells: Sequence[Any], kind: pa.DataType) -> pa.Array:
    try:
        return _words(cells) if kind is WORD else pa.array(cells, kind)
    except UnicodeEncodeError:
        return _array([shown(cell) if isinstance(cell, str) else cell for cell in cells], kind)


def _words(cells: Sequence[str]) -> pa.Array:
    """Cells as numbers of words, which stand in the order in which each came first; most follow their like."""
    numbers: dict[str, int] = {}
    found: list[int] = []
    last: str | None = None
    number = 0
    for cell in cells:
        if cell is not last:
            number = numbers.setdefault(cell, len(numbers))
            last = cell
        found.append(number)
    indices = array("i", found)
    placed = pa.Array.from_buffers(pa.int32(), len(indices), [None, pa.py_buffer(indices)])
    return pa.DictionaryArray.from_arrays(placed, pa.array(list(numbers), TEXT))


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
