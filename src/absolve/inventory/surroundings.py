"""What the entities around a document, and the document itself, state about it, for its row in the table of documents.

In: walked entities and parts. Out: an `Around` (URL, captured facts, codes of findings), problem codes of the base,
the canonical URL, the alternates, and the path of a document that was not walked.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from absolve.core.model import DEFAULT, EMBEDDED, RETRIEVAL, Capture, Link, Part
from absolve.document.resolved import Resolved, shown
from absolve.document.walk import inner_at
from absolve.formats import registry
from absolve.inventory.problems import fate_problems
from absolve.urls.base import PLACEHOLDER, TOO_LONG
from absolve.urls.predicates import has_scheme, is_malformed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from absolve.core.model import Document
    from absolve.document.entity import Entity

NO_CAPTURE: Final = Capture()
HTTP_TYPES: Final = frozenset({registry.HTTP, "application/http"})
CONTAINERS: Final = frozenset({registry.MAILBOX, registry.COMPRESSED})
WRAPPERS: Final = (HTTP_TYPES | frozenset(registry.MAIL) | registry.STEPS) - CONTAINERS
_MOST_ALTERNATES: Final = 1 << 20  # characters of the URLs of one document
_REL: Final = re.compile(rb'>[^,<>]*?;[\t ]*rel[\t ]*=[\t ]*(?:"([^"]*)"|([^\t ;,"]+))', re.IGNORECASE)
_LONGEST_PARAMETERS: Final = 1024  # bytes behind a URL of the field Link that are read
_WHITE_SPACE: Final = "\t\n\f\r "


class Around(NamedTuple):
    """What the entities around a document state about it; `member` is the byte offset of the compressed member."""

    url: str | None = None
    url_source: str | None = None
    links: int = 0
    codes: tuple[str, ...] = ()
    capture: Capture = NO_CAPTURE
    member: int | None = None
    canonical: str | None = None


NOTHING: Final = Around()


def wrapped_by(entity: Entity, around: Around) -> Around:
    """Return what a message or entry, and the entities around it, state about its body."""
    own: Capture = entity.capture if entity.capture is not None else NO_CAPTURE
    outer = around.capture
    date = outer.date or own.date if entity.media_type in HTTP_TYPES else own.date or outer.date
    capture = outer._replace(
        status=own.status if own.status is not None else outer.status,
        date=date,
        media_type=own.media_type or outer.media_type,
        size=own.size,
        method=own.method or outer.method,
        name=own.name or outer.name,
        robots=own.robots or outer.robots,
    )
    codes = (*around.codes, *own_codes(entity))
    found = located(entity, around) if around.url is None else around
    if found.url is None and entity.media_type not in HTTP_TYPES:
        found = _content_location(entity, own)
    named = around.canonical or _linked(entity)
    return Around(found.url, found.url_source, around.links + entity.links, codes, capture, canonical=named)


def of_response(header: Entity, document: Document) -> Around:
    """Return what the header of a response, an entity (of several the last one counts), states about its body."""
    last = header.events.parts[-1:] if header.events.parts else ()
    for index in last:
        inner = inner_at(header, index)
        header = inner.entity if inner is not None else header
    around = Around(document.url, document.url_source) if document.url is not None else NOTHING
    return wrapped_by(header, around)


def _linked(entity: Entity) -> str | None:
    """Return the URL of the header field Link with rel=canonical (RFC 8288 3, RFC 6596)."""
    for event in entity.events if entity.media_type in HTTP_TYPES else ():
        if type(event) is Part:
            break
        if type(event) is Link and event.place.attribute == "link" and _is_canonical(entity, event):
            return Resolved(entity, event).target
    return None


def _is_canonical(entity: Entity, link: Link) -> bool:
    """Return whether the parameters behind a URL of the field Link name the relation (RFC 8288 3)."""
    found = _REL.match(entity.data[link.end : link.end + _LONGEST_PARAMETERS])
    return found is not None and b"canonical" in (found[1] or found[2]).lower().split()


def located(entity: Entity, around: Around) -> Around:
    """Return the URL that the entities around a document give it, else its own retrieval URL."""
    own = entity.bases.own
    if around.url is not None or own.layer is not RETRIEVAL:
        return around
    return around._replace(url=own.url, url_source=own.source)


def _content_location(entity: Entity, own: Capture) -> Around:
    """Return the URL that the header of a message gives its body: Content-Location, else Content-ID (RFC 2557)."""
    for event in entity.events:
        if type(event) is Part:
            break
        if type(event) is Link and event.place.attribute == "content-location":
            target = Resolved(entity, event).target
            if target is not None:
                return Around(target, "Content-Location header")
    return Around(own.name, "Content-ID header") if own.name else NOTHING


def own_codes(entity: Entity) -> tuple[str, ...]:
    """Return the codes of the findings of a message, without those inside one of several parts."""
    if len(entity.events.parts) <= 1 or not entity.findings:
        return tuple(finding.code for finding in entity.findings)
    spans = [(event.start, event.end) for event in entity.events if type(event) is Part]
    return tuple(
        finding.code
        for finding in entity.findings
        if not any(start <= finding.position < end for start, end in spans)
    )


def codes_in(outer: Entity, part: Part) -> Iterator[str]:
    """Yield the codes of the findings about a part, if the outer entity is not in its row."""
    if outer.media_type not in WRAPPERS or len(outer.events.parts) > 1:
        for finding in outer.findings:
            if part.start <= finding.position < max(part.end, part.start + 1):
                yield finding.code


def base_problems(entity: Entity) -> Iterator[str]:
    """Yield the problem codes of the base of a document, those of its claims' rows (docs/decisions.md, I2)."""
    base = entity.bases.base
    for fate in base.chain:
        if fate.verdict in {TOO_LONG, PLACEHOLDER}:
            yield fate.verdict
        if fate.base.layer is EMBEDDED:
            yield from fate_problems(fate, fate.base.reference)


