"""Search, classify and append bytes in a buffer without creating Python objects.

In: a pointer to bytes (interpreted: `bytes`) with byte offsets. Out: byte offsets, lengths and truth values; of
`ByteBuilder` one `bytes` object. Implements the ends of comments (HTML Standard 13.2.5.43 to .51), of start tags and of
raw text (13.2.5.9 to .14), the search for the meta elements in which browsers look for a document's charset before
parsing (13.2.3.2), ASCII white space (Infra Standard 4.6) and the well-formed sequences of UTF-8 (RFC 3629 section 4).
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

    import cython

    from absolve.core.model import Edit
else:
    from absolve.core import _cython as cython

if cython.compiled:
    from cython.cimports.absolve.core.byte_scan import (
        Py_CLEAR,
        PyBytes_AS_STRING,
        PyBytes_FromStringAndSize,
        _PyBytes_Resize,
    )
    from cython.cimports.libc.string import memcpy

# By a byte: the value of a hexadecimal digit in either case, 255 for any other byte; and its `bytes` object.
HEX_DIGITS = bytes(int(chr(byte), 16) if chr(byte) in "0123456789ABCDEFabcdef" else 255 for byte in range(256))
SINGLE_BYTES = [bytes([byte]) for byte in range(256)]

if not cython.compiled:  # compiled, these are in byte_scan.pxd
    find = bytes.find  # the offset of the first such byte in the span, or -1

    def same(p: bytes, i: int, q: bytes, j: int, size: int) -> bool:
        """Return whether `size` bytes are equal."""
        return p[i : i + size] == q[j : j + size]

    def word_at(p: bytes, at: int) -> int:
        """Return the eight bytes at an offset as a number of this machine."""
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

    `i` is the offset behind `<!--`. The delimiter, `>`, `->`, `-->` or `--!>`, begins there: for example, at 5 in
    `<!--a-->`.
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

    For example, the tag ends in `<a b=">">` at the second `>`, but in `<a ">` at the first: quotes count only behind an
    equals sign.
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


def utf8_end(data: bytes) -> cython.Py_ssize_t:
    """Return the offset of the first byte that is not part of a well-formed UTF-8 character, or the size."""
    p: cython.p_const_uchar = data
    n: cython.Py_ssize_t = len(data)
    i: cython.Py_ssize_t = 0
    size: cython.Py_ssize_t
    if cython.compiled:
        while i < n:
            if p[i] < 128:
                while i + 8 <= n and not word_at(p, i) & _HIGH_BITS:
                    i += 8
                while i < n and p[i] < 128:
                    i += 1
            else:
                size = character(p, i, n)
                if not size:
                    break
                i += size
        return i
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        n = error.start
    return n


_high_bits = 0x80 * 0x0101_0101_0101_0101  # of a word
_HIGH_BITS = _high_bits


# --- meta elements ----------------------------------------------------------------------------------------------------

_PRESCAN: Final = 1024
_TEXT: Final = frozenset(b"script style title textarea xmp iframe noembed noframes".split())
_OF_HEAD: Final = frozenset(
    b"script style title link object base noscript html head /script /style /title /meta /link /object /base"
    b" /noscript".split()
)
_NAMES: Final = frozenset(name.lstrip(b"/") for name in (*_TEXT, *_OF_HEAD))
_SHORTEST = 3
_LONGEST = 8
# For each first letter (`& 31`), the lengths of the names: bit n is length _SHORTEST + n.
_lengths = bytes(sum({1 << len(name) - _SHORTEST for name in _NAMES if name[0] & 31 == letter}) for letter in range(32))
_LENGTHS = _lengths


class Metas:
    """An iterator over the meta elements that may declare a charset, in the first 1024 bytes or the head.

    Like Chromium, it stops behind both, and skips the text of scripts and similar elements; the standard's prescan
    reads exactly 1024 bytes, including such text. `next` moves to the next element; `start` and `end` are the span of
    its attributes.
    """

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._in_head = True
        self.start = self.end = 0

    def next(self) -> cython.bint:
        """Move to the next meta element; return whether there is one.

        Comments, declarations and tags with their quoted values are skipped as a whole. One that is not closed extends
        to the end of the data, so that no byte is read twice.
        """
        data: bytes = self._data
        p: cython.p_const_uchar = data
        n: cython.Py_ssize_t = len(data)
        position: cython.Py_ssize_t = self.end
        i: cython.Py_ssize_t
        start: cython.Py_ssize_t
        while True:
            i = find(p, 60, position, n) + 1
            if i <= 0 or i >= n or not (self._in_head or i <= _PRESCAN):
                return False
            if p[i] == 33 and i + 2 < n and p[i + 1] == 45 and p[i + 2] == 45:
                position = find(p, 62, comment_end(p, i + 3, n), n) + 1 or n
            elif _begins_name(p[i]) or (p[i] == 47 and i + 1 < n and _begins_name(p[i + 1])):
                position = i
                i += 1
                while i < n and p[i] not in (9, 10, 12, 13, 32, 47, 62):
                    i += 1
                if i - position == 4 and _is_meta(p, position):
                    position = tag_end(p, i, n)
                    if p[position - 1] == 62 and _may_declare(p, i, position):
                        self.start = i
                        self.end = position
                        return True
                    continue
                if not _may_matter(p, position, i):
                    self._in_head = False
                    position = tag_end(p, i, n)
                    continue
                start = position
                name = p[start:i].lower()
                position = tag_end(p, i, n)
                self._in_head = self._in_head and name in _OF_HEAD
                if name in _TEXT:
                    position = raw_text_end(p, position, n, start, i - start)
            elif p[i] == 33 or p[i] == 47 or p[i] == 63:
                position = find(p, 62, i, n) + 1 or n
            else:
                position = i


def _begins_name(byte: cython.int) -> cython.bint:
    return 97 <= byte | 32 <= 122


def _is_meta(p: cython.p_const_uchar, i: cython.Py_ssize_t) -> cython.bint:
    return p[i] | 32 == 109 and p[i + 1] | 32 == 101 and p[i + 2] | 32 == 116 and p[i + 3] | 32 == 97


def _may_matter(p: cython.p_const_uchar, i: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.bint:
    """Return whether a tag name (or slash and name) may be in `_NAMES`, by first letter and length: most are not."""
    lengths: cython.p_const_uchar = _LENGTHS
    if p[i] == 47:
        i += 1
    if not _SHORTEST <= end - i <= _LONGEST:
        return False
    return lengths[p[i] & 31] >> (end - i - _SHORTEST) & 1 != 0


def _may_declare(p: cython.p_const_uchar, i: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.bint:
    """Return whether a span may contain `charset`: it contains `char`."""
    while i + 7 <= end:
        if p[i] | 32 == 99 and p[i + 1] | 32 == 104 and p[i + 2] | 32 == 97 and p[i + 3] | 32 == 114:
            return True
        i += 1
    return False


# --- building bytes ---------------------------------------------------------------------------------------------------


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
    """Return a text in lines: for example, `abcde` with width 2 and `|` as line end gives `ab|cd|e`."""
    size: cython.Py_ssize_t = len(text)
    start: cython.Py_ssize_t
    made: ByteBuilder = ByteBuilder(size + size // width * len(line_end))
    for start in range(0, size, width):
        if start:
            made.add(line_end, 0, len(line_end))
        made.add(text, start, min(start + width, size))
    return made.finish()
