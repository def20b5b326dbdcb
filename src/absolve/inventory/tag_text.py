"""Compute two columns of the inventory from the tag of a link: `rel`, and the text of an anchor or an image.

In: the bytes of an HTML entity and a link. Out: the rel, and the span of the text in a source of UTF-8.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from absolve.formats.html import names
from absolve.formats.html.row_text import Folded, anchor_text, rel_and_alt, written_end

if TYPE_CHECKING:
    import cython

    from absolve.core.model import Link
    from absolve.document.entity import Entity


_CLASSES = names.CLASSES
_NAME_END = names.NAME_END
_OPENED = len('<a href="')
_CLOSED = len('">')


class Tag:
    """The `rel` and the `text` of links in HTML: the content of an anchor, or the alternative text of an image.

    The text, in UTF-8, is the span of `source` from `text` to `text_end` (byte offsets). Links of one tag are
    consecutive, and share both.
    """

    def __init__(self, entity: Entity) -> None:
        self._data = entity.own_data
        self._folded = Folded(entity.charset)
        self._start = -1
        self.rel = ""
        self.source = b""
        self.text = self.text_end = 0

    def see(self, link: Link) -> cython.int:
        """Set `rel` and `text` to those of the tag of a link."""
        if link.tag_start < 0:
            self._start = -1
            self.rel = ""
            self.text = self.text_end = 0
        elif link.tag_start != self._start:
            self._start = link.tag_start
            self._read(link)
        return 0

    def _read(self, link: Link) -> cython.int:
        is_anchor: cython.bint = _is_anchor(self._data, link.tag_start)
        if is_anchor and _has_no_more(self._data, link):
            self.rel = ""
        else:
            self.rel, self.source = rel_and_alt(self._data, link.tag_start, link.tag_end, self._folded)
        if is_anchor:
            self.text = link.tag_end
            self.text_end = written_end(self._data, link.tag_end, self._folded)
            if self.text_end >= 0:
                self.source = self._data
                return 0
            self.source = anchor_text(self._data, link.tag_end, self._folded)
        self.text = 0
        self.text_end = len(self.source)
        return 0


def _has_no_more(data: bytes, link: Link) -> cython.bint:
    """Return whether the tag of an anchor is exactly `<a href="...">` with this link: it has no other attribute."""
    p: cython.p_const_uchar = data
    if link.start - link.tag_start != _OPENED or link.tag_end - link.end != _CLOSED:
        return False
    quote: cython.int = p[link.end]
    return quote in (34, 39) and p[link.start - 1] == quote


def _is_anchor(data: bytes, start: cython.Py_ssize_t) -> cython.bint:
    """Return whether the tag at this offset is an `a` element; at least one byte follows the name."""
    p: cython.p_const_uchar = data
    classes: cython.p_const_uchar = _CLASSES
    return p[start + 1] | 32 == 97 and classes[p[start + 2]] & _NAME_END != 0
