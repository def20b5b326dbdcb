"""The table of documents: one row for each document of an input, beside the table of links (docs/decisions.md, I9).

In: the entity of an input, walked with `Settings.documents`. Out: a `DocumentRow` for each document that has a step of
its own in the entity path, or is the input itself; documents without a walker, such as images in an archive, too.
An entity that only wraps one document (a response, an entry, a message with one body) has no row of its own: its
status, date, URL and header links are in the row of that document.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

from absolve.core.errors import CodingError
from absolve.core.model import DATA, RETRIEVAL, Capture, Part
from absolve.document.base_layers import around_part
from absolve.document.resolved import shown
from absolve.document.walk import inner_at
from absolve.formats import registry
from absolve.inventory.surroundings import (
    CONTAINERS,
    HTTP_TYPES,
    NOTHING,
    WRAPPERS,
    Around,
    alternates,
    base_problems,
    canonical,
    codes_in,
    located,
    path_of,
    wrapped_by,
)
from absolve.urls.archives import of_base

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from absolve.core.model import BaseURL, Layer, PageFacts
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
    links: int  # rows in the table of links with this entity, and those of the header fields around it
    problems: list[str]  # codes of its base and of its findings
    anchors: list[str]  # what a fragment can lead to: `id` of any element, `name` of `a`
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
    """A row with what it is about, for callers that need more than the table: a mirror, an audit.

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
            return self._open(inner.entity, part, around._replace(links=0))  # `links` has those of the part, too
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
        return self._add(*unwalked(entity, part, around, self._document))

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
        """Add the row of a walked entity, if it has one, and keep what it states about the documents inside."""
        is_chain = entity.media_type in HTTP_TYPES and len(entity.events.parts) > 1  # of redirects
        if registry.WALKERS[entity.media_type].archive or entity.media_type in CONTAINERS or is_chain:
            self._around.append(NOTHING)
            return None
        if entity.media_type not in WRAPPERS:
            self._around.append(NOTHING)
            return self._add(*walked(entity, part, around, self._document))
        around = wrapped_by(entity, around)
        if len(entity.events.parts) == 1:
            self._around.append(around)
            return None
        self._around.append(Around(capture=Capture(date=around.capture.date)))
        return self._add(*wrapper(entity, around, self._document))

    def _add(
        self, row: DocumentRow, data: bytes | None, entity: Entity | None, capture: Capture
    ) -> CapturedDocument:
        self.rows.append(row)
        self.weight += _ROW + _ANCHOR * len(row.anchors) + sum(map(len, row.alternates))
        return CapturedDocument(row, data, entity, capture)


def each(entity: Entity, document: str | None = None) -> Iterator[CapturedDocument]:
    """Yield the documents of an input that was walked with `Settings.documents`, in document order."""
    documents = Documents(shown(document if document is not None else entity.name))
    first = documents.begin(entity)
    if first is not None:
        yield first
    for found in documents.inside(entity):
        documents.taken()
        yield found


# --- rows -------------------------------------------------------------------------------------------------------------


def walked(
    entity: Entity, part: Part | None, around: Around, document: str
) -> tuple[DocumentRow, bytes, Entity, Capture]:
    """Return the row of a document that was walked."""
    data = entity.data
    declared = part.media_type if part is not None and part.own_charset else entity.media_type
    is_text = registry.WALKERS[entity.media_type].charset != "none"
    row = _row(
        document,
        entity.path,
        located(entity, around),
        around.capture,
        declared if declared != registry.OTHER else registry.other_type(entity.name),
        charset=entity.charset.name if is_text else None,
        data=data,
        base=entity.bases.base,
        links=entity.links + around.links,
        problems=(*base_problems(entity), *around.codes, *(finding.code for finding in entity.findings)),
        facts=entity.facts,
        canonical=canonical(entity) or around.canonical,
        alternates=tuple(alternates(entity)),
    )
    return row, data, entity, around.capture


def wrapper(
    entity: Entity, around: Around, document: str
) -> tuple[DocumentRow, bytes | None, Entity, Capture]:
    """Return the row of a message or entry without one body: a redirect, a message of several parts."""
    empty = b"" if around.capture.size == 0 and around.capture.kind != "revisit" else None
    data = entity.data if entity.events.parts else empty
    row = _row(
        document,
        entity.path,
        around,
        around.capture,
        "" if around.capture.media_type else entity.media_type,
        data=data,
        base=entity.bases.base,
        links=around.links,
        problems=(*base_problems(entity), *around.codes),
    )
    return row, data, entity, around.capture


def unwalked(
    outer: Entity, part: Part, around: Around, document: str
) -> tuple[DocumentRow, bytes | None, None, Capture]:
    """Return the row of a document without a walker, or one that could not be walked."""
    codes = [*around.codes, *codes_in(outer, part)]
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
    row = _row(
        document,
        path_of(outer, part, around.member),
        around,
        around.capture,
        part.media_type,
        charset=parameters.get("charset", "").lower() or None,
        data=data,
        base=bases.base,
        links=around.links,
        problems=codes,
    )
    return row, data, None, around.capture


def _row(
    document: str,
    path: str,
    around: Around,
    capture: Capture,
    media_type: str,
    *,
    base: BaseURL,
    links: int,
    problems: Sequence[str],
    data: bytes | None = None,
    charset: str | None = None,
    facts: PageFacts | None = None,
    canonical: str | None = None,
    alternates: Sequence[str] = (),
) -> DocumentRow:
    """Return a row; the media type that a container declares precedes `media_type`."""
    essence = registry.essence_of(capture.media_type)[0] or registry.essence_of(media_type)[0]
    archive = of_base(base)
    codes = dict.fromkeys((*problems, *(facts.problems if facts is not None else ())))
    return DocumentRow(
        document,
        shown(path),
        _text(around.url),
        around.url_source,
        capture.status,
        _date((archive.time if archive is not None else "") or capture.date),
        _text(essence),
        _text(charset),
        len(data) if data is not None else None,
        digest(data) if data is not None else None,
        facts.title if facts is not None else None,
        facts.lang or None if facts is not None else None,
        _text(canonical),
        _text(", ".join(filter(None, (facts.robots if facts is not None else "", capture.robots)))),
        shown(base.url),
        base.layer,
        links,
        list(codes),
        facts.anchors if facts is not None else [],
        list(alternates),
    )


def digest(data: bytes) -> str:
    """Return the digest of a document, as in its row."""
    from hashlib import sha256  # loads OpenSSL, 4 MB, which few runs need

    return f"sha256:{sha256(data).hexdigest()}"


@lru_cache(maxsize=64)
def _date(date: str) -> str | None:
    if not date:
        return None
    from absolve.inventory.dates import in_iso  # loads the package email

    return in_iso(date)


def _text(text: str | None) -> str | None:
    """Return a text that any sink can write, None for an empty one."""
    return shown(text) if text else None
