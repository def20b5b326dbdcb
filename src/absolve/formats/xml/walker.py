"""The XML walker: find the references, base claims and inner documents of an XML document.

In: the bytes of a document in UTF-8. Out: an EventList in document order; WalkError where it is not well-formed. Bases
are `xml:base` (XML Base), base elements of XHTML, and `codebase` (RFC 1808 section 3.1): for example, `xml:base="b/"`
around `<link href="a"/>` in an Atom feed is a base claim, and `a` a link in its scope.

Expat first checks well-formedness and reads the declarations (prolog.py). A scan of a well-formed document is simple;
names are resolved by the namespaces in scope (tags.py). Entities of the internal subset are not expanded in content;
in references, those with plain text are.
"""

from __future__ import annotations

import re
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Final

from absolve.core import byte_scan
from absolve.core.byte_scan import word_start
from absolve.core.errors import WalkError, in_short
from absolve.core.model import IGNORED_BASE, BaseClaim, Finding, Layer, Link, LinkSite, Part
from absolve.encodings.codings import Pieces
from absolve.encodings.offset_map import CUT_OFF, is_cut
from absolve.formats.events import EventList
from absolve.formats.grammars import GRAMMARS
from absolve.formats.html import rules
from absolve.formats.html.claims import base_claim, codebase_claim, link_claim, retrieval_url, xml_base_claim
from absolve.formats.html.tag import may_be_savers, may_name_map
from absolve.formats.registry import JAVASCRIPT
from absolve.formats.xml import link_tables
from absolve.formats.xml.codings import CData, CharacterData, PseudoAttribute, is_plain, pieces, unknown_entity
from absolve.formats.xml.link_tables import Choice
from absolve.formats.xml.prolog import ENTITY, NOT_WELL_FORMED, checked, recovered
from absolve.formats.xml.tags import Namespaces, Tag, Written, named_by_tag, site_for

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    import cython

    from absolve.core.protocols import Coding
    from absolve.encodings.charsets import Charset
    from absolve.encodings.codings import Piece
    from absolve.formats import WalkOptions
    from absolve.formats.html.page_facts import XMLFacts
    from absolve.formats.xml.prolog import Prolog


# 2.6, the pseudo-attributes of a processing instruction, which have the syntax of attributes
_ATTRIBUTE: Final = re.compile(rb"[\t\n\r ]++([^\t\n\r =/>?]++)[\t\n\r ]*+=[\t\n\r ]*+(?:\"([^\"]*+)\"|'([^']*+)')")
_INSTRUCTION: Final = re.compile(rb"<\?([^\t\n\r ?]++)")
_NO_DEFAULTS: Final[dict[bytes, str]] = {}
_NESTED = 100  # nested xml:base: every link reports the whole chain
_LINKED = 2  # a channel, and an item in it


@lru_cache(maxsize=64)
def _pseudo(charset: Charset, quote: bytes) -> PseudoAttribute:
    """Return a shared instance for equal arguments: links share a template by the identity of their coding."""
    return PseudoAttribute(charset, quote)


def walk(data: bytes, charset: Charset, options: WalkOptions) -> EventList:
    """Return the events of an XML document in UTF-8. Raise WalkError if it is not well-formed, and cannot be mended.

    Mending skips invalid characters and takes a lone `&` for text; then the first event is a finding.
    """
    try:
        return _Walk(data, charset, options, checked(data)).run()
    except WalkError as error:
        if error.code != NOT_WELL_FORMED:
            raise
        words = f"{str(error).rpartition(' (')[0]}: skipped, and the rest is read as XML"
        found = Finding(NOT_WELL_FORMED, words, error.position)
    mended, prolog = recovered(data)
    walk_of = _Walk(mended, charset, options, prolog)
    walk_of.events.append(found)
    return walk_of.run()


class Linked:
    """The channel or an item of RSS: its link is the base of the HTML in it, as most readers take it (B25)."""

    def __init__(self, name: str, depth: int, first: int) -> None:
        self.name = name
        self.depth = depth
        self.first = first  # the index of the first part in it
        self.claim: BaseClaim | None = None

    def add(self, place: LinkSite, start: int, events: EventList, data: bytes) -> None:
        """Take the link that the text from `start` has added; a guid counts until there is a link."""
        link = events.at(len(events) - 1) if place.element in {"link", "guid"} and len(events) else None
        is_first = self.claim is None or (place.element == "link" and self.claim.source.endswith("guid"))
        if is_first and type(link) is Link and link.start >= start:
            value = link.coding.decode(data[link.start : link.end])
            self.claim = link_claim(value, link.start, f"{self.name} {place.element}", link.base)

    def end(self, events: EventList) -> None:
        """Give the base to the documents in it that have none by xml:base, nor by an item inside."""
        for index in events.parts[self.first :]:
            part = events.at(index)
            if part.base is None and part.name:  # type: ignore[union-attr]  # it is a part
                part.base = self.claim  # type: ignore[union-attr]


