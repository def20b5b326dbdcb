"""Hand column buffers to a reader of Arrow through its C data interface, without a package of Arrow.

In: fields, and batches of arrays in Arrow's memory layout. Out: an object with `__arrow_c_stream__`, which DuckDB,
pyarrow and polars read in place. https://arrow.apache.org/docs/format/CDataInterface.html
"""

from __future__ import annotations

import ctypes
from ctypes import CFUNCTYPE, POINTER, Structure, c_char_p, c_int, c_int64, c_void_p, pythonapi
from errno import ENOMEM
from itertools import count
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from absolve.core.column_buffers import IntColumn, TextColumn

    # Number of rows, buffers, child arrays, and the values of a dictionary.
    Array = tuple[int, tuple["IntColumn | TextColumn | bytes | None", ...], tuple["Array", ...], "Array | None"]

# Kinds of columns are the format strings of the interface.
TEXT: Final = "u"
NUMBER: Final = "l"  # of 64 bits
DOUBLE: Final = "g"
BOOL: Final = "b"
LISTS: Final = "+l"  # of texts
WORD: Final = "i"  # numbers of 32 bits in a dictionary of texts, for columns with few distinct values
_ROWS: Final = "+s"
_NULLABLE: Final = 2
_NAME: Final = b"arrow_array_stream"  # of the capsule, which keeps a pointer to it


class Field(NamedTuple):
    """A column: its name, its kind, and whether a cell may be missing."""

    name: str
    kind: str
    nullable: bool = True


class Stream:
    """Batches of rows with the same fields, for a reader: many times, but not longer than this object lives."""

    def __init__(self, fields: Sequence[Field], batches: Iterable[Sequence[Array]]) -> None:
        self.fields = fields
        self.batches = list(batches)
        self._read: list[int] = []

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Return a capsule with a stream; a reader that wants other types has to convert them."""
        stream = _Stream(_GET_SCHEMA, _GET_NEXT, _GET_LAST_ERROR, _RELEASE_STREAM)
        stream.private_data = _hold((self.fields, iter(self.batches), stream))
        self._read.append(stream.private_data)
        return _new_capsule(ctypes.addressof(stream), _NAME, None)

    def __del__(self) -> None:
        """Forget the streams that were not released: the capsule has no function that does it."""
        for key in self._read:
            _held.pop(key, None)


# --- the structures, which readers copy -------------------------------------------------------------------------------


class _Schema(Structure):
    pass


class _Array(Structure):
    pass


class _Stream(Structure):
    _fields_ = [(name, c_void_p) for name in ("get_schema", "get_next", "get_last_error", "release", "private_data")]


_Schema._fields_ = [
    *((name, c_char_p) for name in ("format", "name", "metadata")),
    *((name, c_int64) for name in ("flags", "n_children")),
    ("children", POINTER(POINTER(_Schema))),
    ("dictionary", POINTER(_Schema)),
    *((name, c_void_p) for name in ("release", "private_data")),
]
_Array._fields_ = [
    *((name, c_int64) for name in ("length", "null_count", "offset", "n_buffers", "n_children")),
    ("buffers", POINTER(c_char_p)),
    ("children", POINTER(POINTER(_Array))),
    ("dictionary", POINTER(_Array)),
    *((name, c_void_p) for name in ("release", "private_data")),
]

_held: dict[int, Any] = {}  # the memory that a structure points to, until it is released
_keys = count(1)


def _hold(things: Any) -> int:
    key = next(_keys)
    _held[key] = things
    return key


def _pointers(kind: type[Structure], structures: Sequence[Structure]) -> Any:
    """Return an array of pointers to structures, which it keeps alive."""
    return (POINTER(kind) * len(structures))(*map(ctypes.pointer, structures))


def _describe(schema: _Schema, field: Field, fields: Sequence[Field] = ()) -> _Schema:
    """Fill the structure of a field with these fields inside."""
    kind, name = field.kind.encode(), field.name.encode()
    children = [_describe(_Schema(), inner) for inner in fields or [Field("item", TEXT)] * (field.kind == LISTS)]
    schema.format, schema.name, schema.flags = kind, name, _NULLABLE * field.nullable
    schema.n_children, schema.children = len(children), _pointers(_Schema, children)
    if field.kind == WORD:
        schema.dictionary = ctypes.pointer(_describe(_Schema(), Field("", TEXT)))
    schema.private_data = _hold((kind, name, schema.children, schema.dictionary))
    schema.release = _RELEASE_SCHEMA
    return schema


def _point(found: _Array, array: Array) -> _Array:
    """Fill the structure of an array; its buffers are copied once."""
    size, columns, inner, words = array
    raw = [buffer if buffer is None or isinstance(buffer, bytes) else buffer.raw() for buffer in columns]
    buffers = (c_char_p * len(raw))(*raw)
    children = [_point(_Array(), child) for child in inner]
    found.length, found.null_count, found.n_buffers = size, -1 if columns[0] is not None else 0, len(raw)
    found.buffers, found.n_children = buffers, len(children)
    found.children = _pointers(_Array, children)
    if words is not None:
        found.dictionary = ctypes.pointer(_point(_Array(), words))
    found.private_data = _hold((raw, buffers, found.children, found.dictionary))
    found.release = _RELEASE_ARRAY
    return found


def _clear(structure: Any) -> None:
    """Fill a reader's structure with zeros: its memory may have had other contents."""
    ctypes.memset(structure, 0, ctypes.sizeof(structure.contents))


