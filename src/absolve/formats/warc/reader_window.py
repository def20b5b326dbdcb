"""A file read forward: the stretch of it that is held, and where in it one stands."""

from __future__ import annotations

import io
from functools import cache
from typing import IO, TYPE_CHECKING, Final

if TYPE_CHECKING:
    import cython
else:
    from absolve.core import _cython as cython

if cython.compiled:
    from cython.cimports.absolve.core.byte_scan import cut
else:
    from absolve.core.byte_scan import cut

CHUNK: Final = 1 << 16  # bytes that are read at once: a cache holds them
_CHUNK = cython.declare(cython.Py_ssize_t, CHUNK)
_KEPT: Final = 4 << 20
_LARGE = cython.declare(cython.Py_ssize_t, 1 << 20)  # bytes of a record


@cache
def _keep_memory() -> None:
    """Let glibc keep what records free: it keeps twice as much as the largest block was that it gave to the system.

    Else the memory of each large record comes from the system anew, page by page.
    """
    bytes(_KEPT)


@cython.cclass
class Window:
    """What is held of a file: `_held` begins `_before` bytes into it, and `_at` is where one stands in that.

    `_chunk` bytes are read at once, where the file has them, or more. What is given as bytes is held as it is.
    """

    def __init__(self, file: IO[bytes] | bytes, start: int) -> None:
        self._is_whole = isinstance(file, bytes)
        self._file = io.BytesIO() if isinstance(file, bytes) else file
        self._held = file if isinstance(file, bytes) else b""
        self._at = 0
        self._before = start
        self._chunk = _CHUNK
        self._error: Exception | None = None
        _keep_memory()

    @cython.cfunc
    @cython.exceptval(check=False)
    def _offset(self) -> cython.Py_ssize_t:
        """Where one stands in the file."""
        return self._before + self._at

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def _has(self, size: cython.Py_ssize_t) -> cython.bint:
        """Whether the file goes on for so many bytes, which are held then."""
        if self._at + size > len(self._held):
            self._read(size)
        return len(self._held) - self._at >= size

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def _read(self, size: cython.Py_ssize_t) -> cython.int:
        # At least as much as is held already: each byte is then copied twice at most, however large a member is.
        missing: cython.Py_ssize_t = self._at + size - len(self._held)
        wanted: cython.Py_ssize_t = max(missing, _CHUNK, len(self._held) - self._at)
        more: bytes = self._next(wanted)
        if not more:  # what is held is not copied
            return 0
        found: list[bytes] = [self._held[self._at :], more]
        if self._chunk > wanted and len(more) == wanted:
            self._beyond(found, self._chunk - wanted)
        self._held = b"".join(found)
        self._before += self._at
        self._at = 0
        while more and len(self._held) < size:  # a pipe gives what it has
            more = self._next(max(size - len(self._held), _CHUNK))
            self._held += more
        return 0

    @cython.cfunc
    def _next(self, size: cython.Py_ssize_t) -> bytes:
        error = self._error
        if error is not None:
            self._error = None
            raise error
        more: bytes = self._file.read(size)
        return more

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def _beyond(self, found: list[bytes], size: cython.Py_ssize_t) -> cython.int:
        """Add about so many bytes that nobody has asked for yet: nor is an error raised, until somebody does."""
        while size > 0:
            try:
                more: bytes = self._file.read(_CHUNK)
            except Exception as error:  # noqa: BLE001 - raised where it would have been
                self._error = error
                break
            found.append(more)
            size -= len(more) if len(more) == _CHUNK else size
        return 0

    @cython.cfunc
    def _taken(self, size: cython.Py_ssize_t) -> bytes:
        """So many bytes, or all that are held of them; one stands behind them then."""
        held = self._held
        start: cython.Py_ssize_t = self._at
        end: cython.Py_ssize_t = min(start + size, len(held))
        found = cut(held, start, end) if end - start < len(held) else held
        self._at = end
        if end - start >= _LARGE and not self._is_whole:  # while it is worked on it is held once
            self._held = cut(held, end, len(held))
            self._before += end
            self._at = 0
        return found
