"""The inventory: one row a link, the columns declared once."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from absolve.bases import same_document
from absolve.formats.html_text import anchor_text, attributes
from absolve.model import Layer, Link, Part
from absolve.resolvers.comparison import climbs_above_root, divergent
from absolve.resolvers.references import NEVER_RELATIVE
from absolve.resolvers.urls import has_scheme, host_port, scheme
from absolve.resolved import Resolved

if TYPE_CHECKING:
    from collections.abc import Iterator

    from absolve.model import BaseURL
    from absolve.walk import Entity, Inner


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
_INNER_SPACE: Final = re.compile(r"[\t\n\f\r ]")
_SCHEME_RELATIVE: Final = re.compile(r"//|[\\/]{2}")


def rows(entity: Entity, document: str | None = None) -> Iterator[Row]:
    """The rows of an entity and of every document inside it, in the order in which they stand."""
    yield from _rows(entity, _shown(document if document is not None else entity.name), _Span(entity))


class _Span:
    """Where spans of an entity stand in the entity that rows speak of: itself, or the one whose part it is."""

    def __init__(self, entity: Entity, outer: _Span | None = None, inner: Inner | None = None) -> None:
        self.entity = outer.entity if outer is not None else entity
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


def _rows(entity: Entity, document: str, span: _Span) -> Iterator[Row]:
    reader = _Reader(span.entity)
    for event in entity.events:
        if type(event) is Part:
            inner = entity.inner.get(id(event))
            if inner is not None:
                within = _Span(inner.entity) if event.name else _Span(inner.entity, span, inner)
                yield from _rows(inner.entity, document, within)
        elif type(event) is Link:
            yield _row(Resolved(entity, event), document, span, reader)


class _Reader:
    """Lines and columns of ascending positions, found in one pass."""

    def __init__(self, entity: Entity) -> None:
        self._entity = entity

    def at(self, position: int) -> tuple[int, int]:
        return self._entity.line_column(position)


def _row(resolved: Resolved, document: str, span: _Span, reader: _Reader) -> Row:
    link = resolved.link
    base = resolved.base
    start, end = span.of(link.start, link.end)
    line, column = reader.at(start)
    rel, text = _tag(resolved)
    target = resolved.target
    return Row(
        document,
        resolved.entity.path,
        line,
        column,
        start,
        end,
        link.place.element,
        link.place.attribute,
        link.place.kind,
        rel,
        text,
        _shown(resolved.reference),
        _shown(base.url),
        base.layer.label,
        base.source,
        _shown(target) if target is not None else None,
        scope(resolved, target),
        list(problems(resolved, target)),
    )


def _shown(text: str) -> str:
    """Text that any sink can write: what was no character becomes U+FFFD."""
    return text if text.isascii() else text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _tag(resolved: Resolved) -> tuple[str, str]:
    """The rel and the text of a link in HTML: what an anchor holds, or the alternative text of an image."""
    link = resolved.link
    if link.tag_start < 0:
        return "", ""
    entity = resolved.entity
    found = attributes(entity.data, link.tag_start, entity.charset)
    if link.place.element == "a":
        return found.get("rel", ""), anchor_text(entity.data, link.tag_end, entity.charset)
    return found.get("rel", ""), found.get("alt", "")


def scope(resolved: Resolved, target: str | None) -> str:
    """same-document, internal, external or other: where the target is, seen from the document's own URL."""
    own = resolved.own.url
    if target is None:
        return "same-document" if resolved.reference.startswith("#") else "other"
    if own and same_document(target, own):
        return "same-document"
    host = host_port(target)
    if not host:
        return "other" if (scheme(target) or "") != "file" else _file_scope(own)
    return "internal" if host == host_port(own) else "external"


def _file_scope(own: str) -> str:
    return "internal" if scheme(own) == "file" else "external"


def problems(resolved: Resolved, target: str | None) -> Iterator[str]:
    """The problem codes of one link, in the order of design.md section 6."""
    reference = resolved.reference
    base = resolved.base.url
    never = (scheme(reference) or "") in NEVER_RELATIVE
    fetches_nothing = not reference and resolved.link.place.empty == "nothing"
    if target is None and not fetches_nothing:
        yield "malformed" if _could_resolve(resolved) else "unresolved"
    yield from _claim_problems(resolved)
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
    if not never and (_INNER_SPACE.search(reference) or _spaced(resolved)):
        yield "whitespace"


def _could_resolve(resolved: Resolved) -> bool:
    """Whether it is the reference's fault that there is no target: the base can be used, or none is needed."""
    if has_scheme(resolved.reference):
        return True
    return resolved.resolves


def _claim_problems(resolved: Resolved) -> Iterator[str]:
    """What is wrong with a base stands on the row of its claim."""
    claim = resolved.link.claim
    if claim is None:
        return
    established = resolved.entity.bases.base
    fate = next((fate for fate in established.chain if fate.base.position == claim.position), None)
    if fate is None or fate.base.layer is not claim.layer:
        yield "ignored-base"
        return
    if fate.verdict == "unsuitable" or _useless(fate.url):
        yield "unsuitable-base"
    if resolved.reference and not has_scheme(resolved.reference):
        yield "relative-base"


def _useless(url: str | None) -> bool:
    """A base that no relative reference can use (`mailto:`, `about:`): it rules, and resolves nothing."""
    return url is not None and (scheme(url) or "") in NEVER_RELATIVE


def _spaced(resolved: Resolved) -> bool:
    """White space around a reference that is a whole attribute value."""
    link = resolved.link
    if link.place.syntax != "url" or link.tag_start < 0:
        return False
    data = resolved.entity.data
    return data[link.start - 1 : link.start] in _BLANKS or data[link.end : link.end + 1] in _ENDING_BLANKS


_BLANKS: Final = (b" ", b"\t", b"\n", b"\r", b"\f")
_ENDING_BLANKS: Final = _BLANKS

__all__ = ["COLUMNS", "Layer", "Row", "rows"]