def canonical(entity: Entity) -> str | None:
    """Return the URL of the canonical link; None without one, or if it has none."""
    return _absolute(entity, entity.facts.canonical) if entity.facts is not None else None


def alternates(entity: Entity) -> Iterator[str]:
    """Yield language and URL of each alternate that has a URL, while all of them are not too long."""
    left = _MOST_ALTERNATES
    for language, reference in entity.facts.alternates if entity.facts is not None else ():
        url = _absolute(entity, reference)
        if url is not None:
            left -= len(url)
            if left < 0:
                return
            yield shown(f"{language.replace(' ', '')}={url}")


def _absolute(entity: Entity, reference: str) -> str | None:
    """Return the URL of a reference of a page about itself; None if it has none."""
    reference = reference.strip(_WHITE_SPACE)
    if not reference or (entity.bases.base is DEFAULT and not has_scheme(reference)):
        return None
    found = entity.base_context(None).resolver(reference)
    return found if found and not is_malformed(found) and len(found) <= entity.settings.max_url else None


def path_of(outer: Entity, part: Part, member: int | None) -> str:
    """Return the entity path of a document that was not walked: its step has no number in the count of those that were.

    The one body of a message or entry is always the first, and an entry has its number in its archive; any other
    document has its byte offset.
    """
    number = "1"
    if outer.media_type not in WRAPPERS or len(outer.events.parts) > 1:
        number = f"@{part.start}"
        if outer.origin is not None:
            start = outer.origin(part.start)
            if start != outer.origin(0):
                number = f"@{start}"
            else:  # all offsets in a compressed member map to its first byte
                member = start
        if member is not None:
            number = f"@{member}+{part.start}"
    step = part.name if outer.media_type == registry.HAR else f"{part.name}[{number}]"
    return f"{outer.path}/{step}" if outer.path else step
