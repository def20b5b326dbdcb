"""The XML walker: find the references, base claims and inner documents of an XML document.

In: the bytes of a document in UTF-8. Out: an EventList in document order; WalkError where it is not well-formed. Bases
are `xml:base` (XML Base), base elements of XHTML, and `codebase` (RFC 1808 section 3.1).

Expat first checks well-formedness and reads the declarations (prolog.py). A scan of a well-formed document is simple;
names are resolved by the namespaces in scope (names.py). Entities of the internal subset are not expanded in content;
in references, those with plain text are.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from absolve.core import byte_scan
from absolve.core.errors import WalkError, in_short
from absolve.core.model import IGNORED_BASE, BaseClaim, Finding, Layer, LinkSite
from absolve.formats.base_claims import base_claim, codebase_claim, xml_base_claim
from absolve.formats.events import EventList
from absolve.formats.html import rules
from absolve.formats.html.filters import may_be_savers
from absolve.formats.html.saved_from import retrieval_url
from absolve.formats.xml import link_tables
from absolve.formats.xml.codings import PseudoAttribute
from absolve.formats.xml.limits import ENTITY
from absolve.formats.xml.link_tables import Choice
from absolve.formats.xml.names import Namespaces, Written, of_tag, of_words
from absolve.formats.xml.prolog import NOT_WELL_FORMED, checked, recovered
from absolve.formats.xml.tags import Tag
from absolve.formats.xml.values import Values

if TYPE_CHECKING:
    from collections.abc import Callable

    import cython

    from absolve.encodings.charsets import Charset
    from absolve.formats.protocols import WalkOptions
    from absolve.formats.xml.page_facts import XMLFacts
    from absolve.formats.xml.prolog import Prolog


# 2.6, the pseudo-attributes of a processing instruction, which have the syntax of attributes
_ATTRIBUTE: Final = re.compile(rb"[\t\n\r ]++([^\t\n\r =/>?]++)[\t\n\r ]*+=[\t\n\r ]*+(?:\"([^\"]*+)\"|'([^']*+)')")
_INSTRUCTION: Final = re.compile(rb"<\?([^\t\n\r ?]++)")
_NO_DEFAULTS: Final[dict[bytes, str]] = {}
_NESTED = 100  # nested xml:base: every link reports the whole chain


@lru_cache(maxsize=64)
def _pseudo(charset: Charset, quote: bytes) -> PseudoAttribute:
    """Return a shared instance for equal arguments: links share a template by the identity of their coding."""
    return PseudoAttribute(charset, quote)


def walk(data: bytes, charset: Charset, options: WalkOptions) -> EventList:
    """Return the events of an XML document in UTF-8. Raise WalkError where it is not well-formed, and cannot be mended.

    A character that is none is skipped, a lone `&` is text: then the first event is a finding.
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


class _Walk:
    """One pass over one document."""

    def __init__(self, data: bytes, charset: Charset, options: WalkOptions, prolog: Prolog) -> None:
        self.data = data
        self.charset = charset
        self.events = EventList(of_tag, data)
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
        self.values = Values(data, charset, self.events, self.last, prolog, options.open_xml)
        self.text: LinkSite | None = None  # the link site of the current element's text, None after a child element
        self.facts: XMLFacts | None = None
        if options.documents:
            from absolve.formats.xml import page_facts  # here, because few runs need it

            self.facts = page_facts.XMLFacts(data, charset, options.max_links)
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
        """Add the references of an instruction before the root element (xml-stylesheet 1.0); no claim is in scope."""
        target = None if self.has_root else _INSTRUCTION.match(self.data, start)
        place = link_tables.INSTRUCTIONS.get(target[1].decode("utf-8", "surrogateescape")) if target else None
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
                self.values.references(place, first, last, _pseudo(self.charset, self.data[first - 1 : first]))
        return 0

    def comment(self, start: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.int:
        """Add the retrieval URL that a browser wrote into a comment when it saved the page; the first one counts."""
        if self.has_retrieval or not may_be_savers(self.data, start + 4, end):
            return 0
        claim = retrieval_url(self.data, start + 4, end, self.charset)
        if claim is not None:
            self.has_retrieval = True
            self.events.append(BaseClaim(Layer.RETRIEVAL, claim[0], claim[1], start))
        return 0

    def unseen(self, start: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.int:
        """Add a Finding for each entity with markup or references that this text refers to, once per entity."""
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
        self.text = None  # an element with a child is no text
        if self.expansion is not None:
            self.expansion.check(start, tag.end)
        if tag.declares or (self.defaults and raw in self.defaults):
            defaults = self.defaults.get(raw, _NO_DEFAULTS)
            self.names.declare(tag.declared(defaults, self.names.bindings), self.depth)
        element: Written = self.names.element(raw)
        if not self.has_root:
            element = self.root(element, raw)
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
        facts.element(element.element.namespace, element.element.local, self.depth, tag.end, values)
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
            self.text = None
        if self.outer and self.outer[-1][0] == self.depth:
            self.scope = self.outer.pop()[1]
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
            place: LinkSite | None = of_words(row, tag.keywords(row.by)) if isinstance(row, Choice) else row
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
                self.of_html(place, start, end)
            else:
                self.values.value(place, start, end)
        if claim is not None:
            self.outer.append((self.depth, self.scope))
            self.scope = claim
            if len(self.outer) > _NESTED:
                raise WalkError("too-deep", f"xml:base nested more than {_NESTED} deep", self.last.start)
        if element.text is not None and not tag.is_closed:
            text: LinkSite | Choice = element.text
            self.text = of_words(text, tag.keywords(text.by)) if isinstance(text, Choice) else text
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
        """Return the claim of a value in the scope of `outer`; None where it makes no claim."""
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

    def of_html(self, place: LinkSite, start: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.int:
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
