"""Collect facts about an XML document for the table of documents: title, language, canonical URL, robots and anchors.

In: the start tags of XHTML, SVG or any other vocabulary, with namespaces. Out: `PageFacts`, with the meaning that the
HTML Standard gives them in a browser: the title of an SVG document is the first title that is a child of its root.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from absolve.core.model import PageFacts
from absolve.formats.html.page_facts import MOST_ALTERNATES, Anchors, text
from absolve.formats.html.row_text import LONGEST
from absolve.formats.xml.codings import PREDEFINED, CharacterData
from absolve.formats.xml.link_tables import SVG, XHTML

if TYPE_CHECKING:
    from absolve.encodings.charsets import Charset

_WANTED: Final = frozenset((b"content", b"href", b"hreflang", b"id", b"lang", b"name", b"rel", b"xml:lang"))
_CHILD: Final = 2  # the depth of children of the root
_LOOKED_AT: Final = 4096  # bytes of a title
_MARKUP: Final = re.compile(rb"<!\[CDATA\[(.*?)(?:\]\]>|\Z)|<!--.*?(?:-->|\Z)|<\?.*?(?:\?>|\Z)|<[^>]*+>?", re.DOTALL)


class XMLFacts:
    """The facts of one document so far. `title_depth` is the depth of the open title element, or -1.

    `wanted` are the names of the attributes that `element` reads.
    """

    wanted = _WANTED

    def __init__(self, data: bytes, charset: Charset, most: int) -> None:
        self._data = data
        self._text = CharacterData(charset, b"", PREDEFINED)
        self._anchors = Anchors(len(data), most)
        self._is_svg = False
        self._title: str | None = None
        self._lang = self._canonical = ""
        self._robots: list[str] = []
        self._alternates: list[tuple[str, str]] = []
        self._title_start = -1
        self.title_depth = -1
        self.ignored_base = False

    def element(self, namespace: str, local: str, depth: int, end: int, values: dict[bytes, bytes]) -> None:
        """Collect the facts of a start tag that ends at `end`; `values` are its attributes of `wanted`, decoded."""
        if depth == 1:
            self._is_svg = namespace == SVG and local == "svg"
            self._lang = folded(values.get(b"xml:lang") or values.get(b"lang", b""))
        self._anchors.add(values.get(b"id", b""))
        is_title = (namespace == SVG and depth == _CHILD) if self._is_svg else namespace == XHTML
        if is_title and local == "title" and self._title is None and self.title_depth < 0:
            self.title_depth = depth
            self._title_start = end
        if namespace != XHTML:
            return
        if local == "a":
            self._anchors.add(values.get(b"name", b""))
        elif local == "meta" and (name := values.get(b"name", b"").strip().lower()) in {b"robots", b"googlebot"}:
            content = folded(values.get(b"content", b""))
            self._robots.append(content if name == b"robots" else f"googlebot: {content}")  # as in X-Robots-Tag
        elif local == "link":
            words = values.get(b"rel", b"").lower().split()
            reference = values.get(b"href", b"").decode("utf-8", "surrogateescape")
            if b"canonical" in words and not self._canonical:
                self._canonical = reference
            if b"alternate" in words and b"hreflang" in values and len(self._alternates) < MOST_ALTERNATES:
                self._alternates.append((folded(values[b"hreflang"]), reference))

    def end_title(self, end: int) -> None:
        """Set the title: the text between the start tag and the end tag, which begins at `end`."""
        self.title_depth = -1
        raw = self._data[self._title_start : min(end, self._title_start + _LOOKED_AT)]
        pieces: list[bytes] = []
        position = 0
        for found in _MARKUP.finditer(raw):
            pieces += (self._text.decode(raw[position : found.start()]), found[1] or b"")
            position = found.end()
        self._title = folded(b"".join((*pieces, self._text.decode(raw[position:]))))

    def taken(self) -> PageFacts:
        """Return the facts, at the end of the document."""
        problems = (*(("ignored-base",) if self.ignored_base else ()), *self._anchors.problems)
        robots = ", ".join(self._robots)[: 4 * LONGEST]
        anchors = self._anchors.taken()
        return PageFacts(
            self._title, self._lang, self._canonical, robots, anchors, problems, tuple(self._alternates)
        )


def folded(value: bytes) -> str:
    """Return a text for a row: with white space folded, cut."""
    return " ".join(text(value[:_LOOKED_AT]).split())[:LONGEST]
