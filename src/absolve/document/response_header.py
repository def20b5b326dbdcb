"""Apply the header of an HTTP response to the document that was its body (RFC 9110, RFC 1808 sections 3.2 and 3.3).

In: header fields as HTTP libraries and curl give them, and a Document. Out: the document with the media type, the
retrieval URL and the bases of the header; and the header as a document of its own, whose fields have links.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Final

from absolve.core.errors import Diagnostic, DocumentError, in_short
from absolve.core.model import REDIRECTED, BaseClaim, Document, Layer
from absolve.document.diagnostics import PACKED
from absolve.document.resolved import value_of
from absolve.formats import headers, registry, sniffing
from absolve.formats.http import last_response, redirects, response_at
from absolve.urls import resolver
from absolve.urls.predicates import has_scheme

if TYPE_CHECKING:
    from collections.abc import Sequence

    from absolve.core.options import Headers
    from absolve.document.entity import Entity
    from absolve.document.settings import Settings

PATH: Final = "header"  # the entity of rows about links in header fields
_BASES: Final = ("base", "content-base")  # as in formats/http.py
_ENDS_A_FIELD: Final = re.compile(r"[\r\n\0]+[\t ]*")
_STATUS_LINE: Final = b"HTTP/1.1 %03d OK\r\n"
_TAKES: Final = "headers takes a mapping, pairs of name and value, or the text of a header"


def text_of(fields: Headers, status: int = 0) -> bytes:
    """Return header fields as a header in bytes, with a status line. Raise TypeError for a value of another type.

    For example, `{"Base": "/a"}` gives `HTTP/1.1 000 OK`, `Base: /a` and an empty line: a status of 0 means that it
    is not known. Text may have several headers, as `curl -sIL` writes them. In the other forms a line end in a
    value becomes a blank, so that it cannot add a field.
    """
    line = _STATUS_LINE % status
    if isinstance(fields, (str, bytes)):
        data = value_of(fields) if isinstance(fields, str) else bytes(fields)
        data = data.lstrip(b"\r\n")
        return data if data.startswith(b"HTTP/") else line + data
    items = getattr(fields, "multi_items", None) or getattr(fields, "items", None)  # httpx has fields that recur
    pairs = items() if callable(items) else fields
    if not isinstance(fields, Mapping) and not isinstance(pairs, Iterable):
        raise TypeError(f"{_TAKES}, not {type(fields).__name__}")
    return line + b"".join(_line(pair) for pair in pairs) + b"\r\n"


def _line(pair: object) -> bytes:
    """Return a field line for each value: for example, `("Link", ["<a>", "<b>"])` (Scrapy) gives two lines."""
    if not isinstance(pair, (tuple, list)) or len(pair) != 2:
        raise TypeError(f"{_TAKES}, not {pair!r:.60}")
    name, values = pair
    many = values if isinstance(values, (tuple, list)) else (values,)
    return b"".join(b"%b: %b\r\n" % (_value_bytes(name), _value_bytes(value)) for value in many)


def _value_bytes(value: object) -> bytes:
    text = value.decode("utf-8", "surrogateescape") if isinstance(value, bytes) else value
    if not isinstance(text, str):
        raise TypeError(f"{_TAKES}: {value!r:.60} is neither str nor bytes")
    return value_of(_ENDS_A_FIELD.sub(" ", text))


def applied(document: Document, settings: Settings) -> Document:
    """Return a document with what its `headers` state about it, where nothing else is known.

    Content-Type gives the media type and its charset; Base and Content-Base are bases (RFC 1808 3.2); the Location of
    redirects, in the order of a chain, leads from the URL that was requested to the retrieval URL (3.3).
    """
    data = text_of(document.headers or ())
    url = document.url
    first = response_at(data, 0)
    for move in redirects(data, first) if first is not None else ():
        url = _redirected(url, headers.value(data, move.location), settings.profile)
    fields = last_response(data, first).fields if first is not None else []
    media_type = document.media_type
    if media_type is None:
        stated = headers.first(data, fields, "content-type")
        if stated and registry.essence_of(stated)[0]:
            media_type = sniffing.response_type(stated, document.data, document.name or "")
    _check_decoded(headers.first(data, fields, "content-encoding"), media_type, document)
    made = Document(
        document.data,
        name=document.name,
        media_type=media_type,
        charset=document.charset,
        url=url,
        claims=(*_claims(data, fields), *document.claims, *headers.policies(data, fields)),
        headers=data,
    )
    made.url_source = REDIRECTED if url != document.url else document.url_source
    made.requested = document.url, document.url_source
    return made


def _check_decoded(coding: str | None, media_type: str | None, document: Document) -> None:
    """Raise DocumentError for text whose bytes are still in a content coding; pages in gzip are read (`walk`)."""
    if not coding or media_type is None or document.data.startswith(b"\x1f\x8b"):
        return
    kind = registry.WALKERS.get(registry.kind_of(media_type))
    if kind is not None and kind.charset != "none" and sniffing.looks_binary(document.data):
        text = PACKED.format(in_short(coding))
        raise DocumentError(Diagnostic("unread-compressed", text, document.name or "<bytes>"))


def _redirected(url: str | None, location: str, profile: str) -> str | None:
    if url is None:
        return location if has_scheme(location) else None
    return resolver(profile, url)(location) or url


def _claims(data: bytes, fields: Sequence[headers.Field]) -> list[BaseClaim]:
    """Return the bases that these fields state, as bases of the entity around the document."""
    found = [one for one in headers.links(data, fields, headers.OF_HTTP, _BASES) if isinstance(one, BaseClaim)]
    return [BaseClaim(Layer.ENCAPSULATING, claim.reference, claim.source) for claim in found]


def entity_of(document: Document, settings: Settings) -> Entity:
    """Return the header of a document as an entity: links in its fields are rows of the entity `header`.

    Those of several responses are rows of `header/response[1]` and so on.
    """
    from absolve.document.walk import inners, walk

    data = text_of(document.headers or ())
    url, source = document.requested or (document.url, document.url_source)
    header = Document(data, name=document.name, media_type=registry.HTTP, url=url)
    header.url_source = source
    entity = walk(header, settings)
    for inner in inners(entity):
        inner.entity.path = f"{PATH}/{inner.entity.path}"
    entity.path = PATH
    return entity
