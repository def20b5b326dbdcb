"""Walker of WARC (ISO 28500) and ARC files: a part for each record, with its target URL as retrieval URL.

In: the bytes of a file, or of a decompressed member. Out: parts, with the length and digest fields that change with
them, and findings.
A record is no encapsulating entity of its payload: it adds a retrieval URL (RFC 1808 3.3), and no other base layer.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Final

from absolve.core.errors import CodingError, in_short
from absolve.core.model import RETRIEVAL, BaseClaim, Capture, Derived, Finding, Part, new
from absolve.encodings.charsets import for_any
from absolve.encodings.codings import IDENTITY
from absolve.formats import headers, registry, sniffing
from absolve.formats.events import EventList
from absolve.formats.headers import LONGEST_LINE, Record, record_at
from absolve.formats.http import payload
from absolve.formats.warc.reader import GAP, pieces

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from absolve.core.model import Event
    from absolve.core.protocols import Coding, Offsets
    from absolve.encodings.charsets import Charset
    from absolve.formats import WalkOptions
    from absolve.formats.headers import Field

_HTTP_TYPES: Final = frozenset({"application/http", registry.HTTP})
_ARC_DATE: Final = re.compile(rb"[12][0-9]{13}")
_WALKED: Final = frozenset({"response", "resource", "conversion", "revisit", "arc"})


def walk(data: bytes, _charset: Charset, options: WalkOptions) -> EventList:
    """Return the events of a file that is in memory as a whole."""
    return _events(data, options, compressed=True)


def walk_records(data: bytes, _charset: Charset, options: WalkOptions) -> Iterable[Event]:
    """Return the events of a decompressed member; compressed data in it is not decompressed again."""
    record = _alone(data, options)
    if record is None:
        return _events(data, options, compressed=False)
    found = _event(data, 0, record, options)
    return [] if found is None else [found]


def _alone(data: bytes, options: WalkOptions) -> Record | None:
    """Return the only record in a member, which most members have; None for a member with other content."""
    found = record_at(data, 0)
    if found is None or found.end > len(data) or found.end > options.max_decompressed:
        return None
    return found if len(data) - found.end <= GAP and not data[found.end :].strip(b"\r\n") else None


def _events(data: bytes, options: WalkOptions, *, compressed: bool) -> EventList:
    """Return an event list with a part for each record."""
    events: EventList = EventList()
    for piece in pieces(data, options.max_decompressed, compressed=compressed):
        for finding in piece.findings:
            events.append(finding)
        if piece.records is None or piece.findings:
            continue
        if piece.coding is None:
            record = record_at(data, piece.offset)
            found = _event(data, piece.offset, record, options) if record is not None else None
            if found is not None:
                events.append(found)
        else:
            end = piece.offset + len(piece.raw)
            events.append(Part(registry.RECORDS, piece.offset, end, Opened(piece.records, piece.coding)))
    return events


class Opened:
    """The coding of a compressed member that was decompressed to find its end: `decode` returns the stored value."""

    slot: tuple[int, int] | None = None

    def __init__(self, value: bytes, coding: Coding) -> None:
        self._value = value
        self._coding = coding

    def decode(self, raw: bytes) -> bytes:  # noqa: ARG002 - the value is stored
        return self._value

    def decode_mapped(self, raw: bytes) -> tuple[bytes, Offsets | None]:
        return self.decode(raw), None

    def encode(self, value: bytes, after: bytes = b"", before: bytes = b"") -> bytes:
        return self._coding.encode(value, after, before)


def _event(data: bytes, start: int, found: Record, options: WalkOptions) -> Part | Finding | None:
    """Return the part of a record whose block is a document, a finding for a segmented record, or None.

    The table of documents takes every media type, other lists only types with a walker.
    """
    if found.kind not in _WALKED or not (found.block < found.end or options.documents):
        return None
    if headers.first(data, found.fields, "warc-segment-number") is not None:  # one of several (ISO 28500 8)
        text = f"this record is a segment of another one, and stays as it is ({in_short(found.url)})"
        return Finding("segmented", text, start)
    return _part(data, found, options) if options.documents or registry.is_read(_media_type(data, found)) else None


def _part(data: bytes, found: Record, options: WalkOptions) -> Part:
    """Return the block of a record as a part, with the fields of the record that change with it."""
    field = "ARC record's URL" if found.kind == "arc" else "WARC-Target-URI"
    return Part(
        _media_type(data, found) if found.block < found.end else "",
        found.block,
        found.end,
        IDENTITY,
        name="revisit" if found.kind == "revisit" else "record",
        claims=[new(BaseClaim, (RETRIEVAL, for_any(found.url), field, None, None))] if found.url else [],
        own_charset=True,
        encloses=False,
        derived=_derived(data, found, options),
        capture=stated(data, found) if options.documents else None,
    )


def stated(data: bytes, found: Record) -> Capture:
    """Return the facts that the header of a record states about its block."""
    date, refers_to, refers_to_date, digest = (
        headers.first(data, found.fields, name) or ""
        for name in ("warc-date", "warc-refers-to-target-uri", "warc-refers-to-date", "warc-payload-digest")
    )
    if found.kind == "arc":
        date = _arc_date(data, found.block)
    return Capture(None, date, "", None, "", found.kind, refers_to.strip("<>"), refers_to_date, digest)


def _arc_date(data: bytes, block: int) -> str:
    """Return the 14-digit date in the line before the block of an ARC record, for example b"20200102030405"."""
    start = data.rfind(b"\n", max(0, block - LONGEST_LINE), block - 1) + 1
    words = [word for word in data[start:block].split()[1:] if _ARC_DATE.fullmatch(word)]
    return words[-1].decode("ascii") if words else ""  # before it, the URL may have any words


def _media_type(data: bytes, found: Record) -> str:
    """Return the media type of a block: HTTP if declared or if it begins with HTTP/, otherwise declared or sniffed.

    An ARC record or a revisit may hold an HTTP message under any declared type.
    """
    if registry.essence_of(found.media_type)[0] in _HTTP_TYPES or data.startswith(b"HTTP/", found.block):
        return registry.HTTP
    if found.kind == "arc" or found.media_type:
        return found.media_type
    return sniffing.sniff_content(data[found.block : found.end]) or ""


# --- fields of a record that change with its block --------------------------------------------------------------------


def _derived(data: bytes, found: Record, options: WalkOptions) -> list[Derived]:
    derived = [new(Derived, (*found.size, _length))]
    size = data[slice(*found.size)]
    for field in found.fields:
        is_other = field.name == "content-length" and field.start != found.size[0]
        if is_other and data[field.start : field.end] == size:
            # A repeated Content-Length: update all, because readers differ in the one that they use.
            derived.append(new(Derived, (field.start, field.end, _length)))
        # The payload of a revisit is in another record (6.7.2).
        elif field.name == "warc-block-digest" or (field.name == "warc-payload-digest" and found.kind != "revisit"):
            derived.append(new(Derived, (field.start, field.end, _Digest(data, field, found, options))))
    return derived


def _length(new: bytes) -> bytes:
    return b"%d" % len(new)


class _Digest:
    """Compute the new digest for a field of a record, of its block or its payload.

    It stores offsets instead of the record, because there are many records.
    """

    def __init__(self, data: bytes, field: Field, record: Record, options: WalkOptions) -> None:
        self._data = data
        self._options = options
        self._start = field.start
        self._end = field.end
        self._block = record.block
        self._block_end = record.end
        self._is_whole = field.name == "warc-block-digest"

    def __call__(self, new: bytes) -> bytes:
        digest = self._data[self._start : self._end]
        contents = WHOLE if self._is_whole else payloads(self._options)
        return renewed(digest, memoryview(self._data)[self._block : self._block_end], new, contents)


# --- digests of changed content (labelled-digest, 5.8 and 5.9), in the form of the old ones ---------------------------

Bytes = bytes | memoryview
Content = Callable[[Bytes], Bytes]


WHOLE: Final[tuple[Content, ...]] = (lambda block: block,)
_UNLABELLED: Final = ("sha256", "sha1", "md5")


def payloads(options: WalkOptions) -> Sequence[Content]:
    """Return functions from a block to its payload (6.3.2) in the three forms that archives use.

    These are the HTTP body as transferred, the body without its outermost coding (the chunks), and without any coding.
    """
    return tuple(partial(payload, options=options, count=count) for count in (0, 1, None))


def renewed(digest: bytes, old: Bytes, new: Bytes, contents: Sequence[Content] = WHOLE) -> bytes:
    """Return the digest of `new` in the algorithm, label and encoding of `digest`, the digest of `old`.

    `contents` are functions that select the digested bytes; the first one that matches `old` is used. A digest that
    matches none was wrong before, and is returned unchanged.

    >>> renewed(b"md5:0cc175b9c0f1b6a831c399e269772661", b"a", b"b"), renewed(b"md5:0123", b"a", b"b")
    (b'md5:92eb5ffee6ae2fec3ad71c777531578f', b'md5:0123')
    """
    import hashlib  # here, because it loads OpenSSL: 4 MB that few documents need

    label, colon, value = digest.rpartition(b":")
    value = value.strip()
    algorithm = label.decode("latin-1").strip().lower().replace("sha-", "sha")
    if colon and (algorithm not in hashlib.algorithms_available or algorithm.startswith("shake")):
        return digest
    for content in contents:
        try:
            for name in (algorithm,) if colon else _UNLABELLED:
                before = hashlib.new(name, content(old), usedforsecurity=False).digest()
                for form in _FORMS:
                    if form(before) == value:
                        after = hashlib.new(name, content(new), usedforsecurity=False).digest()
                        return digest.replace(value, form(after))
        except CodingError:
            continue
    return digest


_FORMS: Final[tuple[Callable[[bytes], bytes], ...]] = (
    base64.b32encode,
    binascii.hexlify,
    lambda digest: binascii.hexlify(digest).upper(),
    lambda digest: base64.b32encode(digest).rstrip(b"="),
    lambda digest: base64.b32encode(digest).lower(),
    base64.b64encode,
    base64.urlsafe_b64encode,
)
