"""The inventory: one row a link, the columns declared once."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

from absolve.bases import claimed_url, found_as, same_document
from absolve.formats.html_text import anchor_text, attributes
from absolve.model import PACKAGE_ROOT, Layer, Link, Part
from absolve.resolved import Resolved, Rule
from absolve.resolvers.comparison import climbs_above_root, divergent
from absolve.resolvers.references import NEVER_RELATIVE
from absolve.resolvers.urls import has_scheme, host_port, scheme

if TYPE_CHECKING:
    from collections.abc import Iterator

    from absolve.entity import Entity, Inner
    from absolve.model import Base


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
SCOPES: Final = ("same-document", "internal", "external", "other")
PROBLEMS: Final = (
    "unresolved unsuitable-base relative-base ignored-base malformed above-root divergent empty insecure"
    " scheme-relative backslash whitespace"
).split()
WHITE_SPACE: Final = "whitespace"
_INNER_SPACE: Final = re.compile(r"[\t\n\f\r ]")
_SCHEME_RELATIVE: Final = re.compile(r"//|[\\/]{2}")


def rows(entity: Entity, document: str | None = None) -> Iterator[Row]:
    """The rows of an entity and of every document inside it, in the order in which they stand."""
    yield from _rows(entity, shown(document if document is not None else entity.name), _Span(entity))


class _Span:
    """Where spans of an entity stand in the entity that rows speak of: itself, or the one whose part it is."""

    def __init__(self, entity: Entity, outer: _Span | None = None, inner: Inner | None = None) -> None:
        self._entity = entity
        self._outer = outer
        self._inner = inner

    def of(self, start: int, end: int) -> tuple[int, int]:
        if self._outer is None or self._inner is None:
            return start, end
        part, _, offsets = self._inner
        if offsets is None:
            return self._outer.of(part.start, part.end)
        first = offsets.start(start)
        last = offsets.end(end) if end > start else first
        return self._outer.of(part.start + first, part.start + last)

    def line_column(self, start: int) -> tuple[int, int]:
        """Counted in the outermost bytes that hold the lines as they are: those of UTF-16 do not."""
        outer = self._outer
        if outer is None or self._inner is None or not outer._entity.charset.transparent:  # noqa: SLF001 - of its class
            return self._entity.line_column(start)
        part, _, offsets = self._inner
        return outer.line_column(part.start + (offsets.start(start) if offsets is not None else 0))


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
                ruled = rules[key] = _Ruled(Rule(entity, event))
            where = Where(*span.line_column(event.start), *span.of(event.start, event.end), *tag.of(event))
            yield ruled.row(Resolved(entity, event, ruled.rule), document, where)


class Where(NamedTuple):
    """What a row says of the place where a link stands; fields are those of `Row`."""

    line: int
    column: int
    start: int
    end: int
    rel: str
    text: str


class Facts(NamedTuple):
    """What a row says of a reference, wherever it stands under one rule; fields are those of `Row`."""

    reference: str
    target: str | None
    scope: str
    problems: list[str]


class _Ruled:
    """The rows of links under one rule: what is found out for a reference holds for the next one that is the same."""

    def __init__(self, rule: Rule) -> None:
        self.rule = rule
        self._known: dict[str, Facts] = {}
        self._base = (shown(rule.base.url), rule.base.layer.label, rule.base.source)

    def row(self, resolved: Resolved, document: str, where: Where) -> Row:
        place = self.rule.place
        facts = self._known.get(resolved.reference)
        if facts is None:
            facts = _facts(resolved)
            if resolved.link.claim is None:  # what is wrong with a claim depends on the claim
                self._known[resolved.reference] = facts
        codes = facts.problems
        codes = codes[:] if WHITE_SPACE in codes or not _spaced(resolved) else [*codes, WHITE_SPACE]
        placed = (document, resolved.entity.path, *where[:4], place.element, place.attribute, place.kind, *where[4:])
        # Its own constructor is a function in Python, which takes several times as long.
        return tuple.__new__(Row, (*placed, facts.reference, *self._base, facts.target, facts.scope, codes))


def row(resolved: Resolved, document: str, where: Where) -> Row:
    """The row of one link."""
    return _Ruled(resolved.rule).row(resolved, document, where)


def _facts(resolved: Resolved) -> Facts:
    target = resolved.target
    return Facts(
        shown(resolved.reference),
        shown(target) if target is not None else None,
        scope(resolved, target),
        list(problems(resolved, target)),
    )


def shown(text: str) -> str:
    """Text that any sink can write: what was no character becomes U+FFFD."""
    return text if text.isascii() else text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


class _Tag:
    """The rel and the text of links in HTML: what an anchor holds, or the alternative text of an image.

    Links of one tag stand side by side, and share them.
    """

    def __init__(self, entity: Entity) -> None:
        self._entity = entity
        self._start = -1
        self._found = ("", "")

    def of(self, link: Link) -> tuple[str, str]:
        if link.tag_start < 0:
            return "", ""
        if link.tag_start != self._start:
            self._start = link.tag_start
            data, charset = self._entity.data, self._entity.charset
            found = attributes(data, link.tag_start, link.tag_end, charset)
            anchor = _ANCHOR.match(data, link.tag_start)
            text = anchor_text(data, link.tag_end, charset) if anchor else found.get("alt", "")
            self._found = found.get("rel", ""), text
        return self._found


_ANCHOR: Final = re.compile(rb"<[Aa][\t\n\f\r />]")


def scope(resolved: Resolved, target: str | None) -> str:
    """same-document, internal, external or other: where the target is, seen from the document's own URL.

    What is in the same message is internal, too.
    """
    own = resolved.own.url
    if target is None:
        return "same-document" if resolved.reference.startswith("#") else "other"
    if own and same_document(target, own):
        return "same-document"
    if resolved.entity.held and found_as(target) in resolved.entity.held:
        return "internal"
    host = host_port(target)
    if not host:
        return _hostless_scope(scheme(target), scheme(own))
    return "internal" if host == _site(own) else "external"


_site = lru_cache(maxsize=64)(host_port)


def _hostless_scope(target: str | None, own: str | None) -> str:
    """Files are of one site, and so is what is in a package."""
    if target not in _HOSTLESS:
        return "other"
    return "internal" if target == own else "external"


_HOSTLESS: Final = frozenset({"file", scheme(PACKAGE_ROOT)})


def problems(resolved: Resolved, target: str | None) -> Iterator[str]:
    """The problem codes of a reference, in the order of design.md section 6; white space around it is `_spaced`."""
    reference = resolved.reference
    base = resolved.base.url
    never = ":" in reference and scheme(reference) in NEVER_RELATIVE
    fetches_nothing = not reference and resolved.link.place.empty == "nothing"
    malformed = target is None and not fetches_nothing and _could_resolve(resolved)
    if target is None and not fetches_nothing and not malformed:
        yield "unresolved"
    if resolved.link.claim is not None:
        yield from _claim_problems(resolved, resolved.link.claim)
    if malformed:
        yield "malformed"
    if climbs_above_root(base, reference):
        yield "above-root"
    if target is not None and not never and divergent(base, reference, resolved.entity.charset.name):
        yield "divergent"
    if not reference and resolved.link.place.empty != "own" and resolved.link.claim is None:
        yield "empty"
    if target is not None and target[:5].lower() == "http:" and resolved.own.url[:6].lower() == "https:":
        yield "insecure"
    if _SCHEME_RELATIVE.match(reference):
        yield "scheme-relative"
    if "\\" in reference and not never:
        yield "backslash"
    if not never and _INNER_SPACE.search(reference):
        yield WHITE_SPACE


def _could_resolve(resolved: Resolved) -> bool:
    """Whether it is the reference's fault that there is no target: the base can be used, or none is needed."""
    if has_scheme(resolved.reference):
        return True
    return resolved.resolves


