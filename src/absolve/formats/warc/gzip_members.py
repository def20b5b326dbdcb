"""Read an archive forward, and its gzip members (RFC 1952): whole by libdeflate where its package `deflate` is there.

In: a binary file or bytes. Out: slices of bytes, the current byte offset in the file, and the contents of members.
libdeflate takes three quarters of the time of zlib-ng, but needs a whole member and the size of its contents. The end
of a member is where the next one seems to begin; its last four bytes (ISIZE) are the size. Whatever this cannot prove
is left to zlib, which decides: members that are broken, padded, or larger than the limit.
"""

from __future__ import annotations

import io
import re
from functools import cache
from importlib import import_module
from typing import IO, TYPE_CHECKING, Any, Final

from absolve.formats.compression import BROKEN, decompressor
from absolve.formats.warc.headers import LONGEST_LINE, arc_record, version_end

if TYPE_CHECKING:
    import zlib
    from collections.abc import Callable


CHUNK: Final = 1 << 16  # bytes per read: they fit in a processor cache
_KEPT: Final = 4 << 20  # bytes
_LARGE: Final = 1 << 20  # bytes of a record from which on it is not held twice
LEAST: Final = 18  # bytes of a member: its header and its trailer (RFC 1952 2.3)
LONGEST: Final = 1 << 20  # bytes of a member that is decompressed whole
_RATIO: Final = 1032  # deflate's maximum: bytes out of one byte (zlib, technical details)
_CHECKED_HEADER: Final = 2  # FHCRC, which libdeflate ignores
_MEMBER: Final = re.compile(rb"\x1f\x8b\x08[\x00-\x1f]")  # ID1 and ID2, CM that is deflate, FLG (RFC 1952 2.3)


def _package() -> tuple[Callable[[bytes, int], bytearray] | None, type[Exception]]:
    """Return the function that decompresses a member and its exception; None where libdeflate is not installed."""
    try:
        found: Any = import_module("deflate")
    except ImportError:
        return None, ValueError
    return found.gzip_decompress, found.DeflateError


_decompress, _BROKEN = _package()
is_there: Final = _decompress is not None


def _size_of(raw: bytes, limit: int) -> int:
    """Return the size of the contents by the member's own trailer; 0 where it must not be decompressed whole."""
    if len(raw) < LEAST or raw[3] & _CHECKED_HEADER:
        return 0
    size = int.from_bytes(raw[-4:], "little")
    return 0 if size > limit or size > _RATIO * len(raw) else size


def decompress_member(raw: bytes, limit: int) -> bytes | None:
    """Decompress exactly one member, which is all of `raw`, to at most `limit` bytes; None where that is not certain.

    Return None wherever zlib would decompress less of it, or nothing. (Only zlib rejects a code that RFC 1951 forbids
    where the size and the checksum of the contents are right all the same: no program writes such.)
    """
    size = _size_of(raw, limit)
    if size == 0 or _decompress is None:
        return None
    try:
        value = bytes(_decompress(raw, size))
    except _BROKEN:
        return None
    # libdeflate does not report where it stopped reading, but its last four bytes were these: they may occur only once.
    stops_at = raw.find(raw[-4:], LEAST - 4)
    return value if len(value) == size and stops_at == len(raw) - 4 else None


@cache
def _keep_memory() -> None:
    """Make glibc keep freed memory, by freeing one large block.

    glibc adapts to the largest block that it returned to the system, and keeps up to twice its size. Else the memory of
    each large record would be mapped from the system page by page.
    """
    bytes(_KEPT)


class MemberWindow:
    """A file that is read forward, with whole members decompressed to at most `limit` bytes where it is positioned.

    `_held` begins `_before` bytes into the file, and `_at` is the current offset into `_held`. Each read is of `CHUNK`
    bytes or more. A file given as bytes is used as the buffer, without a copy.
    """

    def __init__(self, file: IO[bytes] | bytes, start: int, limit: int) -> None:
        self._is_whole = isinstance(file, bytes)
        self._file = io.BytesIO() if isinstance(file, bytes) else file
        self._held = file if isinstance(file, bytes) else b""
        self._at = 0
        self._before = start
        self._limit = limit
        self._raw = b""
        _keep_memory()

    def _offset(self) -> int:
        """Return the current byte offset in the file."""
        return self._before + self._at

    def _has(self, size: int) -> bool:
        """Return whether `size` more bytes are available; if so, they are in the buffer."""
        if self._at + size > len(self._held):
            self._read(size)
        return len(self._held) - self._at >= size

    def _read(self, size: int) -> None:
        # Read at least as much as is held already: each byte is then copied twice at most, for a member of any size.
        missing = self._at + size - len(self._held)
        wanted = max(missing, CHUNK, len(self._held) - self._at)
        more = self._file.read(wanted)
        if not more:  # end of the file: no copy
            return
        self._held = self._held[self._at :] + more
        self._before += self._at
        self._at = 0
        while more and len(self._held) < size:  # a pipe may return fewer bytes
            more = self._file.read(max(size - len(self._held), CHUNK))
            self._held += more

    def _taken(self, size: int) -> bytes:
        """Return the next `size` bytes, or all that are in the buffer, and advance past them."""
        held = self._held
        start = self._at
        end = min(start + size, len(held))
        found = held[start:end] if end - start < len(held) else held
        self._at = end
        if end - start >= _LARGE and not self._is_whole:  # do not hold a large record twice while it is processed
            self._held = held[end:]
            self._before += end
            self._at = 0
        return found

    def _whole_member(self) -> bytes | None:
        """Return the contents of a member that ends where the next begins or the file ends; set `_raw`, move behind it.

        Return None, without moving, where that is not certain.
        """
        end = self._member_end()
        if end < 0:
            return None
        raw = self._held[self._at : end]
        value = decompress_member(raw, self._limit)
        if value is not None:
            self._raw = raw
            self._at = end
        return value

    def _member_end(self) -> int:
        """Return where in `_held` the next member seems to begin, or the file ends; -1 where that is too far away."""
        searched = LEAST
        while (found := _MEMBER.search(self._held, self._at + searched, self._at + LONGEST)) is None:
            held = len(self._held) - self._at
            if held >= LONGEST:
                return -1
            searched = max(searched, held - 3)
            if not self._has(held + 1):
                return len(self._held)
        return found.start()


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
