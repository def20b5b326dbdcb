"""Read an input and walk it, whole or by its segments: a WARC, ARC or WACZ file is split into its records.

Input: an `Input` and the `ReadOptions`. Output: the document, its entity, and the diagnostics about both; or `Segment`s
in order, in memory proportional to the largest record, which together are all bytes of the input, except for a WACZ.
Or several inputs with byte ranges of a large archive, for parallel work.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final, NamedTuple

from absolve.core.errors import FAULTS, NOT_READ, CodingError, Diagnostic, DocumentError, WalkError, internal
from absolve.core.lazy_regex import pattern
from absolve.core.model import ONLY_READ, PACKAGE_ROOT, BaseClaim, Document, Finding, Layer, Part, new
from absolve.document.diagnostics import LISTED
from absolve.document.reporting import about_bases, differing
from absolve.document.walk import Settings, inner_at, walk
from absolve.encodings import charsets
from absolve.formats import registry, sniffing
from absolve.rewriting import rewriter
from absolve.run import buckets, sources
from absolve.run.companion_files import Companions, is_of_site
from absolve.run.inputs import END, WHOLE, ArchiveRange, led_out
from absolve.run.results import Failure, rules_of
from absolve.run.sources import STDIN

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from absolve.core.options import Headers
    from absolve.core.protocols import Coding
    from absolve.document.entity import Entity
    from absolve.formats.warc.reader import RawSegment
    from absolve.rewriting.policy import Policy
    from absolve.run.inputs import Input
    from absolve.run.web.exchange import Answer


class ReadOptions(NamedTuple):
    """Settings of the walk, and the media type, charset and response headers that the user gives for all inputs.

    `texts`: a text without links is a document, because its mentions of old URLs change.
    """

    settings: Settings
    media_type: str | None = None
    charset: str | None = None
    headers: Headers | None = None
    texts: bool = False


class Walked(NamedTuple):
    """A document, its entity (bases and links), and its diagnostics."""

    document: Document
    entity: Entity
    diagnostics: list[Diagnostic]


def walked(input_: Input, how: ReadOptions, policy: Policy | None = None) -> Walked:
    """Read and walk one input. Raise DocumentError if it cannot be read or exceeds a limit.

    With a `policy`, report links that a rewrite by it cannot change: what is signed, and formats that are only read.
    """
    document = read(input_, how)
    diagnostics = [] if document.data else [empty(input_)]
    if document.media_type is None and sniffing.is_other(document.data, document.name):
        diagnostics.append(unsupported(input_, document.data))
        document.media_type = registry.OTHER
    entity = walk(document, how.settings)
    advice = "give --url"
    if input_.shares and document.beside is not None and document.beside.is_of_saved():
        advice = "its page was saved from a known URL, this file from another"
    diagnostics += (*entity.diagnostics, *about_bases(entity, advice), *_left(entity, policy))
    diagnostics += led_out(input_) if document.beside is not None else ()
    if registry.is_container(entity.media_type) and not (diagnostics or _holds(entity)):
        is_empty = input_.name.lower().endswith(".wacz")  # whose other members describe it
        if is_empty or not _holds(walk(document, how.settings._replace(documents=True)), _WITHOUT_LINKS):
            diagnostics.append(_without_document(input_))
    return Walked(document, entity, diagnostics + (differing(entity) if input_.shares else []))


def _left(entity: Entity, policy: Policy | None) -> Iterator[Diagnostic]:
    """Yield a diagnostic for links in a WACZ or a binary property list, and for signed ones that rules may change.

    Relative links in a signed part have one already.
    """
    is_archive = registry.WALKERS[entity.media_type].archive
    if policy is None or not (is_archive or entity.media_type in registry.MAIL):
        return
    codes = {finding.code for finding in entity.findings}
    for number, part in enumerate(entity.events):
        if not (isinstance(part, Part) and part.signed_by):
            continue
        code = "only-read" if part.signed_by == ONLY_READ else "signed"
        if code in codes or not (is_archive if code == "only-read" else rules_of(policy)):
            continue
        if (inner := inner_at(entity, number)) is not None and inner.entity.count:
            text = LISTED if code == "only-read" else f"what is signed ({part.signed_by}) is left as it is"
            yield Diagnostic(code, *entity.placed(text, part.start))
            codes.add(code)


def empty(input_: Input) -> Diagnostic:
    return Diagnostic("empty-file", "the file is empty", input_.name)


def _holds(entity: Entity | None, kinds: tuple[str, ...] = ("",)) -> bool:
    """Return whether a container has a document of these kinds, or a link of its own."""
    if entity is None or entity.links:
        return entity is not None
    parts = (event for event in entity.events if isinstance(event, Part))
    return any(part.media_type.startswith(kinds) for part in parts)


def _without_document(input_: Input) -> Diagnostic:
    """Return the diagnostic for an empty container: as an empty folder, it is a failure beside other inputs."""
    return Diagnostic("no-input", "no document is in it", input_.name, failed=input_.shares)


def unsupported(input_: Input, data: bytes) -> Diagnostic:
    """Return the diagnostic for an input that the user named, and that is no document.

    It is a failure if the input may have links: a compressed page or a tar file, but no picture, script or plain text.
    """
    if (compressed := _compressed(input_.name, data)) is not None:
        return compressed
    kind = sniffing.in_words(data, input_.name)
    text = f"unsupported format, {kind}: left unchanged (--media-type overrides this)"
    return Diagnostic("unknown-media-type", text, input_.name, failed=not kind.startswith(_WITHOUT_LINKS))


# Kinds in which a named input has no links to miss, as `sniffing.in_words` calls them.
_WITHOUT_LINKS: Final = (
    *("image/", "audio/", "video/", "font/", "text/", "plain text", "JSON", "application/rtf"),
    *("application/javascript", "application/json", "application/font", "application/vnd.ms-fontobject"),
)


def not_read(input_: Input, head: bytes = b"", advice: str = ", or --exclude it") -> Diagnostic:
    """Return the diagnostic for a file in a folder that is no document, by its first bytes.

    Its kind precedes the colon. It is a failure for a compressed page, unless the page itself is beside it: servers
    keep page.html.gz beside page.html.
    """
    if input_.held:
        return Diagnostic(NOT_READ, f"{input_.held}: there for links, and left as it is", input_.name)
    if (compressed := _compressed(input_.name, head)) is not None:
        page = os.path.splitext(input_.name)[0]  # noqa: PTH122 - a text
        if not (buckets.state(page) if buckets.is_bucket(page) else os.path.exists(page)):  # noqa: PTH110
            return compressed._replace(text=compressed.text + advice)
    return Diagnostic(NOT_READ, f"{kind_of(input_.name)}: no kind that absolve reads", input_.name)


def _compressed(name: str, head: bytes) -> Diagnostic | None:
    """Return the failure for a file that is a document by its name, and compressed or damaged; else None."""
    if not sniffing.is_packed_document(name):
        return None
    is_broken = name[-3:].lower() == ".gz" and sniffing.gzip_head(head) is head
    why = "it is no gzip data, or broken" if is_broken else "absolve reads no such document in compressed form"
    return Diagnostic("unread-compressed", f"{why}: unpack it", name, failed=True)


def kind_of(name: str) -> str:
    """Return the kind of an unread file for counts: for example, ".png" for `a.PNG`, or "of no known suffix"."""
    suffix = Path(name).suffix.lower()
    return suffix if _SUFFIX.fullmatch(suffix) else "of no known suffix"


_SUFFIX: Final = pattern(r"\.[a-z0-9_+-]{1,16}")


def head_of(input_: Input) -> bytes | None:
    """Return the first bytes of a file found in a folder, which may be no document; None for any other input."""
    return sources.head(input_.name, root=input_.root) if input_.found and input_.within == WHOLE else None


def is_document(input_: Input, head: bytes, how: ReadOptions) -> bool:
    """Return whether a file found in a folder is a document, by its place and its first bytes (`sources.head`)."""
    if input_.held:
        return False
    if how.media_type:
        return not sniffing.looks_binary(head)
    is_read = sniffing.recognised(head, input_.name) is not None or _names_map(input_.name, head)
    return is_read or (how.texts and not sniffing.looks_binary(head))


def _is_text(input_: Input, data: bytes, how: ReadOptions) -> bool:
    """Return whether a file is a document only as a text with mentions."""
    if not how.texts or sniffing.looks_binary(data[:_HEAD]):
        return False
    found = input_.found and not is_document(input_, data[:_HEAD], how._replace(texts=False))
    return found or sniffing.is_other(data, input_.name)


def _names_map(name: str, head: bytes) -> bool:
    """Return whether a file is a script that names a source map, which only its last bytes show."""
    if not name.lower().endswith(registry.SCRIPT_SUFFIXES):
        return False
    is_whole = len(head) < _HEAD or buckets.is_bucket(name)  # no second request to a bucket
    return sniffing.names_map(name, head if is_whole else sources.tail(name, sniffing.SCRIPT_END))


def read(input_: Input, how: ReadOptions) -> Document:
    """Read one input, with its retrieval URL. Raise DocumentError."""
    if input_.answer is not None:
        return _answered(input_, input_.answer, how)
    is_on_disk = input_.name != STDIN and not buckets.is_bucket(input_.name)
    surroundings = Companions(input_) if is_on_disk else None
    if surroundings is not None and is_of_site(input_) and surroundings.is_of_saved():
        # The parts of a saved page are in a folder that its browser made, not at a URL below the one that is given.
        input_ = input_._replace(url=None, claim=None)
    document = sources.read(
        input_.name,
        media_type=how.media_type,
        charset=how.charset,
        url=input_.url,
        max_size=how.settings.max_size,
        around=input_.around,
        root=input_.root,
    )
    document.url_source = input_.url_source
    document.claims += () if input_.claim is None else (input_.claim,)
    document.beside = surroundings
    if document.media_type is None and _is_text(input_, document.data, how):
        document.media_type = registry.OTHER
    if how.headers is None:
        return document
    from absolve.document import response_header  # few runs have headers

    document.headers = how.headers
    return response_header.applied(document, how.settings)


def _answered(input_: Input, answer: Answer, how: ReadOptions) -> Document:
    """Return the response to a URL as a document, with the facts in all responses' headers. Raise DocumentError."""
    from absolve.document import response_header  # few inputs are URLs

    if answer.problem is not None:
        raise DocumentError(answer.problem)
    kind = sniffing.sniff(first_bytes(input_), input_.name)
    if kind is not None and registry.WALKERS[kind].archive:  # its documents have URLs of their own
        claims = () if input_.url is None else (BaseClaim(Layer.RETRIEVAL, input_.url, _ASKED),)
        found = Document(answer.body, name=input_.name, media_type=how.media_type or kind, claims=claims)
        found.url_source = _ASKED
        return found
    is_own = input_.url == input_.name
    asked = answer.responses[0].url if is_own else input_.url  # without a fragment
    document = Document(answer.body, name=input_.name, media_type=how.media_type, charset=how.charset, url=asked)
    document.url_source = _ASKED if is_own else input_.url_source
    document.headers = answer.head
    applied = response_header.applied(document, how.settings)
    if is_own:
        applied.url = answer.responses[-1].url  # as requested, in any profile
    return applied


