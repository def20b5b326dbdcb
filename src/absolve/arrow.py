"""The inventory as Arrow: the schema of its columns, and batches that are built column by column."""

from __future__ import annotations

from array import array
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from absolve import library
from absolve.errors import UsageError
from absolve.inventory import COLUMNS, RULED, Columns
from absolve.ruled import shown

try:
    import pyarrow as pa
except ImportError as error:
    raise UsageError("this needs pyarrow: pip install 'absolve[parquet]'") from error

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import cython

    from absolve.library import Source
else:
    from absolve import _cython as cython

TEXT: Final = pa.string()
NUMBER: Final = pa.int64()
LISTS: Final = pa.list_(TEXT)
WORD: Final = pa.dictionary(pa.int32(), pa.string())  # what few rows have for themselves
TYPES: Final = {
    **dict.fromkeys(("line", "column", "start", "end"), NUMBER),
    **dict.fromkeys(("text", "reference", "target"), TEXT),
    "problems": LISTS,
}


def schema(columns: Sequence[str] = COLUMNS) -> pa.Schema:
    """The schema of these columns of the inventory; only `target` may be null."""
    return _schema(tuple(columns))


@lru_cache(maxsize=64)
def _schema(columns: tuple[str, ...]) -> pa.Schema:
    return pa.schema([pa.field(name, TYPES.get(name, WORD), nullable=name == "target") for name in columns])


def links(source: Source, **options: Any) -> pa.Table:
    """The links of a document as a table with all columns; options and errors as of `absolve.links`."""
    return pa.Table.from_batches([batch(COLUMNS, library.columns(source, **options))])


def batch(columns: Sequence[str], rows: Iterable[Sequence[Any]] | Columns) -> pa.RecordBatch:
    """Rows with a value for each of these columns, or the inventory's own columns, as one batch."""
    fields = schema(columns)
    if isinstance(rows, Columns):
        ruled = _Ruled(rows)
        arrays = [
            ruled.words(name) if name in RULED else _array(getattr(rows, name), TYPES.get(name, WORD))
            for name in columns
        ]
    else:
        values = list(zip(*rows, strict=True)) or [()] * len(columns)
        arrays = [_array(cells, TYPES.get(name, WORD)) for cells, name in zip(values, columns, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=fields)


def _array(cells: Sequence[Any], kind: pa.DataType) -> pa.Array:
    if kind is WORD:
        return _words(cells)
    if kind is TEXT:
        return _texts(cells)
    if kind is NUMBER:
        return _placed(NUMBER, array("q", cells))
    return _lists(cells)


def _placed(kind: pa.DataType, numbers: array[int]) -> pa.Array:
    return pa.Array.from_buffers(kind, len(numbers), [None, pa.py_buffer(numbers)])


def _texts(cells: Sequence[str | None]) -> pa.Array:
    """Their UTF-8 one behind the other, and where each ends."""
    try:
        joined = "".join(cells)  # type: ignore[arg-type]  # which it finds out at once
    except TypeError:
        return pa.array([cell if cell is None else shown(cell) for cell in cells], TEXT)
    if not joined.isascii():
        encoded = [shown(cell).encode() for cell in cells]  # type: ignore[arg-type]  # else there was an error
        return _from_ends(encoded, b"".join(encoded))
    return _from_ends(cells, joined.encode("ascii"))


def _from_ends(cells: Sequence[Any], data: bytes) -> pa.Array:
    if len(data) >= 1 << 31:
        raise OverflowError("text of 2 GB and more at once")
    return pa.Array.from_buffers(TEXT, len(cells), [None, pa.py_buffer(_ends(cells)), pa.py_buffer(data)])


def _ends(cells: Sequence[Any]) -> array[int]:
    """Where each cell ends, of cells that stand one behind the other: the first number is where they begin."""
    end: cython.Py_ssize_t = 0
    found: list[int] = [0]
    for cell in cells:
        end += len(cell)
        found.append(end)
    return array("i", found)


def _lists(cells: Sequence[list[str]]) -> pa.Array:
    words = pa.array([word for cell in cells if cell for word in cell], TEXT)
    return pa.Array.from_buffers(LISTS, len(cells), [None, pa.py_buffer(_ends(cells))], children=[words])


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
    return _numbered(array("i", found), list(numbers))


def _numbered(numbers: array[int], words: list[str]) -> pa.Array:
    buffers = [None, pa.py_buffer(numbers)]
    return pa.DictionaryArray.from_buffers(WORD, len(numbers), buffers, _texts(words))


class _Ruled:
    """The columns that say the same for all links under one rule."""

    def __init__(self, columns: Columns) -> None:
        numbers: dict[tuple[str, ...], int] = {}
        found: list[int] = []
        last: tuple[str, ...] | None = None
        number = 0
        for ruled in columns.ruled:
            if ruled is not last:
                number = numbers.setdefault(ruled, len(numbers))
                last = ruled
            found.append(number)
        self._found = found
        self._ruled = list(numbers)

    def words(self, name: str) -> pa.Array:
        """One of them; its words stand in the order in which each came first."""
        place = RULED.index(name)
        numbers: dict[str, int] = {}
        of = [numbers.setdefault(ruled[place], len(numbers)) for ruled in self._ruled]
        if len(numbers) == 1:
            return _numbered(array("i", bytes(4 * len(self._found))), list(numbers))
        return _numbered(array("i", [of[number] for number in self._found]), list(numbers))


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
