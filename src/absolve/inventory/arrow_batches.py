"""Build Arrow record batches of the inventory, column by column.

In: rows, or `Columns` of the inventory. Out: record batches and tables with the types of `schema`. Compiled, buffers
are passed to pyarrow by Arrow's C data interface (`arrow_c.pxd`); interpreted, as buffers of Python.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from absolve.core.errors import MissingPackageError
from absolve.inventory.columns import COLUMNS, RULED

try:
    import pyarrow as pa
except ImportError as error:
    raise MissingPackageError("this needs pyarrow: pip install 'absolve[parquet]'") from error

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import cython

    # Number of rows, buffers, child arrays, and the values of a dictionary.
    Array = tuple[int, tuple["IntColumn | TextColumn | bytes | None", ...], tuple["Array", ...], "Array | None"]
else:
    from absolve.core import _cython as cython

if cython.compiled:
    from cython.cimports.absolve.core.column_buffers import DictColumn, IntColumn, TextColumn
    from cython.cimports.absolve.document.resolved import shown
    from cython.cimports.absolve.inventory.arrow_c import handed_over
    from cython.cimports.absolve.inventory.columns import Columns
else:
    from absolve.core.column_buffers import DictColumn, IntColumn, TextColumn
    from absolve.document.resolved import shown
    from absolve.inventory.columns import Columns

TEXT: Final = pa.string()
NUMBER: Final = pa.int64()
LISTS: Final = pa.list_(TEXT)
WORD: Final = pa.dictionary(pa.int32(), pa.string())  # for columns with few distinct values
TYPES: Final = {
    **dict.fromkeys(("line", "column", "start", "end", "status", "size", "links", "count"), NUMBER),
    **dict.fromkeys(("text", "reference", "target", "url", "date", "digest", "title", "canonical"), TEXT),
    **dict.fromkeys(("problems", "anchors", "alternates"), LISTS),
}
NULLABLE: Final = frozenset(
    "target url url_source status date media_type charset size digest title lang canonical robots".split()
)
_OF_LINKS: Final = frozenset(COLUMNS)
_PLACES: Final = {name: place for place, name in enumerate(RULED)}
MOST_BYTES: Final = 64 << 20  # bytes of a batch or a gathered table: 100,000 rows take half of it
_JOINED: Final = 256  # batches that are joined: those of small documents take more memory than their rows


def schema(columns: Sequence[str] = COLUMNS) -> pa.Schema:
    """Return the schema of these columns of the table of links, where only `target` may be null, or of documents."""
    return _schema(tuple(columns))


@lru_cache(maxsize=64)
def _schema(columns: tuple[str, ...]) -> pa.Schema:
    return pa.schema([pa.field(name, TYPES.get(name, WORD), nullable=name in NULLABLE) for name in columns])


def batch(columns: Sequence[str], rows: Iterable[Sequence[Any]] | Columns) -> pa.RecordBatch:
    """Return rows with a value for each of these columns, or `Columns` of the inventory, as one record batch."""
    fields = schema(columns)
    if not (isinstance(rows, Columns) or _OF_LINKS.issuperset(columns)):
        return _of_documents(fields, rows)
    if isinstance(rows, Columns):
        ruled = rows.ruled
        arrays = [_ruled(ruled, name) if name in _PLACES else _cells(name, getattr(rows, name)) for name in columns]
    else:
        values = list(zip(*rows, strict=True)) or [()] * len(columns)
        arrays = [_cells(name, _column(name, cells)) for name, cells in zip(columns, values, strict=True)]
    if cython.compiled:  # in one call; creating two arrays by pyarrow takes as long
        rows_of_it = arrays[0][0] if arrays else 0
        return pa.RecordBatch._import_from_c(handed_over((rows_of_it, (None,), tuple(arrays), None)), fields)  # noqa: SLF001 - documented by pyarrow
    return pa.RecordBatch.from_arrays(
        [_made(field.type, array) for field, array in zip(fields, arrays, strict=True)], schema=fields
    )


def _of_documents(fields: pa.Schema, rows: Iterable[Sequence[Any]]) -> pa.RecordBatch:
    """Return rows of the table of documents, where there are fewer than links, by way of pyarrow."""
    values = list(zip(*rows, strict=True)) or [()] * len(fields)
    arrays = []
    for field, cells in zip(fields, values, strict=True):
        is_word = field.type == WORD
        array = pa.array(list(map(_valid, cells)), TEXT if is_word else field.type)
        arrays.append(array.dictionary_encode() if is_word else array)
    return pa.RecordBatch.from_arrays(arrays, schema=fields)


def _valid(cell: Any) -> Any:
    """Return a cell without lone surrogates."""
    if isinstance(cell, str):
        return shown(str(cell))  # a Layer is a str of its own class
    return [shown(item) for item in cell] if isinstance(cell, (list, tuple)) else cell


def _made(kind: pa.DataType, array: Array) -> pa.Array:
    size, raw, children, dictionary = array
    buffers = [_raw(buffer) if buffer is not None else None for buffer in raw]
    if dictionary is not None:
        return pa.DictionaryArray.from_buffers(kind, size, buffers, _made(TEXT, dictionary))
    return pa.Array.from_buffers(kind, size, buffers, children=[_made(TEXT, child) for child in children])


def _column(name: str, cells: Sequence[Any]) -> IntColumn | TextColumn | DictColumn:
    """Return cells as a column of the inventory."""
    kind = TYPES.get(name, WORD)
    if kind is NUMBER:
        numbers = IntColumn()
        for cell in cells:
            numbers.add(cell)
        return numbers
    if kind is TEXT:
        return _texts(cells)
    words = DictColumn()
    for cell in cells:
        words.add(tuple(cell) if kind is LISTS else str(cell))  # a Layer is a str of its own class
    return words


@cython.cfunc
def _texts(cells: Iterable[str | None]) -> TextColumn:
    texts = TextColumn()
    for cell in cells:
        texts.add(shown(cell).encode() if cell is not None else None)
    return texts


def _raw(buffer: IntColumn | TextColumn | bytes) -> pa.Buffer:
    return pa.py_buffer(buffer if isinstance(buffer, bytes) else buffer.raw())


@cython.cfunc
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


@cython.cfunc
def _numbered(numbers: IntColumn, words: list[str]) -> Array:
    return len(numbers), (None, numbers), (), _cells("text", _texts(words))


@cython.cfunc
def _ruled(rows: DictColumn, name: str) -> Array:
    """Return a column whose value is shared by all links of one context; its values are in order of appearance."""
    place: cython.int = _PLACES[name]
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
    for chunk in chunks:
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
