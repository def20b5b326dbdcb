"""Search and classify bytes in a buffer without creating Python objects.

In: a pointer to bytes (interpreted: `bytes`) with byte offsets. Out: byte offsets, lengths and truth values.
Implements the ends of comments (HTML Standard 13.2.5.43 to .51), of start tags and of raw text (13.2.5.9 to .14), ASCII
white space (Infra Standard 4.6) and the well-formed sequences of UTF-8 (RFC 3629 section 4).
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import cython
else:
    from absolve.core import _cython as cython

# By a byte: the value of a hexadecimal digit in either case, 255 for any other byte; and its `bytes` object.
HEX_DIGITS = bytes(int(chr(byte), 16) if chr(byte) in "0123456789ABCDEFabcdef" else 255 for byte in range(256))
SINGLE_BYTES = [bytes([byte]) for byte in range(256)]


if not cython.compiled:  # compiled, these are in byte_scan.pxd
    find = bytes.find  # the offset of the first such byte in the span, or -1

    def same(p: bytes, i: int, q: bytes, j: int, size: int) -> bool:
        """Return whether `size` bytes are equal."""
        return p[i : i + size] == q[j : j + size]

    def word_at(p: bytes, at: int) -> int:
        """Return the eight bytes at an offset that is a multiple of eight, as a number of this machine."""
        return int.from_bytes(p[at : at + 8], sys.byteorder)


def cut(data: bytes, start: cython.Py_ssize_t, end: cython.Py_ssize_t) -> bytes:
    """Return `data[start:end]` with the span clamped to the data; a slice in Python creates two integers more."""
    start = max(start, 0)
    end = min(end, len(data))
    if start >= end:
        return b""
    if cython.compiled:
        p: cython.p_const_uchar = data
        return p[start:end]
    return data[start:end]


def word_start(p: cython.p_const_uchar, i: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.Py_ssize_t:
    """Return the offset of the first byte from `i` on that is not ASCII white space (Infra Standard 4.6), or `end`."""
    while i < end and p[i] in (9, 10, 12, 13, 32):
        i += 1
    return i


def comment_end(p: cython.p_const_uchar, i: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.Py_ssize_t:
    """Return the offset at which the text of a comment ends (HTML Standard 13.2.5.43 to .51), or `end`.

    `i` is the offset behind `<!--`. The delimiter begins at the offset returned: `>`, `->`, `-->` or `--!>`.
    """
    if i < end and p[i] == 62:
        return i
    if i + 1 < end and p[i] == 45 and p[i + 1] == 62:
        return i
    while True:
        i = find(p, 45, i, end)
        if i < 0 or i + 2 >= end:
            return end
        if p[i + 1] == 45 and (p[i + 2] == 62 or (p[i + 2] == 33 and i + 3 < end and p[i + 3] == 62)):
            return i
        i += 1


def tag_end(p: cython.p_const_uchar, i: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.Py_ssize_t:
    """Return the offset behind the `>` of a tag whose name ends at `i`, or `end` if the tag is not closed.

    Quotes count only behind an equals sign: elsewhere they are part of a name or an unquoted value.
    """
    while i < end and p[i] != 62:
        i += 1
        if p[i - 1] == 61:
            i = word_start(p, i, end)
            if i < end and (p[i] == 34 or p[i] == 39):
                i = find(p, p[i], i + 1, end) + 1 or end
    return i + 1 if i < end else end


def is_tag_name(
    p: cython.p_const_uchar,
    end: cython.Py_ssize_t,
    i: cython.Py_ssize_t,
    name: cython.Py_ssize_t,
    length: cython.Py_ssize_t,
) -> cython.bint:
    """Return whether the whole tag name at `i` equals the name of the start tag at `name`, ignoring ASCII case."""
    k: cython.Py_ssize_t = 0
    if i + length >= end or p[i + length] not in (9, 10, 12, 13, 32, 47, 62):
        return False
    while k < length and p[i + k] | 32 == p[name + k] | 32:
        k += 1
    return k == length


def raw_text_end(
    p: cython.p_const_uchar,
    i: cython.Py_ssize_t,
    end: cython.Py_ssize_t,
    name: cython.Py_ssize_t,
    length: cython.Py_ssize_t,
) -> cython.Py_ssize_t:
    """Return the offset of the end tag of an RCDATA or RAWTEXT element; `end` if there is none.

    `name` and `length` are the span of the name in its start tag.
    """
    while True:
        i = find(p, 60, i, end)
        if i < 0:
            return end
        if i + 1 < end and p[i + 1] == 47 and is_tag_name(p, end, i + 2, name, length):
            return i
        i += 1


def character(p: cython.p_const_uchar, i: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.Py_ssize_t:
    """Return the length in bytes of the non-ASCII UTF-8 character at `i` (RFC 3629 section 4); 0 if it is malformed."""
    lead: cython.int = p[i]
    least: cython.int = 0x80
    most: cython.int = 0xBF
    if lead < 0xC2 or lead > 0xF4 or i + 1 >= end:
        return 0
    if lead == 0xE0:
        least = 0xA0
    elif lead == 0xED:
        most = 0x9F
    elif lead == 0xF0:
        least = 0x90
    elif lead == 0xF4:
        most = 0x8F
    if not least <= p[i + 1] <= most:
        return 0
    if lead < 0xE0:
        return 2
    if i + 2 >= end or p[i + 2] & 0xC0 != 0x80:
        return 0
    if lead < 0xF0:
        return 3
    return 4 if i + 3 < end and p[i + 3] & 0xC0 == 0x80 else 0