def _claim_problems(resolved: Resolved, claim: Base) -> Iterator[str]:
    """What is wrong with a base stands on the row of its claim."""
    if resolved.element not in _OF_DOCUMENTS:  # it rules its own element, and may be relative (HTML 4.01 13.3)
        url = claimed_url(claim, resolved.base, resolved.entity.settings.profile)
        if url is None or _useless(url):
            yield "unsuitable-base"
        return
    established = resolved.entity.bases.base
    fate = next((fate for fate in established.chain if fate.base is claim), None)
    if fate is None or fate.verdict == "ignored":
        yield "ignored-base"
        return
    if fate.verdict == "unsuitable" or _useless(fate.url):
        yield "unsuitable-base"
    if resolved.reference and not has_scheme(resolved.reference):
        yield "relative-base"


_OF_DOCUMENTS: Final = frozenset({"base", "header"})  # elements whose claims are about all of the document


def _useless(url: str | None) -> bool:
    """A base that no relative reference can use (`mailto:`, `about:`): it rules, and resolves nothing."""
    return url is not None and (scheme(url) or "") in NEVER_RELATIVE


def _spaced(resolved: Resolved) -> bool:
    """White space around a reference that is a whole attribute value, raw or by character references."""
    link = resolved.link
    if link.place.syntax != "url" or link.tag_start < 0:
        return False
    if ":" in resolved.reference and scheme(resolved.reference) in NEVER_RELATIVE:
        return False
    data = resolved.entity.data
    if link.coding.slot is None:  # in quotes: what is next to it is one of them, or white space
        return data[link.start - 1] not in _QUOTES or data[link.end] not in _QUOTES
    return link.coding.slot != (link.start, link.end)


_QUOTES: Final = (0x22, 0x27)

__all__ = ["COLUMNS", "Layer", "Row", "rows"]
