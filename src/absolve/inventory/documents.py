"""The table of documents: one row for each document of an input, beside the table of links (docs/decisions.md, I9).

In: the entity of an input, walked with `Settings.documents`. Out: a `DocumentRow` for each document that has a step of
its own in the entity path, or is the input itself; documents without a walker, such as images in an archive, too.
An entity that only wraps one document (a response, an entry, a message with one body) has no row of its own: its
status, date, URL and header links are in the row of that document.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

from absolve.core.errors import CodingError
from absolve.core.model import DATA, DEFAULT, EMBEDDED, RETRIEVAL, Capture, Link, PageFacts, Part
from absolve.document.base_layers import around_part
from absolve.document.resolved import Resolved, shown
from absolve.document.walk import inner_at
from absolve.formats import registry, sniffing
from absolve.inventory.problems import fate_problems
from absolve.urls.archives import of_base
from absolve.urls.base import PLACEHOLDER, TOO_LONG
from absolve.urls.predicates import has_scheme, is_malformed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from absolve.core.model import BaseURL, Document, Layer
    from absolve.document.entity import Entity, Inner


class DocumentRow(NamedTuple):
    """One document; the fields are the columns in their order (docs/decisions.md, I8)."""

    document: str  # path or URL of the outermost input, as in the table of links
    entity: str  # path of the document inside it, as in the table of links
    url: str | None  # its own URL; None if unknown
    url_source: str | None  # the source of this URL, such as "WARC-Target-URI"
    status: int | None  # of HTTP
    date: str | None  # ISO 8601: WARC-Date, startedDateTime, or the field Date of mail or HTTP
    media_type: str | None  # as declared, else as recognised, without parameters
    charset: str | None  # None for a document that is no text
    size: int | None  # bytes, without transfer and content codings; None if they cannot be read or are not here
    digest: str | None  # of these bytes: sha256:...
    title: str | None  # white space folded, at most 200 characters
    lang: str | None  # of the root element
    canonical: str | None  # the URL of the first link element with rel=canonical, or of such a header field Link
    robots: str | None  # of meta elements with this name, or "googlebot: " and theirs; and of X-Robots-Tag
    base: str
    base_layer: Layer
    links: int  # rows in the table of links with this entity, and with the header fields around it
    problems: list[str]  # codes of its base and of its findings
    anchors: list[str]  # targets of fragments: `id` of any element, `name` of `a`
    alternates: list[str]  # of each link element with hreflang: `LANGUAGE=URL`


DOCUMENT_COLUMNS: Final = DocumentRow._fields
AT_ONCE: Final = 4096  # rows, and a bound of their memory, before they are written
MOST_TEXT: Final = 4 << 20
_ROW: Final = 1000  # bytes of a row without its anchors (estimate)
_ANCHOR: Final = 80  # bytes of an anchor (estimate)
# Parts without a step that may have documents inside: a comment, a document in another charset, a compressed member,
# the message or mailbox that a file contains.
_NESTING: Final = frozenset({registry.HTML, registry.XML, registry.RECORDS, registry.MESSAGE, registry.MAILBOX})


class CapturedDocument(NamedTuple):
    """A row with its document, for callers that need more than the table: a mirror, an audit.

    `data`: the bytes of `digest`, or None. `entity`: the walked document; None if it has no walker, or could not be
    walked. `capture`: what its container states about it.
    """

    row: DocumentRow
    data: bytes | None
    entity: Entity | None
    capture: Capture


class Documents:
    """The rows of one input: call `begin`, then `enter` and `leave` for each part in document order, or use `inside`.

    `rows` are those that are complete, with an estimate of their memory in bytes (`weight`), until they are `taken`.
    `is_full`: the caller should take them now. `above` is what the header of a response states about its body.
    """

    def __init__(self, document: str) -> None:
        self._document = document
        self._around: list[Around] = []
        self.above = NOTHING
        self.weight = 0
        self.rows: list[DocumentRow] = []

    @property
    def is_full(self) -> bool:
        return len(self.rows) >= AT_ONCE or self.weight >= MOST_TEXT

    def taken(self) -> list[DocumentRow]:
        """Return the rows, and begin with none."""
        found, self.rows, self.weight = self.rows, [], 0
        return found

    def fill(self, entity: Entity) -> Iterator[None]:
        """Add the rows of an input: yield each time there are many, for the caller to take them; the last remain."""
        self.begin(entity)
        for _ in self.inside(entity):
            if self.is_full:
                yield

    def begin(self, entity: Entity) -> CapturedDocument | None:
        """Add the row of the outermost document, if it has one."""
        self._around = []
        return self._open(entity, None, self.above)

    def enter(self, entity: Entity, index: int, inner: Inner | None) -> CapturedDocument | None:
        """Add the row of the document in the event at this index, if it has one; `leave` it before the next one."""
        part: Part = inner.part if inner is not None else entity.events.at(index)  # type: ignore[assignment]  # a part
        around = self._around[-1]
        if not part.name and inner is not None and inner.entity.media_type in registry.MAIL:
            return self._open(inner.entity, part, around._replace(links=0))  # `links` includes the links of the part
        if part.name == DATA:  # as with an image, its URL is all of it
            self._around.append(NOTHING)
            return None
        if not part.name:
            is_member = part.media_type == registry.RECORDS
            self._around.append(around._replace(member=part.start) if is_member else around)
            return None
        if part.capture is not None:
            around = Around(capture=part.capture, member=around.member)
        if inner is not None:
            return self._open(inner.entity, part, around)
        self._around.append(NOTHING)
        return self._add(_unwalked(entity, part, around, self._document))

    def leave(self) -> None:
        self._around.pop()

    def inside(self, entity: Entity) -> Iterator[CapturedDocument]:
        """Yield the documents inside an entity, in document order, after its `begin` or `enter`."""
        for index in entity.events.parts:
            part: Part = entity.events.at(index)  # type: ignore[assignment]  # the index of a part
            if part.name == DATA or (not part.name and registry.kind_of(part.media_type) not in _NESTING):
                continue
            inner = inner_at(entity, index)
            found = self.enter(entity, index, inner)
            if found is not None:
                yield found
            if inner is not None:
                yield from self.inside(inner.entity)
            self.leave()

    def _open(self, entity: Entity, part: Part | None, around: Around) -> CapturedDocument | None:
        """Add the row of a walked entity, if it has one, and keep its facts about the documents inside."""
        is_chain = entity.media_type in _HTTP_TYPES and len(entity.events.parts) > 1  # of redirects
        if registry.WALKERS[entity.media_type].archive or entity.media_type in _CONTAINERS or is_chain:
            self._around.append(NOTHING)
            return None
        if entity.media_type not in _WRAPPERS:
            self._around.append(NOTHING)
            return self._add(_walked(entity, part, around, self._document))
        around = _wrapped_by(entity, around)
        if len(entity.events.parts) == 1 or not entity.events:  # without events it is empty
            self._around.append(around)
            return None
        self._around.append(Around(capture=Capture(date=around.capture.date)))
        return self._add(_wrapper(entity, around, self._document))

    def _add(self, found: CapturedDocument) -> CapturedDocument:
        self.rows.append(found.row)
        self.weight += _ROW + _ANCHOR * len(found.row.anchors) + sum(map(len, found.row.alternates))
        return found


def each(entity: Entity, document: str | None = None, above: Around | None = None) -> Iterator[CapturedDocument]:
    """Yield the documents of an input that was walked with `Settings.documents`, in document order.

    `above` has the facts of the response header, for example its canonical URL.
    """
    documents = Documents(shown(document if document is not None else entity.name))
    documents.above = above or NOTHING
    first = documents.begin(entity)
    if first is not None:
        yield first
    for found in documents.inside(entity):
        documents.taken()
        yield found


# --- rows -------------------------------------------------------------------------------------------------------------


def _walked(entity: Entity, part: Part | None, around: Around, document: str) -> CapturedDocument:
    """Return the row of a document that was walked."""
    data = entity.data
    declared = part.media_type if part is not None and part.own_charset else entity.media_type
    if declared == registry.OTHER:
        declared = sniffing.other_type(entity.name)
    elif declared == registry.XML and (part.name if part is not None else entity.name)[-6:].lower().endswith(_XHTML):
        declared = "application/xhtml+xml"  # browsers show it as a page
    is_text = registry.WALKERS[entity.media_type].charset != "none"
    return _captured(
        entity,
        document,
        entity.path,
        _located(entity, around),
        declared,
        charset=entity.charset.name if is_text else None,
        data=data,
        base=entity.bases.base,
        links=entity.links + around.links,
        problems=(*_base_problems(entity), *around.codes, *(finding.code for finding in entity.findings)),
        facts=entity.facts,
        canonical=(_absolute(entity, entity.facts.canonical) if entity.facts is not None else None) or around.canonical,
        alternates=tuple(_alternates(entity)),
    )


_XHTML: Final = (".xhtml", ".xht")


def _wrapper(entity: Entity, around: Around, document: str) -> CapturedDocument:
    """Return the row of a message or entry without one body: a redirect, a message of several parts."""
    empty = b"" if around.capture.size == 0 and around.capture.kind != "revisit" else None
    data = entity.data if entity.events.parts else empty
    return _captured(
        entity,
        document,
        entity.path,
        around,
        "" if around.capture.media_type else entity.media_type,
        data=data,
        base=entity.bases.base,
        links=around.links,
        problems=(*_base_problems(entity), *around.codes),
    )


def _unwalked(outer: Entity, part: Part, around: Around, document: str) -> CapturedDocument:
    """Return the row of a document without a walker, or one that could not be walked."""
    codes = [*around.codes, *_codes_in(outer, part)]
    data = None
    try:
        if around.capture.kind != "revisit":  # its payload is in another record
            data = part.coding.decode(outer.cut(part.start, part.end))
    except CodingError as error:
        codes.append(error.code)
    if data is not None and len(data) > outer.settings.max_size:
        data = None
        codes.append("too-large")
    bases = around_part(outer, part, registry.OTHER)
    if around.url is None and bases.own.layer is RETRIEVAL:
        around = around._replace(url=bases.own.url, url_source=bases.own.source)
    parameters = registry.essence_of(part.media_type)[1]
    return _captured(
        None,
        document,
        _path_of(outer, part, around.member),
        around,
        part.media_type,
        charset=parameters.get("charset", "").lower() or None,
        data=data,
        base=bases.base,
        links=around.links,
        problems=codes,
    )


def _captured(
    entity: Entity | None,
    document: str,
    path: str,
    around: Around,
    media_type: str,
    *,
    data: bytes | None,
    base: BaseURL,
    links: int,
    problems: Sequence[str],
    charset: str | None = None,
    facts: PageFacts | None = None,
    canonical: str | None = None,
    alternates: Sequence[str] = (),
) -> CapturedDocument:
    """Return a document with its row; the media type that a container declares precedes `media_type`."""
    capture = around.capture
    essence = registry.essence_of(capture.media_type)[0] or registry.essence_of(media_type)[0]
    archive = of_base(base)
    facts = facts or PageFacts(None, "", "", "", [])
    row = DocumentRow(
        document,
        shown(path),
        _text(around.url),
        around.url_source,
        capture.status,
        in_iso((archive.time if archive is not None else "") or capture.date),
        _text(essence),
        _text(charset),
        len(data) if data is not None else None,
        digest(data) if data is not None else None,
        facts.title,
        facts.lang or None,
        _text(canonical),
        _text(", ".join(filter(None, (facts.robots, capture.robots)))),
        shown(base.url),
        base.layer,
        links,
        list(dict.fromkeys((*problems, *facts.problems))),
        facts.anchors,
        list(alternates),
    )
    return CapturedDocument(row, data, entity, capture)


def digest(data: bytes) -> str:
    """Return the digest of a document, as in its row: for example, `sha256:ca978112...` for `a`."""
    from hashlib import sha256  # loads OpenSSL, 4 MB, which few runs need

    return f"sha256:{sha256(data).hexdigest()}"


def _text(text: str | None) -> str | None:
    """Return a text that any sink can write, None for an empty one."""
    return shown(text) if text else None


_ISO: Final = re.compile(r"[0-9]{4}-[0-9]{2}(?:-[0-9]{2}(?:T[0-9:.]{1,30}(?:Z|[+-][0-9]{2}:?[0-9]{2})?)?)?")
_DIGITS: Final = re.compile(r"([0-9]{4})([0-9]{2})([0-9]{2})([0-9]{2})([0-9]{2})([0-9]{2})")  # ARC
_LONGEST: Final = 100  # characters


@lru_cache(maxsize=64)
def in_iso(date: str) -> str | None:
    """Return a date in ISO 8601, or None: for example, `20150102030405` gives `2015-01-02T03:04:05Z`."""
    if not date or len(date) > _LONGEST:
        return None
    date = date.strip()
    if _ISO.fullmatch(date):
        return date
    digits = _DIGITS.fullmatch(date)
    if digits is not None:
        return "{}-{}-{}T{}:{}:{}Z".format(*digits.groups())
    from email.utils import parsedate_to_datetime  # few runs need this package

    try:
        found = parsedate_to_datetime(date)  # RFC 5322 3.3, RFC 9110 5.6.7
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    text = found.isoformat()
    return f"{text}Z" if found.tzinfo is None else text.replace("+00:00", "Z")


# --- what the entities around a document, and the document itself, state about it -------------------------------------

_NO_CAPTURE: Final = Capture()
_HTTP_TYPES: Final = frozenset({registry.HTTP, "application/http"})
_CONTAINERS: Final = frozenset({registry.MAILBOX, registry.COMPRESSED})
_WRAPPERS: Final = (_HTTP_TYPES | frozenset(registry.MAIL) | registry.STEPS) - _CONTAINERS
_MOST_ALTERNATES: Final = 1 << 20  # characters of all URLs of a document
_REL: Final = re.compile(rb'>[^,<>]*?;[\t ]*rel[\t ]*=[\t ]*(?:"([^"]*)"|([^\t ;,"]+))', re.IGNORECASE)
_LONGEST_PARAMETERS: Final = 1024  # bytes behind a URL of the field Link that are read
_WHITE_SPACE: Final = "\t\n\f\r "


class Around(NamedTuple):
    """What the entities around a document state about it; `member` is the byte offset of the compressed member."""

    url: str | None = None
    url_source: str | None = None
    links: int = 0
    codes: tuple[str, ...] = ()
    capture: Capture = _NO_CAPTURE
    member: int | None = None
    canonical: str | None = None


NOTHING: Final = Around()


def _wrapped_by(entity: Entity, around: Around) -> Around:
    """Return what a message or entry, and the entities around it, state about its body."""
    own: Capture = entity.capture if entity.capture is not None else _NO_CAPTURE
    outer = around.capture
    date = outer.date or own.date if entity.media_type in _HTTP_TYPES else own.date or outer.date
    capture = outer._replace(
        status=own.status if own.status is not None else outer.status,
        date=date,
        media_type=own.media_type or outer.media_type,
        size=own.size,
        method=own.method or outer.method,
        name=own.name or outer.name,
        robots=own.robots or outer.robots,
    )
    codes = (*around.codes, *_own_codes(entity))
    found = _located(entity, around) if around.url is None else around
    if found.url is None and entity.media_type not in _HTTP_TYPES:
        found = _content_location(entity, own)
    named = around.canonical or _linked(entity)
    return Around(found.url, found.url_source, around.links + entity.links, codes, capture, canonical=named)


def of_response(header: Entity, document: Document) -> Around:
    """Return what the header of a response, an entity (of several the last one counts), states about its body."""
    for index in header.events.parts[-1:] if header.events.parts else ():
        inner = inner_at(header, index)
        header = inner.entity if inner is not None else header
    around = Around(document.url, document.url_source) if document.url is not None else NOTHING
    return _wrapped_by(header, around)


def _linked(entity: Entity) -> str | None:
    """Return the URL of the header field Link with rel=canonical (RFC 8288 3, RFC 6596)."""
    for event in entity.events if entity.media_type in _HTTP_TYPES else ():
        if type(event) is Part:
            break
        if type(event) is Link and event.place.attribute == "link" and _is_canonical(entity, event):
            return Resolved(entity, event).target
    return None


def _is_canonical(entity: Entity, link: Link) -> bool:
    """Return whether a URL of the field Link is canonical: for example, in `<a>; rel=canonical` (RFC 8288 3)."""
    found = _REL.match(entity.data[link.end : link.end + _LONGEST_PARAMETERS])
    return found is not None and b"canonical" in (found[1] or found[2]).lower().split()


def _located(entity: Entity, around: Around) -> Around:
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


def _own_codes(entity: Entity) -> tuple[str, ...]:
    """Return the codes of the findings of a message, without those inside one of several parts."""
    parts = [event for event in entity.events if type(event) is Part] if len(entity.events.parts) > 1 else []
    found = entity.findings
    return tuple(one.code for one in found if not any(part.start <= one.position < part.end for part in parts))


def _codes_in(outer: Entity, part: Part) -> Iterator[str]:
    """Yield the codes of the findings about a part, if the outer entity is not in its row."""
    if outer.media_type not in _WRAPPERS or len(outer.events.parts) > 1:
        for finding in outer.findings:
            if part.start <= finding.position < max(part.end, part.start + 1):
                yield finding.code


def _base_problems(entity: Entity) -> Iterator[str]:
    """Yield the problem codes of the base of a document, as in its claims' rows (docs/decisions.md, I2)."""
    base = entity.bases.base
    for fate in base.chain:
        if fate.verdict in {TOO_LONG, PLACEHOLDER}:
            yield fate.verdict
        if fate.base.layer is EMBEDDED:
            yield from fate_problems(fate, fate.base.reference)


def _alternates(entity: Entity) -> Iterator[str]:
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


def _path_of(outer: Entity, part: Part, member: int | None) -> str:
    """Return the entity path of a document that was not walked: its step has no number in the count of those that were.

    The one body of a message or entry is always the first, and an entry has its number in its archive; any other
    document has its byte offset.
    """
    number = "1"
    if outer.media_type not in _WRAPPERS or len(outer.events.parts) > 1:
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
