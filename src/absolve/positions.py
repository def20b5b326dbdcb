"""Lines and columns of bytes, found in one pass as long as they are asked for in the order in which they stand."""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import cython

    from absolve.charsets import Charset
else:
    from absolve import _cython as cython

_UTF_8_MARK: Final = b"\xef\xbb\xbf"
_APART: Final = 4096  # bytes between two places that are remembered for who goes back


class Positions:
    """The lines and columns of one document, 1-based. Lines end at LF, CR LF or CR; columns count characters.

    Bytes that are no character count one each; a byte order mark counts nothing.
    """

    __slots__ = ("_charset", "_data", "_known", "_last", "_returns")

    def __init__(self, data: bytes, charset: Charset) -> None:
        self._data = data
        self._charset = charset
        self._returns = b"\r" in data
        self._last = (len(_UTF_8_MARK) if data.startswith(_UTF_8_MARK) else 0, 1, 1)
        self._known = [self._last]

    def at(self, position: int) -> tuple[int, int]:
        """Line and column of the byte at this offset."""
        if not self._charset.transparent:  # its lines are not seen in the bytes; few ask
            return _in_text(self._charset.decode(self._data[:position]))
        if self._returns and self._data[position - 1 : position + 1] == b"\r\n":  # inside a line end
            line, column = self.at(position - 1)
            return line, column + 1
        position = max(position, self._known[0][0])
        at, line, column = self._last
        if position < at:
            at, line, column = self._known[max(0, bisect_right(self._known, (position + 1, 0, 0)) - 1)]
        ends = _ends(self._data, at, position, self._returns)
        if ends:
            line += ends
            column = 1
            last = self._data.rfind(b"\n", at, position)
            at = 1 + (max(last, self._data.rfind(b"\r", at, position)) if self._returns else last)
        passed = self._data[at:position]
        column += len(passed) if self._charset.one_byte or passed.isascii() else len(self._charset.decode(passed))
        self._last = (position, line, column)
        if position >= self._known[-1][0] + _APART:
            self._known.append(self._last)
        return line, column


@cython.cfunc
@cython.boundscheck(False)
@cython.wraparound(False)
def _ends(data: bytes, start: cython.Py_ssize_t, end: cython.Py_ssize_t, returns: cython.bint) -> cython.Py_ssize_t:
    """How many lines end in this stretch; `returns` says whether carriage returns are to be looked for."""
    p: cython.p_const_uchar = data
    ends: cython.Py_ssize_t = 0
    i: cython.Py_ssize_t
    if cython.compiled and not returns:  # many bytes at once, as the compiler makes it
        for i in range(start, end):
            ends += p[i] == 10
        return ends
    ends = data.count(b"\n", start, end)
    return ends + data.count(b"\r", start, end) - data.count(b"\r\n", start, end) if returns else ends


def _in_text(before: str) -> tuple[int, int]:
    """Line and column of what stands behind this text."""
    lines = before.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return len(lines), len(lines[-1]) + 1
