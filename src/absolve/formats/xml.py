"""The XML walker: the references, bases and inner documents of XML, by expat's events and their byte positions.

Expat says where tags begin and what their names mean; a start tag's own bytes say where its attributes are. Nothing
outside the document is read: no external entity and no DTD. Entities of the internal subset are not expanded in
content, and those that are plain text are known in references; expat bounds what attribute values can expand to.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple
from xml.parsers import expat

from absolve.errors import WalkError
from absolve.events import Events
from absolve.formats import html_places as places
from absolve.formats import xml_tables as tables
from absolve.formats.grammars import GRAMMARS, WHITE_SPACE
from absolve.formats.html_savers import retrieval_url
from absolve.formats.xml_codings import PREDEFINED, CData, CharacterData, Mixed, unknown_entity
from absolve.formats.xml_names import SEPARATOR, XML_BASE, Element, chosen, elements
from absolve.model import Base, Layer, Link, Notice, Part, Place

if TYPE_CHECKING:
    from absolve.charsets import Charset
    from absolve.typing import Coding, WalkOptions

# 3.1, STag and Attribute, in a tag that is well-formed; 2.6, the pseudo-attributes of an instruction likewise
_NAME: Final = re.compile(rb"<\??[^\t\n\r />?]++")
_ATTRIBUTE: Final = re.compile(rb"[\t\n\r ]++([^\t\n\r =/>?]++)[\t\n\r ]*+=[\t\n\r ]*+(?:\"([^\"]*+)\"|'([^']*+)')")
_SECTION: Final = re.compile(rb"[\t\n\r ]*+<!\[CDATA\[((?:[^\]]++|\](?!\]>))*+)\]\]>[\t\n\r ]*+")
_SPECIAL: Final = re.compile(rb"[&\t\n\r ]")
_NESTED: Final = 100  # xml:base in scope of each other: more make no document, and every link would name them all

NOT_WELL_FORMED: Final = "not-well-formed"
_HINT: Final = "--recover reads it as HTML"

# The syntax of a place whose text is a document -> its media type.
_TEXT_PARTS: Final = {"html": places.MEDIA_TYPE, "css": places.CSS, **places.JSON_SCRIPTS}


def walk(data: bytes, charset: Charset, options: WalkOptions) -> Events:
    """The events of an XML document in UTF-8; WalkError where it is not well-formed."""
    return _Walk(data, charset, options).run()


class _Value(NamedTuple):
    """An attribute of a start tag: its name as expat gives it, the span of its value, the quote around that."""

    name: str
    start: int
    end: int
    quote: bytes


class _Tag(NamedTuple):
    """A start tag: its span, its attributes, and their normalized values by their names in lower case."""

    element: Element
    start: int
    end: int
    values: list[_Value]
    words: dict[str, str]

    def word(self, name: str) -> str:
        """A keyword: trimmed, in lower case."""
        return self.words.get(name, "").strip().lower()


class _Text(NamedTuple):
    """An element whose text is wanted: the place that it is, where it begins, the claim that rules it."""

    place: Place
    start: int
    scope: Base | None


class _Walk:
    """One walk over one document."""

    def __init__(self, data: bytes, charset: Charset, options: WalkOptions) -> None:
        self.data = data
        self.charset = charset
        self.lazy = options.lazy
        self.events = Events()
        self.entities = dict(PREDEFINED)
        self.marked: set[str] = set()  # entities with markup in them
        self.text_coding = CharacterData(charset, entities=self.entities)
        self.codings: dict[bytes, Coding] = {
            quote: CharacterData(charset, quote, self.entities) for quote in (b'"', b"'")
        }
        self.elements = elements("", lazy=self.lazy)
        self.root: Element | None = None
        self.depth = 0
        self.scope: Base | None = None  # the innermost xml:base
        self.scopes: list[tuple[int, Base | None]] = []  # the depth of each element with one, and what it was before
        self.text: _Text | None = None
        self.template = 0  # the depth of the outermost template element that is open
        self.has_base = self.has_retrieval = False
        self.parser = self._parser()

    def _parser(self) -> expat.XMLParserType:
        parser = expat.ParserCreate("utf-8", SEPARATOR)
        parser.ordered_attributes = True
        parser.specified_attributes = True
        parser.StartElementHandler = self.start_element
        parser.EndElementHandler = self.end_element
        parser.ProcessingInstructionHandler = self.instruction
        parser.CommentHandler = self.comment
        parser.EntityDeclHandler = self.entity
        return parser

    def run(self) -> Events:
        if (nul := self.data.find(0)) >= 0:  # not even expat may see it: it would guess UTF-16
            raise WalkError(NOT_WELL_FORMED, f"a NUL byte ({_HINT})", nul)
        try:
            self.parser.Parse(self.data, True)
        except expat.ExpatError as error:
            position = self.parser.ErrorByteIndex
            if position < 0:  # at the end of an empty document
                position = len(self.data)
            words = expat.ErrorString(error.code)
            raise WalkError(NOT_WELL_FORMED, f"{words} ({_HINT})", position) from None
        return self.events

    # --- what expat tells -----------------------------------------------------------------------------------------

    def start_element(self, name: str, attributes: list[str]) -> None:
        self.depth += 1
        self.text = None  # what has an element in it is no text
        if self.root is None:
            self.elements = elements(name, lazy=self.lazy)
            self.root = self.elements[name]
        element = self.elements[name]
        if element.text is not None or any(map(element.places.__getitem__, attributes[::2])):
            self.tag(element, attributes)
        if element.local == "template" and element.is_html and not self.template:
            self.template = self.depth

    def end_element(self, _name: str) -> None:
        if self.text is not None:
            self.text_of(self.text, self.parser.CurrentByteIndex)
            self.text = None
        if self.scopes and self.scopes[-1][0] == self.depth:
            self.scope = self.scopes.pop()[1]
        if self.template == self.depth:
            self.template = 0
        self.depth -= 1

    def instruction(self, target: str, _text: str) -> None:
        """Those before the root element that have references (xml-stylesheet 1.0; they stand in no scope)."""
        place = tables.INSTRUCTIONS.get(target)
        if place is None or self.root is not None:
            return
        start = self.parser.CurrentByteIndex
        position = start + len(f"<?{target}")
        while found := _ATTRIBUTE.match(self.data, position):
            position = found.end()
            if found[1].decode() == place.attribute:
                group = 2 if found[2] is not None else 3
                value = _Value(place.attribute, *found.span(group), self.data[found.end(group) : found.end()])
                self.references(place, value.start, value.end, self.codings[value.quote], None, (start, position))

    def comment(self, _text: str) -> None:
        """What a page's saver wrote."""
        start = self.parser.CurrentByteIndex
        if self.has_retrieval or not self.data.startswith(b"<!--", start):
            return
        claim = retrieval_url(self.data, start + 4, self.data.find(b"-->", start + 4), self.charset)
        if claim is not None:
            self.has_retrieval = True
            self.events.append(Base(Layer.RETRIEVAL, claim[0], claim[1], start))

    def entity(self, name: str, is_parameter: bool, value: str | None, *_external: str | None) -> None:
        """An entity of the internal subset. Its text is known where it is no more than text."""
        self.parser.DefaultHandler = self.other  # while there is one, no entity is expanded in content
        if is_parameter or value is None or name.encode() in self.entities:
            return
        if "<" in value or "&" in value:
            self.marked.add(name)
        else:
            self.entities[name.encode()] = value.encode()

    def other(self, text: str) -> None:
        """All that has no handler of its own; of that, references to entities with markup in them."""
        if text[:1] == "&" and text[1:-1] in self.marked:
            self.marked.discard(text[1:-1])
            words = f"what the entity {text} stands for is left alone, and not looked at"
            self.events.append(Notice("entity", words, self.parser.CurrentByteIndex))

    # --- tags -----------------------------------------------------------------------------------------------------

    def tag(self, element: Element, attributes: list[str]) -> None:
        """Tell of the references in a start tag, and remember what its text is."""
        tag = self.scanned(element, attributes)
        claim = next((self.claim(value) for value in tag.values if value.name == XML_BASE), None)
        scope = claim or self.scope
        codebase = self.codebase(tag, scope) if element.is_html else None
        for value in tag.values:
            place = chosen(element.places[value.name], tag.words)
            if place is None:
                continue
            if value.name == XML_BASE:
                self.url(tag, value, place, self.scope, claim)
            elif place.attribute == "codebase":
                self.url(tag, value, place, scope, codebase)
            elif element.is_html:
                self.of_html(tag, value, place, (codebase if place.against == "codebase" else None) or scope)
            else:
                self.value(tag, value, place, scope)
        if claim is not None:
            self.scopes.append((self.depth, self.scope))
            self.scope = claim
            if len(self.scopes) > _NESTED:
                raise WalkError("too-deep", f"xml:base nested more than {_NESTED} deep", tag.start)
        text = chosen(element.text, tag.words)
        if text is not None and not self.data.startswith(b"/>", tag.end - 2):
            self.text = _Text(text, tag.end, scope)

    def scanned(self, element: Element, attributes: list[str]) -> _Tag:
        """Where the attributes of the tag stand that expat has just reported; it leaves out the namespaces' own."""
        start = self.parser.CurrentByteIndex
        name = _NAME.match(self.data, start)
        position = name.end() if name else start
        values: list[_Value] = []
        index = 0
        while found := _ATTRIBUTE.match(self.data, position):
            position = found.end()
            if found[1] == b"xmlns" or found[1].startswith(b"xmlns:"):
                continue
            group = 2 if found[2] is not None else 3
            quote = self.data[position - 1 : position]
            values.append(_Value(attributes[index], *found.span(group), quote))
            index += 2
        end = self.data.find(b">", position) + 1
        words = {key.lower(): word for key, word in zip(attributes[::2], attributes[1::2], strict=True)}
        return _Tag(element, start, end, values, words)

    def claim(self, value: _Value) -> Base:
        """XML Base 3.1: the base of this element and all in it."""
        reference = self.decoded(value)
        return Base(Layer.EMBEDDED, reference, "xml:base attribute", value.start, self.scope)

    def decoded(self, value: _Value) -> str:
        raw = self.codings[value.quote].decode(self.data[value.start : value.end])
        return raw.strip(WHITE_SPACE).decode("utf-8", "surrogateescape")

    # --- XHTML: what takes more than one attribute ----------------------------------------------------------------

    def codebase(self, tag: _Tag, scope: Base | None) -> Base | None:
        for value in tag.values:
            if value.name == "codebase" and tag.element.places[value.name] is not None:
                claim = places.codebase_claim(self.decoded(value).encode("utf-8", "surrogateescape"), value.start)
                return claim and claim._replace(scope=scope)
        return None

    def of_html(self, tag: _Tag, value: _Value, place: Place, scope: Base | None) -> None:
        if (place.element, place.attribute) == ("base", "href"):
            self.base(tag, value, place)
            return
        if place is places.META_CONTENT:
            found = places.meta_place(*(tag.word(name) for name in ("http-equiv", "property", "name", "itemprop")))
            if found is None:
                return
            place = found
        elif (place.element, place.attribute) == ("link", "href"):
            place = places.link_place(*(tag.word(name) for name in ("rel", "as", "type")))
        self.value(tag, value, place, None if place.against == "own" else scope)

    def base(self, tag: _Tag, value: _Value, place: Place) -> None:
        """The first base element with an href, outside templates, of a page: not of a page's piece in a feed."""
        claim = places.base_claim(self.decoded(value).encode("utf-8", "surrogateescape"), tag.start)
        page = self.root is not None and self.root.namespace in {tables.XHTML, tables.SVG}
        if page and not self.has_base and not self.template:
            self.has_base = True
            self.events.append(claim)
        self.url(tag, value, place, None, claim)

    # --- values and texts -----------------------------------------------------------------------------------------

    def url(self, tag: _Tag, value: _Value, place: Place, scope: Base | None, claim: Base | None) -> None:
        self.references(
            place, value.start, value.end, self.codings[value.quote], scope, (tag.start, tag.end), claim=claim
        )

    def value(self, tag: _Tag, value: _Value, place: Place, scope: Base | None) -> None:
        """Tell of the references, or of the inner document, in one attribute's value."""
        coding = self.codings[value.quote]
        if place.syntax == "css":
            raw = self.data[value.start : value.end]
            if b"(" in raw or b"&" in raw or b"\\" in raw:
                self.events.append(Part(places.CSS_DECLARATIONS, value.start, value.end, coding, "", scope))
        elif place.syntax == "srcdoc":
            self.events.append(Part(places.MEDIA_TYPE, value.start, value.end, coding, "srcdoc", scope))
        else:
            self.references(place, value.start, value.end, coding, scope, (tag.start, tag.end))

    def text_of(self, text: _Text, end: int) -> None:
        """Tell of the reference that an element's text is, or of the inner document."""
        start = text.start
        raw = self.data[start:end]
        if not raw.strip(WHITE_SPACE):
            return
        media_type = _TEXT_PARTS.get(text.place.syntax)
        coding: Coding = self.text_coding
        if b"<" in raw:
            data = CData(self.charset, "absolve.references" if text.place.syntax == "html" else "absolve.percent")
            if section := _SECTION.fullmatch(raw):
                coding = data
                start, end = start + section.start(1), start + section.end(1)
            else:
                coding = Mixed(self.text_coding, data)
        if media_type is None:
            if isinstance(coding, Mixed):
                words = "a reference in pieces (CDATA sections, comments, instructions between) is left alone"
                self.events.append(Notice("pieces", words, text.start))
            else:
                self.references(text.place, start, end, coding, text.scope)
        elif b"<" in raw or b"&" in raw or media_type != places.MEDIA_TYPE:  # else no HTML
            name = text.place.element if media_type == places.MEDIA_TYPE else ""
            self.events.append(Part(media_type, start, end, coding, name, text.scope))

    def references(
        self,
        place: Place,
        start: int,
        end: int,
        coding: Coding,
        scope: Base | None,
        tag: tuple[int, int] = (-1, -1),
        *,
        claim: Base | None = None,
    ) -> None:
        """Tell of the references in a value, by its grammar; the grammar sees what the bytes stand for."""
        raw = self.data[start:end]
        if place.syntax == "url" and not _SPECIAL.search(raw):  # as most are: it is what it says, and all of it
            self.events.append(Link(place, start, end, coding, scope, *tag, claim))
            return
        if b"&" in raw and isinstance(coding, CharacterData):
            name = unknown_entity(raw, self.entities)
            if name is not None:
                words = f"the entity &{name.decode('utf-8', 'replace')}; is not known here: the reference is left alone"
                self.events.append(Notice("entity", words, start))
                return
        value, offsets = coding.decode_mapped(raw)
        if offsets is None:  # no coding of ours is without them
            return
        for one, other in GRAMMARS[place.syntax](value):
            first = start + offsets.start(one)
            last = start + (offsets.end(other) if other > one else offsets.start(one))
            self.events.append(Link(place, first, last, coding, scope, *tag, claim))
