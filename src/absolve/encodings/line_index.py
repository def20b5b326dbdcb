"""Convert byte offsets in a document to lines and columns.

In: the document's bytes and charset, then byte offsets. Out: 1-based lines and columns, in characters. All lookups
together take one pass if the offsets ascend; others restart from checkpoints.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING, Final

from absolve.core import byte_scan
from absolve.core.byte_scan import character

if TYPE_CHECKING:
    import cython

    from absolve.encodings.charsets import Charset

    Pair = tuple[int, int]
else:
    from absolve.core import _cython as cython


_UTF_8_MARK: Final = b"\xef\xbb\xbf"
_APART = 4096  # least bytes between two checkpoints


class LineIndex:
    """The lines and columns of one document, 1-based. Lines end at LF, CR LF or CR; columns count characters.

    For example, byte 5 of `ab`, CR, LF, `cd` is in line 2, column 2. A byte that is no character counts as one; a byte
    order mark is not counted. `line` and `column` are the result of the last `move`.
    """

    def __init__(self, data: bytes, charset: Charset) -> None:
        self._data = data
        self._charset = charset
        self._transparent = charset.transparent
        self._one_byte = charset.one_byte
        self._utf8 = charset.codec == "utf-8"
        self._returns = 13 in data
        self._lone_returns = self._returns and _has_lone_return(data, len(data))  # otherwise each line ends with LF
        self._first = len(_UTF_8_MARK) if data.startswith(_UTF_8_MARK) else 0
        self._at = self._first
        self.line = self.column = 1
        self._known = [(self._at, 1, 1)]
        self._remembered = self._at

    def at(self, position: int) -> Pair:
        """Return the line and column of the byte at this offset."""
        self.move(position)
        return self.line, self.column

    def move(self, position: cython.Py_ssize_t) -> object:
        """Set `line` and `column` to the place of the byte at this offset."""
        p: cython.p_const_uchar = self._data
        size: cython.Py_ssize_t = len(self._data)
        at: cython.Py_ssize_t
        if not self._transparent:  # line ends cannot be found in the bytes; rare
            self.line, self.column = _in_text(self._charset.decode(self._data[:position]))
            return None
        if self._returns and 0 < position < size and p[position - 1] == 13 and p[position] == 10:  # inside a line end
            self.move(position - 1)
            self._at = position
            self.column += 1
            return None
        position = min(max(position, self._first), size)
        if position < self._at:
            known = self._known[max(0, bisect_right(self._known, (position + 1, 0, 0)) - 1)]
            self._at, self.line, self.column = known
        if self._lone_returns:
            for at in range(self._at, position):
                if p[at] == 10 or (p[at] == 13 and (at + 1 == size or p[at + 1] != 10)):
                    self.line += 1
                    self.column = 1
                    self._at = at + 1
        else:
            ends: cython.Py_ssize_t = _line_feeds(self._data, self._at, position)
            if ends:
                self.line += ends
                self.column = 1
                self._at = _behind_line_feed(self._data, position)
        if self._one_byte or is_ascii(p, self._at, position):
            self.column += position - self._at
        elif self._utf8:
            self.column += _characters(p, self._at, position)
        else:
            self.column += len(self._charset.decode(self._data[self._at : position]))
        self._at = position
        if position >= self._remembered + _APART:
            self._remembered = position
            self._known.append((position, self.line, self.column))
        return None


def _has_lone_return(data: bytes, end: cython.Py_ssize_t) -> cython.bint:
    """Return whether there is a CR without a LF behind it."""
    p: cython.p_const_uchar = data
    at: cython.Py_ssize_t = byte_scan.find(data, 13, 0, end)
    while at >= 0 and at + 1 < end and p[at + 1] == 10:
        at = byte_scan.find(data, 13, at + 2, end)
    return at >= 0


def _line_feeds(data: bytes, start: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.Py_ssize_t:
    """Return the number of LF in a span."""
    p: cython.p_const_uchar = data
    feeds: cython.Py_ssize_t = 0
    few: cython.uchar  # counts fewer than 256 bytes, so that the loop can be vectorized
    i: cython.Py_ssize_t
    last: cython.Py_ssize_t
    if cython.compiled:
        while start < end:
            last = min(end, start + 240)  # a multiple of 16: else the rest of each part is counted byte by byte
            few = 0
            for i in range(start, last):
                few += p[i] == 10
            feeds += few
            start = last
        return feeds
    return data.count(b"\n", start, end)


def _behind_line_feed(data: bytes, end: cython.Py_ssize_t) -> cython.Py_ssize_t:
    """Return the offset behind the last LF before `end`; there must be one."""
    p: cython.p_const_uchar = data
    at: cython.Py_ssize_t
    last: cython.Py_ssize_t = -1
    if cython.compiled:
        while last < 0:
            at = max(0, end - 64)
            last = at = byte_scan.find(p, 10, at, end)
            while at >= 0:
                last = at
                at = byte_scan.find(p, 10, at + 1, end)
            end -= 64
        return last + 1
    return data.rfind(b"\n", 0, end) + 1


def is_ascii(p: cython.p_const_uchar, start: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.bint:
    i: cython.Py_ssize_t
    bits: cython.uchar = 0
    if cython.compiled:
        for i in range(start, end):
            bits |= p[i]
        return bits < 128
    return p[start:end].isascii()


def _characters(p: cython.p_const_uchar, i: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.Py_ssize_t:
    """Return the number of characters in a span of UTF-8; each malformed byte counts as one."""
    found: cython.Py_ssize_t = 0
    last: cython.Py_ssize_t
    at: cython.Py_ssize_t
    bits: cython.uchar
    while i < end:
        last = min(end, i + 32)
        if cython.compiled and last == i + 32:  # ASCII for the most part, also in other languages: markup and URLs
            bits = 0
            for at in range(32):
                bits |= p[i + at]
            if bits < 128:
                i = last
                found += 32
                continue
        while i < last:
            i += 1 if p[i] < 128 else character(p, i, end) or 1
            found += 1
    return found


def _in_text(before: str) -> tuple[int, int]:
    """Return the line and column of the character behind this text."""
    lines = before.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return len(lines), len(lines[-1]) + 1
