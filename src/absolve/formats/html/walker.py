"""The HTML walker: find the references, base claims and inner documents of text/html.

In: the bytes of a document in an ASCII-compatible charset. Out: an EventList in document order, with the base element
(RFC 1808 section 3.1, HTML Standard 4.2.3), `codebase`, and the URL of a saved page (3.3) as base claims.

The tokenizer finds the tags and attributes; the tables of dispatch.py select those with references; this module creates
the events, and handles sites that depend on several attributes (`meta`, `link`, `object`).
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from absolve.core import byte_scan
from absolve.core.model import IGNORED_BASE, BaseClaim, Finding, Layer, Part
from absolve.encodings.codings import Pieces
from absolve.formats import grammars, registry
from absolve.formats.events import EventList
from absolve.formats.html import dispatch, names
from absolve.formats.html import rules as places
from absolve.formats.html.claims import base_claim, codebase_claim, includes, retrieval_url, saved_claim
from absolve.formats.html.link_tables import INERT_REFRESH, REFRESH, SAVE_PAGE
from absolve.formats.html.names import ATTRIBUTE_ID, ELEMENT_ID
from absolve.formats.html.rules import CSS, CSS_DECLARATIONS, MEDIA_TYPE
from absolve.formats.html.tag import (
    Values,
    may_be_savers,
    may_be_space,
    may_end_in_space,
    may_hold_css_link,
    may_hold_link,
    may_name_map,
)
from absolve.formats.html.tokenizer import Tokenizer
from absolve.urls.predicates import http_host

if TYPE_CHECKING:
    import cython

    from absolve.core.model import LinkSite
    from absolve.core.protocols import Coding
    from absolve.encodings.charsets import Charset
    from absolve.encodings.codings import Piece
    from absolve.formats import WalkOptions
    from absolve.formats.html.dispatch import Kept, Keywords
    from absolve.formats.html.page_facts import FactCollector
    from absolve.formats.html.tag import Tag


_NO_EVENTS = EventList()
_NUL = b"\0"
_JAVASCRIPT = registry.JAVASCRIPT
_TEXT_CSS = CSS.encode()
_TEXT_JAVASCRIPT = _JAVASCRIPT.encode()
_UNDECIDED = object()
_FOREIGN = places.FOREIGN
_OF_TAG = places.of_tag

_ATTRIBUTES = names.ATTRIBUTES
_TAG = names.TAG
_END = names.END

_ELEMENT_NAME = {number: name.decode() for name, number in ELEMENT_ID.items()}
_ATTRIBUTE_NAME = {number: name.decode() for name, number in ATTRIBUTE_ID.items()}
_AS = ATTRIBUTE_ID[b"as"]
_ATTRIBUTE_NAME_ID = ATTRIBUTE_ID[b"attributename"]
_CODEBASE = ATTRIBUTE_ID[b"codebase"]
_CONTENT = ATTRIBUTE_ID[b"content"]
_HREF = ATTRIBUTE_ID[b"href"]
_HTTP_EQUIV = ATTRIBUTE_ID[b"http-equiv"]
_ITEMPROP = ATTRIBUTE_ID[b"itemprop"]
_NAME = ATTRIBUTE_ID[b"name"]
_PROPERTY = ATTRIBUTE_ID[b"property"]
_REL = ATTRIBUTE_ID[b"rel"]
_TYPE = ATTRIBUTE_ID[b"type"]
_VALUE = ATTRIBUTE_ID[b"value"]
_VALUETYPE = ATTRIBUTE_ID[b"valuetype"]
_SCRIPT_ELEMENT = ELEMENT_ID[b"script"]
_STYLE_ELEMENT = ELEMENT_ID[b"style"]

_NOTHING = dispatch.NOTHING
_URL = dispatch.URL
_OTHER = dispatch.OTHER
_IN_CODEBASE = dispatch.IN_CODEBASE
_META = dispatch.META
_LINK_HREF = dispatch.LINK_HREF
_BASE_HREF = dispatch.BASE_HREF
_CODEBASE_ROW = dispatch.CODEBASE_ROW
_STYLE = dispatch.STYLE
_SAVED = dispatch.SAVED
_PARAM = dispatch.PARAM
_ANIMATED = dispatch.ANIMATED
_SVG = names.SVG
_SVG_ROW = names.SVG_ROW
_MATHML_ROW = names.MATHML_ROW


def walk(data: bytes, charset: Charset, options: WalkOptions) -> EventList:
    """Return the events of an HTML document in an ASCII-compatible charset."""
    walker: _Walk = _spare.pop() if _spare else _Walk(charset)
    events = walker.run(data, charset, options)
    if len(data) <= _SMALL:
        walker.release()
        _spare.append(walker)
    return events


# A pool of walkers for small documents, which are often numerous; one in use is not in the pool.
_spare: list[_Walk] = []
_SHORT = 4096  # bytes of a reference
_SMALL = 1 << 20  # bytes; a walker uses up to a few times as much memory


class _Walk:
    """A pass over one document; reusable for another one by `begin`."""

    def __init__(self, charset: Charset) -> None:
        self.scanner = Tokenizer(b"", b"")
        self.tag = self.scanner.tag
        self.prepare(charset)

    def prepare(self, charset: Charset) -> cython.int:
        """Set the tables for documents in a charset."""
        tables = dispatch.tables_of(charset)
        self.charset = charset
        self.places = tables.places
        self.actions = tables.actions
        self.interest = tables.interest
        self.values = Values(charset, self.tag, tables)
        self.meta_places = tables.meta_places
        self.link_places = tables.link_places
        self.scripts = tables.scripts
        return 0

    def begin(self, data: bytes, charset: Charset, options: WalkOptions) -> cython.int:
        """Begin another document, and reset all state."""
        if charset is not self.charset:
            self.prepare(charset)
        self.data = data
        self.options = options
        self.scanner.begin(data, self.interest)
        self.values.begin(data)
        self.events = _NO_EVENTS
        self.has_base = False
        self.has_retrieval = False
        self.facts: FactCollector | None = None
        if options.documents:
            from absolve.formats.html import page_facts  # here, because few runs need it

            self.facts = page_facts.FactCollector(data, charset, self.values, options.max_links)
        self.scanner.recorded = options.documents
        self.scripting = options.scripting
        self.only_changing = options.only_changing
        self.ruled: BaseClaim | None = None  # the claim of the codebase, for the next link, which depends on it
        return 0

    def release(self) -> cython.int:
        """Keep no reference to the document and its events: the walker waits for another one."""
        self.data = b""
        self.events = _NO_EVENTS
        self.facts = None
        self.scanner.release()
        return self.values.begin(b"")

    def run(self, data: bytes, charset: Charset, options: WalkOptions) -> EventList:
        """Return the events of all tokens that the tokenizer reports."""
        self.begin(data, charset, options)
        self.events = EventList(_OF_TAG, data)
        scanner: Tokenizer = self.scanner
        kind: cython.int
        self.most = self.options.max_links
        while self.events.count <= self.most:
            kind = scanner.next()
            if self.scripting and kind != _END and scanner.start < scanner.noscript_end <= len(self.data):
                continue  # text, if scripts run
            if kind == _TAG:
                if self.facts is not None:
                    self.facts.tag(scanner)
                    if not scanner.is_of_interest():
                        continue
                if scanner.namespace:
                    self.foreign_tag(scanner)
                else:
                    self.html_tag(scanner)
            elif kind == _END:
                self.findings(scanner)
                break
            else:
                self.comment(scanner.start, scanner.text_start, scanner.text_end)
        return self.events

    def findings(self, scanner: Tokenizer) -> cython.int:
        """Add findings about the whole document; its links remain valid."""
        nul: cython.Py_ssize_t = byte_scan.find(self.data, 0, 0, len(self.data))
        if nul >= 0:
            count = self.data.count(_NUL)
            text = "a NUL byte, which stays" if count == 1 else f"{count} NUL bytes, which stay"
            self.events.append(Finding("nul-byte", text, nul))
        if scanner.truncated >= 0:
            self.events.append(Finding("truncated", "the file ends inside a tag or comment", scanner.truncated))
        if scanner.noscript_end < len(self.data):
            scanner._past_noscript(len(self.data))  # noqa: SLF001 - a method that only C can call
        if scanner.tree.guessed:
            self.events.append(Finding("ambiguous", "a browser may see other tags here than a scanner can", 0))
        if self.facts is not None:
            self.events.append(self.facts.taken())
        return 0

    # --- tags -----------------------------------------------------------------------------------------------------

    def html_tag(self, scanner: Tokenizer) -> cython.int:
        actions: cython.p_const_uchar = self.actions
        row: cython.int = scanner.element * _ATTRIBUTES
        k: cython.int
        attribute: cython.int
        action: cython.int
        codebase: BaseClaim | None = None
        for k in range(self.tag.found):
            attribute = self.tag.order[k]
            action = actions[row + attribute]
            if action == _NOTHING:
                continue
            if action == _STYLE:
                self.declarations(attribute)
                continue
            place = self.places[row + attribute]
            if action == _URL:
                self.url(attribute, place, None)
            elif action == _LINK_HREF:
                self.url(attribute, self.link_place(), None)
            elif action == _META:
                self.meta()
            elif action == _BASE_HREF:
                self.base(place)
            elif action == _IN_CODEBASE or action == _CODEBASE_ROW:
                if codebase is None:
                    codebase = self.codebase()
                self.ruled = codebase
                self.value(attribute, place)
                self.ruled = None
            elif action == _SAVED:
                self.saved(attribute, place)
            elif action == _PARAM:
                self.param()
            else:
                self.value(attribute, place)
        if scanner.element == _STYLE_ELEMENT:
            self.style(scanner)
        elif scanner.element == _SCRIPT_ELEMENT:
            self.script(scanner.text_start, scanner.text_end, self.values.raw)
        return 0

    def foreign_tag(self, scanner: Tokenizer) -> cython.int:
        actions: cython.p_const_uchar = self.actions
        row: cython.int = (_SVG_ROW if scanner.namespace == _SVG else _MATHML_ROW) * _ATTRIBUTES
        k: cython.int
        attribute: cython.int
        action: cython.int
        for k in range(self.tag.found):
            attribute = self.tag.order[k]
            action = actions[row + attribute]
            if action == _STYLE:
                self.declarations(attribute)
            if action != _OTHER and action != _ANIMATED:
                continue
            place = _FOREIGN.row(scanner.namespace, self.element_name(scanner), _ATTRIBUTE_NAME[attribute])
            if place is not None and action == _ANIMATED:
                place = places.animated_place(place, dispatch.folded(self.tag.raw(_ATTRIBUTE_NAME_ID), self.charset))
            if place is not None and place.syntax == "css":
                self.declarations(attribute)
            elif place is not None:
                self.value(attribute, place)
        is_text: cython.bint = scanner.element == _STYLE_ELEMENT or scanner.element == _SCRIPT_ELEMENT
        if is_text and scanner.namespace == _SVG and not self.tag.self_closing:
            self.foreign_text(scanner)
        return 0

    def element_name(self, scanner: Tokenizer) -> str:
        """Return the element's local name in lower case, for a name without a number from the document."""
        if scanner.element:
            return _ELEMENT_NAME[scanner.element]
        raw = self.data[scanner.name_start : scanner.name_end]
        return raw.lower().decode("utf-8", "replace")

    def url(self, attribute: cython.int, place: LinkSite, claim: BaseClaim | None) -> cython.int:
        """Add a value that is one reference, without surrounding white space, which may be character references."""
        p: cython.p_const_uchar = self.data
        start: cython.Py_ssize_t = self.tag.value_start[attribute]
        end: cython.Py_ssize_t = self.tag.value_end[attribute]
        while start < end and (p[start] == 32 or (9 <= p[start] <= 13 and p[start] != 11)):
            start += 1
        while start < end and (p[end - 1] == 32 or (9 <= p[end - 1] <= 13 and p[end - 1] != 11)):
            end -= 1
        coding = self.values.codings[self.tag.quote[attribute]]
        if start < end and (
            (p[start] == 38 and may_be_space(p, start, end)) or (p[end - 1] == 59 and may_end_in_space(p, start, end))
        ):
            ((start, end),) = self.values.references("url", start, end, self.values.coding(attribute))
            coding = self.values.common(attribute, start, end)
        return self.add_link(place, start, end, coding, claim)

    def value(self, attribute: cython.int, place: LinkSite) -> cython.int:
        """Add the references, or the inner document, in one attribute value."""
        start: cython.Py_ssize_t = self.tag.value_start[attribute]
        end: cython.Py_ssize_t = self.tag.value_end[attribute]
        syntax = place.syntax
        if syntax == "url":
            self.url(attribute, place, None)
        elif syntax == "srcdoc":
            self.events.append(Part(MEDIA_TYPE, start, end, self.values.common(attribute, start, end), "srcdoc"))
        else:
            self.references(place, syntax, start, end, self.values.coding(attribute))
        return 0

    def references(
        self, place: LinkSite, syntax: str, start: cython.Py_ssize_t, end: cython.Py_ssize_t, coding: Coding
    ) -> cython.int:
        """Add the references in a value by its grammar: the frequent ones are read without decoding."""
        p: cython.p_const_uchar = self.data
        one: cython.Py_ssize_t
        other: cython.Py_ssize_t
        is_plain: cython.bint = self.values.is_plain(start, end)
        is_split: cython.bint = is_plain and not grammars.may_have_placeholder(p, start, end)
        if is_plain and syntax == "likely":
            one = byte_scan.word_start(p, start, end)
            while end > one and byte_scan.word_start(p, end - 1, end) == end:
                end -= 1
            if grammars.is_likely(p, one, end):
                self.add_link(place, one, end, coding, None)
        elif is_split and syntax == "srcset":
            one = grammars.candidate(p, start, end)
            while one < end:
                other = grammars.word_end(p, one, end)
                self.add_link(place, one, grammars.without_commas(p, one, other), coding, None)
                one = grammars.candidate(p, grammars.descriptors_end(p, other, end), end)
        elif is_split and syntax == "spaces":
            one = byte_scan.word_start(p, start, end)
            while one < end:
                other = grammars.word_end(p, one, end)
                self.add_link(place, one, other, coding, None)
                one = byte_scan.word_start(p, other, end)
        else:
            for one, other in self.values.references(syntax, start, end, coding):
                self.add_link(place, one, other, coding, None)
        return 0

    def declarations(self, attribute: cython.int) -> cython.int:
        """Add a style attribute as a part, if it may have a link."""
        start: cython.Py_ssize_t = self.tag.value_start[attribute]
        end: cython.Py_ssize_t = self.tag.value_end[attribute]
        if may_hold_css_link(self.data, start, end):
            self.events.append(Part(CSS_DECLARATIONS, start, end, self.values.common(attribute, start, end)))
        return 0

    def add_link(
        self,
        place: LinkSite,
        start: cython.Py_ssize_t,
        end: cython.Py_ssize_t,
        coding: Coding,
        claim: BaseClaim | None,
    ) -> cython.int:
        """Add one link of the tag."""
        under = self.ruled
        if under is not None and place.attribute == "codebase":
            under, claim = None, under
        if self.only_changing and claim is None and self.events.count < self.most and self.is_absolute(start, end):
            return self.events.count_link()
        return self.events.add_link(place, start, end, coding, under, self.scanner.start, self.scanner.end, claim)

    def is_absolute(self, start: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.bint:
        """Return whether a reference is an http(s) URL, which every profile leaves, too short for any limit."""
        return end - start < _SHORT and http_host(self.data, start, end) > 0

    # --- sites that depend on several attributes ------------------------------------------------------------------

    def base(self, place: LinkSite) -> cython.int:
        """Add a base element's href; the first one outside templates makes the claim, others have IGNORED_BASE."""
        claim = IGNORED_BASE
        if not self.has_base and not self.scanner.tree.tables.template_depth:
            self.has_base = True
            claim = base_claim(self.values.double.decode(self.tag.raw(_HREF)), self.scanner.start)
            self.events.append(claim)
        elif self.facts is not None:
            self.facts.ignored_base = True
        return self.url(_HREF, place, claim)

    def codebase(self) -> BaseClaim | None:
        """Return the claim of the tag's codebase; None where it makes no claim."""
        if not self.tag.has(_CODEBASE):
            return None
        claim = codebase_claim(self.values.double.decode(self.tag.raw(_CODEBASE)), self.tag.value_start[_CODEBASE])
        return None if claim is None else self.events.scoped(claim, None)

    def meta(self) -> cython.int:
        """Add the link of a meta element: http-equiv refresh, or a name with a URL as content."""
        tag: Tag = self.tag
        keywords = (tag.raw(_HTTP_EQUIV), tag.raw(_PROPERTY), tag.raw(_NAME), tag.raw(_ITEMPROP))
        place = _decided(self.meta_places, keywords)
        scanner: Tokenizer = self.scanner
        if place is REFRESH and (
            scanner.tree.tables.template_depth or scanner.start < scanner.noscript_end <= len(self.data)
        ):
            place = INERT_REFRESH
        if place is SAVE_PAGE:
            self.saved(_CONTENT, place)
        elif place is not None:
            self.value(_CONTENT, place)
        return 0

    def param(self) -> cython.int:
        """Add the link of a parameter of an object."""
        name, value_type = (dispatch.folded(self.tag.raw(one), self.charset) for one in (_NAME, _VALUETYPE))
        place = places.param_place(name, value_type)
        return self.value(_VALUE, place) if place is not None else 0

    def saved(self, attribute: cython.int, place: LinkSite) -> cython.int:
        """Add the retrieval URL that the program which saved the page wrote into an attribute."""
        if not self.has_retrieval:
            claim = saved_claim(place, self.values.double.decode(self.tag.raw(attribute)), self.scanner.start)
            if claim is not None:
                self.has_retrieval = True
                self.events.append(claim)
        return self.url(attribute, place, None)

    def link_place(self) -> LinkSite:
        """Return the link site of `link href`, with the kind of its relation."""
        tag: Tag = self.tag
        place: LinkSite = _decided(self.link_places, (tag.raw(_REL), tag.raw(_AS), tag.raw(_TYPE)))
        return place

    # --- text of elements -----------------------------------------------------------------------------------------

    def style(self, scanner: Tokenizer) -> cython.int:
        raw = self.tag.raw(_TYPE)
        if not raw or raw == _TEXT_CSS or places.is_sheet(dispatch.folded(raw, self.charset)):
            self.sheet(scanner.text_start, scanner.text_end, self.values.raw)
        return 0

    def sheet(self, start: cython.Py_ssize_t, end: cython.Py_ssize_t, coding: Coding) -> cython.int:
        """Add a style sheet, if it may have a link."""
        if coding is not self.values.raw or may_hold_link(self.data, start, end) or may_name_map(self.data, start, end):
            self.events.append(Part(CSS, start, end, coding))
        return 0

    def foreign_text(self, scanner: Tokenizer) -> cython.int:
        """Add the style sheet or script in an element of SVG: its text may have references, sections and comments."""
        text: Coding = self.values.text
        section: Coding = self.values.raw
        filled: list[Piece] = []
        end = scanner.end
        for coding, start, end in places.foreign_pieces(self.data, text, section, scanner.end):
            if len(filled) < 2 and end > start:
                filled.append((coding, start, end))
        if not places.ends_foreign_text(self.data, end, scanner.tree.foreign):
            words = f"the text of this {self.element_name(scanner)} has tags inside: it is left alone"
            self.events.append(Finding("pieces", words, end))
        elif filled:
            coding, start, last = filled[0]
            if len(filled) > 1:
                coding = Pieces(partial(places.foreign_pieces, text=text, section=section))
                start, last = scanner.end, end
            if scanner.element == _STYLE_ELEMENT:
                self.sheet(start, last, coding)
            else:
                self.script(start, last, coding)
        return 0

    def script(self, start: cython.Py_ssize_t, end: cython.Py_ssize_t, coding: Coding) -> cython.int:
        media_type: str | None = _JAVASCRIPT
        if self.tag.has(_TYPE) and not self.tag.equals(_TYPE, _TEXT_JAVASCRIPT):  # most have none, or this one
            media_type = _decided(self.scripts, (self.tag.raw(_TYPE),))
        looked: cython.bint = media_type is not _JAVASCRIPT or type(coding) is Pieces
        if media_type is not None and (looked or may_name_map(self.data, start, end)):
            self.events.append(Part(media_type, start, end, coding))
        return 0

    def comment(self, start: cython.Py_ssize_t, text: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.int:
        """Add the retrieval URL of a saved page, or the references of a server-side include."""
        if not self.has_retrieval and may_be_savers(self.data, text, end):
            claim = retrieval_url(self.data, text, end, self.charset)
            if claim is not None:
                self.has_retrieval = True
                self.events.append(BaseClaim(Layer.RETRIEVAL, claim[0], claim[1], start))
        elif text < end and self.data[text] <= 35:  # a blank or #
            for place, one, other in includes(self.data, text, end):
                self.events.add_link(place, one, other, self.values.raw, None, -1, -1, None)
        return 0


def _decided(kept: Kept[Any], keywords: Keywords) -> Any:
    """Return the cached decision for keywords, computing it if absent."""
    known: dict = kept.known  # type: ignore[type-arg]
    found = known.get(keywords, _UNDECIDED)
    return kept.decided(keywords) if found is _UNDECIDED else found