class _Walk:
    """One pass over one document."""

    def __init__(self, data: bytes, charset: Charset, options: WalkOptions, prolog: Prolog) -> None:
        self.data = data
        self.charset = charset
        self.events = EventList(named_by_tag, data)
        self.prolog = prolog
        self.marked = set(prolog.marked)  # entities without a Finding so far
        self.defaults = prolog.namespaces
        self.expansion = prolog.expansion
        self.last = Tag(data, charset, prolog)
        self.names = Namespaces()
        self.has_root = self.is_page = self.has_base = self.has_retrieval = False
        self.depth = 0
        self.template = 0  # the depth of the outermost template element that is open
        self.scope: BaseClaim | None = None  # the claim of the innermost xml:base
        self.outer: list[tuple[int, BaseClaim | None]] = []  # by element with xml:base: its depth, outer scope
        self.linked: list[Linked] = []  # the channel and the item of RSS that are open
        self.values = Values(data, charset, self.events, self.last, prolog, options.open_xml)
        self.text: LinkSite | None = None  # the link site of the current element's text, None after a child element
        self.facts: XMLFacts | None = None
        if options.documents:
            from absolve.formats.html.page_facts import XMLFacts  # here, because few runs need it

            self.facts = XMLFacts(data, CharacterData(charset), options.max_links)
        self.title_depth = -1  # of the title element that is open, if its text is wanted

    def run(self) -> EventList:
        """Scan from one `<` to the next: in a well-formed document the next bytes determine the kind of markup."""
        p: cython.p_const_uchar = self.data
        n: cython.Py_ssize_t = len(self.data)
        i: cython.Py_ssize_t = byte_scan.find(p, 60, 0, n)
        end: cython.Py_ssize_t
        while i >= 0:
            if p[i + 1] == 47:
                self.end_element(i)
                end = byte_scan.find(p, 62, i, n) + 1
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
            i = byte_scan.find(p, 60, end, n)
            if self.marked and self.depth:
                self.unseen(end, i)
        if self.facts is not None:
            self.events.append(self.facts.taken())
        return self.events

    # --- markup ---------------------------------------------------------------------------------------------------

    def declaration(self) -> cython.Py_ssize_t:
        """Read comments and instructions in the document type declaration, and return its end."""
        for start in self.prolog.inside:
            if self.data.startswith(b"<!--", start):
                self.comment(start, self.data.find(b"-->", start + 4))
            else:
                self.instruction(start)
        return self.prolog.end

    def instruction(self, start: cython.Py_ssize_t) -> cython.int:
        """Add the links of an instruction before the root element, for example `<?xml-stylesheet href="a.css"?>`."""
        target = None if self.has_root else _INSTRUCTION.match(self.data, start)
        place = link_tables.INSTRUCTIONS.get(target[1].decode("utf-8", "surrogateescape")) if target else None
        if target is None or place is None:
            return 0
        self.last.start = start
        position = target.end()
        end = self.data.find(b"?>", position)
        while found := _ATTRIBUTE.match(self.data, position, end):
            position = found.end()
            if found[1].decode("utf-8", "surrogateescape") == place.attribute:
                self.last.end = position
                first, last = found.span(2 if found[2] is not None else 3)
                self.values.references(place, first, last, _pseudo(self.charset, self.data[first - 1 : first]))
        return 0

    def comment(self, start: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.int:
        """Add the retrieval URL in a comment of a browser that saved the page; only the first such comment counts."""
        if self.has_retrieval or not may_be_savers(self.data, start + 4, end):
            return 0
        claim = retrieval_url(self.data, start + 4, end, self.charset)
        if claim is not None:
            self.has_retrieval = True
            self.events.append(BaseClaim(Layer.RETRIEVAL, claim[0], claim[1], start))
        return 0

    def unseen(self, start: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.int:
        """Add a Finding for each entity in this text whose replacement has markup or references, once per entity."""
        for found in ENTITY.finditer(self.data, start, end):
            name = found[1].decode("utf-8", "surrogateescape")
            if name in self.marked:
                self.marked.discard(name)
                words = f"what the entity &{in_short(name)}; stands for is left alone, and not looked at"
                self.events.append(Finding("entity", words, found.start()))
        return 0

    def start_tag(self, start: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Process a start tag (3.1, STag and EmptyElemTag) and return its end."""
        tag: Tag = self.last
        raw = tag.read(start)
        self.depth += 1
        if self.text is not None:  # an element with a child is no text
            self.values.interrupted(self.text, self.text_start, start)
            self.text = None
        if self.expansion is not None:
            self.expansion.check(start, tag.end)
        if tag.declares or (self.defaults and raw in self.defaults):
            defaults = self.defaults.get(raw, _NO_DEFAULTS)
            self.names.declare(tag.declared(defaults, self.names.bindings), self.depth)
        element: Written = self.names.element(raw)
        if not self.has_root:
            element = self.root(element, raw)
        if element.is_linked and len(self.linked) < _LINKED:
            self.linked.append(Linked(element.element.local, self.depth, len(self.events.parts)))
        if tag.has_others or element.text is not None:
            self.tag(element, tag)
        if self.facts is not None and not self.template:
            self.collect(self.facts, element, tag)
        if tag.is_closed:
            self.end_element(tag.end)
        elif element.is_template and not self.template:
            self.template = self.depth
        return tag.end

    def collect(self, facts: XMLFacts, element: Written, tag: Tag) -> cython.int:
        """Collect the facts of a start tag for the table of documents."""
        values: dict[bytes, bytes] = {}
        p: cython.p_const_uchar = self.data
        if tag.has_others:
            tag.rewind()
            while tag.next():
                name: bytes = p[tag.attribute : tag.attribute_end]
                if name in facts.wanted:
                    values[name] = tag.decoded(tag.value_start, tag.value_end)
        is_svg = element.element.namespace == link_tables.SVG
        facts.element(element.element.local, self.depth, tag.end, values, is_html=element.is_html, is_svg=is_svg)
        self.title_depth = facts.title_depth
        return 0

    def root(self, element: Written, raw: bytes) -> Written:
        """Process the root element: its name implies the vocabulary of elements without a namespace."""
        self.has_root = True
        self.is_page = element.element.namespace in (link_tables.XHTML, link_tables.SVG)
        if not element.element.namespace and element.element.local in link_tables.ROOTS:
            self.names.begin(element.element.local)
            element = self.names.element(raw)
        return element

    def end_element(self, start: cython.Py_ssize_t) -> cython.int:
        if self.title_depth == self.depth:
            self.facts.end_title(start)  # type: ignore[union-attr]  # it has set the depth
            self.title_depth = -1
        if self.text is not None:
            self.values.text(self.text, self.text_start, start, self.text_scope)
            if self.linked and self.linked[-1].depth == self.depth - 1:
                self.linked[-1].add(self.text, self.text_start, self.events, self.data)
            self.text = None
        if self.outer and self.outer[-1][0] == self.depth:
            self.scope = self.outer.pop()[1]
        if self.linked and self.linked[-1].depth == self.depth:
            self.linked.pop().end(self.events)
        self.names.end(self.depth)
        if self.template == self.depth:
            self.template = 0
        self.depth -= 1
        return 0

    # --- tags -----------------------------------------------------------------------------------------------------

    def tag(self, element: Written, tag: Tag) -> cython.int:
        """Add the references of a start tag, and keep the link site of its text."""
        found: list[tuple[LinkSite | Choice, int, int]] = []
        claim: BaseClaim | None = None
        codebase: BaseClaim | None = None
        scope: BaseClaim | None = self.scope
        p: cython.p_const_uchar = self.data
        tag.rewind()
        while tag.next():
            known: LinkSite | Choice | None = self.names.row(element, p[tag.attribute : tag.attribute_end])
            if known is None:
                continue
            found.append((known, tag.value_start, tag.value_end))
            if known.attribute == "xml:base":
                scope = claim = self.claim(xml_base_claim, tag.value_start, tag.value_end, self.scope)
        if not found and element.text is None:
            return 0
        if element.is_html:
            codebase = self.codebase(found, scope)
        for row, start, end in found:
            place: LinkSite | None = site_for(row, tag.keywords(row.by)) if isinstance(row, Choice) else row
            if place is None:
                continue
            self.values.under = scope
            if place.attribute == "xml:base":
                self.values.under = self.scope
                self.states(claim, place, start, end)
            elif place.attribute == "codebase":
                self.states(codebase, place, start, end)
            elif element.is_html:
                if codebase is not None and place.against == "codebase":
                    self.values.under = codebase
                self.html_attribute(place, start, end)
            else:
                if place in rules.PLACEHOLDERS:  # of SVG
                    place = rules.by_keywords(place, self.keyword)
                self.values.value(place, start, end)  # type: ignore[arg-type]  # an animation always has one
        if claim is not None:
            self.outer.append((self.depth, self.scope))
            self.scope = claim
            if len(self.outer) > _NESTED:
                raise WalkError("too-deep", f"xml:base nested more than {_NESTED} deep", self.last.start)
        if element.text is not None and not tag.is_closed:
            text: LinkSite | Choice = element.text
            self.text = site_for(text, tag.keywords(text.by)) if isinstance(text, Choice) else text
            self.text_start = self.last.end
            self.text_scope = scope
        return 0

    def claim(
        self,
        read_base: Callable[[bytes, int], BaseClaim | None],
        start: cython.Py_ssize_t,
        end: cython.Py_ssize_t,
        outer: BaseClaim | None,
    ) -> BaseClaim | None:
        """Return the claim of a value in the scope of `outer`; None if it makes no claim."""
        claim = read_base(self.last.decoded(start, end), start)
        return None if claim is None else self.events.scoped(claim, outer)

    def states(
        self, claim: BaseClaim | None, place: LinkSite, start: cython.Py_ssize_t, end: cython.Py_ssize_t
    ) -> cython.int:
        """Add the reference that states a claim."""
        self.values.stated = claim
        self.values.references(place, start, end, self.last.coding(start))
        self.values.stated = None
        return 0

    # --- XHTML: sites that depend on several attributes -----------------------------------------------------------

    def codebase(self, found: list[tuple[LinkSite | Choice, int, int]], outer: BaseClaim | None) -> BaseClaim | None:
        for place, start, end in found:
            if type(place) is LinkSite and place.attribute == "codebase":
                return self.claim(codebase_claim, start, end, outer)
        return None

    def html_attribute(self, place: LinkSite, start: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.int:
        if place.element == "base" and place.attribute == "href":
            return self.base(place, start, end)
        if place is rules.META_CONTENT or place is rules.PARAM_VALUE:
            found = rules.by_keywords(place, self.keyword)
            if found is None:
                return 0
            place = found
        elif place.element == "link" and place.attribute == "href":
            place = rules.link_place(*self.last.keywords(("rel", "as", "type")))
        if place.against == "own":
            self.values.under = None
        return self.values.value(place, start, end)

    def keyword(self, name: str) -> str:
        found: str = self.last.keywords((name,))[0]
        return found

    def base(self, place: LinkSite, start: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.int:
        """Add a base element's href; the first one outside templates makes the claim, in XHTML and SVG documents only.

        A base element in the XHTML content of a feed makes no claim.
        """
        self.values.under = None
        self.values.stated = IGNORED_BASE
        if self.is_page and not self.has_base and not self.template:
            self.has_base = True
            self.values.stated = base_claim(self.last.decoded(start, end), self.last.start)
            self.events.append(self.values.stated)
        elif self.facts is not None and self.is_page:
            self.facts.ignored_base = True
        self.values.references(place, start, end, self.last.coding(start))
        self.values.stated = None
        return 0


# --- values ---------

OF_OFFICE: Final = frozenset({"field", "formula"})  # values of `LinkSite.syntax` for office documents only
# `LinkSite.syntax` of an element whose text is a document -> its media type.
_TEXT_PARTS: Final = {"html": rules.MEDIA_TYPE, "css": rules.CSS, "javascript": JAVASCRIPT, **rules.JSON_SCRIPTS}
_STRICT: Final = frozenset({rules.CSS, JAVASCRIPT})  # a newline ends a string or a comment there


class Values:
    """Adds the events of values to `events`; `tag` is the current start tag.

    `in_office`: the document is a part of an office document. For the next link: `under` is its scoped claim, `stated`
    the claim that it makes itself, or None.
    """

    def __init__(
        self, data: bytes, charset: Charset, events: EventList, tag: Tag, prolog: Prolog, in_office: cython.bint
    ) -> None:
        self._data = data
        self._charset = charset
        self._events = events
        self._tag = tag
        self._prolog = prolog
        self._in_office = in_office
        self.under: BaseClaim | None = None
        self.stated: BaseClaim | None = None

    def value(self, place: LinkSite, start: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.int:
        """Add the references, or the inner document, in one attribute value."""
        coding = self._tag.coding(start)
        if place.syntax == "css":
            raw = self._data[start:end]
            if 0x28 in raw or 0x26 in raw or 0x5C in raw:
                self._events.append(Part(rules.CSS_DECLARATIONS, start, end, coding, "", self.under))
        elif place.syntax == "srcdoc":
            self._events.append(Part(rules.MEDIA_TYPE, start, end, coding, "srcdoc", self.under))
        else:
            self.references(place, start, end, coding)
        return 0

    def text(
        self, place: LinkSite, start: cython.Py_ssize_t, end: cython.Py_ssize_t, scope: BaseClaim | None
    ) -> cython.int:
        """Add the reference, or the inner document, that is an element's text."""
        p: cython.p_const_uchar = self._data
        has_markup: cython.bint = byte_scan.find(p, 60, start, end) >= 0
        is_script: cython.bint = place.syntax == "javascript" and not has_markup
        if _is_blank(p, start, end) or (is_script and not may_name_map(self._data, start, end)):
            return 0
        if self._prolog.expansion is not None:
            self._prolog.expansion.check(start, end, is_text=True)
        media_type = _TEXT_PARTS.get(place.syntax)
        coding: Coding = self._tag.text
        self.under = scope
        self._tag.start = self._tag.end = -1
        if has_markup:
            section = CData(self._charset, "absolve.references" if place.syntax == "html" else "absolve.percent")
            split = partial(pieces, text=self._tag.text, section=section)
            raw = self._data[start:end]
            filled = _filled(raw, split(raw), media_type in _STRICT)
            if not filled:
                return 0
            if len(filled) > 1:
                coding = Pieces(split)
            else:
                ((coding, first, last),) = filled
                start, end = start + first, start + last
        if media_type is None:
            if isinstance(coding, Pieces):
                words = "a reference in pieces (CDATA sections, comments, instructions between) is left alone"
                self._events.append(Finding("pieces", words, start))
            else:
                self.references(place, start, end, coding)
        elif has_markup or byte_scan.find(p, 38, start, end) >= 0 or media_type != rules.MEDIA_TYPE:  # else plain text
            name = place.element if media_type == rules.MEDIA_TYPE else ""
            self._events.append(Part(media_type, start, end, coding, name, self.under))
        return 0

    def interrupted(self, place: LinkSite, start: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.int:
        """Add a finding for an element with text that has a child element at `end`: its text is left alone."""
        media_type = _TEXT_PARTS.get(place.syntax)
        if media_type is None or media_type == rules.CSS:
            words = f"the text of {place.element} has elements inside: it is left alone"
            if media_type is not None or not _is_blank(self._data, start, end):
                self._events.append(Finding("pieces", words, end))
        return 0

    def references(
        self, place: LinkSite, start: cython.Py_ssize_t, end: cython.Py_ssize_t, coding: Coding
    ) -> cython.int:
        """Add the references in a value by its grammar, which reads the decoded text."""
        if place.syntax == "url" and is_plain(self._data, start, end):  # most: used without decoding
            return self._add_link(place, start, end, coding)
        if place.syntax in OF_OFFICE and not self._in_office:
            return 0  # whose base is not known
        raw = self._data[start:end]
        if 0x26 in raw and isinstance(coding, CharacterData):
            name = unknown_entity(raw, self._prolog.entities)
            if name is not None:
                known_as = in_short(name.decode("utf-8", "replace"))
                words = f"the entity &{known_as}; is not known here: the reference is left alone"
                self._events.append(Finding("entity", words, start))
                return 0
        value, offsets = coding.decode_mapped(raw)
        if offsets is None:  # for mypy: every coding here returns offsets
            return 0
        if place.syntax == "field" and value.count(b'"') % 2:
            words = "a field in pieces is left alone (its URL is in more than one element)"
            self._events.append(Finding("pieces", words, start))
            return 0
        for one, other in GRAMMARS[place.syntax](value):
            if is_cut(offsets, one) or (is_cut(offsets, other) and place.syntax != "url"):  # blanks behind a URL
                self._events.append(Finding("entity", CUT_OFF, start))
                return 0
            first = start + offsets.start(one)
            self._add_link(place, first, start + offsets.end(other) if other > one else first, coding)
        return 0

    def _add_link(
        self, place: LinkSite, start: cython.Py_ssize_t, end: cython.Py_ssize_t, coding: Coding
    ) -> cython.int:
        """Add one link."""
        tag: Tag = self._tag
        return self._events.add_link(place, start, end, coding, self.under, tag.start, tag.end, self.stated)


def _filled(raw: bytes, pieces: Iterable[Piece], strict: bool) -> list[Piece]:
    """Return the first two pieces that are not empty, and unless `strict`, not white space either."""
    found: list[Piece] = []
    for piece in pieces:
        _, start, end = piece
        if end > start and (strict or not _is_blank(raw, start, end)):
            found.append(piece)
            if len(found) > 1:
                break
    return found


def _is_blank(p: cython.p_const_uchar, start: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.bint:
    """Return whether this span is empty or only white space."""
    return word_start(p, start, end) == end
