"""Collect facts about a page for the table of documents: title, language, canonical URL, robots and anchors.

In: every start tag of a document, as the HTML tokenizer or the XML walker reports it. Out: `PageFacts`. Only the
document tree counts, as the HTML Standard builds it: no template contents (4.12.3), no tag that the tree builder drops,
no text. Facts in XML (XHTML, SVG or any other vocabulary) have the same meaning.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from absolve.core import byte_scan
from absolve.core.lazy_regex import pattern
from absolve.core.model import PageFacts
from absolve.formats.html import names
from absolve.formats.html.names import ATTRIBUTE_ID, ELEMENT_ID
from absolve.formats.html.row_text import LONGEST, Folded

if TYPE_CHECKING:
    import cython

    from absolve.core.protocols import Coding
    from absolve.encodings.charsets import Charset
    from absolve.formats.html.tag import Tag, Values
    from absolve.formats.html.tokenizer import Tokenizer


_SPACE = names.SPACE
_ATTRIBUTE_NAME_END = names.ATTRIBUTE_NAME_END
_CLASSES = names.CLASSES
_IGNORED = names.IGNORED
_MERGED = names.MERGED
_A = ELEMENT_ID[b"a"]
_BODY = ELEMENT_ID[b"body"]
_HTML = ELEMENT_ID[b"html"]
_LINK = ELEMENT_ID[b"link"]
_META = ELEMENT_ID[b"meta"]
_TEMPLATE = ELEMENT_ID[b"template"]
_TITLE = ELEMENT_ID[b"title"]
_CONTENT = ATTRIBUTE_ID[b"content"]
_HREF = ATTRIBUTE_ID[b"href"]
_NAME = ATTRIBUTE_ID[b"name"]
_REL = ATTRIBUTE_ID[b"rel"]
_TYPE = ATTRIBUTE_ID[b"type"]
_PAGES: Final = frozenset({b"", b"text/html", b"application/xhtml+xml"})

_MOST_BYTES = 1 << 20  # of anchors, and four times the document: only declared entities of XML have more
MOST_ALTERNATES = 1000  # of one page: there are fewer languages
_REPLACEMENT = "\N{REPLACEMENT CHARACTER}"


class Anchors:
    """The distinct anchors of one document, in document order, up to a number of anchors and of characters."""

    def __init__(self, size: int, most: int) -> None:
        self._found: dict[str, None] = {}
        self._left = 4 * size + _MOST_BYTES
        self._most = most
        self.is_full = False

    def add(self, value: bytes) -> None:
        """Add the decoded value of an attribute, if it is not empty."""
        if not value or self.is_full:
            return
        anchor = _text(value)
        if anchor not in self._found:
            self._left -= len(anchor)
            self.is_full = self._left < 0 or len(self._found) >= self._most
            if not self.is_full:
                self._found[anchor] = None

    def taken(self) -> list[str]:
        return list(self._found)

    @property
    def problems(self) -> tuple[str, ...]:
        return ("too-many-anchors",) if self.is_full else ()


def _text(value: bytes) -> str:
    """Return a decoded value as the tokenizer has it: line ends are LF, NUL is U+FFFD (13.2.3.5, 13.2.5)."""
    found = value.decode("utf-8", "replace")
    if "\r" in found:
        found = found.replace("\r\n", "\n").replace("\r", "\n")
    return found.replace("\0", _REPLACEMENT) if "\0" in found else found


class FactCollector:
    """The facts of one document so far. `ignored_base`: a base element rules nothing, because another came first."""

    def __init__(self, data: bytes, charset: Charset, values: Values, most: int) -> None:
        self.data = data
        self.values = values
        self.folded = Folded(charset)
        self.anchors = Anchors(len(data), most)
        self.title: str | None = None
        self.lang = self.canonical = ""
        self.robots: list[str] = []
        self.alternates: list[tuple[str, str]] = []
        self.has_lang = self.has_html_id = self.has_body_id = self.ignored_base = False
        self.span_start = self.span_end = -1

    def tag(self, scanner: Tokenizer) -> cython.int:
        """Collect the facts of a start tag."""
        element: cython.int = scanner.element
        depth: cython.Py_ssize_t = scanner.tree.tables.template_depth
        if scanner.fate == _IGNORED:
            return 0
        if depth and not (depth == 1 and element == _TEMPLATE and not scanner.namespace):
            return 0
        self.identify(scanner)
        if scanner.namespace:
            return 0
        if element == _TITLE:
            if self.title is None:
                self.title = self.shown(scanner.text_start, scanner.text_end, False)
        elif element == _META:
            self.meta(scanner.tag)
        elif element == _LINK:
            self.link(scanner)
        return 0

    def identify(self, scanner: Tokenizer) -> cython.int:
        """Collect the `id` of any element, the `name` of `a`, the `lang` of the root."""
        element: cython.int = scanner.element
        start: cython.Py_ssize_t = scanner.name_end
        if scanner.namespace:
            return self.anchor(start, scanner.end, b"id")
        if scanner.fate == _MERGED:  # html or body, where only the first of several tags with the attribute counts
            if element == _HTML and not self.has_lang and self.find(start, scanner.end, b"lang"):
                self.has_lang = True
                self.lang = self.shown(self.span_start, self.span_end, True)
            if self.has_html_id if element == _HTML else self.has_body_id:
                return 0
            if self.anchor(start, scanner.end, b"id"):
                if element == _HTML:
                    self.has_html_id = True
                else:
                    self.has_body_id = True
            return 0
        self.anchor(start, scanner.end, b"id")
        if element == _A:
            self.anchor(start, scanner.end, b"name")
        return 0

    def anchor(self, start: cython.Py_ssize_t, end: cython.Py_ssize_t, name: bytes) -> cython.int:
        """Add the value of an attribute of the tag in this span as an anchor, and return whether it is there."""
        if not self.find(start, end, name):
            return 0
        if self.span_start < self.span_end:
            self.anchors.add(self.values.double.decode(self.data[self.span_start : self.span_end]))
        return 1

    def shown(self, start: cython.Py_ssize_t, end: cython.Py_ssize_t, attribute: cython.bint) -> str:
        """Return a text for a row: decoded, with white space folded, cut."""
        self.folded.clear()
        self.folded.add(self.data, start, end, attribute)
        return self.folded.taken().decode("utf-8", "replace")

    def meta(self, tag: Tag) -> cython.int:
        if tag.has(_CONTENT):
            name: bytes = tag.raw(_NAME).strip().lower()
            if name in {b"robots", b"googlebot"}:
                content: str = self.shown(tag.value_start[_CONTENT], tag.value_end[_CONTENT], True)
                self.robots.append(content if name == b"robots" else f"googlebot: {content}")  # as in X-Robots-Tag
        return 0

    def link(self, scanner: Tokenizer) -> cython.int:
        tag: Tag = scanner.tag
        words: list[bytes] = tag.raw(_REL).lower().split()
        if b"canonical" in words and not self.canonical:
            self.canonical = self.reference(tag)
        is_page: cython.bint = tag.raw(_TYPE).strip().lower() in _PAGES  # and no feed
        is_wanted = is_page and b"alternate" in words and len(self.alternates) < MOST_ALTERNATES
        if is_wanted and self.find(scanner.name_end, scanner.end, b"hreflang"):
            self.alternates.append((self.shown(self.span_start, self.span_end, True), self.reference(tag)))
        return 0

    def reference(self, tag: Tag) -> str:
        return self.values.double.decode(tag.raw(_HREF)).decode("utf-8", "surrogateescape")

    def find(self, i: cython.Py_ssize_t, end: cython.Py_ssize_t, wanted: bytes) -> cython.bint:
        """Find the first attribute of this name between the end of a tag's name and of the tag (13.2.5.32 to .40).

        Set `span_start` and `span_end` to the span of its value. The name needs no number, as it does in `Tag`.
        """
        p: cython.p_const_uchar = self.data
        w: cython.p_const_uchar = wanted
        classes: cython.p_const_uchar = _CLASSES
        length: cython.Py_ssize_t = len(wanted)
        name: cython.Py_ssize_t
        size: cython.Py_ssize_t
        value: cython.Py_ssize_t
        k: cython.Py_ssize_t
        while True:
            while i < end and (classes[p[i]] & _SPACE or p[i] == 47):
                i += 1
            if i >= end or p[i] == 62:
                return False
            name = i
            i += 1
            while i < end and not classes[p[i]] & _ATTRIBUTE_NAME_END:
                i += 1
            size = i - name
            while i < end and classes[p[i]] & _SPACE:
                i += 1
            value = i
            self.span_end = i
            if i < end and p[i] == 61:
                i += 1
                while i < end and classes[p[i]] & _SPACE:
                    i += 1
                value = i
                if i < end and (p[i] == 34 or p[i] == 39):
                    value += 1
                    i = byte_scan.find(p, p[i], value, end)
                    if i < 0:
                        return False
                    self.span_end = i
                    i += 1
                else:
                    while i < end and not classes[p[i]] & _SPACE and p[i] != 62:
                        i += 1
                    self.span_end = i
            if size == length:
                k = 0
                while k < length and p[name + k] | 32 == w[k]:
                    k += 1
                if k == length:
                    self.span_start = value
                    return True

    def taken(self) -> PageFacts:
        """Return the facts, at the end of the document."""
        return _facts(self)


def _facts(found: FactCollector | XMLFacts) -> PageFacts:
    problems = (*(("ignored-base",) if found.ignored_base else ()), *found.anchors.problems)
    robots = ", ".join(found.robots)[: 4 * LONGEST]
    anchors = found.anchors.taken()
    return PageFacts(found.title, found.lang, found.canonical, robots, anchors, problems, tuple(found.alternates))


# --- XML -----

_WANTED: Final = frozenset((b"content", b"href", b"hreflang", b"id", b"lang", b"name", b"rel", b"type", b"xml:lang"))
_CHILD: Final = 2  # the depth of children of the root
_TITLE_BYTES: Final = 4096
_MARKUP: Final = pattern(rb"<!\[CDATA\[(.*?)(?:\]\]>|\Z)|<!--.*?(?:-->|\Z)|<\?.*?(?:\?>|\Z)|<[^>]*+>?", re.DOTALL)


class XMLFacts:
    """The facts of one document so far. `title_depth` is the depth of the open title element, or -1.

    `wanted` are the names of the attributes that `element` reads.
    """

    wanted = _WANTED

    def __init__(self, data: bytes, text: Coding, most: int) -> None:
        """Begin a document, whose text has this coding."""
        self._data = data
        self._text = text
        self.anchors = Anchors(len(data), most)
        self._is_svg = False
        self.title: str | None = None
        self.lang = self.canonical = ""
        self.robots: list[str] = []
        self.alternates: list[tuple[str, str]] = []
        self._title_start = -1
        self.title_depth = -1
        self.ignored_base = False

    def element(
        self, local: str, depth: int, end: int, values: dict[bytes, bytes], *, is_html: bool, is_svg: bool
    ) -> None:
        """Collect the facts of a start tag that ends at `end`; `values` are its attributes of `wanted`, decoded.

        The title of an SVG document is the first title that is a child of its root.
        """
        if depth == 1:
            self._is_svg = is_svg and local == "svg"
            self.lang = _folded(values.get(b"xml:lang") or values.get(b"lang", b""))
        self.anchors.add(values.get(b"id", b""))
        is_title = (is_svg and depth == _CHILD) if self._is_svg else is_html
        if is_title and local == "title" and self.title is None and self.title_depth < 0:
            self.title_depth = depth
            self._title_start = end
        if not is_html:
            return
        if local == "a":
            self.anchors.add(values.get(b"name", b""))
        elif local == "meta" and (name := values.get(b"name", b"").strip().lower()) in {b"robots", b"googlebot"}:
            content = _folded(values.get(b"content", b""))
            self.robots.append(content if name == b"robots" else f"googlebot: {content}")  # as in X-Robots-Tag
        elif local == "link":
            words = values.get(b"rel", b"").lower().split()
            reference = values.get(b"href", b"").decode("utf-8", "surrogateescape")
            if b"canonical" in words and not self.canonical:
                self.canonical = reference
            is_page = values.get(b"type", b"").strip().lower() in _PAGES
            if is_page and b"alternate" in words and b"hreflang" in values and len(self.alternates) < MOST_ALTERNATES:
                self.alternates.append((_folded(values[b"hreflang"]), reference))

    def end_title(self, end: int) -> None:
        """Set the title: the text between the start tag and the end tag, which begins at `end`."""
        self.title_depth = -1
        raw = self._data[self._title_start : min(end, self._title_start + _TITLE_BYTES)]
        pieces: list[bytes] = []
        position = 0
        for found in _MARKUP.finditer(raw):
            pieces += (self._text.decode(raw[position : found.start()]), found[1] or b"")
            position = found.end()
        self.title = _folded(b"".join((*pieces, self._text.decode(raw[position:]))))

    def taken(self) -> PageFacts:
        """Return the facts, at the end of the document."""
        return _facts(self)


def _folded(value: bytes) -> str:
    """Return a text for a row, cut and folded: for example, `a b` for ` a  b `."""
    return " ".join(_text(value[:_TITLE_BYTES]).split())[:LONGEST]
