"""Captures and their payloads: the captures of a URL in a source, and the entity of its document.

In: an entry of a container or a record. Out: a `Captured`, or a `Piece` of one; the `Payload`, its bytes with the facts
that its container states; the Entity, which is walked here once, when its links are needed.
"""

from __future__ import annotations

import re
import sys
from datetime import datetime
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol, TypeAlias
from urllib.parse import unquote

from absolve.core.errors import CodingError, UsageError
from absolve.core.model import BY_DEFAULT, PACKAGE_ROOT, BaseClaim, Document
from absolve.document.walk import inners, walk
from absolve.encodings.charsets import declared_in_html, lookup
from absolve.formats import registry
from absolve.formats.html.security_policy import of_header
from absolve.mirror import browsers
from absolve.urls import whatwg
from absolve.urls.archives import archived
from absolve.urls.chain import REDIRECTS
from absolve.urls.identity import normal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from absolve.core.errors import Diagnostic
    from absolve.document.captures import Entry
    from absolve.document.entity import Entity
    from absolve.document.settings import Settings

SCHEMES: Final = ("http:", "https:", "ftp:", "file:")  # of URLs that can have a document of their own
PIECE: Final = "piece"  # a piece of a document (206), or no body
CUT: Final = "cut"  # the beginning of a document
JOINED: Final = "joined"  # a whole document, joined from pieces
_DIGITS: Final = 14  # of a date: YYYYMMDDhhmmss
_BASES: Final = frozenset({"base", "content-base"})
_LENGTHS: Final = ("content-length", "content-range")
_WALKED: Final = frozenset(
    {registry.HTML, registry.CSS, registry.XML, registry.MANIFEST, registry.IMPORT_MAP, registry.MARKDOWN}
)


class Where(NamedTuple):
    """The place of a payload: the number of its source, a byte offset in it, and the number of the record there."""

    source: int
    offset: int
    number: int


class Captured(NamedTuple):
    """One capture of one URL.

    `url` is its key. `date` has 14 digits, or is empty. `media_type` is the header's, with its parameters, or a sniffed
    one. `location` is the absolute URL of a redirect. `digest` identifies the payload, if it is known.
    `refers_to` and `refers_date` name the capture whose payload a revisit has; `is_revisit` marks one. `place` is the
    path of a file in its folder or package (`place_of`), b"" for any other capture. `lack` tells why a body is not
    whole: PIECE or CUT; JOINED for a whole from several responses; "" for others. `shown`, `looks` and `fields` come
    from `browsers`: the media type for its name, how its content begins, and the header fields that limit it. `ids`
    are the IDs of its record, and of the records that were written with it (`Posted`).
    """

    url: str
    status: int
    date: str
    media_type: str
    where: Where
    location: str | None = None
    digest: str = ""
    size: int = 0
    is_revisit: bool = False
    refers_to: str = ""
    refers_date: str = ""
    place: bytes = b""
    lack: str = ""
    shown: str = ""
    looks: str = ""
    fields: str = ""
    ids: str = ""


def place_of(path: str) -> bytes:
    """Return the path of a file as bytes, because it need not be text."""
    return path.encode("utf-8", "surrogatepass")


class Version(NamedTuple):
    """The version of a document to which a piece belongs."""

    total: int
    etag: str
    modified: str

    @property
    def validator(self) -> str:
        """The strong ETag, else Last-Modified: pieces with the same one may be joined (RFC 9110 15.3.7.3)."""
        return self.modified if self.etag.startswith("W/") else self.etag or self.modified


class Piece(NamedTuple):
    """A piece of a document: its bytes from `start` to `end`, which are a response's body."""

    captured: Captured
    start: int
    end: int
    version: Version


class Part(NamedTuple):
    """The bytes of a whole that are taken from one body: `size` bytes from `start` on."""

    where: Where
    start: int
    size: int


class Payload(NamedTuple):
    """One document of a capture, decoded.

    `media_type` may have parameters. `charset` is set if the bytes are text that the container holds decoded.
    `message` is the HTTP response without codings, if its header has a base of its own (RFC 1808 3.1). `entity` is
    set if the container has been walked already. `base` is the URL to resolve against if it is not the document's own.
    `names` returns the URL of the part that a reference names in the same message; None without a message. `title` is
    for a page without a title, and for a text that counts as a page: the subject of a message.
    """

    data: bytes
    media_type: str
    charset: str | None = None
    claims: tuple[BaseClaim, ...] = ()
    message: bytes | None = None
    entity: Entity | None = None
    base: str | None = None
    names: Callable[[str], str | None] | None = None
    title: str | None = None


