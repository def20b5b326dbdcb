"""Read one tag: its name and attributes (HTML Standard 13.2.5.8 and 13.2.5.32 to 13.2.5.40).

In: the bytes of a document and the offset of a tag's name. Out: the end of the tag, the number of its element, and the
byte span and quoting of each value of an attribute that has a number in names.py; other attributes are skipped.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from absolve.core import byte_scan
from absolve.formats.html import names

if TYPE_CHECKING:
    import cython




UNQUOTED = names.UNQUOTED
ABSENT = names.ABSENT

_SPACE = names.SPACE
_NAME_END = names.NAME_END
_ATTRIBUTE_NAME_END = names.ATTRIBUTE_NAME_END
_CLASSES = names.CLASSES
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

    `slots` and `cells` are those of names.py; `word` is a byte 1 and the name in lower case, or its last eight bytes.
    """
    slot: cython.uint = (word * _FACTOR & _ALL) >> _SHIFT
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
        self.element = 0
        self.name_end = 0
        self.found = 0
        self.self_closing = False
        return 0

    def read(self, i: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Read the tag whose name begins at `i`, a letter, and return its end; -1 where the file ends first.

        Of duplicate attributes the first is used (13.2.5.33).
        """
        p: cython.p_const_uchar = self.data
        classes: cython.p_const_uchar = _CLASSES
        lower: cython.p_const_uchar = _LOWER
        slots: cython.p_const_uchar = _SLOTS
        cells: cython.p_const_uchar = _CELLS
        n: cython.Py_ssize_t = len(self.data)
        name: cython.Py_ssize_t = i
        name_end: cython.Py_ssize_t
        value: cython.Py_ssize_t
        value_end: cython.Py_ssize_t
        word: cython.ulonglong = 1
        number: cython.int
        quote: cython.int
        c: cython.uchar
        while i < n and not classes[p[i]] & _NAME_END:
            word = (word << 8 | lower[p[i]]) & _ALL
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
            word = 256 | lower[p[i]]  # 13.2.5.32: `=` as first character is part of the name
            i += 1
            while i < n and not classes[p[i]] & _ATTRIBUTE_NAME_END:
                word = (word << 8 | lower[p[i]]) & _ALL
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
            number = slots[(word * _FACTOR & _ALL) >> _SHIFT]  # most names are not in the table
            if number:
                number = _lookup(slots, cells, word, p, name, name_end - name)
            if number and self.stamp[number] != self.serial:
                self.stamp[number] = self.serial
                self.value_start[number] = value
                self.value_end[number] = value_end
                self.quote[number] = quote
                self.order[self.found] = number
                self.found += 1
            if self.record is not None:
                self.record.append((name, name_end, value, value_end, quote))

    def has(self, number: cython.int) -> cython.bint:
        return self.stamp[number] == self.serial

    def drop(self, number: cython.int) -> cython.int:
        """Mark an attribute as absent; the caller removes it from `order`."""
        self.stamp[number] = 0
        return 0

    def raw(self, number: cython.int) -> bytes:
        """Return the raw bytes of a value; empty where the tag lacks this attribute."""
        p: cython.p_const_uchar = self.data
        if self.stamp[number] != self.serial:
            return b""
        return p[self.value_start[number] : self.value_end[number]]