# --- the functions, which readers call --------------------------------------------------------------------------------


def _get_schema(stream: Any, schema: Any) -> int:
    fields, _, _ = _held[stream.contents.private_data]
    _clear(schema)
    _describe(schema.contents, Field("", _ROWS, nullable=False), fields)
    return 0


def _get_next(stream: Any, found: Any) -> int:
    """Fill a structure with the next batch; without a function to release it there is none."""
    _, batches, _ = _held[stream.contents.private_data]
    arrays = next(batches, None)
    _clear(found)
    if arrays is not None:
        try:
            _point(found.contents, (arrays[0][0], (None,), tuple(arrays), None))
        except MemoryError:
            return ENOMEM
    return 0


def _get_last_error(stream: Any) -> None:
    """Return no text: the number of the error is enough."""


def _release(structure: Any) -> None:
    """Forget the memory that a structure points to, and release the structures inside."""
    found = structure.contents
    inner = [found.children[at] for at in range(found.n_children)]
    for one in [*inner, *([found.dictionary] if found.dictionary else [])]:
        if one.contents.release:
            _release(one)
    found.release = None
    _held.pop(found.private_data, None)


def _release_stream(stream: Any) -> None:
    stream.contents.release = None
    _held.pop(stream.contents.private_data, None)


_new_capsule = ctypes.PYFUNCTYPE(ctypes.py_object, c_void_p, c_char_p, c_void_p)(("PyCapsule_New", pythonapi))
_functions = (
    CFUNCTYPE(c_int, POINTER(_Stream), POINTER(_Schema))(_get_schema),
    CFUNCTYPE(c_int, POINTER(_Stream), POINTER(_Array))(_get_next),
    CFUNCTYPE(c_void_p, POINTER(_Stream))(_get_last_error),
    CFUNCTYPE(None, POINTER(_Stream))(_release_stream),
    CFUNCTYPE(None, POINTER(_Schema))(_release),
    CFUNCTYPE(None, POINTER(_Array))(_release),
)
_GET_SCHEMA, _GET_NEXT, _GET_LAST_ERROR, _RELEASE_STREAM, _RELEASE_SCHEMA, _RELEASE_ARRAY = (
    ctypes.cast(function, c_void_p).value for function in _functions
)