class Posted(NamedTuple):
    """The IDs of records that belong to a request other than GET or HEAD: their response is no URL's document."""

    ids: frozenset[str]


Found: TypeAlias = "Captured | Piece | Posted | Diagnostic"


class Reader(Protocol):
    """The captures of one source, and their payloads."""

    def captured(self) -> Iterator[Found]:
        """Yield each capture and other findings in order; a record that is not held has failed."""

    def payloads(self, places: Sequence[Where]) -> Iterator[tuple[Where, Payload]]:
        """Yield the payloads at these sorted places, in order; unreadable payloads are left out."""


def media_type_of(declared: str, data: bytes, name: str = "", fields: str = "") -> str:
    """Return the declared media type, with its parameters, else the type by content or name; "" if unknown.

    For example, `GIF89a` without a declared type is image/gif. It is an active document only if browsers make one of a
    response with these `fields` and no media type.
    """
    essence = registry.essence_of(declared)[0]
    if not (declared.isascii() and declared.isprintable()):
        declared = essence  # a header field has no such characters
    if registry.is_media_type(essence) and essence not in {"*/*", "unknown/unknown", "application/unknown"}:
        return declared
    if browsers.has_nosniff(fields):
        return ""
    found = browsers.by_content(data) or browsers.by_name(name)
    return browsers.sniffed(fields, data) or ("" if browsers.is_active(found) else found)


def payload_of(one: Entry, kept: str | None = None) -> Payload:
    """Return the content of a document. Text is encoded again as its page declares, if that loses nothing.

    The media type comes from the header: a type that a browser noted beside it may be a guess. `kept` is the result of
    `browsers.kept_fields`, if it is known. Raise CodingError.
    """
    content, facts = one.content, one.facts
    base = one.url if archived(one.url) is not None else None
    kept = browsers.kept_fields(facts.fields) if kept is None else kept
    declared = browsers.stated_type(value for name, value in facts.fields if name == "content-type")
    if facts.status is None and not facts.kind:  # of a message
        essence, parameters = registry.essence_of(one.media_type)
        charset = parameters.get("charset", "").lower()
        declared = f"{essence}; charset={charset}" if charset and essence.startswith("text/") else essence
    media_type = media_type_of(declared or one.media_type, content, one.url, kept)
    if not one.is_text:
        message = _with_bases(one, media_type, content) if facts.kind else None
        return Payload(content, media_type, message=message, base=base)
    label = registry.essence_of(media_type)[1].get("charset")
    charset_ = (lookup(label) if label else None) or declared_in_html(content)
    if charset_ is not None and charset_.name != "utf-8":
        try:
            return Payload(content.decode("utf-8", "surrogatepass").encode(charset_.codec), media_type, base=base)
        except (UnicodeError, LookupError):
            pass
    essence = registry.essence_of(media_type)[0]
    return Payload(content, f"{essence}; charset=utf-8" if label else media_type, "utf-8", base=base)


def _with_bases(one: Entry, media_type: str, content: bytes) -> bytes | None:
    """Return a response with the bases of a header, and its body without codings; None without such a base."""
    bases = [f"{name}: {value}\r\n" for name, value in one.facts.fields if name in _BASES]
    head = f"HTTP/1.1 200 OK\r\nContent-Type: {media_type}\r\n{''.join(bases)}\r\n"
    return head.encode("utf-8", "surrogateescape") + content if bases else None