def first_bytes(input_: Input) -> bytes:
    """Return the first bytes of an input, which show its format."""
    if input_.answer is not None:
        return input_.answer.body[:_HEAD]
    return sources.head(input_.name, root=input_.root)


_HEAD: Final = 4096
_ASKED: Final = "the URL that was asked for"


# --- segments -------------------------------------------------------------------------------------------------------

LARGE: Final = 16 << 20  # bytes; a smaller archive is read before worker processes have started
RANGE: Final = 1 << 20  # bytes of a range for a local process


class Segment(NamedTuple):
    """Bytes of an input, and the document in them.

    `raw`: the bytes in the file. `document`: the record without compression; `entity`: the walked document; both None
    if the bytes are left unchanged. `coding`: the compression, or None. `diagnostics`: about these bytes.
    """

    raw: bytes
    document: Document | None = None
    entity: Entity | None = None
    coding: Coding | None = None
    diagnostics: tuple[Diagnostic, ...] = ()

    def rewritten(self, policy: Policy | None = None) -> bytes:
        """Return the bytes with links changed as `rewriter.rewrite` does; the same object if none changes."""
        return self.raw if self.entity is None else self.written(rewriter.rewrite(self.entity, policy))

    def written(self, record: bytes) -> bytes:
        """Return the bytes for a new record in place of the old one, compressed in the same way."""
        if self.document is None or record == self.document.data:
            return self.raw
        return self.coding.encode(record) if self.coding is not None else record


