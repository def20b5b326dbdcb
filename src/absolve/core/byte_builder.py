"""ByteBuilder: build one `bytes` object by appending spans, without a copy at the end.

In: spans of `bytes` objects. Out: `bytes`. Compiled, the spans are written directly into the object returned;
interpreted, they are kept in a list and joined.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    import cython

    from absolve.core.model import Edit
else:
    from absolve.core import _cython as cython

if cython.compiled:
    from cython.cimports.absolve.core.byte_builder import (
        Py_CLEAR,
        PyBytes_AS_STRING,
        PyBytes_FromStringAndSize,
        _PyBytes_Resize,
    )
    from cython.cimports.libc.string import memcpy


class ByteBuilder:
    """An append-only byte buffer; `about` is the expected size in bytes, `size` the present one.

    Compiled, the buffer is the `bytes` object that `finish` returns.
    """

    def __init__(self, about: cython.Py_ssize_t = 0) -> None:
        self.size = 0
        if cython.compiled:
            self._room = about
            self._made: Any = cython.NULL
        else:
            self._pieces: list[bytes] = []

    def __dealloc__(self) -> None:
        if cython.compiled:
            Py_CLEAR(self._made)

    def add(self, data: bytes, start: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.int:
        """Append `data[start:end]`; the span must be inside the data."""
        if cython.compiled:
            memcpy(self.more(end - start), cython.cast(cython.p_const_uchar, data) + start, end - start)
        else:
            self._pieces.append(data[start:end])
            self.size += end - start
        return 0

    def splice(
        self, data: bytes, start: cython.Py_ssize_t, edits: Sequence[Edit], size: cython.Py_ssize_t
    ) -> cython.int:
        """Append `data` from `start` to the end of the last edit with the edits applied: `size` bytes in all.

        The edits must be in order and inside the data, without overlaps.
        """
        edit: Edit
        if cython.compiled:
            old: cython.p_const_uchar = data
            made = self.more(size)
            for edit in edits:
                memcpy(made, old + start, edit.start - start)
                made += edit.start - start
                memcpy(made, cython.cast(cython.p_const_uchar, edit.new), len(edit.new))
                made += len(edit.new)
                start = edit.end
        else:
            for edit in edits:
                self._pieces += (data[start : edit.start], edit.new)
                start = edit.end
            self.size += size
        return 0

    def more(self, size: cython.Py_ssize_t) -> cython.p_uchar:
        """Extend the buffer by `size` bytes and return a pointer to them, for the caller to write; compiled only."""
        if cython.compiled:
            if self._made == cython.NULL:
                self._room = max(size, self._room)
                self._made = PyBytes_FromStringAndSize(cython.NULL, self._room)
            elif self.size + size > self._room:
                self._room = self.size + size + (self._room >> 3)
                _PyBytes_Resize(cython.address(self._made), self._room)
            self.size += size
            return cython.cast(cython.p_uchar, PyBytes_AS_STRING(self._made)) + self.size - size
        raise NotImplementedError

    def finish(self) -> bytes:
        """Return all bytes; the builder must not be used again."""
        if cython.compiled:
            if self._made == cython.NULL:
                return b""
            _PyBytes_Resize(cython.address(self._made), self.size)
            made = cython.cast(bytes, self._made)
            Py_CLEAR(self._made)
            return made
        return b"".join(self._pieces)


def in_lines(text: bytes, width: cython.Py_ssize_t, line_end: bytes) -> bytes:
    """Return a text with a line end behind every `width` bytes, but not at its own end."""
    size: cython.Py_ssize_t = len(text)
    start: cython.Py_ssize_t
    made: ByteBuilder = ByteBuilder(size + size // width * len(line_end))
    for start in range(0, size, width):
        if start:
            made.add(line_end, 0, len(line_end))
        made.add(text, start, min(start + width, size))
    return made.finish()
