"""Gzip members of archives (RFC 1952): decompressed whole by libdeflate where its package `deflate` is installed.

libdeflate takes three quarters of the time of zlib-ng, but needs a whole member and the size of its contents. The end
of a member is where the next one seems to begin; its last four bytes (ISIZE) are the size. Whatever this cannot prove
is left to zlib, which decides: members that are broken, padded, or larger than the limit.
"""

from __future__ import annotations

from importlib import import_module
from typing import IO, TYPE_CHECKING, Any, Final

from absolve.core import byte_scan
from absolve.formats.compression import BROKEN, decompressor
from absolve.formats.warc.headers import LONGEST_LINE, arc_record, version_end
from absolve.formats.warc.reader_window import Window

if TYPE_CHECKING:
    import zlib
    from collections.abc import Callable

    import cython


LEAST: Final = 18  # bytes of a member: its header and its trailer (RFC 1952 2.3)
LONGEST: Final = 1 << 20  # bytes of a member that is decompressed whole
_LEAST = LEAST
_LONGEST = LONGEST
_RATIO = 1032  # deflate's maximum: bytes out of one byte (zlib, technical details)
_CHECKED_HEADER = 2  # FHCRC, which libdeflate ignores


def _package() -> tuple[Callable[[bytes, int], bytearray] | None, type[Exception]]:
    """Return the function that decompresses a member and its exception; None where libdeflate is not installed."""
    try:
        found: Any = import_module("deflate")
    except ImportError:
        return None, ValueError
    return found.gzip_decompress, found.DeflateError


_decompress, _BROKEN = _package()
is_there: Final = _decompress is not None


def next_member(data: bytes, start: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.Py_ssize_t:
    """Return the offset between these two at which a member's header seems to begin; -1 where there is no such."""
    p: cython.p_const_uchar = data
    end = max(end - 3, 0)
    while True:
        start = byte_scan.find(p, 0x1F, start, end)
        # RFC 1952 2.3: ID1 and ID2, CM that is deflate, FLG without the bits that must be zero
        if start < 0 or (p[start + 1] == 0x8B and p[start + 2] == 8 and p[start + 3] < 32):
            return start
        start += 1


def _size_of(p: cython.p_const_uchar, end: cython.Py_ssize_t, limit: cython.Py_ssize_t) -> cython.Py_ssize_t:
    """Return the size of the contents by the member's own trailer; 0 where it must not be decompressed whole."""
    if end < _LEAST or p[3] & _CHECKED_HEADER:
        return 0
    size: cython.Py_ssize_t = p[end - 1]
    size = p[end - 4] | p[end - 3] << 8 | p[end - 2] << 16 | size << 24
    return 0 if size > limit or size > _RATIO * end else size


def decompress_member(raw: bytes, limit: cython.Py_ssize_t) -> bytes | None:
    """Decompress exactly one member, which is all of `raw`, to at most `limit` bytes; None where that is not certain.

    Return None wherever zlib would decompress less of it, or nothing. (Only zlib rejects a code that RFC 1951 forbids
    where the size and the checksum of the contents are right all the same: no program writes such.)
    """
    size: cython.Py_ssize_t = _size_of(raw, len(raw), limit)
    if size == 0 or _decompress is None:
        return None
    try:
        value = bytes(_decompress(raw, size))
    except _BROKEN:
        return None
    # libdeflate does not report where it stopped reading, but its last four bytes were these: they may occur only once.
    stops_at: cython.Py_ssize_t = raw.find(raw[-4:], LEAST - 4)
    return value if len(value) == size and stops_at == len(raw) - 4 else None


class MemberWindow(Window):
    """A file that is read forward, with whole members decompressed to at most `limit` bytes where it is positioned."""

    def __init__(self, file: IO[bytes] | bytes, start: int, limit: int) -> None:
        super().__init__(file, start)
        self._limit = limit
        self._raw = b""

    def _whole_member(self) -> bytes | None:
        """Return the contents of a member that ends where the next begins or the file ends; set `_raw`, move behind it.

        Return None, without moving, where that is not certain.
        """
        end: cython.Py_ssize_t = self._member_end()
        if end < 0:
            return None
        raw: bytes = self._held[self._at : end]
        value = decompress_member(raw, self._limit)
        if value is not None:
            self._raw = raw
            self._at = end
        return value

    def _member_end(self) -> cython.Py_ssize_t:
        """Return where in `_held` the next member seems to begin, or the file ends; -1 where that is too far away."""
        searched: cython.Py_ssize_t = _LEAST
        held: cython.Py_ssize_t
        end: cython.Py_ssize_t
        while (end := next_member(self._held, self._at + searched, min(len(self._held), self._at + _LONGEST))) < 0:
            held = len(self._held) - self._at
            if held >= _LONGEST:
                return -1
            searched = max(searched, held - 3)
            if not self._has(held + 1):
                return len(self._held)
        return end


# --- members that zlib decompresses as they come ----------------------------------------------------------------------


def begins_record(raw: bytes) -> bool:
    """Return whether this is a member in which a record begins."""
    try:
        value = decompressor(31).decompress(raw, LONGEST_LINE)
    except BROKEN:
        return False
    return version_end(value, 0) >= 0 or arc_record(value, 0) is not None


def consumed(machine: zlib._Decompress, raw: bytes) -> int:
    """Return how many of the bytes that the decompressor was given last belong to the member."""
    return len(raw) - len(machine.unused_data if machine.eof else machine.unconsumed_tail)
