"""Payloads of captures: the bytes of a document with the facts that its container states, and the entity of its walk.

In: a payload with its media type, charset and URL. Out: the Entity, which is walked here once, when its links are
needed.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol
from urllib.parse import unquote

from absolve.core.errors import CodingError
from absolve.core.model import BY_DEFAULT, PACKAGE_ROOT, BaseClaim, Document
from absolve.document.walk import inners, walk
from absolve.encodings.charsets import declared_in_html, lookup
from absolve.formats import registry
from absolve.formats.html.security_policy import of_header
from absolve.mirror import browsers, extensions
from absolve.mirror.capture import CUT, PARTIAL, PIECE, Captured, digits_of, judged, redirect_of
from absolve.urls.archives import archived
from absolve.urls.identity import normal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from absolve.core.errors import Diagnostic
    from absolve.document.captures import Entry
    from absolve.document.entity import Entity
    from absolve.document.settings import Settings
    from absolve.mirror.capture import Piece, Where

_BASES: Final = frozenset({"base", "content-base"})
_LENGTHS: Final = ("content-length", "content-range")


class Payload(NamedTuple):
    """One document of a capture, decoded.

    `media_type` may have parameters. `charset` is set where the bytes are text that the container holds decoded.
    `message` is the HTTP response without codings, where its header has a base of its own (RFC 1808 3.1). `entity` is
    set where the container has been walked already. `base` is the URL to resolve against where that is not its own.
    `names` returns the URL of a part of the same message that a reference names; None without a message. `title` is
    for a page that has none, and for a text that counts as a page: the subject of a message.
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


class Broken(NamedTuple):
    """What is wrong with a record, which is not held if it failed."""

    diagnostic: Diagnostic


class Reader(Protocol):
    """The captures of one source, and their payloads."""

    def captured(self, posted: set[str]) -> Iterator[Captured | Piece | Posted | Broken]:
        """Yield each capture but those that answer a request in `posted`, and what else there is to know, in order."""

    def payloads(self, places: Sequence[Where]) -> Iterator[tuple[Where, Payload]]:
        """Yield the payloads at these places, which are sorted, in order; what cannot be read is left out."""


def media_type_of(declared: str, data: bytes, name: str = "", fields: str = "") -> str:
    """Return the declared media type, with its parameters, else one by the content or the name; "" if unknown.

    It is an active document only if browsers make one of a response with these `fields` and no media type.
    """
    essence = registry.essence_of(declared)[0]
    if not (declared.isascii() and declared.isprintable()):
        declared = essence  # a header field has no such characters
    if registry.is_media_type(essence) and essence not in {"*/*", "unknown/unknown", "application/unknown"}:
        return declared
    if browsers.has_nosniff(fields):
        return ""
    found = extensions.sniffed(data) or extensions.by_name(name)
    return browsers.sniffed(fields, data) or ("" if browsers.is_active(found) else found)


def payload_of(one: Entry, kept: str | None = None) -> Payload:
    """Return the content of a document. Text is encoded again as its page declares, where that loses nothing.

    A header counts for the media type: what a browser noted beside it may be what it guessed. `kept` are its
    `browsers.kept_fields`, if they are known. Raise CodingError.
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
    """Return the capture that a document is, with what there is of its body; None for the answer to a HEAD.

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
        size = sys.maxsize  # that of the capture to which a revisit refers
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
        data = b"<"  # what it may be
        declared = browsers.stated_type(value for name, value in one.facts.fields if name == "content-type")
        return data, media_type_of(declared, data, one.url, fields)
    return payload.data, payload.media_type


def name_of(url: str) -> str:
    """Return the name of a document in messages: its URL, or the path of a file whose URL is not known."""
    if not url.startswith(PACKAGE_ROOT):
        return url
    return unquote(url.removeprefix(PACKAGE_ROOT).removeprefix("_/"), errors="surrogateescape")


def entity_of(payload: Payload, url: str, settings: Settings, fields: str = "") -> Entity | None:
    """Return the walked document of a payload; None for one without a walker. Raise DocumentError as `walk` does.

    `fields` are the header fields of its response: a Content-Security-Policy may forbid its base element.
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


_WALKED = frozenset({registry.HTML, registry.CSS, registry.XML, registry.MANIFEST, registry.IMPORT_MAP})