def internal_error(error: Exception, record: Document) -> Diagnostic:
    """Return the diagnostic for an internal error that leaves a record unchanged."""
    at = f", at byte {record.origin(0)}" if record.origin is not None else ""
    return internal(error, record.name or "", at)


def is_archive(input_: Input, how: ReadOptions, head: bytes | None = None) -> bool:
    """Return whether an input is a WARC or ARC file; `head` are its first bytes, if they are known.

    Raise DocumentError if it cannot be read.
    """
    return _kind(input_, how, head) == registry.WARC


def _kind(input_: Input, how: ReadOptions, head: bytes | None) -> str | None:
    """Return the media type of an input, None for one that is in memory, or read as a file of a site."""
    if input_.answer is not None or input_.held:
        return None
    if how.media_type is not None:
        return registry.essence_of(how.media_type)[0]
    return sniffing.sniff(first_bytes(input_) if head is None else head, input_.name)


def split_archives(found: Iterable[Input], how: ReadOptions, jobs: int) -> Iterable[Input]:
    """Return the inputs for `jobs` processes: with more than one, large archives are split into ranges of records."""
    return found if jobs == 1 else (part for input_ in found for part in split_archive(input_, how, RANGE, LARGE))


def split_archive(input_: Input, how: ReadOptions, size: int, most: int = 0) -> Iterator[Input]:
    """Yield an input, or ranges of about `size` bytes of an archive with more bytes than `size` and `most`.

    This reads and decompresses the whole archive, so that each range can be read independently.
    """
    try:
        if input_.size <= max(size, most) or not is_archive(input_, how):
            yield input_
            return
        with sources.opened(input_.name, input_.root) as file:
            waiting: list[Input] = []  # until there is a document: an archive without any is reported as a whole
            for within in ranges(file, how.settings, size):
                waiting.append(input_._replace(within=within))
                if within.before:
                    yield from waiting
                    waiting.clear()
            if waiting:
                yield input_
    except (OSError, ValueError, DocumentError):  # cannot be opened: the task reports it
        yield input_


