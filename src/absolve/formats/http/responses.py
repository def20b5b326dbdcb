"""HTTP responses: the offsets of their parts (RFC 9112 4 to 6), and the codings of a body (RFC 9110 8.4, RFC 9112 7).

In: the bytes of a message. Out: its status, header fields and body offset; its codings; its decoded body.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from absolve.core.errors import CodingError, WalkError, in_short
from absolve.core.model import Finding, new
from absolve.formats import headers, registry
from absolve.formats.compression import CODINGS, MOST_CODINGS, SIGNATURES, Unread, listed, too_many
from absolve.formats.http.codings import CHUNK, Chunked
from absolve.urls.chain import MOST, REDIRECTS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from absolve.core.protocols import Coding
    from absolve.formats.headers import Field
    from absolve.formats.protocols import WalkOptions

# status-line (RFC 9112 4); some servers omit the reason and the space before it, curl writes HTTP/2
_STATUS_LINE: Final = re.compile(rb"HTTP/[0-9]+(?:\.[0-9]+)?[\t ]+([0-9]{3})(?:[\t ][^\n]*+)?\r?\n")
# A response behind the body of another one: a status line with a field below it.
_NEXT: Final = re.compile(rb"\n(?=HTTP/[0-9]+(?:\.[0-9]+)?[\t ]+[0-9]{3}(?:[\t ][^\n]*+)?\r?\n[!-9;-~]++:)")
NO_BODY: Final = frozenset({b"204", b"304"})
_HEAD: Final = 1 << 16  # bytes; most headers are shorter
_LOOKED_AT: Final = 2048  # bytes that show whether a body is text
_TRIED: Final = 1 << 16  # bytes that show whether it is in a coding without a signature


class Response(NamedTuple):
    """The status of a response, its header fields, and the byte offset of its body."""

    status: bytes
    fields: list[Field]
    body: int


def response_at(data: bytes, start: int) -> Response | None:
    """Return the response whose status line begins at this byte offset; None if there is no status line."""
    line = _STATUS_LINE.match(data, start) if data.startswith(b"HTTP/", start) else None
    if line is None:
        return None
    found, body = headers.fields(data, line.end(), skip=True)
    markup = data.find(b"\n<", line.end(), body) + 1
    if markup:  # wget2 writes no empty line: a page begins here
        found, body = [field for field in found if field.position < markup], markup
    return new(Response, (line[1], found, body))


class Redirect(NamedTuple):
    """The Location field of a redirect (RFC 9110 15.4), and the byte offset of the response that came next."""

    location: Field
    following: int


def redirects(data: bytes, first: Response) -> list[Redirect]:
    """Return the redirects in front of the last response, in order.

    `curl -iL` writes the headers of all responses one after the other, HTTPie their bodies, too. Raise WalkError
    (too-many-redirects) for more than `MOST`.
    """
    found: list[Redirect] = []
    response = first
    while True:
        moves = int(response.status) in REDIRECTS
        location = next(iter(headers.named(response.fields, "location")), None) if moves else None
        start = response.body
        following = response_at(data, start)
        if following is None and location is not None and (behind := _NEXT.search(data, start)):
            start = behind.end()
            following = response_at(data, start)
        if following is None:
            return found
        if location is not None:
            found.append(Redirect(location, start))
        if len(found) > MOST:
            raise WalkError("too-many-redirects", f"more than {MOST} redirects in one file", start)
        response = following


def last_response(data: bytes, response: Response) -> Response:
    """Return the last of the responses whose headers follow one another, from this one on (100 Continue)."""
    while following := response_at(data, response.body):
        response = following
    return response


def codings_of(data: bytes, response: Response, options: WalkOptions) -> tuple[list[Coding], list[Finding]]:
    """Return the codings of the body, the outermost first, and a finding for each that is named but not applied.

    Archives store decoded bodies under a header that still names the coding. So a coding is skipped where the body, or
    its first chunk, lacks it. A body with more codings than `MOST_CODINGS` cannot be read.
    """
    codings: list[Coding] = []
    findings: list[Finding] = []
    names = [*_names(data, response.fields, "transfer-encoding"), *_names(data, response.fields, "content-encoding")]
    if len(names) > MOST_CODINGS:
        return [too_many(names[-1])], []
    start: int | None = response.body  # of what is in the next coding, None if that is unknown
    for name in names:
        if name in {"identity", "none", ""}:
            continue
        chunk = CHUNK.match(data, start) if name == "chunked" and start is not None else None
        coding = Chunked() if name == "chunked" else _coding(name, options)
        if start is not None and chunk is None and _lacks(name, coding, data, start):
            words = f"the header says {in_short(name)}, and the body is not"
            findings.append(Finding("not-encoded", words, response.body))
            continue
        codings.append(coding)
        start = chunk.end() if chunk is not None else None
    return codings, findings


def _coding(name: str, options: WalkOptions) -> Coding:
    return CODINGS[name](options.max_decompressed) if name in CODINGS else Unread(name)


def _names(data: bytes, found: Sequence[Field], name: str) -> list[str]:
    """Return the codings in all fields of a name, in lower case, the one that was applied last first."""
    return listed(",".join(headers.value(data, field) for field in headers.named(found, name)))[::-1]


def _lacks(name: str, coding: Coding, data: bytes, start: int) -> bool:
    """Return whether a body without a chunk's size does not begin with the signature of this coding.

    If the coding has none: whether it looks like text, and cannot be decoded.
    """
    if name == "chunked" or name in SIGNATURES:
        return name == "chunked" or not data.startswith(SIGNATURES[name], start)
    if start == len(data) or registry.looks_binary(data[start : start + _LOOKED_AT]):
        return False
    try:
        coding.decode(data[start : start + _TRIED])
    except CodingError as error:
        return error.code in {"broken", "unknown-coding", "not-installed"}
    return False


def payload(message: bytes | memoryview, *, options: WalkOptions, count: int | None) -> bytes | memoryview:
    """Return the body of a response with the `count` outermost codings decoded, all of them for None.

    With a count of 0 the body is not copied. A message that is no response is returned unchanged. Raise CodingError
    where the body is not in the codings that its header names.
    """
    if count == 0:
        view = memoryview(message)
        response = response_at(bytes(view[:_HEAD]), 0)
        if response is not None and response.body < min(_HEAD, len(view)):  # else the header may be longer
            return view[response.body :]
    message = bytes(message)
    response = response_at(message, 0)
    if response is None:
        return message
    body = message[response.body :]
    for coding in codings_of(message, response, options)[0][:count]:
        body = coding.decode(body)
    return body


def sniffed(raw: bytes, coding: Coding) -> str:
    """Return the media type of a body without Content-Type, by its content; "" if it is not recognised.

    A body that cannot be decoded counts as HTML: the fold over it reports the error.
    """
    try:
        return registry.sniff_content(coding.decode(raw)) or ""
    except CodingError:
        return registry.HTML
