"""Find the meta elements in which browsers look for a document's charset before parsing (HTML Standard 13.2.3.2).

In: the bytes of an HTML document. Out: the spans of the attributes of meta elements that may declare a charset.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from absolve.core import byte_scan
from absolve.core.byte_scan import comment_end, raw_text_end, tag_end

if TYPE_CHECKING:
    import cython


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
_lengths = bytes(
    sum({1 << len(name) - _SHORTEST for name in _NAMES if name[0] & 31 == letter}) for letter in range(32)
)
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
            i = byte_scan.find(p, 60, position, n) + 1
            if i <= 0 or i >= n or not (self._in_head or i <= _PRESCAN):
                return False
            if p[i] == 33 and i + 2 < n and p[i + 1] == 45 and p[i + 2] == 45:
                position = byte_scan.find(p, 62, comment_end(p, i + 3, n), n) + 1 or n
            elif _is_letter(p[i]) or (p[i] == 47 and i + 1 < n and _is_letter(p[i + 1])):
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
                position = byte_scan.find(p, 62, i, n) + 1 or n
            else:
                position = i


def _is_letter(byte: cython.int) -> cython.bint:
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
