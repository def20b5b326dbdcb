"""Walker of HTTP messages (RFC 9112): header fields of a response hold bases and links, its body is a document.

In: the bytes of one or several responses. Out: bases and links of the header fields, a part for the body.
A base in the header applies to the links of the header (RFC 1808 3.1) and, as the base of the encapsulating entity,
to the body (3.2).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from absolve.core.errors import WalkError
from absolve.core.model import REDIRECTED, BaseClaim, Capture, Derived, Finding, Layer, Part, new
from absolve.encodings.charsets import for_any
from absolve.encodings.codings import IDENTITY
from absolve.formats import headers, registry
from absolve.formats.http.codings import Chunked, Stack
from absolve.formats.http.responses import NO_BODY, codings_of, redirects, response_at, sniffed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from absolve.core.model import Event
    from absolve.core.protocols import Coding
    from absolve.encodings.charsets import Charset
    from absolve.formats.headers import Field
    from absolve.formats.http.responses import Redirect, Response
    from absolve.formats.protocols import WalkOptions

_REQUEST_LINE: Final = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]++ [^\n]*?(?: HTTP/[0-9.]+)?\r?\n")  # RFC 9112 3
_BASES: Final = ("base", "content-base")  # not Content-Location: since RFC 7231 it sets no base in HTTP
_PARTIAL: Final = b"206"
_NOT_MODIFIED: Final = b"304"
_DIGITS: Final = 18  # maximum digits of a Content-Length


def walk(data: bytes, _charset: Charset, options: WalkOptions) -> Iterator[Event]:
    """Yield the events of one response, or of several where only the last has a body (100 Continue).

    After a redirect (`curl -iL`) each response is a part, because its URL is the Location of the one before. A request
    has no events. Raise WalkError for any other data.
    """
    response = response_at(data, 0)
    if response is None:
        if _REQUEST_LINE.match(data):
            return
        raise WalkError("no-http", "this does not begin as an HTTP message does")
    moves = redirects(data, response)
    if moves:
        yield from _each(data, moves)
        return
    while following := response_at(data, response.body):
        yield from headers.links(data, response.fields, headers.OF_HTTP, ())
        response = following
    yield from headers.links(data, response.fields, headers.OF_HTTP, _BASES)
    yield from headers.policies(data, response.fields)
    if options.documents:
        yield _capture(data, response)
    yield from _body(data, response, options)


def _each(data: bytes, moves: list[Redirect]) -> Iterator[Part]:
    """Yield a part for each response of a chain of redirects; its base is its own URL (RFC 1808 3.3)."""
    claim: BaseClaim | None = None
    starts = [0, *(move.following for move in moves), len(data)]
    for index, start in enumerate(starts[:-1]):
        yield Part(registry.HTTP, start, starts[index + 1], IDENTITY, "response", base=claim, encloses=False)
        if index < len(moves):
            field = moves[index].location
            reference = for_any(headers.value(data, field))
            claim = BaseClaim(Layer.RETRIEVAL, reference, REDIRECTED, field.start, claim)


def _capture(data: bytes, response: Response) -> Capture:
    """Return the facts that the header states about the body."""
    is_empty = response.body == len(data) and response.status != _NOT_MODIFIED
    return Capture(
        int(response.status),
        headers.first(data, response.fields, "date") or "",
        headers.first(data, response.fields, "content-type") or "",
        0 if is_empty else None,
        robots=", ".join(
            headers.value(data, field) for field in headers.named(response.fields, "x-robots-tag")
        ),
    )


def _body(data: bytes, response: Response, options: WalkOptions) -> list[Part | Finding]:
    start, end = response.body, len(data)
    if start == end or response.status in NO_BODY:
        return []
    media_type = headers.first(data, response.fields, "content-type") or ""
    if media_type and not registry.is_read(media_type):
        return [_unread(data, response, media_type, options)] if options.documents else []
    if response.status == _PARTIAL:
        return [Finding("partial", "this body is a part of a document, and stays as it is", start)]
    derived: list[Derived] = []
    codings, findings = codings_of(data, response, options)
    if not any(isinstance(coding, Chunked) for coding in codings):
        length = _length(data, response)
        if length is not None:
            end = start + length[1]
            if end > len(data) or data[end:].strip(b"\r\n"):
                text = f"Content-Length says {length[1]} and the body has {len(data) - start} bytes: the field stays"
                findings.append(Finding("wrong-length", text, start))
                end = len(data)
            else:
                derived = [new(Derived, (length[0].start, length[0].end, _in_digits))]
    coding: Coding = Stack(codings) if codings else IDENTITY
    if not media_type:
        media_type = sniffed(data[start:end], coding)
    part = Part(media_type, start, end, coding, name="body", own_charset=True, encloses=False, derived=derived)
    return [*findings, part]


def _unread(data: bytes, response: Response, media_type: str, options: WalkOptions) -> Part:
    """Return the body of a response of a media type without a walker, for the table of documents."""
    start, end = response.body, len(data)
    codings = codings_of(data, response, options)[0]
    if not any(isinstance(coding, Chunked) for coding in codings):
        length = _length(data, response)
        if length is not None and start + length[1] <= end:
            end = start + length[1]
    return Part(media_type, start, end, Stack(codings), name="body", own_charset=True, encloses=False)


def _in_digits(raw: bytes) -> bytes:
    return b"%d" % len(raw)


def _length(data: bytes, response: Response) -> tuple[Field, int] | None:
    """Return the Content-Length field and its value; None unless there is exactly one, all digits (RFC 9112 6.3)."""
    found = headers.named(response.fields, "content-length")
    if len(found) != 1 or found[0].end - found[0].start > _DIGITS:
        return None
    digits = data[found[0].start : found[0].end]
    return (found[0], int(digits)) if digits.isdigit() else None
