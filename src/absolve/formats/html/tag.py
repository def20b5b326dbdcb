"""Read one tag: its name and attributes (HTML Standard 13.2.5.8 and 13.2.5.32 to 13.2.5.40); and its values.

In: the bytes of a document and the offset of a tag's name. Out: the end of the tag, the number of its element, and the
byte span and quoting of each value of an attribute that has a number in names.py; other attributes are skipped. For a
value: its `Coding`, and the spans of the references in it, by the grammars of grammars.py, which read the decoded
value. Filters return whether a value or comment is worth parsing, with false positives, but no false negatives.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from absolve.core import byte_scan
from absolve.encodings.charsets import UTF_8
from absolve.encodings.codings import only_ampersands
from absolve.formats.grammars import GRAMMARS
from absolve.formats.html import names
from absolve.formats.sniffing import NAMES_MAP, SCRIPT_END

if TYPE_CHECKING:
    from collections.abc import Iterator

    import cython

    from absolve.core.protocols import Coding
    from absolve.encodings.charsets import Charset
    from absolve.encodings.codings import Unquoted
    from absolve.formats.html.dispatch import Tables
else:
    from absolve.core import _cython as cython

UNQUOTED = names.UNQUOTED
ABSENT = names.ABSENT

_SPACE = names.SPACE
_CLASSES = names.CLASSES
_TAG_NAME = names.TAG_NAME
_ATTRIBUTE_NAME = names.ATTRIBUTE_NAME
_ELEMENT_SLOTS = names.ELEMENT_SLOTS
_ELEMENT_CELLS = names.ELEMENT_CELLS
_SLOTS = names.ATTRIBUTE_SLOTS
_CELLS = names.ATTRIBUTE_CELLS
_CELL = names.NAME_CELL
_WORD = names.WORD
_WORDS = names.HASH_SIZE
_LAST_SLOT = names.HASH_SIZE - 1
_LOWER = names.LOWER
_FACTOR = names.HASH_FACTOR
_SHIFT = names.HASH_SHIFT
_ALL = names.WORD_MASK
_ZEROS = [0] * names.ATTRIBUTES


def _lookup(
    slots: cython.p_const_uchar,
    cells: cython.p_const_uchar,
    word: cython.ulonglong,
    data: cython.p_const_uchar,
    start: cython.Py_ssize_t,
    length: cython.Py_ssize_t,
) -> cython.int:
    """Return the number of the name at `start`, ASCII case-insensitively; 0 for a name without a number.

    `slots` and `cells` are from names.py; `word` is a byte 1 and the name in lower case, or its last eight bytes.
    """
    slot: cython.uint = (word * _FACTOR & _ALL) >> _SHIFT
    number: cython.int = slots[slot]
    if number == 0 or (length < _WORD and byte_scan.word_at(slots, _WORDS + number * _WORD) == word):
        return number  # nearly always
    return _search(slots, cells, word, data, start, length, slot)


def _search(
    slots: cython.p_const_uchar,
    cells: cython.p_const_uchar,
    word: cython.ulonglong,
    data: cython.p_const_uchar,
    start: cython.Py_ssize_t,
    length: cython.Py_ssize_t,
    slot: cython.uint,
) -> cython.int:
    """Return the same for a long name, or for one that has not the first slot that it may have."""
    number: cython.int
    cell: cython.Py_ssize_t
    i: cython.Py_ssize_t
    lower: cython.p_const_uchar = _LOWER
    while True:
        number = slots[slot]
        if number == 0:
            return 0
        if byte_scan.word_at(slots, _WORDS + number * _WORD) == word:
            if length < _WORD:
                return number
            cell = number * _CELL
            if cells[cell] == length:
                for i in range(length - _WORD):  # the bytes that are not in the word
                    if lower[data[start + i]] != cells[cell + 1 + i]:
                        break
                else:
                    return number
        slot = (slot + 1) & _LAST_SLOT


class Tag:
    """The current tag: the number of its `element`, `name_end` (a byte offset), and its attributes.

    `order` has the numbers of its attributes that have one, in document order; `found` is their count. Where `has` is
    true for a number, `value_start`, `value_end` and `quote` (ABSENT, UNQUOTED or the quote character) describe the
    value. With `record` (a list), `read` replaces its items by a tuple for every attribute of the tag, with a number or
    not: (name start, name end, value start, value end, quote).
    """

    def __init__(self, record: list[tuple[int, int, int, int, int]] | None = None) -> None:
        self.record = record
        self.serial = 0
        self.begin(b"")
        self.order = _ZEROS.copy()
        self.stamp = _ZEROS.copy()  # the serial number of the last tag with this attribute
        self.value_start = _ZEROS.copy()
        self.value_end = _ZEROS.copy()
        self.quote = _ZEROS.copy()

    def begin(self, data: bytes) -> cython.int:
        """Switch to another document; serial numbers of tags continue."""
        self.data = data
        self.p: cython.p_const_uchar = data
        self.size = len(data)
        self.element = 0
        self.name_end = 0
        self.found = 0
        self.self_closing = False
        return 0

    def read(self, i: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Read the tag whose name begins at `i`, a letter, and return its end; -1 where the file ends first.

        Of duplicate attributes the first is used (13.2.5.33).
        """
        p: cython.p_const_uchar = self.p
        classes: cython.p_const_uchar = _CLASSES
        in_name: cython.p_const_uchar = _TAG_NAME
        slots: cython.p_const_uchar = _SLOTS
        cells: cython.p_const_uchar = _CELLS
        n: cython.Py_ssize_t = self.size
        name: cython.Py_ssize_t = i
        name_end: cython.Py_ssize_t
        value: cython.Py_ssize_t
        value_end: cython.Py_ssize_t
        word: cython.ulonglong = 1
        number: cython.int
        quote: cython.int
        c: cython.uchar
        while i < n and in_name[p[i]]:
            word = word << 8 | in_name[p[i]]
            if not cython.compiled:
                word &= _ALL
            i += 1
        self.name_end = i
        self.element = _lookup(_ELEMENT_SLOTS, _ELEMENT_CELLS, word, p, name, i - name)
        self.serial += 1
        self.found = 0
        self.self_closing = False
        if self.record is not None:
            self.record.clear()
        if i < n and p[i] == 62:
            return i + 1
        in_name = _ATTRIBUTE_NAME
        while True:
            name = i
            while i < n and (classes[p[i]] & _SPACE or p[i] == 47):
                i += 1
            if i >= n:
                return -1
            if p[i] == 62:
                self.self_closing = i > name and p[i - 1] == 47
                return i + 1
            name = i
            word = 256 | _LOWER[p[i]]  # 13.2.5.32: `=` as first character is part of the name
            i += 1
            while i < n and in_name[p[i]]:
                word = word << 8 | in_name[p[i]]
                if not cython.compiled:
                    word &= _ALL
                i += 1
            name_end = i
            while i < n and classes[p[i]] & _SPACE:
                i += 1
            if i < n and p[i] == 61:
                i += 1
                while i < n and classes[p[i]] & _SPACE:
                    i += 1
                if i >= n:
                    return -1
                c = p[i]
                if c == 34 or c == 39:
                    quote = c
                    value = i + 1
                    i = byte_scan.find(p, c, value, n)
                    if i < 0:
                        return -1
                    value_end = i
                    i += 1
                else:
                    quote = UNQUOTED
                    value = i
                    while i < n and not classes[p[i]] & _SPACE and p[i] != 62:
                        i += 1
                    value_end = i
            else:
                i = value = value_end = name_end
                quote = ABSENT
            number = _lookup(slots, cells, word, p, name, name_end - name)
            if number and self.stamp[number] != self.serial:
                self.stamp[number] = self.serial
                self.value_start[number] = value
                self.value_end[number] = value_end
                self.quote[number] = quote
                self.order[self.found] = number
                self.found += 1
            if self.record is not None:
                self._add(name, name_end, value, value_end, quote)

    def _add(
        self,
        name: cython.Py_ssize_t,
        name_end: cython.Py_ssize_t,
        value: cython.Py_ssize_t,
        value_end: cython.Py_ssize_t,
        quote: cython.int,
    ) -> cython.int:
        """Record an attribute; apart, because `read` is faster without calls of Python."""
        self.record.append((name, name_end, value, value_end, quote))  # type: ignore[union-attr]  # there is one
        return 0

    def has(self, number: cython.int) -> cython.bint:
        return self.stamp[number] == self.serial

    def drop(self, number: cython.int) -> cython.int:
        """Mark an attribute as absent; the caller removes it from `order`."""
        self.stamp[number] = 0
        return 0

    def equals(self, number: cython.int, text: bytes) -> cython.bint:
        """Return whether the tag has this attribute, with this value."""
        start: cython.Py_ssize_t = self.value_start[number]
        return (
            self.stamp[number] == self.serial
            and self.value_end[number] - start == len(text)
            and byte_scan.same(self.p, start, text, 0, len(text))
        )

    def raw(self, number: cython.int) -> bytes:
        """Return the raw bytes of a value; empty where the tag lacks this attribute."""
        p: cython.p_const_uchar = self.p
        if self.stamp[number] != self.serial:
            return b""
        return p[self.value_start[number] : self.value_end[number]]


