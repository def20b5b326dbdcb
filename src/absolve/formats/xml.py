"""The XML walker: the references, bases and inner documents of XML, in the order in which they stand.

Expat says whether a document is well-formed and what it declares (xml_prolog.py); where that is known, the bytes are
simple to read, and names mean what the namespaces in scope make of them (xml_names.py). Entities of the internal subset
are not expanded in content, and those that are plain text are known in references.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from absolve.errors import WalkError
from absolve.formats import html_places as places
from absolve.formats import xml_tables as tables
from absolve.formats.grammars import GRAMMARS, WHITE_SPACE
from absolve.formats.html_savers import retrieval_url
from absolve.formats.xml_codings import CData, CharacterData, Mixed, PseudoAttribute, unknown_entity
from absolve.formats.xml_names import chosen
from absolve.formats.xml_prolog import ENTITY, checked
from absolve.formats.xml_tables import Choice
from absolve.model import Base, Layer, Notice, Part, Place, new

if TYPE_CHECKING:
    import cython

    from absolve.charsets import Charset
    from absolve.formats.xml_prolog import Prolog
    from absolve.typing import Coding, WalkOptions
else:
    from absolve import _cython as cython

if cython.compiled:
    from cython.cimports.absolve.events import Events
    from cython.cimports.absolve.formats.html_bytes import may_be_savers
    from cython.cimports.absolve.formats.xml_codings import is_plain
    from cython.cimports.absolve.formats.xml_names import Namespaces, Written
    from cython.cimports.absolve.formats.xml_tags import Tag
    from cython.cimports.absolve.seek import find
else:
    from absolve.events import Events
    from absolve.formats.html_bytes import may_be_savers
    from absolve.formats.xml_codings import is_plain
    from absolve.formats.xml_names import Namespaces, Written
    from absolve.formats.xml_tags import Tag
    from absolve.seek import find

# 2.6, the pseudo-attributes of an instruction, which are written as attributes are
_ATTRIBUTE: Final = re.compile(rb"[\t\n\r ]++([^\t\n\r =/>?]++)[\t\n\r ]*+=[\t\n\r ]*+(?:\"([^\"]*+)\"|'([^']*+)')")
_INSTRUCTION: Final = re.compile(rb"<\?([^\t\n\r ?]++)")
_SECTION: Final = re.compile(rb"[\t\n\r ]*+<!\[CDATA\[((?:[^\]]++|\](?!\]>))*+)\]\]>[\t\n\r ]*+")
_NESTED = cython.declare(cython.int, 100)  # xml:base in scope of each other: every link would name them all

# The syntax of a place whose text is a document -> its media type.
_TEXT_PARTS: Final = {"html": places.MEDIA_TYPE, "css": places.CSS, **places.JSON_SCRIPTS}


def walk(data: bytes, charset: Charset, options: WalkOptions) -> Events:
    """The events of an XML document in UTF-8; WalkError where it is not well-formed."""
    return _Walk(data, charset, options, checked(data)).run()


@cython.final
@cython.cclass
class _Walk:
    """One walk over one document."""

    data: bytes
    charset: Charset
    events: Events
    prolog: Prolog
    marked: set[str]
    last: Tag
    names: Namespaces
    has_root: cython.bint
    is_page: cython.bint
    has_base: cython.bint
    has_retrieval: cython.bint
    depth: cython.int
    template: cython.int
    scope: Base | None
    scopes: list[tuple[int, Base | None]]
    claimed: str
    text: Place | None
    text_start: cython.Py_ssize_t
    text_scope: Base | None

    def __init__(self, data: bytes, charset: Charset, options: WalkOptions, prolog: Prolog) -> None:
        self.data = data
        self.charset = charset
        self.events = Events()
        self.prolog = prolog
        self.marked = set(prolog.marked)  # entities of which nothing was said yet
        self.last = Tag(data, charset, prolog)
        self.names = Namespaces(lazy=options.lazy)
        self.has_root = self.is_page = self.has_base = self.has_retrieval = False
        self.depth = 0
        self.template = 0  # the depth of the outermost template element that is open
        self.scope = None  # the innermost xml:base
        self.scopes = []  # the depth of each element with one, and what it was before
        self.claimed = ""  # the reference of the last xml:base
        self.text = None  # the place that the text of the element is whose start tag was read last

    @cython.boundscheck(False)
    @cython.wraparound(False)
    def run(self) -> Events:
        """Go from one `<` to the next; that the document is well-formed says what follows each."""
        p: cython.p_const_uchar = self.data
        n: cython.Py_ssize_t = len(self.data)
        i: cython.Py_ssize_t = find(p, 60, 0, n)
        end: cython.Py_ssize_t
        while i >= 0:
            if p[i + 1] == 47:
                self.end_element(i)
                end = find(p, 62, i, n) + 1
            elif p[i + 1] == 63:
                self.instruction(i)
                end = self.data.find(b"?>", i + 2) + 2
            elif p[i + 1] != 33:
                end = self.start_tag(i)
            elif p[i + 2] == 45:
                end = self.data.find(b"-->", i + 4) + 3
                self.comment(i, end - 3)
            elif p[i + 2] == 91:
                end = self.data.find(b"]]>", i + 9) + 3
            else:
                end = self.declaration()
            i = find(p, 60, end, n)
            if self.marked and self.depth:
                self.unseen(end, i)
        return self.events

    # --- markup ---------------------------------------------------------------------------------------------------

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def declaration(self) -> cython.Py_ssize_t:
        """The document type declaration: where it ends."""
        for start in self.prolog.inside:
            if self.data.startswith(b"<!--", start):
                self.comment(start, self.data.find(b"-->", start + 4))
            else:
                self.instruction(start)
        return self.prolog.end

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def instruction(self, start: cython.Py_ssize_t) -> cython.int:
        """Those before the root element that have references (xml-stylesheet 1.0; they stand in no scope)."""
        target = None if self.has_root else _INSTRUCTION.match(self.data, start)
        place = tables.INSTRUCTIONS.get(target[1].decode("utf-8", "surrogateescape")) if target else None
        if target is None or place is None:
            return 0
        self.last.start = start
        position = target.end()
        end = self.data.find(b"?>", position)
        while found := _ATTRIBUTE.match(self.data, position, end):
            position = found.end()
            if found[1].decode() == place.attribute:
                self.last.end = position
                first, last = found.span(2 if found[2] is not None else 3)
                coding = PseudoAttribute(self.charset, self.data[first - 1 : first])
                self.references(place, first, last, coding, None, None)
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    @cython.boundscheck(False)
    @cython.wraparound(False)
    def comment(self, start: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.int:
        """What a page's saver wrote."""
        if self.has_retrieval or not may_be_savers(self.data, start + 4, end):
            return 0
        claim = retrieval_url(self.data, start + 4, end, self.charset)
        if claim is not None:
            self.has_retrieval = True
            self.events.append(Base(Layer.RETRIEVAL, claim[0], claim[1], start))
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def unseen(self, start: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.int:
        """Say which entities with markup in them are referred to in text."""
        for found in ENTITY.finditer(self.data, start, end):
            name = found[1].decode("utf-8", "surrogateescape")
            if name in self.marked:
                self.marked.discard(name)
                words = f"what the entity &{name}; stands for is left alone, and not looked at"
                self.events.append(Notice("entity", words, found.start()))
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def start_tag(self, start: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """3.1, STag and EmptyElemTag: where it ends."""
        tag: Tag = self.last
        raw = tag.read(start)
        self.depth += 1
        self.text = None  # what has an element in it is no text
        if tag.declares or (self.prolog.end and raw in self.prolog.namespaces):
            self.names.declare(tag.declared(self.prolog.namespaces.get(raw, ()), self.names.bindings), self.depth)
        element: Written = self.names.element(raw)
        if not self.has_root:
            element = self.root(element, raw)
        if tag.has_others or element.text is not None:
            self.tag(element, tag)
        if tag.is_closed:
            self.end_element(tag.end)
        elif element.is_template and not self.template:
            self.template = self.depth
        return tag.end

    @cython.cfunc
    def root(self, element: Written, raw: bytes) -> Written:
        """The root element: its name says what those are that have no namespace."""
        self.has_root = True
        self.is_page = element.element.namespace in (tables.XHTML, tables.SVG)
        if not element.element.namespace and element.element.local in tables.ROOTS:
            self.names.begin(element.element.local)
            element = self.names.element(raw)
        return element

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def end_element(self, start: cython.Py_ssize_t) -> cython.int:
        if self.text is not None:
            self.text_of(self.text, self.text_start, start, self.text_scope)
            self.text = None
        if self.scopes and self.scopes[-1][0] == self.depth:
            self.scope = self.scopes.pop()[1]
        self.names.end(self.depth)
        if self.template == self.depth:
            self.template = 0
        self.depth -= 1
        return 0

    # --- tags -----------------------------------------------------------------------------------------------------

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def tag(self, element: Written, tag: Tag) -> cython.int:
        """Tell of the references in a start tag, and remember what its text is."""
        found: list[tuple[Place | Choice, int, int]] = []
        claim: Base | None = None
        codebase: Base | None = None
        words: dict[str, str] | None = None
        tag.rewind()
        while tag.next():
            known: Place | Choice | None = self.names.row(element, self.data[tag.attribute : tag.attribute_end])
            if known is None:
                continue
            found.append((known, tag.value_start, tag.value_end))
            if known.attribute == "xml:base":
                claim = self.claim(tag.value_start, tag.value_end)
        if not found and element.text is None:
            return 0
        scope = claim or self.scope
        if element.is_html:
            codebase = self.codebase(found, scope)
        for row, start, end in found:
            place: Place | None
            if isinstance(row, Choice):
                words = words or tag.words()
                place = chosen(row, words)
            else:
                place = row
            if place is None:
                continue
            if place.attribute == "xml:base":
                self.references(place, start, end, self.last.coding(start), self.scope, claim)
            elif place.attribute == "codebase":
                self.references(place, start, end, self.last.coding(start), scope, codebase)
            elif element.is_html:
                self.of_html(place, start, end, (codebase if place.against == "codebase" else None) or scope)
            else:
                self.value(place, start, end, scope)
        if claim is not None:
            self.scopes.append((self.depth, self.scope))
            self.scope = claim
            if len(self.scopes) > _NESTED:
                raise WalkError("too-deep", f"xml:base nested more than {_NESTED} deep", self.last.start)
        if element.text is not None and not tag.is_closed:
            self.text = chosen(element.text, tag.words()) if isinstance(element.text, Choice) else element.text
            self.text_start = self.last.end
            self.text_scope = scope
        return 0

    @cython.cfunc
    def claim(self, start: cython.Py_ssize_t, end: cython.Py_ssize_t) -> Base:
        """XML Base 3.1: the base of this element and all in it."""
        reference = self.last.decoded(start, end).strip(WHITE_SPACE).decode("utf-8", "surrogateescape")
        if reference == self.claimed:  # kept once where it is said again and again
            reference = self.claimed
        self.claimed = reference
        return new(Base, (Layer.EMBEDDED, reference, "xml:base attribute", start, self.scope))

    # --- XHTML: what takes more than one attribute ----------------------------------------------------------------

    @cython.cfunc
    def codebase(self, found: list[tuple[Place | Choice, int, int]], scope: Base | None) -> Base | None:
        for place, start, end in found:
            if type(place) is Place and place.attribute == "codebase":
                claim = places.codebase_claim(self.last.decoded(start, end), start)
                return claim and claim._replace(scope=scope)
        return None

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def of_html(
        self, place: Place, start: cython.Py_ssize_t, end: cython.Py_ssize_t, scope: Base | None
    ) -> cython.int:
        if place.element == "base" and place.attribute == "href":
            return self.base(place, start, end)
        if place is places.META_CONTENT:
            found = places.meta_place(*self.last.keywords(("http-equiv", "property", "name", "itemprop")))
            if found is None:
                return 0
            place = found
        elif place.element == "link" and place.attribute == "href":
            place = places.link_place(*self.last.keywords(("rel", "as", "type")))
        return self.value(place, start, end, None if place.against == "own" else scope)

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def base(self, place: Place, start: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.int:
        """The first base element with an href, outside templates, of a page: not of a page's piece in a feed."""
        claim = places.base_claim(self.last.decoded(start, end), self.last.start)
        if self.is_page and not self.has_base and not self.template:
            self.has_base = True
            self.events.append(claim)
        return self.references(place, start, end, self.last.coding(start), None, claim)

    # --- values and texts -----------------------------------------------------------------------------------------

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def value(self, place: Place, start: cython.Py_ssize_t, end: cython.Py_ssize_t, scope: Base | None) -> cython.int:
        """Tell of the references, or of the inner document, in one attribute's value."""
        syntax = place.syntax
        if syntax == "css":
            raw = self.data[start:end]
            if 0x28 in raw or 0x26 in raw or 0x5C in raw:
                self.events.append(Part(places.CSS_DECLARATIONS, start, end, self.last.coding(start), "", scope))
        elif syntax == "srcdoc":
            self.events.append(Part(places.MEDIA_TYPE, start, end, self.last.coding(start), "srcdoc", scope))
        else:
            self.references(place, start, end, self.last.coding(start), scope, None)
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def text_of(
        self, place: Place, start: cython.Py_ssize_t, end: cython.Py_ssize_t, scope: Base | None
    ) -> cython.int:
        """Tell of the reference that an element's text is, or of the inner document."""
        raw = self.data[start:end]
        if not raw.strip(WHITE_SPACE):
            return 0
        media_type = _TEXT_PARTS.get(place.syntax)
        coding: Coding = self.last.text
        self.last.start = self.last.end = -1
        if 0x3C in raw:
            data = CData(self.charset, "absolve.references" if place.syntax == "html" else "absolve.percent")
            if section := _SECTION.fullmatch(raw):
                coding = data
                start, end = start + section.start(1), start + section.end(1)
            else:
                coding = Mixed(self.last.text, data)
        if media_type is None:
            if isinstance(coding, Mixed):
                words = "a reference in pieces (CDATA sections, comments, instructions between) is left alone"
                self.events.append(Notice("pieces", words, self.text_start))
            else:
                self.references(place, start, end, coding, scope, None)
        elif 0x3C in raw or 0x26 in raw or media_type != places.MEDIA_TYPE:  # else no HTML
            name = place.element if media_type == places.MEDIA_TYPE else ""
            self.events.append(Part(media_type, start, end, coding, name, scope))
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def references(
        self,
        place: Place,
        start: cython.Py_ssize_t,
        end: cython.Py_ssize_t,
        coding: Coding,
        scope: Base | None,
        claim: Base | None,
    ) -> cython.int:
        """Tell of the references in a value, by its grammar; the grammar sees what the bytes stand for."""
        if place.syntax == "url" and is_plain(self.data, start, end):  # as most are: it is what it says, and all of it
            return self.events.tell(place, start, end, coding, scope, self.last.start, self.last.end, claim)
        raw = self.data[start:end]
        if 0x26 in raw and isinstance(coding, CharacterData):
            name = unknown_entity(raw, self.prolog.entities)
            if name is not None:
                words = f"the entity &{name.decode('utf-8', 'replace')}; is not known here: the reference is left alone"
                self.events.append(Notice("entity", words, start))
                return 0
        value, offsets = coding.decode_mapped(raw)
        if offsets is None:  # no coding of ours is without them
            return 0
        for one, other in GRAMMARS[place.syntax](value):
            first = start + offsets.start(one)
            last = start + (offsets.end(other) if other > one else offsets.start(one))
            self.events.tell(place, first, last, coding, scope, self.last.start, self.last.end, claim)
        return 0
