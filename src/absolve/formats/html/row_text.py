"""The text columns of rows: `rel` and `alt` of a start tag, and the text of an anchor.

In: the bytes of a document and its links, or the span of a start tag. Out: text in UTF-8, decoded by the rules of the
tokenizer (HTML Standard 13.2.5), with white space collapsed, at most 200 characters.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from absolve.core import byte_scan
from absolve.core.byte_scan import character, comment_end, tag_end
from absolve.encodings.codings import reference_at, to_utf8
from absolve.encodings.line_index import is_ascii
from absolve.formats.html import names

if TYPE_CHECKING:
    import cython

    from absolve.core.model import Link
    from absolve.encodings.charsets import Charset

    Pair = tuple[str, bytes]
else:
    from absolve.core import _cython as cython


LONGEST: Final = 200  # characters of text in a row
_LONGEST = LONGEST
_NO_CHARACTER: Final = "\N{REPLACEMENT CHARACTER}".encode()
_LOOKED_AT = 4096  # bytes of an anchor's content that are read

_SPACE = names.SPACE
_NAME_END = names.NAME_END
_ATTRIBUTE_NAME_END = names.ATTRIBUTE_NAME_END
_CLASSES = names.CLASSES
_AS_IT_IS = bytes(32 < byte < 128 and byte not in b"&<" for byte in range(256))
_HIDDEN: Final = frozenset({b"script", b"style", b"template", b"noscript"})
_OPENED = len('<a href="')
_CLOSED = len('">')


class Folded:
    """A buffer of text for a row, in UTF-8: decoded, with white space collapsed, truncated to 200 characters.

    White space is as for `str.split`. Bytes that are not a character, and NUL, become U+FFFD.
    """

    def __init__(self, charset: Charset) -> None:
        self._charset = charset
        self._transparent = charset.transparent
        self._is_utf8 = charset.codec == "utf-8"
        self._size = self._characters = 0
        self._blank = False
        if not cython.compiled:
            self._out = bytearray(4 * LONGEST)

    def clear(self) -> cython.int:
        self._size = self._characters = 0
        self._blank = False
        return 0

    def taken(self) -> bytes:
        """Return the content of the buffer."""
        out: cython.p_uchar = self._out
        if cython.compiled:
            return out[: self._size]
        return bytes(out[: self._size])

    def add(self, data: bytes, start: cython.Py_ssize_t, end: cython.Py_ssize_t, attribute: cython.bint) -> cython.int:
        """Append a span of an attribute value or of text, with white space on both sides."""
        ampersand: cython.Py_ssize_t
        p: cython.p_const_uchar = data
        self._blank = True
        if not self._is_utf8 and not (self._transparent and is_ascii(p, start, end)):
            data = to_utf8(self._charset, data[start:end])
            p = data
            start = 0
            end = len(data)
        while start < end and self._characters < _LONGEST:
            ampersand = byte_scan.find(p, 38, start, end)
            if ampersand != start:
                self._put(p, start, ampersand if ampersand >= 0 else end)
            if ampersand < 0:
                break
            start = ampersand + 1
            found = reference_at(data, ampersand, end, attribute)
            if found is None:
                self._put(b"&", 0, 1)
            else:
                text: bytes = found[1]
                self._put(text, 0, len(text))
                start = found[0]
        self._blank = True
        return 0

    def _put(self, p: cython.p_const_uchar, i: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.int:
        """Append characters in UTF-8."""
        length: cython.Py_ssize_t
        at: cython.Py_ssize_t
        size: cython.Py_ssize_t
        out: cython.p_uchar = self._out
        while i < end and self._characters < _LONGEST:
            if not self._blank:
                at = min(end, i + _LONGEST - self._characters)
                size = self._size - i
                while i < at and 32 < p[i] < 128:  # most characters
                    out[size + i] = p[i]
                    i += 1
                self._characters += size + i - self._size
                self._size = size + i
                if i == at:
                    continue
            length = 1
            if p[i] > 127:
                length = character(p, i, end)
            elif p[i] == 0:
                length = 0
            if length == 0:  # malformed: Python determines the number of U+FFFD
                rest: bytes = p[i:end].replace(b"\0", _NO_CHARACTER).decode("utf-8", "replace").encode()
                self._put(rest, 0, len(rest))
                return 0
            if _is_blank(p, i, length):
                self._blank = True
            else:
                if self._blank and self._size:
                    out[self._size] = 32
                    self._size += 1
                    self._characters += 1
                self._blank = False
                if self._characters < _LONGEST:
                    for at in range(i, i + length):
                        out[self._size] = p[at]
                        self._size += 1
                    self._characters += 1
            i += length
        return 0


def _is_blank(p: cython.p_const_uchar, i: cython.Py_ssize_t, length: cython.Py_ssize_t) -> cython.bint:
    """Return whether the character of this length in bytes is white space for `str.split`."""
    if length == 1:
        return p[i] <= 32 and (p[i] == 32 or 9 <= p[i] <= 13 or p[i] >= 28)
    if length == 2:
        return p[i] == 0xC2 and (p[i + 1] == 0x85 or p[i + 1] == 0xA0)
    if length == 4 or p[i] > 0xE3:
        return False
    if p[i] == 0xE2 and p[i + 1] == 0x80:  # U+2000 to U+200A, U+2028, U+2029, U+202F
        return p[i + 2] <= 0x8A or p[i + 2] == 0xA8 or p[i + 2] == 0xA9 or p[i + 2] == 0xAF
    if p[i] == 0xE2:
        return p[i + 1] == 0x81 and p[i + 2] == 0x9F
    if p[i] == 0xE1:
        return p[i + 1] == 0x9A and p[i + 2] == 0x80
    return p[i] == 0xE3 and p[i + 1] == 0x80 and p[i + 2] == 0x80


def rel_and_alt(data: bytes, start: cython.Py_ssize_t, end: cython.Py_ssize_t, folded: Folded) -> Pair:
    """Return `rel` (str) and `alt` (UTF-8) of the start tag in this span, decoded and folded; empty if absent.

    For example, `<img rel="a  b" alt=" x ">` gives `a b` and `x`. If the closing quote is outside the span, the value
    is read as unquoted.
    """
    p: cython.p_const_uchar = data
    classes: cython.p_const_uchar = _CLASSES
    i: cython.Py_ssize_t = start
    name: cython.Py_ssize_t
    length: cython.Py_ssize_t
    value: cython.Py_ssize_t
    value_end: cython.Py_ssize_t
    rel: cython.Py_ssize_t = -1
    alt: cython.Py_ssize_t = -1
    rel_end: cython.Py_ssize_t = -1
    alt_end: cython.Py_ssize_t = -1
    while i < end and not classes[p[i]] & _NAME_END:
        i += 1
    while True:
        while i < end and (classes[p[i]] & _SPACE or p[i] == 47):
            i += 1
        if i >= end or p[i] == 62:
            break
        name = i
        i += 1
        while i < end and not classes[p[i]] & _ATTRIBUTE_NAME_END:
            i += 1
        length = i - name
        value = i
        while value < end and classes[p[value]] & _SPACE:
            value += 1
        if value < end and p[value] == 61:
            value += 1
            while value < end and classes[p[value]] & _SPACE:
                value += 1
            value_end = -1
            if value < end and (p[value] == 34 or p[value] == 39):
                value_end = byte_scan.find(p, p[value], value + 1, end)
            if value_end >= 0:
                value += 1
                i = value_end + 1
            else:
                i = value
                while i < end and not classes[p[i]] & _SPACE and p[i] != 62:
                    i += 1
                value_end = i
        else:
            value_end = value
        if length == 3:  # of duplicate attributes the first is used
            if rel < 0 and p[name] | 32 == 114 and p[name + 1] | 32 == 101 and p[name + 2] | 32 == 108:
                rel = value
                rel_end = value_end
            elif alt < 0 and p[name] | 32 == 97 and p[name + 1] | 32 == 108 and p[name + 2] | 32 == 116:
                alt = value
                alt_end = value_end
    return (
        _decoded(data, rel, rel_end, folded).decode() if rel < rel_end else "",
        _decoded(data, alt, alt_end, folded) if alt < alt_end else b"",
    )


def _decoded(data: bytes, start: cython.Py_ssize_t, end: cython.Py_ssize_t, folded: Folded) -> bytes:
    folded.clear()
    folded.add(data, start, end, attribute=True)
    return folded.taken()


def _written_end(data: bytes, start: cython.Py_ssize_t, folded: Folded) -> cython.Py_ssize_t:
    """Return the end of an anchor's text from the end of its start tag, if the raw bytes are the row's text.

    Return -1 if they may need decoding, folding or truncation; most anchors do not.
    """
    p: cython.p_const_uchar = data
    as_it_is: cython.p_const_uchar = _AS_IT_IS
    size: cython.Py_ssize_t = len(data)
    end: cython.Py_ssize_t = min(size, start + _LONGEST)
    i: cython.Py_ssize_t = start
    if not folded._is_utf8:  # noqa: SLF001 - a class of this module
        return -1
    while True:
        while i < end and as_it_is[p[i]]:
            i += 1
        if i == start or i + 1 >= end or p[i] != 32 or not as_it_is[p[i + 1]]:
            break
        i += 1
    return i if i < end and _closes(p, i, size) else -1


def _anchor_text(data: bytes, start: cython.Py_ssize_t, folded: Folded) -> bytes:
    """Return the text of an anchor from the end of its start tag, or the `alt` texts in it; folded, in UTF-8.

    For example, `<a>b <i>c</i></a>` gives `b c`. Only the first 4,096 bytes are read; a tag or comment that is cut off
    there extends to their end.
    """
    p: cython.p_const_uchar = data
    classes: cython.p_const_uchar = _CLASSES
    size: cython.Py_ssize_t = len(data)
    end: cython.Py_ssize_t = min(size, start + _LOOKED_AT)
    less: cython.Py_ssize_t = byte_scan.find(p, 60, start, end)
    position: cython.Py_ssize_t = start
    token_end: cython.Py_ssize_t
    name: cython.Py_ssize_t
    name_end: cython.Py_ssize_t
    is_start: cython.bint
    folded.clear()
    if less >= 0 and _closes(p, less, size):  # only text
        folded.add(data, start, less, attribute=False)
        return folded.taken()
    images: list[tuple[int, int]] = []
    hidden = b""
    while less >= 0 and less + 1 < end:
        is_start = p[less + 1] != 47
        name = less + 1 if is_start else less + 2
        name_end = name
        if name < end and 97 <= p[name] | 32 <= 122:  # 13.2.5.6 and .7: a letter begins a tag
            while name_end < end and not classes[p[name_end]] & _NAME_END:
                name_end += 1
            token_end = tag_end(p, name_end, end)
        elif p[less + 1] == 33 and less + 3 < end and p[less + 2] == 45 and p[less + 3] == 45:
            token_end = byte_scan.find(p, 62, comment_end(p, less + 4, end), end) + 1 or end
        elif p[less + 1] == 33 or p[less + 1] == 63 or not is_start:
            token_end = byte_scan.find(p, 62, less + 2, end) + 1 or end
        else:
            less = byte_scan.find(p, 60, less + 1, end)  # a `<` that is text
            continue
        if not hidden and less > position:
            folded.add(data, position, less, attribute=False)
        position = token_end
        if name_end - name == 1 and p[name] | 32 == 97:
            break
        if hidden:
            if not is_start and p[name:name_end].lower() == hidden:
                hidden = b""
        elif is_start and name_end > name:
            if name_end - name == 3 and p[name:name_end].lower() == b"img":
                images.append((less, token_end))
            elif name_end - name >= 5 and (found := p[name:name_end].lower()) in _HIDDEN:
                hidden = found
        less = byte_scan.find(p, 60, position, end)
    else:
        if not hidden and position < end:
            less = byte_scan.find(p, 60, position, end)
            folded.add(data, position, less if less >= 0 else end, attribute=False)
    text = folded.taken()
    if text or not images:
        return text
    alternatives: bytes = b" ".join([rel_and_alt(data, less, token_end, folded)[1] for less, token_end in images])
    folded.clear()
    folded._put(alternatives, 0, len(alternatives))  # noqa: SLF001 - a class of this module
    return folded.taken()


def _closes(p: cython.p_const_uchar, i: cython.Py_ssize_t, size: cython.Py_ssize_t) -> cython.bint:
    """Return whether `</a>` begins here."""
    return i + 3 < size and p[i + 1] == 47 and p[i + 2] | 32 == 97 and p[i + 3] == 62


class LinkTexts:
    """The `rel` and the `text` of links in HTML: the content of an anchor, or the alternative text of an image.

    The text, in UTF-8, is the span of `source` from `text` to `text_end` (byte offsets). Links of one tag are
    consecutive, and share both.
    """

    def __init__(self, data: bytes, charset: Charset) -> None:
        self._data = data
        self._folded = Folded(charset)
        self._start = -1
        self.rel = ""
        self.source = b""
        self.text = self.text_end = 0

    def see(self, link: Link) -> cython.int:
        """Set `rel` and `text` from the tag of a link."""
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
            self.text_end = _written_end(self._data, link.tag_end, self._folded)
            if self.text_end >= 0:
                self.source = self._data
                return 0
            self.source = _anchor_text(self._data, link.tag_end, self._folded)
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
