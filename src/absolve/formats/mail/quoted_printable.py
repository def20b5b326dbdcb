"""Decode quoted-printable (RFC 2045 6.7) with an offset map.

In: an encoded body. Out: the decoded bytes, and the offsets of the escapes and soft line breaks in them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from absolve.core import byte_scan
from absolve.core.byte_scan import HEX_DIGITS, SINGLE_BYTES
from absolve.encodings.offset_map import Decoded

if TYPE_CHECKING:
    import cython


_DIGITS = HEX_DIGITS  # lower-case ones are accepted, too (rule 1)
_BYTES = SINGLE_BYTES


def decode_mapped(raw: bytes) -> tuple:  # type: ignore[type-arg]  # as the compiler has it
    """Return the decoded bytes and their offsets.

    Units are an octet in hexadecimal digits (rule 1), a soft line break, with or without blanks before the line end
    (rule 5), and blanks at the end of a line, which transport agents added (rule 3). Any other `=` is a literal one.
    """
    p: cython.p_const_uchar = raw
    digits: cython.p_const_uchar = _DIGITS
    n: cython.Py_ssize_t = len(raw)
    equals: cython.Py_ssize_t = _next(p, 61, 0, n)
    line_feed: cython.Py_ssize_t = _next(p, 10, 0, n)
    done: cython.Py_ssize_t = 0  # end of the last unit
    at: cython.Py_ssize_t
    end: cython.Py_ssize_t
    made: Decoded = Decoded(raw)
    while equals < n or line_feed < n:
        if line_feed < equals:
            done = _trimmed(made, p, done, line_feed - (line_feed > 0 and p[line_feed - 1] == 13))
            line_feed = _next(p, 10, line_feed + 1, n)
            continue
        at = equals + 1
        if equals + 2 < n and digits[p[at]] < 16 and digits[p[at + 1]] < 16:
            done = equals + 3
            made.unit(equals, done, _BYTES[digits[p[at]] << 4 | digits[p[at + 1]]])
        else:
            end = _soft_break_end(p, at, n)
            if end > 0:
                made.unit(equals, end, b"")
                at = done = end
                if line_feed < end:
                    line_feed = _next(p, 10, end, n)
        equals = _next(p, 61, max(at, done), n)
    _trimmed(made, p, done, n)
    return made.whole()


def _next(
    p: cython.p_const_uchar, byte: cython.int, start: cython.Py_ssize_t, end: cython.Py_ssize_t
) -> cython.Py_ssize_t:
    """Return the offset of a byte in a span, `end` if it is not there."""
    found: cython.Py_ssize_t = byte_scan.find(p, byte, start, end)
    return found if found >= 0 else end


def _soft_break_end(p: cython.p_const_uchar, i: cython.Py_ssize_t, n: cython.Py_ssize_t) -> cython.Py_ssize_t:
    """Return the end of the soft line break whose `=` precedes this offset, 0 if that is a literal one."""
    while i < n and (p[i] == 32 or p[i] == 9):
        i += 1
    if i == n:
        return n
    if p[i] == 13 and i + 1 < n:
        i += 1
    return i + 1 if p[i] == 10 else 0


def _trimmed(
    made: Decoded, p: cython.p_const_uchar, done: cython.Py_ssize_t, end: cython.Py_ssize_t
) -> cython.Py_ssize_t:
    """Remove the blanks before the end of a line, down to the last unit; return the end of the last unit."""
    start: cython.Py_ssize_t = end
    while start > done and (p[start - 1] == 32 or p[start - 1] == 9):
        start -= 1
    if start >= end or (start > 0 and p[start - 1] == 61):  # blanks behind an = belong to a soft line break
        return done
    made.unit(start, end, b"")
    return end
