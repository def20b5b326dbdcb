"""Build Arrow record batches of the inventory, column by column.

In: rows, or `Columns` of the inventory. Out: record batches and tables with the types of `schema`.
"""

from __future__ import annotations

from array import array
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from absolve.core.column_buffers import DictColumn, IntColumn, TextColumn
from absolve.core.errors import MissingPackageError
from absolve.document.resolved import shown
from absolve.inventory.columns import COLUMNS, RULED, Columns

try:
    import pyarrow as pa
except ImportError as error:
    raise MissingPackageError("this needs pyarrow: pip install 'absolve[parquet]'") from error

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    # Number of rows, buffers, child arrays, and the values of a dictionary.
    Array = tuple[int, tuple["IntColumn | TextColumn | bytes | None", ...], tuple["Array", ...], "Array | None"]


TEXT: Final = pa.string()
NUMBER: Final = pa.int64()
LISTS: Final = pa.list_(TEXT)
WORD: Final = pa.dictionary(pa.int32(), pa.string())  # for columns with few distinct values
TYPES: Final = {
    **dict.fromkeys(("line", "column", "start", "end", "status", "size", "links", "count"), NUMBER),
    **dict.fromkeys(("file_start", "file_end"), NUMBER),
    **dict.fromkeys(("text", "reference", "target", "url", "date", "digest", "title", "canonical"), TEXT),
    **dict.fromkeys(("path", "hreflang", "media"), TEXT),
    **dict.fromkeys(("problems", "anchors", "alternates"), LISTS),
}
NULLABLE: Final = frozenset(
    "target url url_source status date media_type charset size digest title lang canonical robots"
    " path hreflang media file_start file_end".split()
)
_PLACES: Final = {name: place for place, name in enumerate(RULED)}
MOST_BYTES: Final = 64 << 20  # bytes of a batch or a gathered table: 100,000 rows take half of it
_JOINED: Final = 256  # batches that are joined: those of small documents take more memory than their rows
_FEW: Final = 4096  # rows: smaller `Columns` are joined before they become a batch; arrow takes longer to join batches
_LITTLE: Final = 1 << 20  # the same in bytes


def schema(columns: Sequence[str] = COLUMNS) -> pa.Schema:
    """Return the schema of these columns of the table of links, where only `target` may be null, or of documents."""
    return _schema(tuple(columns))


@lru_cache(maxsize=64)
def _schema(columns: tuple[str, ...]) -> pa.Schema:
    return pa.schema([pa.field(name, TYPES.get(name, WORD), nullable=name in NULLABLE) for name in columns])


def batch(columns: Sequence[str], rows: Iterable[Sequence[Any]] | Columns) -> pa.RecordBatch:
    """Return rows with a value for each of these columns, or `Columns` of the inventory, as one record batch."""
    fields = schema(columns)
    if not isinstance(rows, Columns):
        return typed(fields, rows)
    ruled = rows.ruled
    return _batch(
        fields, [_ruled(ruled, name) if name in _PLACES else _column(rows, name) for name in columns]
    )


def _column(rows: Columns, name: str) -> Array:
    """Return the array of a column of the inventory that is not shared by the links of one context."""
    if name in rows.more:
        return _array(TYPES[name], rows.more[name])
    return _cells(name, getattr(rows, name))


def typed(fields: pa.Schema, rows: Iterable[Sequence[Any]]) -> pa.RecordBatch:
    """Return rows with a value or None for each field as one record batch. Raise TypeError for a value of another type.

    The types are those of this module, double and bool. `pyarrow.array` does the same, but imports pandas.
    """
    values = list(zip(*rows, strict=True)) or [()] * len(fields)
    return _batch(fields, [_array(field.type, cells) for field, cells in zip(fields, values, strict=True)])


def _batch(fields: pa.Schema, arrays: list[Array]) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays(
        [_made(field.type, node) for field, node in zip(fields, arrays, strict=True)], schema=fields
    )


def _made(kind: pa.DataType, node: Array) -> pa.Array:
    size, raw, children, dictionary = node
    buffers = [_raw(buffer) if buffer is not None else None for buffer in raw]
    if dictionary is not None:
        return pa.DictionaryArray.from_buffers(kind, size, buffers, _made(TEXT, dictionary))
    return pa.Array.from_buffers(kind, size, buffers, children=[_made(TEXT, child) for child in children])


def _array(kind: pa.DataType, cells: Sequence[Any]) -> Array:
    present = _bitmap([cell is not None for cell in cells]) if None in cells else None
    size = len(cells)
    if kind == TEXT:
        return _cells("text", _texts([None if cell is None else _text(cell) for cell in cells]))
    if kind == pa.bool_():
        return size, (present, _bitmap(cells)), (), None
    if kind == pa.float64():
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


def _raw(buffer: IntColumn | TextColumn | bytes) -> pa.Buffer:
    return pa.py_buffer(buffer if isinstance(buffer, bytes) else buffer.raw())


def _cells(name: str, cells: IntColumn | TextColumn | DictColumn) -> Array:
    """Return the array of one column."""
    if isinstance(cells, IntColumn):
        return len(cells), (None, cells), (), None
    if isinstance(cells, TextColumn):
        texts: TextColumn = cells
        return len(texts), (texts.present(), texts.ends, texts), (), None
    words: DictColumn = cells
    if name not in TYPES:
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


def gathered(chunks: Iterable[pa.RecordBatch | Columns], schema: pa.Schema, rows: int) -> Iterator[pa.Table]:
    """Yield batches, and `Columns` of the inventory, as tables of at least `rows` rows, except for the last.

    A table of large rows has fewer: it is closed at MOST_BYTES.
    """
    waiting: list[pa.RecordBatch] = []
    small = number = size = 0  # batches at the end that are not joined yet; rows and bytes of all batches
    for chunk in _joined(chunks, tuple(schema.names)):
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


def _joined(
    chunks: Iterable[pa.RecordBatch | Columns], names: tuple[str, ...]
) -> Iterator[pa.RecordBatch | Columns]:
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
