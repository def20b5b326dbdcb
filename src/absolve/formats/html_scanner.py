"""Find the tags that can carry references, in bytes, without a tree: tokenization by HTML Standard 13.2.5.

A pull parser: `next` moves to the next token that matters and leaves where it stands in fields. It copies nothing and
makes no object for a tag that carries nothing. Charsets must be ASCII-compatible: in those of the web no byte of a
longer sequence is taken for `<`, `>`, a quote, `=` or white space.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import cython
else:
    from absolve import _cython as cython

from absolve.formats import html_names as names
from absolve.formats.html_names import ATTRIBUTE_ID, ELEMENT_ID, Trait

if cython.compiled:
    from cython.cimports.absolve.formats.html_raw_text import comment_end, raw_text_end, script_end
    from cython.cimports.absolve.formats.html_tree import Tree
    from cython.cimports.libc.string import memchr
else:
    from absolve.formats.html_raw_text import comment_end, raw_text_end, script_end
    from absolve.formats.html_tree import Tree

# Constants are declared so that compiled code does not look them up.
END = cython.declare(cython.int, names.END)
TAG = cython.declare(cython.int, names.TAG)
COMMENT = cython.declare(cython.int, names.COMMENT)
ABSENT = cython.declare(cython.int, names.ABSENT)
UNQUOTED = cython.declare(cython.int, names.UNQUOTED)
KEPT = cython.declare(cython.int, names.KEPT)
IGNORED = cython.declare(cython.int, names.IGNORED)
MERGED = cython.declare(cython.int, names.MERGED)
RCDATA = cython.declare(cython.int, names.RCDATA)
SCRIPT_DATA = cython.declare(cython.int, names.SCRIPT_DATA)
PLAINTEXT = cython.declare(cython.int, names.PLAINTEXT)
HTML = cython.declare(cython.int, names.HTML)
SVG = cython.declare(cython.int, names.SVG)

_SPACE = cython.declare(cython.int, 1)  # tab, line feed, form feed, carriage return, space
_LETTER = cython.declare(cython.int, 2)
_NAME_END = cython.declare(cython.int, 4)  # white space, / or >
_ATTRIBUTE_NAME_END = cython.declare(cython.int, 8)  # the same, or =
_classes = bytes(
    (byte in b"\t\n\f\r ") * _SPACE
    | (bytes((byte,)).isalpha() and byte < 128) * _LETTER
    | (byte in b"\t\n\f\r />") * _NAME_END
    | (byte in b"\t\n\f\r />=") * _ATTRIBUTE_NAME_END
    for byte in range(256)
)
_CLASSES = cython.declare(bytes, _classes)
_START = cython.declare(cython.int, 1)  # what the tree is told of: start tags of this name,
_END_TAG = cython.declare(cython.int, 2)  # its end tags,
_NOT_FRAMESET = cython.declare(cython.int, 4)  # its start tags while a frameset may still come
_told = bytes(
    bool(found & Trait.RELEVANT) * _START
    | bool(found & Trait.RELEVANT_END) * _END_TAG
    | bool(found & Trait.NOT_FRAMESET) * _NOT_FRAMESET
    for found in names.ELEMENT_TRAITS
)
_TOLD = cython.declare(bytes, _told)
_ELEMENT_SLOTS = cython.declare(bytes, names.ELEMENT_SLOTS)
_ELEMENT_CELLS = cython.declare(bytes, names.ELEMENT_CELLS)
_ATTRIBUTE_SLOTS = cython.declare(bytes, names.ATTRIBUTE_SLOTS)
_ATTRIBUTE_CELLS = cython.declare(bytes, names.ATTRIBUTE_CELLS)
_ANNOTATION_XML = cython.declare(cython.int, ELEMENT_ID[b"annotation-xml"])
_FONT = cython.declare(cython.int, ELEMENT_ID[b"font"])
_INPUT = cython.declare(cython.int, ELEMENT_ID[b"input"])
_ENCODING = cython.declare(cython.int, ATTRIBUTE_ID[b"encoding"])
_COLOR = cython.declare(cython.int, ATTRIBUTE_ID[b"color"])
_FACE = cython.declare(cython.int, ATTRIBUTE_ID[b"face"])
_SIZE = cython.declare(cython.int, ATTRIBUTE_ID[b"size"])
_CELL = cython.declare(cython.int, 32)
_TYPE = cython.declare(cython.int, ATTRIBUTE_ID[b"type"])
_HASH_MASK = cython.declare(cython.int, 1023)

# The interest table: a row for every element number, then one for SVG and one for MathML; a column an attribute number.
ATTRIBUTES = 256
SVG_ROW = len(ELEMENT_ID) + 1
MATHML_ROW = SVG_ROW + 1
ROWS = MATHML_ROW + 1
_ATTRIBUTES = cython.declare(cython.int, ATTRIBUTES)
_SVG_ROW = cython.declare(cython.int, SVG_ROW)
_MATHML_ROW = cython.declare(cython.int, MATHML_ROW)


@cython.cfunc
@cython.inline
def _find(
    data: cython.p_const_uchar, byte: cython.int, start: cython.Py_ssize_t, end: cython.Py_ssize_t
) -> cython.Py_ssize_t:
    """Where the byte stands next; -1 for nowhere."""
    if cython.compiled:
        if start >= end:
            return -1
        found = cython.cast(cython.p_const_uchar, memchr(data + start, byte, end - start))
        return -1 if found is cython.NULL else found - data
    return data.find(byte, start, end)


@cython.cfunc
@cython.inline
@cython.boundscheck(False)
@cython.wraparound(False)
def _lookup(
    slots: cython.p_const_uchar,
    cells: cython.p_const_uchar,
    hashed: cython.uint,
    data: cython.p_const_uchar,
    start: cython.Py_ssize_t,
    length: cython.Py_ssize_t,
) -> cython.int:
    """The number of the name at `start`, compared without case; 0 for a name that no table has."""
    slot: cython.uint = (hashed ^ hashed >> 10) & _HASH_MASK
    number: cython.int
    cell: cython.Py_ssize_t
    i: cython.Py_ssize_t
    byte: cython.uchar
    while True:
        number = slots[slot]
        if number == 0:
            return 0
        cell = number * _CELL
        if cells[cell] == length:
            for i in range(length):
                byte = data[start + i]
                if 65 <= byte <= 90:
                    byte += 32
                if byte != cells[cell + 1 + i]:
                    break
            else:
                return number
        slot = (slot + 1) & _HASH_MASK


@cython.final
@cython.cclass
class Scanner:
    """One pass over one document.

    After END `truncated` is where a tag or comment begins that the end of the file cuts off, -1 for none; what is cut
    off is not reported, but for a comment. `tree.guessed` says whether a browser may see something else.
    `interest` has a byte for each pair of element row and attribute number: whether the pair holds a reference.
    With `record` (a list) every start tag is reported and its attributes, known or not, are appended to it afresh as
    (name start, name end, value start, value end, quote).
    """

    def __init__(
        self, data: bytes, interest: bytes, record: list[tuple[int, int, int, int, int]] | None = None
    ) -> None:
        self.data = data
        self.size = len(data)
        self.at = 0
        self.tree = Tree()
        self.interest = interest
        self.record = record
        self.start = self.end = self.name_start = self.name_end = self.text_start = self.text_end = 0
        self.element = self.namespace = self.fate = self.found = 0
        self.self_closing = False
        self.truncated = -1
        self.serial = 0
        self.merged: set[tuple[int, int]] = set()
        if not cython.compiled:
            self.order = [0] * ATTRIBUTES
            self.stamp = [0] * ATTRIBUTES
            self.value_start = [0] * ATTRIBUTES
            self.value_end = [0] * ATTRIBUTES
            self.quote = [0] * ATTRIBUTES

    @cython.ccall
    @cython.boundscheck(False)
    @cython.wraparound(False)
    def next(self) -> cython.int:
        """Move to the next token that matters and say which kind it is; 13.2.5.1 to 13.2.5.8."""
        p: cython.p_const_uchar = self.data
        classes: cython.p_const_uchar = _CLASSES
        i: cython.Py_ssize_t = self.at
        less: cython.Py_ssize_t
        k: cython.Py_ssize_t
        n: cython.Py_ssize_t = self.size
        hashed: cython.uint
        c: cython.uchar
        while True:
            less = _find(p, 60, i, n)
            if self.tree.frameset_ok:
                for k in range(i, less if less >= 0 else n):
                    if not classes[p[k]] & _SPACE and p[k] != 0:
                        self.tree.text()
                        break
            if less < 0 or less + 1 >= n:
                self.at = n
                return END
            i = less + 1
            c = p[i]
            if classes[c] & _LETTER:  # 13.2.5.8 tag name state
                hashed = 0
                while i < n and not classes[p[i]] & _NAME_END:
                    hashed = hashed * 33 + (p[i] | 32)
                    if not cython.compiled:
                        hashed &= 0xFFFFFFFF
                    i += 1
                self.start = less
                self.name_start = less + 1
                self.name_end = i
                self.element = _lookup(_ELEMENT_SLOTS, _ELEMENT_CELLS, hashed, p, less + 1, i - less - 1)
                i = self._attributes(i)
                if i < 0:  # the end of the file in a tag: no tag
                    self.truncated = less
                    self.at = n
                    return END
                self.at = self.end = i
                if self._start_tag():
                    return TAG
                i = self.at
            elif c == 47:  # 13.2.5.7 end tag open state
                i = self._end_tag(i + 1)
            elif c == 33:  # 13.2.5.42 markup declaration open state
                i = self._markup_declaration(i + 1)
                if i < 0:
                    self.at = self.end
                    return COMMENT
            elif c == 63:  # <? is a bogus comment
                i = self._bogus_comment_end(less, i)
            elif self.tree.frameset_ok:  # a < that is text
                self.tree.text()

    @cython.cfunc
    @cython.boundscheck(False)
    @cython.wraparound(False)
    def _attributes(self, i: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """13.2.5.32 to 13.2.5.40 from the end of the tag's name; the end of the tag, or -1 where the file ends first.

        The first of duplicate attributes counts (13.2.5.33).
        """
        p: cython.p_const_uchar = self.data
        classes: cython.p_const_uchar = _CLASSES
        slots: cython.p_const_uchar = _ATTRIBUTE_SLOTS
        cells: cython.p_const_uchar = _ATTRIBUTE_CELLS
        n: cython.Py_ssize_t = self.size
        name: cython.Py_ssize_t
        name_end: cython.Py_ssize_t
        value: cython.Py_ssize_t
        hashed: cython.uint
        number: cython.int
        quote: cython.int
        c: cython.uchar
        self.serial += 1
        self.found = 0
        self.self_closing = False
        if self.record is not None:
            self.record.clear()
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
            hashed = p[i] | 32  # a = here is part of the name
            i += 1
            while i < n and not classes[p[i]] & _ATTRIBUTE_NAME_END:
                hashed = hashed * 33 + (p[i] | 32)
                if not cython.compiled:
                    hashed &= 0xFFFFFFFF
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
                    i = _find(p, c, value, n)
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
            number = _lookup(slots, cells, hashed, p, name, name_end - name)
            if number and self.stamp[number] != self.serial:
                self.stamp[number] = self.serial
                self.value_start[number] = value
                self.value_end[number] = value_end
                self.quote[number] = quote
                self.order[self.found] = number
                self.found += 1
            if self.record is not None:
                self.record.append((name, name_end, value, value_end, quote))

    @cython.cfunc
    @cython.boundscheck(False)
    @cython.wraparound(False)
    def _start_tag(self) -> cython.int:
        """Tell the tree of a start tag, pass over the text that it begins, say whether to report it."""
        interest: cython.p_const_uchar = self.interest
        told: cython.p_const_uchar = _TOLD
        k: cython.int
        row: cython.int = self.element
        if self.tree.every:
            name = self.data[self.name_start : self.name_end].lower()
            self.fate = self.tree.start(self.element, name, self.self_closing, self._decided())
            self.namespace = self.tree.namespace
        elif told[self.element] & _START or (told[self.element] & _NOT_FRAMESET and self.tree.frameset_ok):
            self.fate = self.tree.start(self.element, b"", self.self_closing, self._decided())
            self.namespace = self.tree.namespace
        else:
            self.fate = KEPT
            self.namespace = HTML
        if not self.tree.foreign.depth and self.fate != IGNORED:
            self.tree.started[self.element] += 1
        if self.namespace:
            row = _SVG_ROW if self.namespace == SVG else _MATHML_ROW
        elif self.fate >= RCDATA:
            self.text_start = self.end
            if self.fate == SCRIPT_DATA:
                self.at = script_end(self.data, self.end, self.name_start)
            elif self.fate == PLAINTEXT:
                self.at = self.size
            else:
                self.at = raw_text_end(self.data, self.end, self.name_start, self.name_end - self.name_start)
            self.text_end = self.at
        elif self.fate == MERGED:
            self._merge()
        if self.record is not None:
            return 1
        if self.fate == IGNORED:
            return 0
        row *= _ATTRIBUTES
        if interest[row]:
            return 1
        for k in range(self.found):
            if interest[row + self.order[k]]:
                return 1
        return 0

    @cython.cfunc
    def _merge(self) -> cython.int:
        """13.2.6.4.7: of a second html or body only the attributes count that the element lacks."""
        kept: cython.int = 0
        k: cython.int
        number: cython.int
        for k in range(self.found):
            number = self.order[k]
            if (self.element, number) not in self.merged:
                self.merged.add((self.element, number))
                self.order[kept] = number
                kept += 1
            else:
                self.stamp[number] = 0
        self.found = kept
        return 0

    @cython.cfunc
    def _decided(self) -> cython.bint:
        """What attributes decide in tree construction: see `Tree.start`."""
        if self.element == _INPUT:
            return self._value(_TYPE) == b"hidden"
        if self.element == _FONT:
            return (
                self.stamp[_COLOR] == self.serial
                or self.stamp[_FACE] == self.serial
                or self.stamp[_SIZE] == self.serial
            )
        if self.element == _ANNOTATION_XML:
            value = self._value(_ENCODING)
            return value == b"text/html" or value == b"application/xhtml+xml"
        return False

    @cython.cfunc
    def _value(self, attribute: cython.int) -> bytes:
        """The raw value of an attribute of the tag in lower case; empty where it is absent."""
        if self.stamp[attribute] != self.serial:
            return b""
        return self.data[self.value_start[attribute] : self.value_end[attribute]].lower()

    @cython.cfunc
    @cython.boundscheck(False)
    @cython.wraparound(False)
    def _end_tag(self, i: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """13.2.5.7 from after the `</`: where the scan goes on."""
        p: cython.p_const_uchar = self.data
        classes: cython.p_const_uchar = _CLASSES
        told: cython.p_const_uchar = _TOLD
        n: cython.Py_ssize_t = self.size
        name: cython.Py_ssize_t = i
        name_end: cython.Py_ssize_t
        hashed: cython.uint = 0
        element: cython.int
        if i >= n:
            return n
        if not classes[p[i]] & _LETTER:  # </> is nothing, the rest is a bogus comment
            return self._bogus_comment_end(i - 2, i)
        while i < n and not classes[p[i]] & _NAME_END:
            hashed = hashed * 33 + (p[i] | 32)
            if not cython.compiled:
                hashed &= 0xFFFFFFFF
            i += 1
        name_end = i
        if i < n and p[i] == 62:
            i += 1
        else:
            i = self._attributes(i)
            if i < 0:
                self.truncated = name - 2
                return n
        element = _lookup(_ELEMENT_SLOTS, _ELEMENT_CELLS, hashed, p, name, name_end - name)
        if self.tree.foreign.depth:
            self.tree.end(element, self.data[name:name_end].lower())
        elif told[element] & _END_TAG:
            self.tree.end(element, b"")
        elif self.tree.started[element] > self.tree.ended[element]:
            self.tree.ended[element] += 1
        return i

    @cython.cfunc
    @cython.boundscheck(False)
    @cython.wraparound(False)
    def _markup_declaration(self, i: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """13.2.5.42 from after the `<!`: where the scan goes on, or -1 for a comment to report."""
        p: cython.p_const_uchar = self.data
        n: cython.Py_ssize_t = self.size
        start: cython.Py_ssize_t
        if i + 1 < n and p[i] == 45 and p[i + 1] == 45:
            self.start = i - 2
            self.text_start = i + 2
            self.text_end = comment_end(self.data, i + 2)
            self.end = self._bogus_comment_end(self.start, self.text_end)
            return -1
        if self.tree.foreign.namespace and self.data[i : i + 7] == b"[CDATA[":
            start = i - 2
            i = self.data.find(b"]]>", i + 7)
            if i < 0:
                self.truncated = start
                return n
            return i + 3
        return self._bogus_comment_end(i - 2, i)

    @cython.cfunc
    def _bogus_comment_end(self, start: cython.Py_ssize_t, i: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """13.2.5.41 for what begins at `start`: after the next `>`."""
        i = _find(self.data, 62, i, self.size)
        if i < 0:
            self.truncated = start
            return self.size
        return i + 1
