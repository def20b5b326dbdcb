"""Rows of the inventory as batches of columns in Arrow's memory layout, without a package of Arrow.

In: rows, or `Columns` of the inventory. Out: batches, and streams of them for DuckDB.
"""

from __future__ import annotations

from array import array
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from absolve.core.arrow_stream import BOOL, DOUBLE, LISTS, NUMBER, TEXT, WORD, Field, Stream
from absolve.core.column_buffers import DictColumn, IntColumn, TextColumn, encoded
from absolve.document.resolved import shown
from absolve.inventory.columns import Columns

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
    """Return the fields for columns of links, where only `target` may be null, or of documents."""
    return tuple(Field(name, KINDS.get(name, WORD), name in NULLABLE) for name in columns)


def batch(columns: Sequence[str], rows: Iterable[Sequence[Any]] | Columns) -> Batch:
    """Return rows with a value for each of these columns, or `Columns` of the inventory, as one batch."""
    if not isinstance(rows, Columns):
        return typed(fields(tuple(columns)), rows)
    more = rows.more
    arrays = [_array(KINDS[name], more[name]) if name in more else rows.array(name, shown) for name in columns]
    return Batch(fields(tuple(columns)), arrays)


def typed(fields: Sequence[Field], rows: Iterable[Sequence[Any]]) -> Batch:
    """Return rows with a value or None for each field as one batch. Raise TypeError for a value of another type."""
    values = list(zip(*rows, strict=True)) or [()] * len(fields)
    return Batch(tuple(fields), [_array(field.kind, cells) for field, cells in zip(fields, values, strict=True)])


def stream(batches: Sequence[Batch]) -> Stream:
    """Return a stream of batches with the same fields, at least one, for a reader of Arrow."""
    return Stream(batches[0].fields, [one.arrays for one in batches])


def _array(kind: str, cells: Sequence[Any]) -> Array:
    present = _bitmap([cell is not None for cell in cells]) if None in cells else None
    size = len(cells)
    if kind == TEXT:
        return encoded([None if cell is None else _text(cell) for cell in cells], shown).array()
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
        return words.lists(shown, present)
    for cell in cells:
        words.add("" if cell is None else _text(cell))
    return words.array(shown, present)


def _bitmap(bits: Sequence[Any]) -> bytes:
    """Return a bitmap of Arrow, least significant bit first: for example, True, False, True give 5."""
    found = bytearray(len(bits) + 7 >> 3)
    for place, bit in enumerate(bits):
        if bit:
            found[place >> 3] |= 1 << (place & 7)
    return bytes(found)


def _text(cell: Any) -> str:
    if not isinstance(cell, str):
        raise TypeError(f"a cell of a text column is {type(cell).__name__}")
    return str(cell)  # a Layer is a str of its own class


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