def captured(one: Entry, url: str, where: Where, settings: Settings) -> Captured | Piece | None:
    """Return the capture of a document, with the available part of its body; None for the answer to a HEAD.

    Raise CodingError for a body that cannot be decoded, unless a record holds an error page or a piece.
    """
    facts, fields = one.facts, dict(reversed(one.facts.fields))
    kept = browsers.kept_fields(facts.fields)
    status = 200 if facts.status is None else facts.status
    is_success = 200 <= status < 300
    location = redirect_of(url, status, facts.redirect or fields.get("location"))
    if facts.kind and (location is not None or facts.kind == "revisit"):
        data = None
        media_type = browsers.stated_type(value for name, value in facts.fields if name == "content-type")
        size = sys.maxsize  # as for the capture to which a revisit refers
    else:
        size = one.part.end - one.part.start if facts.kind and one.part is not None else 0
        may_be_broken = facts.kind and not (is_success and status != PARTIAL and size)
        data, media_type = _read(one, kept, must_decode=not may_be_broken)
        if not facts.kind or (status == PARTIAL and "content-encoding" not in fields):
            size = len(data)
    is_response = facts.status is not None or not facts.kind
    found = Captured(
        url,
        status,
        _digits(facts.date),
        media_type,
        where,
        location,
        facts.payload_digest,
        size=len(one.outer) if facts.kind else size,
        is_revisit=facts.kind == "revisit",
        refers_to=normal(facts.refers_to) or "",
        refers_date=digits_of(facts.refers_to_date),
        shown=browsers.allowed(media_type, kept, data) if is_response and (media_type or data is not None) else "",
        looks=browsers.markup(data) if data is not None else "",
        fields=kept,
    )
    if location is not None or not is_success:
        return found
    if not size:
        if facts.method.upper() == "HEAD":
            return None
        has_more = facts.length or any(fields.get(name, "0")[:1] not in {"", "-", "0"} for name in _LENGTHS)
        is_bare = status == PARTIAL or (facts.kind and "transfer-encoding" in fields)
        return found._replace(lack=PIECE) if has_more or is_bare else found  # the body was not saved
    if status == PARTIAL:
        return judged(found, fields.get, size, settings.max_decompressed)
    return found._replace(lack=CUT) if facts.length > size and not one.is_text else found


def _digits(date: str) -> str:
    if not date or date[:4].isdecimal():
        return digits_of(date)
    from absolve.inventory.documents import in_iso  # which loads the table of documents

    return digits_of(in_iso(date) or "")


def _read(one: Entry, fields: str, *, must_decode: bool) -> tuple[bytes, str]:
    """Return the content of a document and its media type. Raise CodingError where it must be decoded, and cannot."""
    try:
        payload = payload_of(one, fields)
    except CodingError:
        if must_decode:
            raise
        data = b"<"  # it may be markup
        declared = browsers.stated_type(value for name, value in one.facts.fields if name == "content-type")
        return data, media_type_of(declared, data, one.url, fields)
    return payload.data, payload.media_type


def name_of(url: str) -> str:
    """Return a document's name for messages: its URL, or a file's path, for example `a` for `package:///a`."""
    if not url.startswith(PACKAGE_ROOT):
        return url
    return unquote(url.removeprefix(PACKAGE_ROOT).removeprefix("_/"), errors="surrogateescape")


def entity_of(payload: Payload, url: str, settings: Settings, fields: str = "") -> Entity | None:
    """Return the walked document of a payload; None for one without a walker. Raise DocumentError as `walk` does.

    `fields` are the response's header fields: a Content-Security-Policy may forbid its base element.
    """
    if payload.entity is not None:
        return payload.entity
    if payload.message is not None:
        outer = walk(Document(payload.message, name=name_of(url), media_type=registry.HTTP, url=url), settings)
        inner = next(inners(outer), None)
        if inner is not None and inner.entity.own_data == payload.data:
            return inner.entity
    if not is_walked(payload.media_type):
        return None
    document = Document(
        payload.data,
        name=name_of(url),
        media_type=payload.media_type,
        charset=payload.charset,
        url=payload.base or url,
        claims=(*payload.claims, *(BaseClaim(BY_DEFAULT, one, "header") for one in of_header(fields))),
    )
    document.url_source = "capture"
    return walk(document, settings)


def is_walked(media_type: str) -> bool:
    """Return whether documents of this media type, with or without parameters, have links that a mirror changes."""
    kind = registry.kind_of(media_type)
    return kind in _WALKED



# --- dates and redirects ----------------------------------------------------------------------------------------------


def redirect_of(url: str, status: int, location: str | None) -> str | None:
    """Return the absolute target of a redirect, for example `http://h/b#c` for 302 and `b#c`; otherwise None."""
    if status not in REDIRECTS or location is None:
        return None
    return whatwg.parse(location, url)


def digits_of(date: str) -> str:
    """Return the 14 digits of a date (ISO 8601, or an ARC file's), for example "20200102030405"; or ""."""
    digits = "".join(character for character in date[:40].partition(".")[0] if character in "0123456789")[:_DIGITS]
    return digits.ljust(_DIGITS, "0") if len(digits) >= 8 else ""