def segments_in(
    input_: Input, how: ReadOptions, *, head: bytes | None = None, policy: Policy | None = None
) -> Iterator[Segment]:
    """Yield the segments of an input, in order, with their diagnostics.

    `head`: see `is_archive`. With the `policy` of a rewrite a WACZ is one segment: its indexes follow from its pages.
    """
    kind = _kind(input_, how, head)
    if kind == registry.WARC:
        yield from _checked(_records, input_, how)
    elif kind == registry.ZIP and policy is None and input_.name.lower().endswith(".wacz"):
        yield from _checked(_members, input_, how)
    else:
        document, entity, diagnostics = walked(input_, how, policy)
        yield Segment(document.data, document, entity, diagnostics=tuple(diagnostics))


def _checked(
    read_segments: Callable[[Input, ReadOptions], Iterator[Segment]], input_: Input, how: ReadOptions
) -> Iterator[Segment]:
    """Yield the segments of an archive, and a diagnostic at the end if it has no document of any type."""
    is_empty = input_.within == WHOLE
    for segment in read_segments(input_, how):
        is_empty = is_empty and not (segment.diagnostics or _holds(segment.entity))
        yield segment
    if is_empty:
        every = how._replace(settings=how.settings._replace(documents=True))
        if not any(_holds(segment.entity) for segment in read_segments(input_, every)):
            yield Segment(b"", diagnostics=(_without_document(input_),))


