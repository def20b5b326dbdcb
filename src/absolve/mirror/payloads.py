"""Payloads of captures: the bytes of a document with the facts that its container states, and the entity of its walk.

In: a payload with its media type, charset and URL. Out: the Entity, which is walked here once, when its links are
needed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

from absolve.core.model import Document
from absolve.document.walk import inners, walk
from absolve.formats import registry
from absolve.mirror import browsers, extensions

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from absolve.core.errors import Diagnostic
    from absolve.core.model import BaseClaim
    from absolve.document.entity import Entity
    from absolve.document.settings import Settings
    from absolve.mirror.capture import Captured, Piece, Where


class Payload(NamedTuple):
    """One document of a capture, decoded.

    `media_type` may have parameters. `charset` is set where the bytes are text that the container holds decoded.
    `message` is the HTTP response without codings, where its header has a base of its own (RFC 1808 3.1). `entity` is
    set where the container has been walked already. `base` is the URL to resolve against where that is not its own.
    """

    data: bytes
    media_type: str
    charset: str | None = None
    claims: tuple[BaseClaim, ...] = ()
    message: bytes | None = None
    entity: Entity | None = None
    base: str | None = None


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


def entity_of(payload: Payload, url: str, settings: Settings) -> Entity | None:
    """Return the walked document of a payload; None for one without a walker. Raise DocumentError as `walk` does."""
    if payload.entity is not None:
        return payload.entity
    if payload.message is not None:
        outer = walk(Document(payload.message, name=url, media_type=registry.HTTP, url=url), settings)
        inner = next(inners(outer), None)
        if inner is not None and inner.entity.own_data == payload.data:
            return inner.entity
    if not is_walked(payload.media_type):
        return None
    document = Document(
        payload.data,
        name=url,
        media_type=payload.media_type,
        charset=payload.charset,
        url=payload.base or url,
        claims=payload.claims,
    )
    document.url_source = "capture"
    return walk(document, settings)


def is_walked(media_type: str) -> bool:
    """Return whether documents of this media type, with or without parameters, have links that a mirror changes."""
    kind = registry.kind_of(media_type)
    return kind in _WALKED


_WALKED = frozenset({registry.HTML, registry.CSS, registry.XML, registry.MANIFEST, registry.IMPORT_MAP})
