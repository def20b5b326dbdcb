"""Members of gzip in archives: those that are opened at once, by libdeflate where it is installed, and what of others.

libdeflate takes three quarters of the time of zlib-ng, but wants all of a member and how much comes out of it. In an
archive the next member tells where one ends, and its own last four bytes how much it holds. What cannot be proved so is
left to zlib, which has the last word: whatever is broken, padded, or larger than is allowed.

Where the functions of the library in C can be had, these are called; else those of its package for Python, which make
everything anew for each member, and do not say how much of the bytes they read.
"""

from __future__ import annotations

import os
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from absolve.formats.compression import BROKEN, decompressor
from absolve.formats.warc.headers import LONGEST_LINE

if TYPE_CHECKING:
    import zlib
    from collections.abc import Callable

    import cython
else:
    from absolve.core import _cython as cython

if cython.compiled:
    from cython.cimports.absolve.core.byte_scan import find
    from cython.cimports.absolve.formats.warc.headers import arc_record, version_end
    from cython.cimports.absolve.formats.warc.libdeflate import load, opens_here
    from cython.cimports.cpython.bytes import PyBytes_FromStringAndSize
else:
    from absolve.core.byte_scan import find
    from absolve.formats.warc.headers import arc_record, version_end

LEAST: Final = 18  # bytes of a member: those of its header and its trailer (RFC 1952 2.3)
LONGEST: Final = 1 << 20  # bytes of a member that is opened at once
_LEAST = cython.declare(cython.Py_ssize_t, LEAST)
_RATIO = cython.declare(cython.Py_ssize_t, 1032)  # deflate makes no more of a byte (zlib, technical details)
_CHECKED_HEADER = cython.declare(cython.int, 2)  # FHCRC, which libdeflate does not look at




def _package() -> tuple[Callable[[bytes, int], bytearray] | None, type[Exception], str | None]:
    """What opens a member, what it raises, and the file of its code in C; None where libdeflate is not installed."""
    try:
        found: Any = import_module("deflate")
    except ImportError:
        return None, ValueError, None
    return found.gzip_decompress, found.DeflateError, getattr(getattr(found, "_deflate", None), "__file__", None)


def _is_direct(file: str | None) -> bool:
    """Whether the functions in C are found in this file."""
    if cython.compiled:
        return file is not None and load(cython.address(library), os.fsencode(file))  # noqa: F821 - in the .pxd
    return False


_decompress, _BROKEN, _file = _package()
is_there: Final = _decompress is not None
is_direct: Final = _is_direct(_file)


@cython.ccall
@cython.exceptval(check=False)
@cython.boundscheck(False)
@cython.wraparound(False)
def next_member(data: bytes, start: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.Py_ssize_t:
    """Where a member seems to begin between these offsets, the first bytes of a header; -1 for nowhere."""
    p: cython.p_const_uchar = data
    end = max(end - 3, 0)
    while True:
        start = find(p, 0x1F, start, end)
        # RFC 1952 2.3: ID1 and ID2, CM that is deflate, FLG without the bits that must be zero
        if start < 0 or (p[start + 1] == 0x8B and p[start + 2] == 8 and p[start + 3] < 32):
            return start
        start += 1


@cython.cfunc
@cython.exceptval(check=False)
@cython.boundscheck(False)
@cython.wraparound(False)
def size_of(p: cython.p_const_uchar, end: cython.Py_ssize_t, limit: cython.Py_ssize_t) -> cython.Py_ssize_t:
    """How many bytes are in a member that is these bytes, in its own word; 0 where it is not to be opened at once."""
    if end < _LEAST or p[3] & _CHECKED_HEADER:
        return 0
    size: cython.Py_ssize_t
    size = p[end - 4] | p[end - 3] << 8 | p[end - 2] << 16 | cython.cast(cython.Py_ssize_t, p[end - 1]) << 24
    return 0 if size > limit or size > _RATIO * end else size


@cython.final
@cython.cclass
class Opener:
    """Opens members of gzip at once, one at a time."""

    def __init__(self) -> None:
        if cython.compiled and is_direct and self._machine is cython.NULL:
            self._machine = library.machine()  # noqa: F821 - in the .pxd

    def __dealloc__(self) -> None:
        if cython.compiled and self._machine is not cython.NULL:
            library.let_go(self._machine)  # noqa: F821 - in the .pxd

    @cython.ccall
    def opened(self, raw: bytes, limit: cython.Py_ssize_t) -> bytes | None:
        """What is in a member that is these bytes and no less, at most `limit` bytes; None where that is not sure.

        It is none where zlib would open less of it, or nothing. (What only zlib refuses is a code that RFC 1951 does
        not allow, where the length and the sum of what comes out are right all the same: that nothing writes.)
        """
        p: cython.p_const_uchar = raw
        end: cython.Py_ssize_t = len(raw)
        size: cython.Py_ssize_t = size_of(p, end, limit)
        if size == 0:
            return None
        if cython.compiled and self._machine is not cython.NULL:
            value: bytes = PyBytes_FromStringAndSize(cython.NULL, size)
            into: cython.p_const_uchar = value
            stays_absolute = opens_here(cython.address(library), self._machine, p, end, into, size)  # noqa: F821 - in the .pxd
            return value if stays_absolute else None
        return _by_package(raw, size)


@cython.cfunc
def _by_package(raw: bytes, size: cython.Py_ssize_t) -> bytes | None:
    try:
        value = bytes(_decompress(raw, size)) if _decompress is not None else b""
    except _BROKEN:
        return None
    return value if len(value) == size and not _is_twice(raw) else None


@cython.cfunc
@cython.exceptval(check=False)
@cython.boundscheck(False)
@cython.wraparound(False)
def _is_twice(raw: bytes) -> cython.bint:
    """Whether the four last bytes, the size, stand elsewhere, too: the member may end there, and something follow it.

    libdeflate does not say how far it has read; but what it has read ends with these four.
    """
    p: cython.p_const_uchar = raw
    last: cython.Py_ssize_t = len(raw) - 4
    i: cython.Py_ssize_t
    first: cython.uchar
    second: cython.uchar
    third: cython.uchar
    fourth: cython.uchar
    found: cython.uchar = 0
    if cython.compiled:
        first = p[last]
        second = p[last + 1]
        third = p[last + 2]
        fourth = p[last + 3]
        for i in range(_LEAST - 4, last):  # without a way out of it a compiler takes many bytes at once
            found |= (p[i] == first) & (p[i + 1] == second) & (p[i + 2] == third) & (p[i + 3] == fourth)
        return found != 0
    return raw.find(raw[last:], LEAST - 4) != last


# --- those that are opened as they come -------------------------------------------------------------------------------


def begins_record(raw: bytes) -> bool:
    """Whether this is a member in which a record begins."""
    try:
        value = decompressor(31).decompress(raw, LONGEST_LINE)
    except BROKEN:
        return False
    return version_end(value, 0) >= 0 or arc_record(value, 0) is not None


def consumed(machine: zlib._Decompress, raw: bytes) -> int:
    """How many of the bytes that it was given last belong to the member."""
    return len(raw) - len(machine.unused_data if machine.eof else machine.unconsumed_tail)
