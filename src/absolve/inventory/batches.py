"""Rows of the inventory as batches of columns in Arrow's memory layout, without a package of Arrow.

In: rows, or `Columns` of the inventory. Out: batches, and streams of them for DuckDB.
"""

from __future__ import annotations

from array import array
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from absolve.core.arrow_stream import BOOL, DOUBLE, LISTS, NUMBER, TEXT, WORD, Field, Stream
from absolve.core.column_buffers import DictColumn, IntColumn, TextColumn
from absolve.document.resolved import shown
from absolve.inventory.columns import RULED, Columns

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from absolve.core.arrow_stream import Array

KINDS: Final = {
    **dict.fromkeys(("line", "column", "start", "end", "status", "size", "links", "count"), NUMBER),
    **dict.fromkeys(("file_start", "file_end"), NUMBER),
    **dict.fromkeys(("text", "reference", "target", "url", "date", "digest", "title", "canonical"), TEXT),
    **dict.fromkeys(("host", "hreflang"), TEXT),
    **dict.fromkeys(("problems", "anchors", "alternates"), LISTS),
}
NULLABLE: Final = frozenset(
    "target url url_source status date media_type charset size digest title lang canonical robots"
    " host hreflang file_start file_end".split()
)
_PLACES: Final = {name: place for place, name in enumerate(RULED)}
MOST_BYTES: Final = 64 << 20  # bytes of a batch or a gathered table: 100,000 rows take half of it
_FEW: Final = 4096  # rows: smaller `Columns` are joined before they become a batch; arrow takes longer to join batches
_LITTLE: Final = 1 << 20  # the same in bytes


class Batch(NamedTuple):
    """Rows: their fields, with an array for each."""

    fields: tuple[Field, ...]
    arrays: list[Array]

    def weight(self) -> int:
        """Return an estimate of the memory of the rows, in bytes."""
        return sum(map(_weight, self.arrays))


def _weight(array: Array) -> int:
    size, buffers, children, words = array
    texts = sum(len(buffer.raw()) for buffer in buffers if isinstance(buffer, TextColumn))
    return 8 * size + texts + sum(map(_weight, children)) + (_weight(words) if words is not None else 0)


@lru_cache(maxsize=64)
def fields(columns: tuple[str, ...]) -> tuple[Field, ...]:
    """Return the fields of these columns of the table of links, where only `target` may be null, or of documents."""
    return tuple(Field(name, KINDS.get(name, WORD), name in NULLABLE) for name in columns)


def batch(columns: Sequence[str], rows: Iterable[Sequence[Any]] | Columns) -> Batch:
    """Return rows with a value for each of these columns, or `Columns` of the inventory, as one batch."""
    if not isinstance(rows, Columns):
        return typed(fields(tuple(columns)), rows)
    ruled = rows.ruled
    arrays = [_ruled(ruled, name) if name in _PLACES else _column(rows, name) for name in columns]
    return Batch(fields(tuple(columns)), arrays)


def typed(fields: Sequence[Field], rows: Iterable[Sequence[Any]]) -> Batch:
    """Return rows with a value or None for each field as one batch. Raise TypeError for a value of another type."""
    values = list(zip(*rows, strict=True)) or [()] * len(fields)
    return Batch(tuple(fields), [_array(field.kind, cells) for field, cells in zip(fields, values, strict=True)])


def stream(batches: Sequence[Batch]) -> Stream:
    """Return batches with the same fields, of which there is one at least, for a reader of Arrow."""
    return Stream(batches[0].fields, [one.arrays for one in batches])


def _column(rows: Columns, name: str) -> Array:
    """Return the array of a column of the inventory that is not shared by the links of one context."""
    if name in rows.more:
        return _array(KINDS[name], rows.more[name])
    return _cells(name, getattr(rows, name))


def _array(kind: str, cells: Sequence[Any]) -> Array:
    present = _bitmap([cell is not None for cell in cells]) if None in cells else None
    size = len(cells)
    if kind == TEXT:
        return _cells("text", _texts([None if cell is None else _text(cell) for cell in cells]))
    if kind == BOOL:
        return size, (present, _bitmap(cells)), (), None
    if kind == DOUBLE:
        return size, (present, array("d", [cell or 0 for cell in cells]).tobytes()), (), None
    if kind == NUMBER:
        numbers = IntColumn()
        for cell in cells:
            numbers.add(0 if cell is None else cell)
        return size, (present, numbers), (), None
    words = DictColumn()
    if kind == LISTS:
        for cell in cells:
            words.add(tuple(map(_text, cell or ())))
        return size, (present, words.ends()), (_cells("text", _texts(words.items())),), None
    for cell in cells:
        words.add("" if cell is None else _text(cell))
    return size, (present, words.numbers), (), _cells("text", _texts(words.words))


def _bitmap(bits: Sequence[Any]) -> bytes:
    """Return a bitmap of Arrow: the least significant bit first."""
    found = bytearray(len(bits) + 7 >> 3)
    for place, bit in enumerate(bits):
        if bit:
            found[place >> 3] |= 1 << (place & 7)
    return bytes(found)


def _text(cell: Any) -> str:
    if not isinstance(cell, str):
        raise TypeError(f"a cell of a text column is {type(cell).__name__}")
    return str(cell)  # a Layer is a str of its own class


def _texts(cells: Iterable[str | None]) -> TextColumn:
    texts = TextColumn()
    for cell in cells:
        texts.add(shown(cell).encode() if cell is not None else None)
    return texts


def _cells(name: str, cells: IntColumn | TextColumn | DictColumn) -> Array:
    """Return the array of one column."""
    if isinstance(cells, IntColumn):
        return len(cells), (None, cells), (), None
    if isinstance(cells, TextColumn):
        texts: TextColumn = cells
        return len(texts), (texts.present(), texts.ends, texts), (), None
    words: DictColumn = cells
    if name not in KINDS:
        return _numbered(words.numbers, words.words)
    return len(words), (None, words.ends()), (_cells("text", _texts(words.items())),), None


def _numbered(numbers: IntColumn, words: list[str]) -> Array:
    return len(numbers), (None, numbers), (), _cells("text", _texts(words))


def _ruled(rows: DictColumn, name: str) -> Array:
    """Return a column whose value is shared by all links of one context; its values are in order of appearance."""
    place = _PLACES[name]
    numbers: dict[str, int] = {}
    of = IntColumn(narrow=True)
    for ruled in rows.words:
        of.add(numbers.setdefault(ruled[place], len(numbers)))
    return _numbered(rows.numbers.mapped(of), list(numbers))


def joined(chunks: Iterable[Any], names: tuple[str, ...]) -> Iterator[Any]:
    """Yield the chunks in order, `Columns` of few rows together."""
    waiting = Columns(columns=names)
    for chunk in chunks:
        is_small = isinstance(chunk, Columns) and len(chunk) < _FEW and chunk.weight() < _LITTLE
        if is_small:
            waiting.extend(chunk)
        if len(waiting) and (not is_small or len(waiting) >= _FEW or waiting.weight() >= _LITTLE):
            yield waiting
            waiting = Columns(columns=names)
        if not is_small:
            yield chunk
    if len(waiting):
        yield waiting