def seconds_of(date: str) -> int | None:
    """Return an ISO 8601 date in UTC as seconds since 1970, for example 0 for `1970-01-01T00:00:00Z`; or None."""
    try:
        return int(datetime.fromisoformat(date).timestamp()) if date else None
    except (ValueError, OverflowError):
        return None


def latest_of(date: str) -> str:
    """Return a bound for the dates of a period, for example "20230199999999" for `2023-01`. Raise UsageError."""
    digits = "".join(character for character in date if character in "0123456789")
    months, days = digits[4:6] or "01", digits[6:8] or "01"
    is_known = "01" <= months <= "12" and "01" <= days <= "31" and digits[8:10] <= "23" and digits[10:] <= "5959"
    if len(digits) not in {4, 6, 8, 10, 12, 14} or set(date) - set("0123456789-:TZ ") or not is_known:
        raise UsageError(f"--at needs a date such as 2023-01-01 or 20230101120000, not {date[:40]!r}")
    return digits.ljust(_DIGITS, "9")


# --- documents in pieces ----------------------------------------------------------------------------------------------

PARTIAL: Final = 206
_MOST: Final = 100_000  # pieces of a capture that are kept, of some 300 bytes each
_RANGE: Final = re.compile(r"\s*bytes\s+([0-9]{1,18})-([0-9]{1,18})/([0-9]{1,18})\s*", re.IGNORECASE)


def judged(one: Captured, field: Callable[[str], str | None], size: int, most: int) -> Captured | Piece:
    """Return a response 206 as a whole document, as a piece that can be joined, or as one that cannot.

    `field` returns the value of a header field, `size` is the length of its body, which may be cut off. A whole of more
    than `most` bytes is not joined.
    """
    found = _RANGE.fullmatch(field("content-range") or "")
    if found is None:  # or several ranges in one body
        return one._replace(lack=PIECE)
    start, last, total = map(int, found.groups())
    if start == 0 and last + 1 == total <= size:
        return one
    one = one._replace(lack=PIECE)
    end = min(last + 1, start + size)
    version = Version(total, (field("etag") or "").strip(), (field("last-modified") or "").strip())
    is_plain = (field("content-encoding") or "identity").strip().lower() == "identity"
    if version.validator and is_plain and start < end and last < total <= most and size <= last + 1 - start:
        return Piece(one, start, end, version)
    return one


class Pieces:
    """The pieces of a survey, by URL and version. Above a maximum number they are dropped: then a whole is missing."""

    def __init__(self) -> None:
        self._found: dict[str, dict[str, list[Piece]]] = {}
        self._number = 0

    def add(self, piece: Piece) -> None:
        """Add a piece."""
        self._number += 1
        if self._number <= _MOST:
            versions = self._found.setdefault(piece.captured.url, {})
            versions.setdefault(piece.version.validator, []).append(piece)

    def joined(self, posted: set[str]) -> Iterator[tuple[Captured, tuple[Part, ...]]]:
        """Yield each joined document with its parts, perhaps several for a URL. Contradictory pieces are not joined.

        `posted` are the IDs of records whose captures answer a request other than GET.
        """
        for versions in self._found.values():
            for every in versions.values():
                pieces = [one for one in every if posted.isdisjoint(one.captured.ids.split())]
                if len({piece.version for piece in pieces}) == 1 and (chosen := _covering(pieces)):
                    yield _join_pieces(chosen)


def _covering(pieces: list[Piece]) -> list[Piece]:
    """Return the fewest pieces that cover the whole, in order: for example, 0-99 and 50-149; [] if there is a gap."""
    chosen: list[Piece] = []
    at = 0
    best: Piece | None = None
    for piece in sorted(pieces, key=lambda one: (one.start, -one.end)):
        if piece.start > at and best is not None:
            chosen.append(best)
            at, best = best.end, None
        if piece.start > at:
            return []
        if piece.end > (best.end if best is not None else at):
            best = piece
    chosen += [best] if best is not None else []
    return chosen if chosen and chosen[-1].end == pieces[0].version.total else []


def _join_pieces(pieces: list[Piece]) -> tuple[Captured, tuple[Part, ...]]:
    parts: list[Part] = []
    at = 0
    for piece in pieces:
        parts.append(Part(piece.captured.where, at - piece.start, piece.end - at))
        at = piece.end
    first = pieces[0].captured
    date = max(piece.captured.date for piece in pieces)
    return first._replace(date=date, size=at, digest="", lack=JOINED), tuple(parts)
