"""A forward read buffer over a file: look ahead by any number of bytes, then consume them.

In: a binary file or bytes. Out: slices of bytes, and the current byte offset in the file.
"""

from __future__ import annotations

import io
from functools import cache
from typing import IO, TYPE_CHECKING, Final

from absolve.core.byte_scan import cut

if TYPE_CHECKING:
    import cython


CHUNK: Final = 1 << 16  # bytes per read: they fit in a processor cache
_CHUNK = CHUNK
_KEPT: Final = 4 << 20  # bytes
_LARGE = 1 << 20  # bytes of a record from which on it is not held twice


@cache
def _keep_memory() -> None:
    """Make glibc keep freed memory, by freeing one large block.

    glibc adapts to the largest block that it returned to the system, and keeps up to twice its size. Else the memory of
    each large record would be mapped from the system page by page.
    """
    bytes(_KEPT)


class Window:
    """The buffer: `_held` begins `_before` bytes into the file, and `_at` is the current offset into `_held`.

    Each read is of `CHUNK` bytes or more. A file given as bytes is used as the buffer, without a copy.
    """

    def __init__(self, file: IO[bytes] | bytes, start: int) -> None:
        self._is_whole = isinstance(file, bytes)
        self._file = io.BytesIO() if isinstance(file, bytes) else file
        self._held = file if isinstance(file, bytes) else b""
        self._at = 0
        self._before = start
        _keep_memory()

    def _offset(self) -> cython.Py_ssize_t:
        """Return the current byte offset in the file."""
        return self._before + self._at

    def _has(self, size: cython.Py_ssize_t) -> cython.bint:
        """Return whether `size` more bytes are available; if so, they are in the buffer."""
        if self._at + size > len(self._held):
            self._read(size)
        return len(self._held) - self._at >= size

    def _read(self, size: cython.Py_ssize_t) -> cython.int:
        # Read at least as much as is held already: each byte is then copied twice at most, for a member of any size.
        missing: cython.Py_ssize_t = self._at + size - len(self._held)
        wanted: cython.Py_ssize_t = max(missing, _CHUNK, len(self._held) - self._at)
        more: bytes = self._file.read(wanted)
        if not more:  # end of the file: no copy
            return 0
        self._held = self._held[self._at :] + more
        self._before += self._at
        self._at = 0
        while more and len(self._held) < size:  # a pipe may return fewer bytes
            more = self._file.read(max(size - len(self._held), _CHUNK))
            self._held += more
        return 0

    def _taken(self, size: cython.Py_ssize_t) -> bytes:
        """Return the next `size` bytes, or all that are in the buffer, and advance past them."""
        held = self._held
        start: cython.Py_ssize_t = self._at
        end: cython.Py_ssize_t = min(start + size, len(held))
        found = cut(held, start, end) if end - start < len(held) else held
        self._at = end
        if end - start >= _LARGE and not self._is_whole:  # do not hold a large record twice while it is processed
            self._held = cut(held, end, len(held))
            self._before += end
            self._at = 0
        return found
