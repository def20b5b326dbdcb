"""The HTML walker: the references, bases and inner documents of text/html, in the order in which they stand.

The scanner says where attributes are; the tables say which of them hold references, and how; this module makes the
events. What depends on more than one attribute of a tag (`meta`, `link`, `object`) is decided here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from absolve.charsets import UTF_8
from absolve.codings import CharacterReferences, Raw, attribute_coding
from absolve.formats import html_names as names
from absolve.formats import html_tables as tables
from absolve.formats.grammars import GRAMMARS, WHITE_SPACE
from absolve.formats.html_names import ATTRIBUTE_ID, ELEMENT_ID
from absolve.formats.html_savers import retrieval_url
from absolve.model import Base, Layer, Link, Part, Place

if TYPE_CHECKING:
    import cython

    from absolve.charsets import Charset
    from absolve.model import Event
    from absolve.typing import Coding, WalkOptions
else:
    from absolve import _cython as cython

if cython.compiled:
    from cython.cimports.absolve.formats.html_scanner import Scanner
else:
    from absolve.formats.html_scanner import Scanner

MEDIA_TYPE = "text/html"
CSS = "text/css"
CSS_DECLARATIONS = "text/css;declarations"  # ours: the value of a style attribute, which no media type names
JSON_SCRIPTS = {b"importmap": "application/importmap+json", b"speculationrules": "application/speculationrules+json"}

_COLUMNS = cython.declare(cython.int, 256)
_SVG_ROW = len(ELEMENT_ID) + 1
_MATHML_ROW = _SVG_ROW + 1
_ANY = 0  # the row of elements without a number of their own: what stands on every element

_TAG = cython.declare(cython.int, names.TAG)
_END = cython.declare(cython.int, names.END)
_BASE_LINK = Place("base", "href", against="own")

_ELEMENT_NAME = {number: name.decode() for name, number in ELEMENT_ID.items()}
_A = {name: ATTRIBUTE_ID[name.encode()] for name in "as codebase content http-equiv itemprop name property rel type".split()}
_BASE_ELEMENT = ELEMENT_ID[b"base"]
_LINK_ELEMENT = ELEMENT_ID[b"link"]
_META_ELEMENT = ELEMENT_ID[b"meta"]
_SCRIPT_ELEMENT = ELEMENT_ID[b"script"]
_STYLE_ELEMENT = ELEMENT_ID[b"style"]
_HREF = ATTRIBUTE_ID[b"href"]

Table = dict[int, dict[int, Place]]  # row -> attribute number -> place


def _tables(*, lazy: bool) -> tuple[bytes, Table]:
    """The interest table for the scanner and the places behind it, by row and attribute number."""
    rows: Table = {row: {} for row in range(_MATHML_ROW + 1)}
    everywhere = [*tables.HTML, *tables.GLOBAL, *(tables.LAZY if lazy else ())]
    for place in sorted(everywhere, key=lambda place: place.element != "*"):
        attribute = ATTRIBUTE_ID[place.attribute.encode()]
        for row in range(_SVG_ROW) if place.element == "*" else (ELEMENT_ID[place.element.encode()],):
            rows[row][attribute] = place
    for foreign, row in ((tables.SVG, _SVG_ROW), (tables.MATHML, _MATHML_ROW)):
        for place in (*tables.GLOBAL, *foreign):
            rows[row][ATTRIBUTE_ID[place.attribute.encode()]] = place
    for alias, name in tables.ALIASES.items():
        rows[ELEMENT_ID[alias.encode()]] = rows[ELEMENT_ID[name.encode()]]
    rows[_META_ELEMENT][_A["content"]] = Place("meta", "content")
    rows[_SCRIPT_ELEMENT][_A["type"]] = Place("script", "")
    interest = bytearray(_COLUMNS * (_MATHML_ROW + 1))
    for row, places in rows.items():
        for attribute in places:
            interest[row * _COLUMNS + attribute] = 1
    for row in (_STYLE_ELEMENT, _SVG_ROW):
        interest[row * _COLUMNS] = 1  # told of whatever its attributes are
    return bytes(interest), rows


def _foreign(places: tuple[Place, ...]) -> dict[tuple[str, str], Place]:
    return {(place.element, place.attribute): place for place in places}


_SVG_PLACES = _foreign((*tables.GLOBAL, *tables.SVG))
_MATHML_PLACES = _foreign((*tables.GLOBAL, *tables.MATHML))
_ATTRIBUTE_NAME = {number: name.decode() for name, number in ATTRIBUTE_ID.items()}
_BY_LAZY: dict[bool, tuple[bytes, Table]] = {}


def walk(data: bytes, charset: Charset, options: WalkOptions) -> list[Event]:
    """The events of an HTML document whose bytes are in an ASCII-compatible charset."""
    return _Walk(data, charset, options).run()


class _Walk:
    """One walk over one document."""

    def __init__(self, data: bytes, charset: Charset, options: WalkOptions) -> None:
        self.data = data
        self.charset = charset
        self.options = options
        if options.lazy not in _BY_LAZY:
            _BY_LAZY[options.lazy] = _tables(lazy=options.lazy)
        interest, self.rows = _BY_LAZY[options.lazy]
        self.scanner = Scanner(data, interest)
        self.events: list[Event] = []
        self.has_base = False
        self.has_retrieval = False

    def run(self) -> list[Event]:
        scanner: Scanner = self.scanner
        kind: cython.int
        while True:
            kind = scanner.next()
            if kind == _TAG:
                if scanner.namespace:
                    self.foreign_tag(scanner)
                else:
                    self.html_tag(scanner)
            elif kind == _END:
                return self.events
            else:
                self.comment(scanner.start, scanner.text_start, scanner.text_end)

    # --- tags -----------------------------------------------------------------------------------------------------

    def html_tag(self, scanner: Scanner) -> None:
        element: cython.int = scanner.element
        k: cython.int
        attribute: cython.int
        places = self.rows[element]
        scope = None
        for k in range(scanner.found):
            attribute = scanner.order[k]
            place = places.get(attribute)
            if place is None:
                continue
            if place.element == "*":
                place = place._replace(element=self.element_name(scanner))
            if place.against == "codebase":
                if scope is None:
                    scope = self.codebase(scanner)
                self.value(scanner, attribute, place, scope)
            elif element == _META_ELEMENT and place.attribute == "content":
                self.meta(scanner)
            elif element == _LINK_ELEMENT and attribute == _HREF:
                self.value(scanner, attribute, _LINK_PLACES[self.link_kind(scanner)], None)
            elif element == _BASE_ELEMENT and attribute == _HREF:
                self.base(scanner)
            elif place.attribute:
                self.value(scanner, attribute, place, None)
        if element == _STYLE_ELEMENT:
            self.style(scanner)
        elif element == _SCRIPT_ELEMENT:
            self.script(scanner)

    def foreign_tag(self, scanner: Scanner) -> None:
        places = _SVG_PLACES if scanner.namespace == names.SVG else _MATHML_PLACES
        element = self.element_name(scanner)
        k: cython.int
        for k in range(scanner.found):
            attribute: cython.int = scanner.order[k]
            name = _ATTRIBUTE_NAME[attribute]
            place = places.get((element, name))
            if place is None:
                place = places.get(("*", name))
                if place is None:
                    continue
                place = place._replace(element=element)
            self.value(scanner, attribute, place, None)
        if scanner.element == _STYLE_ELEMENT and not scanner.self_closing:
            self.foreign_style(scanner)

    def element_name(self, scanner: Scanner) -> str:
        """The element's local name in lower case; for a name with no number, as it stands."""
        if scanner.element:
            name: str = _ELEMENT_NAME[scanner.element]
            return name
        raw: bytes = self.data[scanner.name_start : scanner.name_end]
        return raw.lower().decode("utf-8", "replace")

    def value(self, scanner: Scanner, attribute: cython.int, place: Place, scope: Base | None) -> None:
        """Tell of the references, or of the inner document, in one attribute's value."""
        start: cython.Py_ssize_t = scanner.value_start[attribute]
        end: cython.Py_ssize_t = scanner.value_end[attribute]
        quote: cython.int = scanner.quote[attribute]
        coding = attribute_coding(self.charset, quote, (start, end))
        syntax = place.syntax
        if syntax == "css":
            if self.may_hold_css_link(start, end):
                self.events.append(Part(CSS_DECLARATIONS, start, end, coding))
            return
        if syntax == "srcdoc":
            self.events.append(Part(MEDIA_TYPE, start, end, coding, "srcdoc"))
            return
        for one, other in self.references(syntax, start, end, coding):
            self.events.append(Link(place, one, other, coding, scope, scanner.start, scanner.end))

    def references(self, syntax: str, start: int, end: int, coding: Coding) -> list[tuple[int, int]]:
        """The spans of the references in a value, by its grammar; the grammar sees what the bytes stand for."""
        raw = self.data[start:end]
        if b"&" not in raw and (self.charset is UTF_8 or raw.isascii()):
            if syntax == "url":
                inner = raw.lstrip(WHITE_SPACE)
                start = end - len(inner)
                return [(start, start + len(inner.rstrip(WHITE_SPACE)))]
            return [(start + one, start + other) for one, other in GRAMMARS[syntax](raw)]
        value, offsets = coding.decode_mapped(raw)
        if offsets is None:  # no attribute's coding is without them
            return []
        return [
            (start + offsets.start(one), start + (offsets.end(other) if other > one else offsets.start(one)))
            for one, other in GRAMMARS[syntax](value)
        ]

    def may_hold_css_link(self, start: cython.Py_ssize_t, end: cython.Py_ssize_t) -> bool:
        """Most style attributes hold none: a function needs a parenthesis, written as it is or as a reference."""
        return self.data.find(b"(", start, end) >= 0 or self.data.find(b"&", start, end) >= 0

    def text(self, scanner: Scanner, attribute: cython.int) -> bytes:
        """The decoded value of another attribute of the tag, in lower case and trimmed; empty where it is absent."""
        if scanner.stamp[attribute] != scanner.serial:
            return b""
        start: cython.Py_ssize_t = scanner.value_start[attribute]
        end: cython.Py_ssize_t = scanner.value_end[attribute]
        coding = attribute_coding(self.charset, scanner.quote[attribute], (start, end))
        return coding.decode(self.data[start:end]).strip(WHITE_SPACE).lower()

    # --- what takes more than one attribute -----------------------------------------------------------------------

    def base(self, scanner: Scanner) -> None:
        """The first base element with an href, outside templates, is the claim; later ones are links that claim in vain."""
        start: cython.Py_ssize_t = scanner.value_start[_HREF]
        end: cython.Py_ssize_t = scanner.value_end[_HREF]
        coding = attribute_coding(self.charset, scanner.quote[_HREF], (start, end))
        ((one, other),) = self.references("url", start, end, coding)
        reference = coding.decode(self.data[one:other]).decode("utf-8", "surrogateescape")
        claim = Base(Layer.EMBEDDED, reference, "base element", scanner.start)
        if not self.has_base and not scanner.tree.template_depth:
            self.has_base = True
            self.events.append(claim)
        self.events.append(Link(_BASE_LINK, one, other, coding, None, scanner.start, scanner.end, claim))

    def codebase(self, scanner: Scanner) -> Base | None:
        """The claim that `codebase` makes for classid, data, archive and code of its element (HTML 4.01 13.3)."""
        attribute: cython.int = _A["codebase"]
        if scanner.stamp[attribute] != scanner.serial:
            return None
        start: cython.Py_ssize_t = scanner.value_start[attribute]
        coding = attribute_coding(self.charset, scanner.quote[attribute], (0, 0))
        value = coding.decode(self.data[start : scanner.value_end[attribute]]).strip(WHITE_SPACE)
        if not value:
            return None
        return Base(Layer.EMBEDDED, value.decode("utf-8", "surrogateescape"), "codebase attribute", start)

    def meta(self, scanner: Scanner) -> None:
        """`meta`: http-equiv refresh, and the names whose content is a URL."""
        place = tables.HTTP_EQUIV.get(self.text(scanner, _A["http-equiv"]).decode("latin-1"))
        for attribute in ("property", "name"):
            if place is None:
                place = tables.META.get(self.text(scanner, _A[attribute]).decode("latin-1"))
        if place is None:
            place = tables.META_ITEMPROPS.get(self.text(scanner, _A["itemprop"]).decode("latin-1"))
        if place is not None:
            self.value(scanner, _A["content"], place, None)

    def link_kind(self, scanner: Scanner) -> str:
        relations = set(self.text(scanner, _A["rel"]).decode("latin-1").split())
        kind = next((kind for rel, kind in tables.LINK_REL_KINDS.items() if rel in relations), tables.LINK_KIND)
        if kind == "as":
            return tables.AS_KINDS.get(self.text(scanner, _A["as"]).decode("latin-1"), tables.AS_KIND)
        if kind == "type":
            media_type = self.text(scanner, _A["type"]).partition(b";")[0].strip()
            return tables.TYPE_KINDS.get(media_type.decode("latin-1"), tables.TYPE_KIND)
        return kind

    # --- text of elements -----------------------------------------------------------------------------------------

    def style(self, scanner: Scanner) -> None:
        if self.text(scanner, _A["type"]) in (b"", b"text/css"):
            self.sheet(scanner.text_start, scanner.text_end, Raw(self.charset))

    def sheet(self, start: cython.Py_ssize_t, end: cython.Py_ssize_t, coding: Coding) -> None:
        if self.data.find(b"(", start, end) >= 0 or self.data.find(b"@", start, end) >= 0:
            self.events.append(Part(CSS, start, end, coding))

    def foreign_style(self, scanner: Scanner) -> None:
        """In SVG a style element's text is text: references count there, and CDATA sections. One run of it is read."""
        start: cython.Py_ssize_t = scanner.end
        end: cython.Py_ssize_t = self.data.find(b"<", start)
        inner = end
        while 0 <= inner < len(self.data) and self.data[inner : inner + 9] == b"<![CDATA[":
            stop = self.data.find(b"]]>", inner + 9)
            if stop < 0:
                stop = len(self.data)
            self.sheet(inner + 9, stop, Raw(self.charset))
            inner = self.data.find(b"<", stop)
        if inner == end:
            self.sheet(start, end if end >= 0 else len(self.data), CharacterReferences(self.charset, b""))

    def script(self, scanner: Scanner) -> None:
        media_type = JSON_SCRIPTS.get(self.text(scanner, _A["type"]))
        if media_type:
            self.events.append(Part(media_type, scanner.text_start, scanner.text_end, Raw(self.charset)))

    def comment(self, start: cython.Py_ssize_t, text: cython.Py_ssize_t, end: cython.Py_ssize_t) -> None:
        """What a page's saver wrote, and the conditional comments of Internet Explorer where they are asked for."""
        if not self.has_retrieval:
            claim = retrieval_url(self.data, text, end)
            if claim is not None:
                self.has_retrieval = True
                self.events.append(Base(Layer.RETRIEVAL, claim[0], claim[1], start))
        if self.options.conditional_comments and self.data[text : text + 3] == b"[if":
            opened = self.data.find(b"]>", text, end)
            closed = self.data.rfind(b"<![endif]", text, end)
            if 0 <= opened < closed:
                self.events.append(Part(MEDIA_TYPE, opened + 2, closed, Raw(self.charset)))


_LINK_PLACES = {
    kind: Place("link", "href", kind=kind)
    for kind in {
        *tables.LINK_REL_KINDS.values(),
        *tables.AS_KINDS.values(),
        *tables.TYPE_KINDS.values(),
        *(tables.LINK_KIND, tables.AS_KIND, tables.TYPE_KIND),
    }
}
