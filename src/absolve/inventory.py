"""The inventory: one row a link, the columns declared once."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from absolve.formats.html_text import anchor_text
from absolve.judging import WHITE_SPACE, is_never, problems, scope, site_of
from absolve.model import Layer, Link, Part
from absolve.resolved import Resolved
from absolve.resolvers.comparison import harmless
from absolve.resolvers.urls import host_port, is_plain, split_fragment

if TYPE_CHECKING:
    from collections.abc import Iterator

    import cython

    from absolve.entity import Entity, Inner

    Pair = tuple[int, int]
    Seen = tuple[str, bool]  # the scope of what is on a host, and whether it is insecure to go there
else:
    from absolve import _cython as cython

if cython.compiled:
    from cython.cimports.absolve.formats.html_text import rel_and_alt
    from cython.cimports.absolve.resolved import Rule, text
    from cython.cimports.absolve.resolvers.appending import DOTS, FRAGMENT, Appending, shape
else:
    from absolve.formats.html_text import rel_and_alt
    from absolve.resolved import Rule, text
    from absolve.resolvers.appending import DOTS, FRAGMENT, Appending, shape


class Row(NamedTuple):
    """One link, as design.md section 6 lists it; the fields are the columns, in their order."""

    document: str  # path or URL of the outermost input
    entity: str  # path of the inner document inside it, empty at the top
    line: int  # 1-based
    column: int  # 1-based, in characters
    start: int  # byte span in the entity
    end: int
    element: str
    attribute: str
    kind: str
    rel: str
    text: str  # anchor text or alt, white space folded
    reference: str  # as decoded and stripped
    base: str
    base_layer: str
    base_source: str
    target: str | None
    scope: str
    problems: list[str]


COLUMNS: Final = Row._fields


def rows(entity: Entity, document: str | None = None) -> Iterator[Row]:
    """The rows of an entity and of every document inside it, in the order in which they stand."""
    yield from _rows(entity, shown(document if document is not None else entity.name), _Span(entity))


@cython.final
@cython.cclass
class _Span:
    """Where spans of an entity stand in the entity that rows speak of: itself, or the one whose part it is."""

    def __init__(self, entity: Entity, outer: _Span | None = None, inner: Inner | None = None) -> None:
        self._transparent = entity.charset.transparent
        self._positions = entity.positions
        self._outer = outer if inner is not None else None
        self._inner = inner
        if inner is not None:
            self._start = inner.part.start
            self._end = inner.part.end
            self._offsets = inner.offsets

    @cython.ccall
    def of(self, start: cython.Py_ssize_t, end: cython.Py_ssize_t) -> Pair:
        if self._outer is None:
            return start, end
        if self._offsets is None:
            return self._outer.of(self._start, self._end)
        first: cython.Py_ssize_t = self._offsets.start(start)
        last: cython.Py_ssize_t = self._offsets.end(end) if end > start else first
        return self._outer.of(self._start + first, self._start + last)

    @cython.ccall
    def line_column(self, start: cython.Py_ssize_t) -> Pair:
        """Counted in the outermost bytes that hold the lines as they are: those of UTF-16 do not."""
        if self._outer is None or not self._outer._transparent:  # noqa: SLF001 - of its class
            return self._positions.at(start)
        first: cython.Py_ssize_t = self._offsets.start(start) if self._offsets is not None else 0
        return self._outer.line_column(self._start + first)


def _rows(entity: Entity, document: str, span: _Span) -> Iterator[Row]:
    rules: dict[tuple[int, int], _Ruled] = {}
    tag = _Tag(entity)
    for event in entity.events:
        if type(event) is Part:
            inner = entity.inner.get(id(event))
            if inner is not None:
                within = _Span(inner.entity) if event.name else _Span(inner.entity, span, inner)
                yield from _rows(inner.entity, document, within)
        elif type(event) is Link:
            key = (id(event.place), id(event.base))
            ruled = rules.get(key)
            if ruled is None:
                ruled = rules[key] = _Ruled(entity, Rule(entity, event))
            yield ruled.found(event, document, span, tag)


class Where(NamedTuple):
    """What a row says of the place where a link stands; fields are those of `Row`."""

    line: int
    column: int
    start: int
    end: int
    rel: str
    text: str


@cython.final
@cython.cclass
class Facts:
    """What a row says of a reference, wherever it stands under one rule; attributes are the fields of `Row`.

    `never`: it is never relative.
    """

    def __init__(self, reference: str, target: str | None, scope: str, problems: list[str], never: cython.bint) -> None:
        self.reference = reference
        self.target = target
        self.scope = scope
        self.problems = problems
        self.never = never
        self.spaced = WHITE_SPACE in problems


@cython.final
@cython.cclass
class _Ruled:
    """The rows of links under one rule: what is found out for a reference holds for the next one that is the same."""

    def __init__(self, entity: Entity, rule: Rule) -> None:
        place = rule.place
        base = rule.base.url
        own = rule.own.url
        self._entity = entity
        self._data = entity.data
        self._rule = rule
        self._known: dict[str, Facts] = {}
        self._path = entity.path
        self._element, self._attribute, self._kind = place.element, place.attribute, place.kind
        self._is_url = place.syntax == "url"
        self._base, self._layer, self._source = shown(base), rule.base.layer.label, rule.base.source
        # What the references have in common that only get something of the base before them, whatever they are.
        self._appending: Appending | None = None
        if isinstance(rule.resolver, Appending) and rule.resolver.usable and base.isascii() and harmless(base):
            self._appending = rule.resolver
        self._own_page = split_fragment(own)[0]
        self._has_own = bool(own)
        self._site = site_of(own)
        self._secure = own[:6].lower() == "https:"
        self._tidies = rule.settings.profile == "whatwg"
        self._hosts: dict[str, Seen | None] = {"": self._seen(base)}

    @cython.ccall
    def found(self, link: Link, document: str, span: _Span, tag: _Tag) -> Row:
        """The row of a link where it stands."""
        line, column = span.line_column(link.start)
        start, end = span.of(link.start, link.end)
        tag.see(link)
        value: bytes = link.coding.decode(self._data[link.start : link.end])
        return self.row(link, text(value), document, line, column, start, end, tag.rel, tag.text)

    @cython.ccall
    def row(
        self,
        link: Link,
        reference: str,
        document: str,
        line: object,
        column: object,
        start: object,
        end: object,
        rel: str,
        words: str,
    ) -> Row:
        facts: Facts | None = self._known.get(reference)
        if facts is None:
            facts = self._facts(link, reference)
            if link.claim is None:  # what is wrong with a claim depends on the claim
                self._known[reference] = facts
        codes = facts.problems[:]
        if not facts.spaced and self._is_url and not facts.never and _spaced(self._data, link):
            codes.append(WHITE_SPACE)
        # Its own constructor is a function in Python, which takes several times as long.
        return tuple.__new__(
            Row,
            (
                *(document, self._path, line, column, start, end, self._element, self._attribute, self._kind),
                *(rel, words, facts.reference, self._base, self._layer, self._source),
                *(facts.target, facts.scope, codes),
            ),
        )

    @cython.cfunc
    def _facts(self, link: Link, reference: str) -> Facts:
        """The profiles agree about a shape against a harmless base, and about most of what is absolute.

        What is left to find out is then known of the host.
        """
        if self._appending is not None and link.claim is None and reference.isascii():
            raw = reference.encode("ascii")
            length: cython.Py_ssize_t = _host_end(raw, len(raw))
            if length > 0 and not self._tidies:
                host = reference[:length]
                if host not in self._hosts:
                    self._hosts[host] = self._seen(host) if is_plain(host) else None
                seen = self._hosts[host]
                if seen is not None:
                    return self._known_from(seen, reference, reference)
            found: cython.int = shape(raw, 0, len(raw))
            if found >= FRAGMENT and not found >> DOTS:
                seen = self._hosts[""]
                if seen is not None:
                    return self._known_from(seen, reference, self._appending.prefix(found) + reference)
        return _judged(Resolved(self._entity, link, self._rule, reference))

    @cython.cfunc
    def _seen(self, url: str) -> Seen:
        """The scope of what is on the host of a URL, and whether it is insecure to go there."""
        insecure = self._secure and url[:5].lower() == "http:"
        return "internal" if host_port(url) == self._site else "external", insecure

    @cython.cfunc
    def _known_from(self, seen: Seen, reference: str, target: str) -> Facts:
        where, insecure = seen
        page = target.partition("#")[0]
        if self._has_own and page == self._own_page:
            where = "same-document"
        elif page in self._entity.held:
            where = "internal"
        return Facts(reference, target, where, ["insecure"] if insecure else [], never=False)


@cython.cfunc
@cython.exceptval(check=False)
@cython.boundscheck(False)
@cython.wraparound(False)
def _host_end(raw: bytes, end: cython.Py_ssize_t) -> cython.Py_ssize_t:
    """Where the authority ends in an absolute URL that every profile takes alike, `HARMLESS` says which; else 0."""
    p: cython.p_const_uchar = raw
    i: cython.Py_ssize_t
    found: cython.Py_ssize_t = 0
    if end < 8 or p[0] != 104 or p[1] != 116 or p[2] != 116 or p[3] != 112:
        return 0
    i = 5 if p[4] == 115 else 4
    if p[i] != 58 or p[i + 1] != 47 or p[i + 2] != 47:
        return 0
    i += 3
    while i < end:
        if p[i] <= 32 or p[i] == 92 or (p[i] == 47 and i + 1 < end and p[i + 1] == 46):
            return 0
        if not found and (p[i] == 47 or p[i] == 63 or p[i] == 35):
            found = i
        i += 1
    return found or end


def row(resolved: Resolved, document: str, where: Where) -> Row:
    """The row of one link."""
    ruled = _Ruled(resolved.entity, resolved.rule)
    return ruled.row(resolved.link, resolved.reference, document, *where)


def _judged(resolved: Resolved) -> Facts:
    target = resolved.target
    reference = resolved.reference
    return Facts(
        shown(reference),
        shown(target) if target is not None else None,
        scope(resolved, target),
        list(problems(resolved, target)),
        is_never(reference),
    )


def shown(text: str) -> str:
    """Text that any sink can write: what was no character becomes U+FFFD."""
    return text if text.isascii() else text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


@cython.final
@cython.cclass
class _Tag:
    """The `rel` and the `text` of links in HTML: what an anchor holds, or the alternative text of an image.

    Links of one tag stand side by side, and share them.
    """

    def __init__(self, entity: Entity) -> None:
        self._data = entity.data
        self._charset = entity.charset
        self._start = -1
        self.rel = self.text = ""

    @cython.ccall
    def see(self, link: Link) -> object:
        """Let them be those of the tag of a link."""
        if link.tag_start < 0:
            self._start = -1
            self.rel = self.text = ""
        elif link.tag_start != self._start:
            self._start = link.tag_start
            self.rel, self.text = rel_and_alt(self._data, link.tag_start, link.tag_end, self._charset)
            if _ANCHOR.match(self._data, link.tag_start):
                self.text = anchor_text(self._data, link.tag_end, self._charset)
        return None


_ANCHOR: Final = re.compile(rb"<[Aa][\t\n\f\r />]")


@cython.cfunc
def _spaced(data: bytes, link: Link) -> cython.bint:
    """White space around a reference that is a whole attribute value, raw or by character references."""
    if link.tag_start < 0:
        return False
    slot = link.coding.slot
    if slot is None:  # in quotes: what is next to it is one of them, or white space
        return data[link.start - 1] not in _QUOTES or data[link.end] not in _QUOTES
    return slot != (link.start, link.end)


_QUOTES: Final = (0x22, 0x27)

__all__ = ["COLUMNS", "Layer", "Row", "rows"]