def left(segment: Segment, error: Exception) -> Failure:
    """Return the failure of a record, which is left unchanged; re-raise the error if the segment is the whole input."""
    record = segment.document
    if record is None or record.origin is None or (sys.flags.dev_mode and not isinstance(error, DocumentError)):
        raise error
    if isinstance(error, DocumentError):
        return Failure(error.diagnostic, error.excerpt)
    return Failure(internal_error(error, record))


def _records(input_: Input, how: ReadOptions) -> Iterator[Segment]:
    reported: set[Diagnostic] = set()  # over all records: diagnostics about bases have no position in the file
    is_empty, asks = True, input_.shares and input_.url is not None
    with sources.opened(input_.name, input_.root) as file:
        named = (input_.name, how.settings, input_.url, input_.url_source)
        for segment in archive_segments(file, *named, input_.within):
            is_empty = False
            about = {} if segment.entity is None else dict.fromkeys(about_bases(segment.entity))
            fresh = tuple(diagnostic for diagnostic in about if diagnostic not in reported)
            if asks and segment.entity is not None and (lost := differing(segment.entity)):
                asks = False  # reported once for all records
                fresh = (*fresh, *lost)
            reported.update(fresh)
            yield segment._replace(diagnostics=(*segment.diagnostics, *fresh)) if fresh else segment
    if is_empty:
        yield Segment(b"", diagnostics=(empty(input_),))


def _members(input_: Input, how: ReadOptions) -> Iterator[Segment]:
    """Yield the segments of a WACZ: the records of its WARC files, and its other documents."""
    from absolve.formats.zip import walker  # here and below, because few inputs are packages

    name, data, number = input_.name, sources.FileBytes(input_.name, input_.root), 0
    try:
        events = walker.walk(data, charsets.UTF_8, how.settings._replace(documents=False))  # type: ignore[arg-type]
    except WalkError as error:
        raise DocumentError(Diagnostic(error.code, error.message, name)) from error
    for event in events:
        if type(event) is Finding:
            yield Segment(b"", diagnostics=(_diagnostic(event, name),))
        elif type(event) is Part:
            number += 1
            inside = f"{event.name}[{number}]"
            try:
                yield from _member(event, inside, data, input_, how.settings)
            except CodingError as error:
                found = Finding(error.code, f"{error.message} ({inside})", event.start, failed=True)
                yield Segment(b"", diagnostics=(_diagnostic(found, name),))
            except DocumentError as error:
                yield Segment(b"", diagnostics=(error.diagnostic._replace(failed=True),))


def _member(part: Part, inside: str, data: sources.FileBytes, input_: Input, settings: Settings) -> Iterator[Segment]:
    from absolve.formats.zip import members, walker

    if walker.is_record_file(part.name) and isinstance(part.coding, members.Content) and part.coding.is_stored:
        within = ArchiveRange(part.start, part.end)
        with sources.opened(input_.name, input_.root) as file:
            member: Any = sources.Until(file, part.end)
            yield from archive_segments(member, input_.name, settings, within=within, inside=inside)
        return
    claims = [BaseClaim(Layer.RETRIEVAL, PACKAGE_ROOT + base.reference, base.source) for base in (part.base,) if base]
    content = part.coding.decode(data[part.start : part.end])
    document = Document(content, name=input_.name, media_type=part.media_type, claims=claims)
    document.inside = inside
    entity = walk(document, settings)
    yield Segment(content, document, entity, diagnostics=tuple(entity.diagnostics))