# --- values -----


class Values:
    """The attribute values of the current `tag`, in a document of this charset.

    `codings` has the coding of a whole value by its quoting: `double`, for values in double quotes, also decodes any
    other value. `raw` and `text` are the codings of text between tags, without and with character references.
    """

    def __init__(self, charset: Charset, tag: Tag, tables: Tables) -> None:
        self._data = b""
        self._charset = charset
        self._tag = tag
        self.codings = tables.codings
        self.double = tables.codings[names.DOUBLE]
        self.raw = tables.raw
        self.text = tables.text

    def begin(self, data: bytes) -> cython.int:
        """Switch to another document."""
        self._data = data
        return 0

    def coding(self, attribute: cython.int) -> Coding:
        """Return the coding of a value; for an unquoted one it has the slot of the whole value."""
        quote: cython.int = self._tag.quote[attribute]
        if quote > UNQUOTED:
            return self.codings[quote]
        shared: Unquoted = self.codings[quote]  # type: ignore[assignment]  # it is one without a quote
        return shared.of((self._tag.value_start[attribute], self._tag.value_end[attribute]))

    def common(self, attribute: cython.int, start: cython.Py_ssize_t, end: cython.Py_ssize_t) -> Coding:
        """Return the coding of a value with one link; for a whole unquoted value, the shared one without a slot."""
        tag: Tag = self._tag
        quote: cython.int = tag.quote[attribute]
        if quote <= UNQUOTED and (start > tag.value_start[attribute] or end < tag.value_end[attribute]):
            return self.coding(attribute)
        return self.codings[quote]

    def is_plain(self, start: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.bint:
        """Return whether `likely`, `srcset` and `spaces` read a span as its value: UTF-8 without more than `&amp;`."""
        raw: bytes = self._data
        return only_ampersands(raw, start, end, True) and (self._charset is UTF_8 or raw[start:end].isascii())

    def references(
        self, syntax: str, start: cython.Py_ssize_t, end: cython.Py_ssize_t, coding: Coding
    ) -> Iterator[tuple[int, int]]:
        """Yield the spans of the references in a value by its grammar, which reads the decoded value."""
        one: cython.Py_ssize_t
        other: cython.Py_ssize_t
        value, offsets = coding.decode_mapped(self._data[start:end])
        if offsets is None:  # for mypy: codings of attributes return offsets
            return
        for one, other in GRAMMARS[syntax](value):
            yield start + offsets.start(one), start + (offsets.end(other) if other > one else offsets.start(one))


# --- filters -----


def may_hold_css_link(p: cython.p_const_uchar, start: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.bint:
    """Return whether CSS declarations may have a link; most do not.

    For example, `color:red` has none, `a:url(x)` may. A link needs `url(`, `src(` or `-set(`; escapes and character
    references (except of quotes) may hide one.
    """
    i: cython.Py_ssize_t
    for i in range(start, end):
        if p[i] == 92 or (p[i] == 38 and not _is_quote(p, i, end)):
            return True
        if p[i] == 40 and _calls(p, start, i):
            return True
    return False


def may_hold_link(p: cython.p_const_uchar, start: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.bint:
    """Return whether a style sheet may have a link: by the same functions, an escape, or a rule that begins with i."""
    i: cython.Py_ssize_t = byte_scan.find(p, 92, start, end)
    if i >= 0:
        return True
    i = byte_scan.find(p, 64, start, end)
    while i >= 0:
        if i + 1 < end and p[i + 1] | 32 == 105:
            return True
        i = byte_scan.find(p, 64, i + 1, end)
    i = byte_scan.find(p, 40, start, end)
    while i >= 0:
        if _calls(p, start, i):
            return True
        i = byte_scan.find(p, 40, i + 1, end)
    return False


def _calls(p: cython.p_const_uchar, start: cython.Py_ssize_t, i: cython.Py_ssize_t) -> cython.bint:
    """Return whether the name before the parenthesis at `i` may be `url`, `src` or `image-set`."""
    if i - start < 3:
        return False
    last: cython.int = p[i - 1] | 32
    middle: cython.int = p[i - 2] | 32
    return (last == 108 and middle == 114) or (last == 99 and middle == 114) or (last == 116 and middle == 101)


def _is_quote(p: cython.p_const_uchar, i: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.bint:
    """Return whether `&` begins &quot;, &#34; or &#39;, the most frequent references in declarations."""
    if i + 5 < end and p[i + 1] == 113 and p[i + 2] == 117 and p[i + 3] == 111 and p[i + 4] == 116 and p[i + 5] == 59:
        return True
    return i + 4 < end and p[i + 1] == 35 and p[i + 2] == 51 and p[i + 3] in (52, 57) and p[i + 4] == 59


def may_be_space(p: cython.p_const_uchar, i: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.bint:
    """Return whether the reference whose `&` is at `i` may be white space: a number, &Tab; or &NewLine;."""
    return i + 1 < end and (p[i + 1] == 35 or p[i + 1] == 84 or p[i + 1] == 78)


def may_end_in_space(p: cython.p_const_uchar, start: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.bint:
    """Return whether the last character reference in the span may be white space."""
    while end > start and p[end - 1] != 38:
        end -= 1
    return end > start and p[end] in (35, 84, 78)


def may_be_savers(p: cython.p_const_uchar, i: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.bint:
    """Return whether a comment may be a saver's by its first letters; most are not.

    They begin with Archive processed, End Wayback, Mirrored, Page saved, Saved from or * PyWebCopy.
    """
    while i < end and p[i] <= 32:
        i += 1
    if i + 3 >= end:
        return False
    second: cython.int = p[i + 1] | 32
    third: cython.int = p[i + 2] | 32
    first: cython.int = p[i] | 32
    if first == 97:
        return second == 114 and third == 99
    if first == 101:
        return second == 110 and third == 100 and i + 4 < end and p[i + 4] | 32 == 119
    if first == 109:
        return second == 105 and third == 114
    if first == 42:
        return third == 112
    return second == 97 and ((first == 112 and third == 103) or (first == 115 and third == 118))


def may_name_map(data: bytes, start: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.bint:
    """Return whether a script or a style sheet may end with a comment that names a source map; few do.

    Most end with a short line of code.
    """
    p: cython.p_const_uchar = data
    while end > start and p[end - 1] <= 32:
        end -= 1
    if end == start or (p[end - 1] in (41, 59, 125) and not _has_comment(p, start, end)):  # ) ; }
        return False
    return data.rfind(NAMES_MAP, max(start, end - SCRIPT_END), end) >= 0


def _has_comment(p: cython.p_const_uchar, start: cython.Py_ssize_t, i: cython.Py_ssize_t) -> cython.bint:
    """Return whether `//` is in the last line; of a long line, in its last bytes, or before a long URL at its end."""
    is_url: cython.bint = True
    floor: cython.Py_ssize_t = max(start, i - _SHORT_LINE)
    i -= 1
    while i > start and p[i] != 10 and p[i] != 13:
        if p[i] == 47 and p[i - 1] == 47:
            return True
        is_url = is_url and p[i] > 32 and p[i] != 34 and p[i] != 39
        if i < floor and not is_url:
            return p[i - 1] == 35 or p[i - 1] == 64  # the space in `//# sourceMappingURL=`
        i -= 1
    return False


_SHORT_LINE = 200  # bytes
