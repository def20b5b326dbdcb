"""The fold: walk a document and the documents inside it, and establish their bases (RFC 1808 section 3).

In: a Document and Settings. Out: an Entity with its events, its bases, its inner entities and findings.

    Document -> walker(media type) -> BaseClaim | Link | Part -> establish (section 3) -> Entity

All claims are collected before anything is resolved: a base element also applies to the links before it.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from absolve.core import byte_scan
from absolve.core.caching import LONGEST
from absolve.core.errors import CodingError, Diagnostic, DocumentError, WalkError, in_short
from absolve.core.model import (
    BEFORE_BASE,
    BY_DEFAULT,
    EMBEDDED,
    ENCAPSULATING,
    ONLY_READ,
    BaseClaim,
    Capture,
    Document,
    Finding,
    Link,
    MessageIds,
    PageFacts,
    Part,
    new,
)
from absolve.document import diagnostics
from absolve.document.base_layers import around_part, doubts, established, retrieval_claim, retrieved
from absolve.document.entity import Entity, Inner, InnerDocuments, NestingBudget
from absolve.document.resolved import ROOM, LinkContext, Resolved, text
from absolve.document.settings import Settings
from absolve.encodings.charsets import DETECT, UTF_8, inside
from absolve.encodings.codings import Raw, ShiftedText
from absolve.formats import registry, sniffing
from absolve.formats.events import EventList
from absolve.formats.registry import CSS, HTML, IN_ZIP, JSON_LD, WALKERS, XML, canonical, essence_of, kind_of, walker
from absolve.urls import PROFILES
from absolve.urls.base import Bases, establish, is_useless
from absolve.urls.predicates import has_scheme, http_host, runs_code

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

    import cython

    from absolve.core.model import BaseURL, Event
    from absolve.core.protocols import Offsets
    from absolve.encodings.charsets import Charset


__all__ = ["Settings", "fold", "hold", "inner_at", "inners", "walk", "with_relative"]

_FEW_AROUND = 32  # events, at most, if only some bytes are kept: the others are copied
_MOST_KEPT = 2048  # small documents inside an outermost one, of some 1 KB each
_WORDS = 100  # characters of the short values in a row
_PROLOG = 4096  # bytes of an XML document that are searched for entity declarations
LONGEST_IN_PLACE = 1 << 20  # bytes of expanded entities in one place of a smaller document (formats/xml/prolog.py)
_PACKAGES = frozenset(registry.PACKAGES)
_FOLDERS = frozenset(registry.OPEN_DOCUMENT)  # documents whose own references see them as a folder
_TEXTS = frozenset({HTML, XML})
_COMPANIONABLE = frozenset({HTML, XML, CSS})  # documents that savers put files beside
_STYLES = frozenset({CSS, f"{CSS};declarations"})
_DATA_URL = b"data:"
_SHORT = 4096  # bytes of a URL that is too short for any limit
_NONE_LEFT = NestingBudget(0)  # for the documents inside one that is not kept itself


def walk(document: Document, settings: Settings, *, for_rewrite: bool = False, is_proof: bool = False) -> Entity:
    """Return the entity of a document, with every document inside it; `for_rewrite`: except those that do not change.

    `is_proof`: the document is the output of a rewrite, to be compared with its input. Raise DocumentError for an
    unsupported media type, a document that cannot be parsed, or one beyond a limit of the settings; raise UsageError
    for an unknown charset, or a retrieval URL that is not absolute.
    """
    name = document.name or "<bytes>"
    if len(document.data) > settings.max_size:
        raise diagnostics.too_large(settings.max_size, name)
    media_type, parameter = _media_type(document, name)
    media_type = registry.in_zip(media_type, document.data) if media_type in IN_ZIP else media_type
    url = document.url
    bases = retrieved(url, document.url_source, settings.profile, settings.max_url) if url is not None else Bases()
    if media_type in _PACKAGES and url is not None and not url.endswith("/"):
        bases = Bases()  # the URL of the package itself: the URL of its root folder is unknown
    elif media_type in _FOLDERS and url is not None and not url.endswith("/"):
        bases = retrieved(f"{url}/", document.url_source, settings.profile, settings.max_url)  # ODF 1.3 part 2, 3.7
    entity = Entity(document.data, UTF_8, media_type, name, document.inside, settings)
    entity.named = document.before
    entity.origin = document.origin
    entity.for_rewrite = for_rewrite
    entity.is_proof = is_proof
    if document.beside is not None and media_type in _COMPANIONABLE:
        entity.beside = document.beside
    if url is not None and not (url.isprintable() and has_scheme(url) and not runs_code(url)):
        entity.findings += doubts([retrieval_claim(url, document.url_source)])
    claims = () if document.claims and WALKERS[media_type].archive else document.claims
    if claims and claims[0].layer is ENCAPSULATING:  # the header of the response in which the document came
        around = [one for one in claims if one.layer is ENCAPSULATING]
        own = establish(bases.own, around, settings.profile, None, settings.max_url, settings.ignored)
        claims = tuple([one for one in claims if one.layer is not ENCAPSULATING])
        bases = Bases(own, own)
    if claims:
        bases = Bases(bases.own, bases.own, claims)
    try:
        entity.charset, mark = _charset(document.data, media_type, document.charset, parameter)
        _begin(entity, bases, mark, 0)
    except WalkError as error:
        raise diagnostics.failure(entity, error) from error
    return entity


def _begin(entity: Entity, around: Bases, mark: cython.Py_ssize_t, depth: cython.Py_ssize_t) -> None:
    """Walk an entity: its bytes if its walker parses their charset, else one part with a charset coding for them."""
    charset = entity.charset
    in_utf_8 = charset is UTF_8 or charset.codec == UTF_8.codec
    if in_utf_8 or (charset.transparent and WALKERS[entity.media_type].as_bytes):
        walk_it = walker(entity.media_type)
        if walk_it is not None:
            fold(entity, walk_it(entity.data, charset, entity.settings), around, depth)
        return
    entity.bases = around
    coding = ShiftedText(charset) if charset.name == "iso-2022-jp" else Raw(charset)
    part = Part(entity.media_type, mark, len(entity.data), coding)
    entity.events = EventList()
    entity.events.append(part)
    entity.depth = depth - 1
    _enter(entity, part, 0, inside(charset))
    found: Inner | None = inner_at(entity, 0)
    if found is None:  # JSON-LD that is not rewritten
        return
    entity.bases = found.entity.bases


_AS_IT_IS = frozenset({HTML, registry.RECORDS})  # the most frequent values, without parameters to be parsed


def _media_type(document: Document, name: str) -> tuple[str, str | None]:
    """Return media type and charset: for example, of `text/html;charset=gbk`; raise DocumentError without a walker."""
    packing = sniffing.packing(document.data)
    if document.media_type is None:
        found = sniffing.sniff(document.data, document.name)
        if found is None:
            text = f"{sniffing.in_words(document.data, name)} is no kind that absolve reads (--media-type overrides)"
            raise DocumentError(Diagnostic("unread-compressed" if packing else "unknown-media-type", text, name))
        return found, None
    if packing is not None and _is_text(kind_of(document.media_type)):
        return _compressed(document, name, packing), None
    if document.media_type in _AS_IT_IS:
        return document.media_type, None
    essence, parameters = essence_of(document.media_type)
    media_type = canonical(essence)
    if media_type not in WALKERS:
        meant = registry.SUFFIXES.get(f".{essence}")
        text = f"absolve does not read {in_short(essence) or 'this'}{f': the media type is {meant}' if meant else ''}"
        raise DocumentError(Diagnostic("unknown-media-type", text, name))
    return media_type, parameters.get("charset")


def _is_text(media_type: str) -> bool:
    found = WALKERS.get(media_type)
    return found is not None and found.charset != "none"


def _compressed(document: Document, name: str, packing: str) -> str:
    """Return the media type of packed data that has the type of a page: gzip, or an archive; raise DocumentError."""
    found = sniffing.sniff(document.data, "page.html")
    if found is None:
        raise DocumentError(Diagnostic("unread-compressed", diagnostics.PACKED.format(packing), name))
    return found


def _charset(data: bytes, media_type: str, label: str | None, header: str | None) -> tuple[Charset, int]:
    return DETECT[WALKERS[media_type].charset](data, label, header)


def fold(entity: Entity, events: Iterable[Event], around: Bases, depth: cython.Py_ssize_t = 0) -> None:
    """Set the events of an entity that is inside `depth` others: establish its bases, and walk its parts.

    Raise WalkError if it has more links than its settings allow, counted with those inside it.
    """
    claims: list[BaseClaim] = []
    names: list[MessageIds] = []
    index: cython.Py_ssize_t
    found: EventList = _counted(entity, events)
    if entity.settings.data_urls and found.count > len(found.parts):
        found = _with_data_urls(entity, found)
    entity.events = found
    entity.links += found.count - len(found.parts)
    entity.inside = None
    if entity.around is not None and len(found) <= _FEW_AROUND:
        entity.truncate(found)
    for event in found.others:
        if type(event) is BaseClaim:
            claims.append(event)
        elif type(event) is Finding:
            entity.findings.append(event)
        elif type(event) is MessageIds:
            names.append(event)
        elif type(event) is PageFacts:
            entity.facts = event
        elif type(event) is Capture:
            entity.capture = event
    entity.bases = established(entity, around, claims) if claims or around.beside else around
    if entity.beside is not None:
        entity.files = entity.beside.saved_files(entity.bases.own)
    url: str = entity.bases.base.url
    entity.has_useless = bool(url) and url[:4] != "http" and is_useless(url)
    _measure(entity, found)
    entity.depth = depth
    for name in names:
        entity.hold(name)
    for index in found.parts:
        part: Part = found.at(index)  # type: ignore[assignment]  # the index of a part
        _enter(entity, part, index)
    if entity.bases.before is not None and not PROFILES[entity.settings.profile].in_order:
        _report_order(entity, claims)


def _report_order(entity: Entity, claims: list[BaseClaim]) -> None:
    """Add a finding if browsers resolve a link to another URL because it is before the base element."""
    texts = [inner.entity for inner in inners(entity) if inner.entity.bases.other is not None]
    found = ((one, link) for one in (entity, *texts) for link in one.events if type(link) is Link)
    early = ((one, link) for one, link in found if link.base is BEFORE_BASE or one is not entity)
    if any(Resolved(one, link).otherwise is not None for one, link in early):
        text = "browsers resolve what they fetch before this base element without it (--profile whatwg)"
        position = next(claim.position for claim in claims if claim.layer is EMBEDDED)
        entity.findings.append(Finding("before-base", text, position or 0))


def _with_data_urls(entity: Entity, events: EventList) -> EventList:
    """Return the events, and a part for each document in their `data:` URLs; links of a container have none here."""
    indexes = events.data_urls(entity.own_data)
    if not indexes or WALKERS[entity.media_type].charset == "none":
        return events
    from absolve.formats.data_urls import part_of  # here, because few documents need it

    found = {index: part_of(entity.own_data, events.at(index)) for index in indexes}  # type: ignore[arg-type]  # links
    parts = {index: part for index, part in found.items() if part is not None}
    entity.count += len(parts)
    if entity.count > entity.settings.max_links:
        raise diagnostics.too_many(entity, next(iter(parts.values())).start)
    return events.with_parts(parts) if parts else events


def _measure(entity: Entity, events: EventList) -> None:
    """Add the estimated bytes of rows that come from bases and names, and a finding if a URL would be too long."""
    size: cython.Py_ssize_t = len(entity.own_data)
    base: cython.Py_ssize_t = max(len(entity.bases.base.url), len(entity.bases.own.url))
    each: cython.Py_ssize_t = base
    declares: cython.bint = entity.media_type == XML and entity.own_data.find(b"<!ENTITY", 0, _PROLOG) >= 0
    if events.has_scopes:
        each += size  # of scoped bases, each may be relative to the one around it
    if declares:
        each += max(size, LONGEST_IN_PLACE)
    entity.repeated += entity.count * (2 * each + len(entity.name) + len(entity.path) + _WORDS)
    room: cython.Py_ssize_t = entity.settings.max_url - base - ROOM
    growth: cython.Py_ssize_t = PROFILES[entity.settings.profile].growth
    if declares or growth * size > room:
        _find_too_long(entity, events, room, growth, every=declares)


def _find_too_long(
    entity: Entity, events: EventList, room: cython.Py_ssize_t, growth: cython.Py_ssize_t, every: cython.bint
) -> None:
    """Add a finding for the first link whose URL would be too long; `every`: references may exceed their bytes."""
    index: cython.Py_ssize_t
    for index in range(len(events)):
        event: Link | None = events.unread(index)
        if event is None or (not every and growth * (event.end - event.start) <= room):
            continue
        events.at(index)  # gives the link its own coding
        value = event.coding.decode(entity.cut(event.start, event.end))
        if growth * len(value) > room and LinkContext(entity, event).is_too_long(text(value)):
            entity.findings.append(diagnostics.url_too_long(entity, event.start))
            return


def _counted(entity: Entity, events: Iterable[Event]) -> EventList:
    """Return the events as an EventList, counted; raise WalkError at the first link or part beyond the limit."""
    most: cython.Py_ssize_t = entity.settings.max_links - entity.count
    found: EventList
    if isinstance(events, EventList) and events.count <= most:
        found = events
    else:
        found = EventList()
        if isinstance(events, EventList):
            found.count = events.counted
        for event in events:
            found.append(event)
            if found.count > most:
                raise diagnostics.too_many(entity, event.start)  # type: ignore[union-attr]  # a link or a part
    entity.count += found.count
    return found


def _enter(entity: Entity, part: Part, index: cython.Py_ssize_t, charset: Charset | None = None) -> None:
    """Decode a part and walk the document in it; add a finding instead if it is nested too deep.

    Likewise if it cannot be decoded or parsed, or is beyond a limit. `index` is the index of its event; `charset` is
    given for a part that is the whole entity.
    """
    media_type = _kind(part)
    if not media_type:
        return
    if entity.for_rewrite and media_type == JSON_LD and not entity.settings.json_ld:
        return
    if _depth(entity, part) > entity.settings.max_depth:
        text = f"documents nested more than {entity.settings.max_depth} deep are left as they are (max-depth)"
        entity.findings.append(Finding("too-deep", text, part.start))
        return
    is_whole: cython.bint = True
    try:
        value, offsets = part.coding.decode_mapped(entity.cut(part.start, part.end))
    except CodingError as error:
        entity.findings.append(Finding(error.code, diagnostics.with_url(part, str(error)), part.start, failed=True))
        if error.value is None or entity.for_rewrite or not part.name:
            return
        value, offsets = error.value, None  # its links are listed
        part.signed_by = error.code
        is_whole = False
    if part.name and len(value) > entity.settings.max_size:
        text = diagnostics.with_url(part, diagnostics.TOO_LARGE.format(entity.settings.max_size))
        entity.findings.append(Finding("too-large", text, part.start, failed=True))
        return
    if part.name and _is_text(media_type) and (packing := sniffing.packing(value)) is not None:
        if packing != "gzip" or sniffing.document_in_gzip(value) is None:
            text = diagnostics.with_url(part, diagnostics.PACKED.format(packing))
            entity.findings.append(Finding("unread-compressed", text, part.start, failed=True))
            return
        part.media_type = media_type = registry.COMPRESSED
    if media_type == registry.COMPRESSED and sniffing.document_in_gzip(value) is None:
        return  # another file, such as .tar.gz
    events = None if part.name or part.own_charset or charset else _events_of(value, media_type, entity.settings)
    if isinstance(events, (EventList, list)):
        count: cython.Py_ssize_t = len(events)
        if not count:
            return  # as in most style sheets: no entity is created,
        stays: cython.bint = entity.settings.only_changing and media_type in _STYLES and _stay(value, events)
        if stays and entity.count + count <= entity.settings.max_links:  # nor for one that no rewrite changes
            entity.count += count
            entity.links += count
            return
    if entity.documents_left is None:
        entity.documents_left = NestingBudget(_MOST_KEPT)
    named: cython.Py_ssize_t = entity.named
    inner = entity.for_part(part, value, media_type, named)
    size: cython.Py_ssize_t = len(value)
    value = b""  # the entity may free it
    if part.claims:
        entity.findings += doubts(part.claims, part.start)
    if inner.level > entity.level and not inner.may_be_so_deep():
        entity.findings.append(diagnostics.deeper(part.start))
        return
    keeps: cython.bint = charset is not None or entity.may_keep(size)
    if not keeps:
        inner.documents_left = _NONE_LEFT
    entity.named = named + bool(part.name)
    try:
        _walk_inside(inner, entity, part, events, charset)
        if entity.count + inner.count > entity.settings.max_links:
            raise diagnostics.too_many(entity, 0)
    except (WalkError, DocumentError) as error:
        if not is_whole:
            return  # the fault is reported
        own = not part.name and not WALKERS[media_type].archive  # the links of a style sheet belong to the document
        whole = charset is not None or (own and isinstance(error, WalkError) and error.code == diagnostics.TOO_MANY)
        diagnostics.leave(inner, entity, part, offsets, error, whole=whole)
        return
    url: str = inner.bases.base.url
    if len(url) > LONGEST and url is not entity.bases.base.url:
        inner.long_bases += len(url)
    if entity.long_bases + inner.long_bases > diagnostics.MOST_LONG_BASES and charset is None:
        entity.findings.append(diagnostics.bases_too_long(part.start))
        return
    finding = diagnostics.cut_off(inner, entity, part, offsets)
    if finding is not None:
        entity.findings.append(finding)
        return
    entity.count += inner.count
    entity.has_useless = entity.has_useless or inner.has_useless
    entity.repeated += inner.repeated
    entity.long_bases += inner.long_bases
    if entity.inside is None:
        entity.inside = InnerDocuments()
    if keeps:
        entity.inside.keep(index, new(Inner, (part, inner, offsets)))
    else:
        entity.inside.skip(index, named)
    is_only_read: cython.bint = part.signed_by == ONLY_READ and inner.count > 0  # a rule may change any link
    if is_only_read or (is_whole and part.signed_by and next(with_relative(inner, is_known), None) is not None):
        diagnostics.seal(entity, part)
    if not part.name:
        entity.named = inner.named
        entity.links += inner.links
        if charset is not None:
            entity.facts = inner.facts
    for finding in inner.findings if is_whole else ():
        position = diagnostics.outside(part, offsets, finding.position)
        words = diagnostics.with_url(part, finding.text)
        entity.findings.append(new(Finding, (finding.code, words, position, finding.failed)))


def _stay(value: bytes, links: Any) -> cython.bint:
    """Return whether each link of a style sheet is an http(s) or `data:` URL, which stays."""
    p: cython.p_const_uchar = value
    link: Link
    for link in links:
        is_data: cython.bint = link.end - link.start > 5 and byte_scan.same(p, link.start, _DATA_URL, 0, 5)
        is_http: cython.bint = link.end - link.start < _SHORT and http_host(p, link.start, link.end) > 0
        if not is_data and not is_http:
            return False
    return True


def inner_at(entity: Entity, index: cython.Py_ssize_t) -> Inner | None:
    """Return the document inside the event with this index; None without one, or if it could not be walked.

    A document that is not kept is walked by each call, and keeps all documents inside it.
    """
    if entity.inside is None:
        return None
    found = entity.inside.kept(index)
    if found is not None:
        return found
    named: cython.Py_ssize_t = entity.inside.named(index)
    if named < 0:
        return None
    part: Part = entity.events[index]  # type: ignore[assignment]  # only parts have documents
    value, offsets = _decoded(part, entity.cut(part.start, part.end))
    media_type = _kind(part)
    events = None if part.name or part.own_charset else _events_of(value, media_type, entity.settings)
    inner = entity.for_part(part, value, media_type, named)
    value = b""
    inner.documents_left = NestingBudget(sys.maxsize)
    _walk_inside(inner, entity, part, events, None)
    return new(Inner, (part, inner, offsets))


def _decoded(part: Part, raw: bytes) -> tuple[bytes, Offsets | None]:
    """Return the value of a part that was walked, and its offsets; of damaged data, the part that decodes."""
    try:
        return part.coding.decode_mapped(raw)
    except CodingError as error:
        if error.value is None:
            raise
        return error.value, None


def inners(entity: Entity) -> Iterator[Inner]:
    """Yield the documents inside an entity, in document order."""
    found: InnerDocuments | None = entity.inside
    for number in range(len(found) if found is not None else 0):
        inner = inner_at(entity, found.index(number))  # type: ignore[union-attr]
        if inner is not None:  # always: it has been walked before
            yield inner


def hold(entity: Entity) -> None:
    """Keep all documents inside an entity: each access returns the same object."""
    found = [(index, inner) for index in range(len(entity.events)) if (inner := inner_at(entity, index)) is not None]
    entity.inside = InnerDocuments()
    for index, inner in found:
        entity.inside.keep(index, inner)
        hold(inner.entity)


def _kind(part: Part) -> str:
    """Return the media type of a part as a key of WALKERS; "" if it has no walker."""
    media_type = kind_of(part.media_type) if part.own_charset else part.media_type
    if media_type in WALKERS or (media_type := canonical(media_type)) in WALKERS:
        return media_type
    return ""


def _depth(entity: Entity, part: Part) -> cython.Py_ssize_t:
    """Return how deep a part is nested; a style sheet of the document itself adds no level: nothing is inside it."""
    return entity.depth + (1 if part.name or part.media_type == HTML else 0)


def _walk_inside(
    inner: Entity, entity: Entity, part: Part, events: Iterable[Event] | None, charset: Charset | None
) -> None:
    """Walk the document of a part, unless its `events` are given."""
    is_part_of_text = not part.name and part.base is None and not part.claims  # style sheets and attributes, mostly
    around = entity.bases if is_part_of_text else around_part(entity, part, inner.media_type)
    if events is not None:
        fold(inner, events, around, _depth(entity, part))
    else:
        inner.charset, mark = _charset_inside(part, inner.data, inner.media_type, charset)
        _begin(inner, around, mark, _depth(entity, part))
    if inner.bases is entity.bases and inner.charset is entity.charset:
        inner.contexts = entity.contexts  # a style sheet of the document itself shares the cache
    elif inner.bases is around and inner.held is entity.held:
        inner.contexts = entity.contexts_inside(around, inner.charset)


def _events_of(value: bytes, media_type: str, settings: Settings) -> Iterable[Event] | None:
    """Return the events of text that belongs to the document itself, mostly a style sheet; None after a WalkError."""
    walk_it = walker(media_type)
    try:
        return walk_it(value, UTF_8, settings) if walk_it is not None else ()
    except WalkError:
        return None


def with_relative(entity: Entity, wanted: Callable[[BaseURL], bool], fine: str = "#") -> Iterator[BaseURL]:
    """Yield the `wanted` bases of the relative links that need a base, in an entity and those inside it.

    A link to a part of the same message, or to a file beside the document, needs none, nor does a reference that begins
    with a character of `fine`.
    """
    if wanted(entity.bases.base) or entity.events.has_scopes or entity.bases.before is not None:
        last: BaseURL | None = None
        for event in entity.events:
            if type(event) is Link:
                base = entity.ruled(event).base
                if base is not last and wanted(base) and _needs_base(entity, event, fine):
                    yield base
                    last = base
    for inner in inners(entity):
        yield from with_relative(inner.entity, wanted, fine)


def _needs_base(entity: Entity, link: Link, fine: str) -> bool:
    reference = text(link.coding.decode(entity.cut(link.start, link.end)))
    if link.place.stays == "always" or not reference or reference[0] in fine or has_scheme(reference):
        return False
    context = LinkContext(entity, link)
    if context.file_url(reference) is not None:
        return False
    return context.how_held(context.target(reference, False)) is None


def is_known(base: BaseURL) -> bool:
    """Return whether a base is established, not the default (section 3.4)."""
    return base.layer is not BY_DEFAULT


def _charset_inside(part: Part, value: bytes, media_type: str, charset: Charset | None) -> tuple[Charset, int]:
    """Return the charset of a part's decoded value, and the length of its byte order mark in bytes."""
    if not part.own_charset:
        return charset or UTF_8, 0
    return _charset(value, media_type, None, essence_of(part.media_type)[1].get("charset"))
