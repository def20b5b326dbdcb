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
_JOINED: Final = 256  # batches that become one: those of small documents take more memory than their rows


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
        arrays = [_array(list(cells), TYPES.get(name, WORD)) for cells, name in zip(values, columns, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=fields)


def _array(cells: list[Any], kind: pa.DataType) -> pa.Array:
    if kind is WORD:
        return _words(cells)
    if kind is TEXT:
        return _texts(cells)
    if kind is NUMBER:
        return pa.Array.from_buffers(NUMBER, len(cells), [None, _long(cells)])
    return _lists(cells)


def _long(numbers: list[int]) -> pa.Buffer:
    """Numbers of 64 bits; an array would read each as if it were an argument."""
    if cython.compiled:
        room = bytearray(8 * len(numbers))
        raw: cython.p_uchar = room  # type: ignore[assignment]  # C's
        p: cython.p_longlong = cython.cast(cython.p_longlong, raw)
        at: cython.Py_ssize_t
        for at in range(len(numbers)):
            p[at] = numbers[at]
        return pa.py_buffer(room)
    return pa.py_buffer(array("q", numbers))


def _short(numbers: list[int]) -> pa.Buffer:
    """Numbers of 32 bits."""
    if cython.compiled:
        room = bytearray(4 * len(numbers))
        raw: cython.p_uchar = room  # type: ignore[assignment]  # likewise
        p: cython.p_int = cython.cast(cython.p_int, raw)
        at: cython.Py_ssize_t
        for at in range(len(numbers)):
            p[at] = numbers[at]
        return pa.py_buffer(room)
    return pa.py_buffer(array("i", numbers))


def _texts(cells: list[Any]) -> pa.Array:
    """Their UTF-8 one behind the other, and where each ends."""
    present = None
    if _any_none(cells):
        present = _bits(cells)
        cells = [cell or "" for cell in cells]
    joined = "".join(cells)
    try:
        data = joined.encode()
    except UnicodeEncodeError:
        return _texts([shown(cell) if cell is not None else None for cell in cells])
    if len(data) >= 1 << 31:
        raise OverflowError("text of 2 GB and more at once")
    ends = _ends(cells) if len(data) == len(joined) else _ends([cell.encode() for cell in cells])
    return pa.Array.from_buffers(TEXT, len(cells), [present, ends, pa.py_buffer(data)])


def _any_none(cells: list[Any]) -> bool:
    for cell in cells:  # noqa: SIM110 - as a generator it would take longer, and `in` compares each
        if cell is None:
            return True
    return False


def _bits(cells: list[Any]) -> pa.Buffer:
    """A bit for each cell that is one, from the lowest of each byte on."""
    bits = bytearray(len(cells) + 7 >> 3)
    for place, cell in enumerate(cells):
        if cell is not None:
            bits[place >> 3] |= 1 << (place & 7)
    return pa.py_buffer(bytes(bits))


def _ends(cells: list[Any]) -> pa.Buffer:
    """Where each cell ends, of cells that stand one behind the other: the first number is where they begin."""
    end: cython.Py_ssize_t = 0
    found: list[int] = [0]
    for cell in cells:
        end += len(cell)
        found.append(end)
    return _short(found)


def _lists(cells: list[list[str]]) -> pa.Array:
    words = _texts([word for cell in cells if cell for word in cell])
    return pa.Array.from_buffers(LISTS, len(cells), [None, _ends(cells)], children=[words])


def _words(cells: list[str]) -> pa.Array:
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
    return _numbered(found, list(numbers))


def _numbered(numbers: list[int], words: list[str]) -> pa.Array:
    return pa.DictionaryArray.from_buffers(WORD, len(numbers), [None, _short(numbers)], _dictionary(tuple(words)))


@lru_cache(maxsize=256)
def _dictionary(words: tuple[str, ...]) -> pa.Array:
    return _texts(list(words))


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
        found = self._found
        return _numbered([of[number] for number in found] if len(numbers) > 1 else [0] * len(found), list(numbers))


def gathered(batches: Iterable[pa.RecordBatch], schema: pa.Schema, rows: int) -> Iterator[pa.Table]:
    """The batches as tables of at least so many rows, but for the last."""
    waiting: list[pa.RecordBatch] = []
    small = number = 0  # batches at the end that are not joined, rows of all
    for batch_ in batches:
        waiting.append(batch_)
        small += 1
        number += batch_.num_rows
        if number >= rows:
            yield pa.Table.from_batches(waiting, schema).unify_dictionaries()
            waiting, small, number = [], 0, 0
        elif small == _JOINED:
            whole = pa.Table.from_batches(waiting[-small:], schema).unify_dictionaries().combine_chunks()
            waiting[-small:] = whole.to_batches()
            small = 0
    if waiting:
        yield pa.Table.from_batches(waiting, schema).unify_dictionaries()
