"""Find the tags that can have references, in bytes, without a tree: tokenization by HTML Standard 13.2.5.

In: the bytes of a document in an ASCII-compatible charset. Out: relevant tokens, one for each call of `next`, which
stores byte offsets in fields. It copies nothing and creates no object for a tag without references. In the charsets of
the web no byte of a multibyte sequence equals `<`, `>`, a quote, `=` or white space.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from absolve.core import byte_scan
from absolve.core.byte_scan import comment_end, is_tag_name, raw_text_end
from absolve.encodings.codings import reference_at
from absolve.formats.html import names
from absolve.formats.html.names import ATTRIBUTE_ID, ELEMENT_ID, Trait
from absolve.formats.html.tag import Tag
from absolve.formats.html.tree_rules import Tree

if TYPE_CHECKING:
    import cython

# Numbers that tokenizer.pxd declares, so that compiled code does not look them up.
END = names.END
TAG = names.TAG
COMMENT = names.COMMENT
KEPT = names.KEPT
IGNORED = names.IGNORED
MERGED = names.MERGED
RCDATA = names.RCDATA
SCRIPT_DATA = names.SCRIPT_DATA
PLAINTEXT = names.PLAINTEXT
HTML = names.HTML
SVG = names.SVG

_SPACE = names.SPACE
_LETTER = names.LETTER
_CLASSES = names.CLASSES
# Flags of element numbers: which tags are passed to the tree simulation.
_START = 1  # start tags
_END_TAG = 2  # end tags
_NOT_FRAMESET = 4  # start tags while the frameset-ok flag is "ok"
_element_flags = bytes(
    bool(found & Trait.RELEVANT) * _START
    | bool(found & Trait.RELEVANT_END) * _END_TAG
    | bool(found & Trait.NOT_FRAMESET) * _NOT_FRAMESET
    for found in names.ELEMENT_TRAITS
)
_ELEMENT_FLAGS = _element_flags
_ANNOTATION_XML = ELEMENT_ID[b"annotation-xml"]
_NOSCRIPT = ELEMENT_ID[b"noscript"]
_FONT = ELEMENT_ID[b"font"]
_INPUT = ELEMENT_ID[b"input"]
_ENCODING = ATTRIBUTE_ID[b"encoding"]
_COLOR = ATTRIBUTE_ID[b"color"]
_FACE = ATTRIBUTE_ID[b"face"]
_SIZE = ATTRIBUTE_ID[b"size"]
_TYPE = ATTRIBUTE_ID[b"type"]
_ATTRIBUTES = names.ATTRIBUTES
_SVG_ROW = names.SVG_ROW
_MATHML_ROW = names.MATHML_ROW


class Tokenizer:
    """One pass over one document.

    After END, `truncated` is the start of a tag or comment that the end of the file cuts off, or -1; such a token is
    not reported, but for a comment. `tree.guessed` is true where a browser may see other tags. `interest` has a byte
    for each pair of element row and attribute number: whether the pair is a reference. With `record` (a list), every
    start tag is reported, with its attributes recorded in the list (see `Tag`); with `recorded` alone, too, but
    without them.
    """

    def __init__(
        self, data: bytes, interest: bytes, record: list[tuple[int, int, int, int, int]] | None = None
    ) -> None:
        self.tree = Tree()
        self.tag = Tag(record)
        self.recorded = record is not None
        self.begin(data, interest)

    def begin(self, data: bytes, interest: bytes) -> cython.int:
        """Begin a pass over another document, and reset all state."""
        self.data = data
        self.p: cython.p_const_uchar = data
        self.size = len(data)
        self.at = 0
        self.tree.begin()
        self.interest = interest
        self.tag.begin(data)
        self.start = self.end = self.name_start = self.name_end = self.text_start = self.text_end = 0
        self.element = self.namespace = self.fate = self.row = 0
        self.truncated = -1
        self.merged: set[tuple[int, int]] | None = None
        self.noscript_end = sys.maxsize  # the end of the open noscript element with scripting enabled
        self.noscript_modes: tuple[int, ...] = ()  # the tree's modes at its start
        self.noscript_ended = False  # whether a tag begins at that end
        self.stop = self.size - 1  # no tag begins from here on, or `noscript_end` is here
        return 0

    def release(self) -> cython.int:
        """Keep no reference to the document: `begin` must come before the next token."""
        self.data = b""
        self.merged = None
        return self.tag.begin(b"")

    def next(self) -> cython.int:
        """Advance to the next relevant token and return its kind: TAG, COMMENT or END (13.2.5.1 to 13.2.5.8)."""
        p: cython.p_const_uchar = self.p
        classes: cython.p_const_uchar = _CLASSES
        i: cython.Py_ssize_t = self.at
        less: cython.Py_ssize_t
        n: cython.Py_ssize_t = self.size
        c: cython.uchar
        while True:
            less = i if i < n and p[i] == 60 else byte_scan.find(p, 60, i, n)
            if self.tree.frameset_ok:
                self._text(i, less if less >= 0 else n, True)
            if less < 0 or less >= self.stop:
                if less < 0 or less + 1 >= n:
                    self.at = n
                    return END
                self._past_noscript(less)
            i = less + 1
            c = p[i]
            if classes[c] & _LETTER:  # 13.2.5.8 tag name state
                self.start = less
                self.name_start = less + 1
                i = self.tag.read(i)
                self.name_end = self.tag.name_end
                self.element = self.tag.element
                if i < 0:  # the end of the file in a tag: drop it
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
            elif self.tree.frameset_ok:  # a `<` that is text
                self.tree.text()

    def _text(self, i: cython.Py_ssize_t, end: cython.Py_ssize_t, references: cython.bint) -> cython.int:
        """Report this span of text to the tree if it is more than white space; with `references`, decode these."""
        p: cython.p_const_uchar = self.p
        classes: cython.p_const_uchar = _CLASSES
        while i < end:
            if p[i] == 38 and references:
                read = reference_at(self.data, i, end, False)
                if read is None:
                    break
                text: bytes = read[1]
                if len(text) > 1 or not classes[text[0]] & _SPACE:
                    break
                i = read[0]
            elif classes[p[i]] & _SPACE or p[i] == 0:
                i += 1
            else:
                break
        if i < end:
            self.tree.text()
        return 0

    def _start_tag(self) -> cython.int:
        """Pass a start tag to the tree if it is relevant there, and return whether to report the tag."""
        element: cython.int = self.element
        flags: cython.int = _ELEMENT_FLAGS[element]
        if self.tree.every or flags & _START or (flags & _NOT_FRAMESET and self.tree.frameset_ok):
            self._build(element)
        else:
            self.fate = KEPT
            self.namespace = HTML
            self.tree.started[element] += 1
            self.row = element
        return self.recorded or self.is_of_interest()

    def _build(self, element: cython.int) -> cython.int:
        """Pass a start tag to the tree, count it, and skip its raw text."""
        p: cython.p_const_uchar = self.p
        name = b"" if element else p[self.name_start : self.name_end].lower()
        self.fate = self.tree.start(element, name, self.tag.self_closing, self._decided())
        self.namespace = self.tree.namespace
        if element == _NOSCRIPT:
            self._in_noscript()
        if not self.tree.foreign.depth and self.fate != IGNORED:
            self.tree.started[element] += 1
        self.row = element
        if self.namespace:
            self.row = _SVG_ROW if self.namespace == SVG else _MATHML_ROW
        elif self.fate >= RCDATA:
            self.text_start = self.end
            if self.fate == SCRIPT_DATA:
                self.at = _script_end(self.data, self.end, self.name_start)
            elif self.fate == PLAINTEXT:
                self.at = self.size
            else:
                self.at = raw_text_end(p, self.end, self.size, self.name_start, self.name_end - self.name_start)
            self.text_end = self.at
        elif self.fate == MERGED:
            self._merge()
        return 0

    def is_of_interest(self) -> cython.bint:
        """Return whether the current start tag would be reported without `recorded`."""
        tag: Tag = self.tag
        interest: cython.p_const_uchar = self.interest
        row: cython.int = self.row * _ATTRIBUTES
        k: cython.int
        if self.fate == IGNORED:
            return False
        if interest[row]:
            return True
        for k in range(tag.found):
            if interest[row + tag.order[k]]:
                return True
        return False

    def _merge(self) -> cython.int:
        """Keep only those attributes of a second html or body that the element lacks (13.2.6.4.7)."""
        tag: Tag = self.tag
        if self.merged is None:
            self.merged = set()
        kept: cython.int = 0
        k: cython.int
        number: cython.int
        for k in range(tag.found):
            number = tag.order[k]
            if (self.element, number) not in self.merged:
                self.merged.add((self.element, number))
                tag.order[kept] = number
                kept += 1
            else:
                tag.drop(number)
        tag.found = kept
        return 0

    def _in_noscript(self) -> cython.int:
        """Record the end of a noscript element with scripting enabled, where its content is raw text."""
        if not self.namespace and self.fate == KEPT and self.noscript_end == sys.maxsize:
            length: cython.Py_ssize_t = self.name_end - self.name_start
            self.noscript_end = raw_text_end(self.p, self.end, self.size, self.name_start, length)
            self.noscript_modes = self.tree.modes()
            self.stop = min(self.noscript_end, self.size - 1)
        return 0

    def _past_noscript(self, less: cython.Py_ssize_t) -> cython.int:
        """Process the `<` at that end, or the first one behind it: then both modes of scripting must agree."""
        if less == self.noscript_end:
            self.noscript_ended = True
        elif self.noscript_ended and self.tree.modes() == self.noscript_modes:
            self.noscript_end = sys.maxsize
            self.noscript_ended = False
            self.stop = self.size - 1
        else:
            self.tree.guessed = True
            self.noscript_end = sys.maxsize - 1  # stop: do not check further noscript elements
            self.stop = self.size - 1
        return 0

    def _decided(self) -> cython.bint:
        """Return the condition on attributes for tree construction: see `Tree.start`."""
        tag: Tag = self.tag
        if self.element == _INPUT:
            return tag.raw(_TYPE).lower() == b"hidden"
        if self.element == _FONT:
            return tag.has(_COLOR) or tag.has(_FACE) or tag.has(_SIZE)
        if self.element == _ANNOTATION_XML:
            value = tag.raw(_ENCODING).lower()
            return value == b"text/html" or value == b"application/xhtml+xml"
        return False

    def _end_tag(self, i: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Process an end tag from behind the `</` (13.2.5.7); return the offset at which the scan continues."""
        p: cython.p_const_uchar = self.p
        classes: cython.p_const_uchar = _CLASSES
        flags_of: cython.p_const_uchar = _ELEMENT_FLAGS
        n: cython.Py_ssize_t = self.size
        name: cython.Py_ssize_t = i
        element: cython.int
        if i >= n:
            return n
        if not classes[p[i]] & _LETTER:  # `</>` is ignored, the rest is a bogus comment
            return self._bogus_comment_end(i - 2, i)
        i = self.tag.read(i)
        if i < 0:
            self.truncated = name - 2
            return n
        element = self.tag.element
        if self.tree.foreign.depth:
            self.tree.end(element, b"" if element else p[name : self.tag.name_end].lower())
        elif flags_of[element] & _END_TAG:
            self.tree.end(element, b"")
        elif self.tree.started[element] > self.tree.ended[element]:
            self.tree.ended[element] += 1
        return i

    def _markup_declaration(self, i: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Process markup from behind the `<!` (13.2.5.42); return where the scan continues, or -1 for a comment."""
        p: cython.p_const_uchar = self.p
        n: cython.Py_ssize_t = self.size
        start: cython.Py_ssize_t
        if i + 1 < n and p[i] == 45 and p[i + 1] == 45:
            self.start = i - 2
            self.text_start = i + 2
            self.text_end = comment_end(p, i + 2, n)
            self.end = self._bogus_comment_end(self.start, self.text_end)
            return -1
        if self.tree.foreign.namespace and self.data[i : i + 7] == b"[CDATA[":
            start = i - 2
            i = self.data.find(b"]]>", i + 7)
            if self.tree.frameset_ok:
                self._text(start + 9, i if i >= 0 else n, False)
            if i < 0:
                self.truncated = start
                return n
            return i + 3
        return self._bogus_comment_end(i - 2, i)

    def _bogus_comment_end(self, start: cython.Py_ssize_t, i: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Return the offset behind the next `>` (13.2.5.41); `start` is the start of the bogus comment."""
        i = byte_scan.find(self.p, 62, i, self.size)
        if i < 0:
            self.truncated = start
            return self.size
        return i + 1


def _script_end(data: bytes, i: cython.Py_ssize_t, name: cython.Py_ssize_t) -> cython.Py_ssize_t:
    """Return the offset of the end tag of a script (13.2.5.15 to .31); `name` is the offset of the start tag's name.

    After `<!--` a start tag `<script` hides the next end tag.
    """
    p: cython.p_const_uchar = data
    n: cython.Py_ssize_t = len(data)
    escaped: cython.int = 0  # 1: script data escaped, 2: double escaped
    ends: cython.bint
    while True:
        if not escaped:
            i = byte_scan.find(p, 60, i, n)
            if i < 0:
                return n
        elif i >= n:
            return n
        if p[i] == 60:
            ends = i + 1 < n and p[i + 1] == 47 and is_tag_name(p, n, i + 2, name, 6)
            if ends and escaped < 2:
                return i
            if ends:
                escaped = 1
            elif escaped == 1 and is_tag_name(p, n, i + 1, name, 6):
                escaped = 2
            elif not escaped and i + 3 < n and p[i + 1] == 33 and p[i + 2] == 45 and p[i + 3] == 45:
                escaped = 1
                i += 1  # the two dashes may belong to the end `-->`
            i += 1
        elif p[i] == 45 and i + 1 < n and p[i + 1] == 45:
            while i < n and p[i] == 45:
                i += 1
            if i < n and p[i] == 62:
                escaped = 0
        else:
            i += 1