def ranges(file: IO[bytes], settings: Settings, size: int) -> Iterator[ArchiveRange]:
    """Yield ranges of `size` bytes or slightly more that can be read independently.

    This reads and decompresses the whole archive, but parses only the headers of records. Unreadable bytes belong to
    the last range, whose task reports them.
    """
    from absolve.formats.warc.reader import pieces  # here and below, because few inputs are archives

    start = at_start = before = 0
    with suppress(OSError, ValueError, DocumentError):
        for piece in pieces(file, settings.max_decompressed):
            if _is_dictionary(piece):
                break
            if piece.records is None or len(piece.records) > settings.max_size:
                continue
            if piece.offset - start >= size:
                yield ArchiveRange(start, piece.offset, at_start)
                start, at_start = piece.offset, before
            before += _documents(piece.records, settings)
    yield ArchiveRange(start, END, at_start)


def _documents(records: bytes, settings: Settings) -> int:
    """Return the number of documents in the records of one raw segment, as paths of entities count them."""
    walker = registry.walker(registry.RECORDS)
    if walker is None:
        return 0
    settings = settings._replace(documents=False)  # those without a walker have no number
    documents = sum(type(event) is Part for event in walker(records, charsets.UTF_8, settings))
    return documents if settings.max_depth and documents <= settings.max_links else 0  # else no document is entered


def _is_dictionary(piece: RawSegment) -> bool:
    """Return whether a segment is a Zstandard dictionary, without which the following bytes cannot be read."""
    from absolve.formats.warc.reader import DICTIONARY

    return piece.records is None and piece.raw[:4] == DICTIONARY


def archive_segments(
    file: IO[bytes],
    name: str,
    settings: Settings,
    url: str | None = None,
    url_source: str = "--url",
    within: ArchiveRange = WHOLE,
    *,
    inside: str = "",
) -> Iterator[Segment]:
    """Yield the segments of an archive, or of a range of it, in order; together they are all its bytes.

    A range begins with a record and includes the bytes behind its last record, up to the next record. Behind a
    Zstandard dictionary the range extends to the end of the file.

    `url` is the retrieval URL that the user gives for all records; `url_source` names the option. Unreadable bytes are
    reported and yielded unchanged; a record larger than the settings allow is yielded in several segments. `inside` is
    the entity path of an archive in a package.
    """
    from absolve.formats.warc.reader import pieces

    if within.start:
        file.seek(within.start)
    before, end = within.before, within.end
    for piece in pieces(file, settings.max_decompressed, start=within.start):
        if piece.records is None or (piece.findings and inside):
            if _is_dictionary(piece):
                end = END
            yield Segment(piece.raw, diagnostics=tuple(_diagnostic(finding, name) for finding in piece.findings))
            continue
        if piece.offset >= end:
            break
        document = Document(
            piece.records,
            name=name,
            media_type=registry.RECORDS,
            url=url,
            before=before,
            origin=_Origin(piece.offset, exact=piece.coding is None),
        )
        document.url_source = url_source
        document.inside = inside
        try:
            entity = walk(document, settings)
        except DocumentError as error:
            yield Segment(piece.raw, diagnostics=(error.diagnostic._replace(failed=True),))
            continue
        except FAULTS as error:
            if sys.flags.dev_mode:
                raise
            yield Segment(piece.raw, diagnostics=(internal_error(error, document),))
            continue
        before = entity.named
        if piece.findings:
            found = (_diagnostic(finding, name) for finding in piece.findings)
            yield Segment(piece.raw, None, entity, diagnostics=(*found, *entity.diagnostics))
            continue
        yield new(Segment, (piece.raw, document, entity, piece.coding, tuple(entity.diagnostics)))


def _diagnostic(finding: Finding, name: str) -> Diagnostic:
    return Diagnostic(finding.code, f"{finding.text}, at byte {finding.position}", name, failed=finding.failed)


class _Origin:
    """Map an offset in a record to an offset in the file; in a compressed record all map to the record's start."""

    def __init__(self, offset: int, *, exact: bool) -> None:
        self._offset = offset
        self._exact = exact

    def __call__(self, position: int) -> int:
        return self._offset + position if self._exact else self._offset
