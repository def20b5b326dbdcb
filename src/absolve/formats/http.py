"""HTTP messages (RFC 9110, 9112): header fields that hold references, content codings, the body as a part.

In: the bytes of one or several responses. Out: bases and links of the header fields, a part for the body, which keeps
its framing when it is encoded again after an edit. The body is not parsed.
A base in the header applies to the links of the header (RFC 1808 3.1) and, as the base of the encapsulating entity,
to the body (3.2).
"""

from __future__ import annotations

import re
from io import BytesIO
from typing import TYPE_CHECKING, Final, NamedTuple

from absolve.core.errors import CodingError, WalkError, in_short
from absolve.core.model import REDIRECTED, BaseClaim, Capture, Derived, Finding, Layer, Part, new
from absolve.encodings.charsets import for_any
from absolve.encodings.codings import IDENTITY
from absolve.encodings.offset_map import Composed
from absolve.formats import headers, registry, sniffing
from absolve.formats.compression import CODINGS, MOST_CODINGS, SIGNATURES, Unread, listed, too_many
from absolve.urls.chain import MOST, REDIRECTS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from absolve.core.model import Event
    from absolve.core.protocols import Coding, Offsets
    from absolve.encodings.charsets import Charset
    from absolve.formats import WalkOptions
    from absolve.formats.headers import Field


# --- transfer codings: chunks (RFC 9112 7.1), and several codings applied in sequence ---------------------------------

# chunk-size, then chunk-ext and the line end (RFC 9112 7.1); many servers end the line with a bare LF
CHUNK: Final = re.compile(rb"[\t ]*+([0-9A-Fa-f]{1,15}+)([\t ]*+(?:;[^\n]*+)?\n|[\t ]*+\r\n)")
_LINE_END: Final = re.compile(rb"\r?\n")
_EXCERPT: Final = 20


class Chunked:
    r"""The chunked transfer coding (RFC 9112 7.1): for example, the chunks `3`, `abc`, `0` are decoded to `abc`.

    `encode` keeps chunk sizes, chunk extensions and trailers; the last chunk before last-chunk takes any bytes in
    excess. An instance serves one body: `decode` stores the framing (all bytes but chunk-data) that `encode` uses.

    >>> body = Chunked()
    >>> body.decode(b"3\r\nabc\r\n0\r\n\r\n"), body.encode(b"abcd")
    (b'abc', b'4\r\nabcd\r\n0\r\n\r\n')
    """

    slot: tuple[int, int] | None = None

    def __init__(self) -> None:
        self._frame = b""
        self._rest = 0  # offset into the frame: last-chunk, the trailer section and any bytes after it

    def decode(self, raw: bytes) -> bytes:
        """Return the data of all chunks.

        Raise CodingError where a chunk's size does not lead to a line end, or where last-chunk is missing. The error's
        `value` is the data before the fault, with the rest of the last chunk.
        """
        value = BytesIO()  # getvalue() returns its bytes without a copy
        frame = BytesIO()
        position = following = 0
        try:
            for head, end, following in _chunks(raw):  # noqa: B007 - its last value is used after the loop
                frame.write(raw[position : head.end()])
                value.write(raw[head.end() : end])
                position = end
        except CodingError as error:
            error.value = value.getvalue() + _partial_chunk(raw, following)
            raise
        frame.write(raw[position:])
        self._frame = frame.getvalue()
        self._rest = len(self._frame) - (len(raw) - following)
        return value.getvalue()

    def decode_mapped(self, raw: bytes) -> tuple[bytes, None]:
        return self.decode(raw), None  # no offset map: an edit changes the size of its chunk, too

    def encode(self, value: bytes, after: bytes = b"", before: bytes = b"") -> bytes:  # noqa: ARG002 - as it is
        """Return the value in the stored framing, the sizes of changed chunks updated."""
        frame = self._frame
        raw = BytesIO()
        raw.seek(len(frame) + len(value))  # allocate at once: growing would copy the buffer
        raw.write(b"\0")
        raw.seek(0)
        rest = memoryview(value)  # slices without copies: most of the value may go into the last chunk
        start = position = 0
        for head, end, following in _chunks(frame, are_empty=True):
            size = int(head[1], 16)
            data = rest[position:] if following == self._rest else rest[position : position + size]
            position += len(data)
            if data:
                digits = head[1] if len(data) == size else b"%0*x" % (len(head[1]), len(data))
                raw.writelines((frame[start : head.start(1)], digits, head[2], data, frame[end:following]))
            start = following
        raw.write(frame[self._rest :])
        raw.truncate()
        return raw.getvalue()


def _chunks(raw: bytes, *, are_empty: bool = False) -> Iterator[tuple[re.Match[bytes], int, int]]:
    """Yield each chunk before last-chunk: the match of its size line, the end of its data, the start of the next chunk.

    Offsets are bytes into `raw`. `are_empty`: `raw` is a frame, without chunk-data. Raise CodingError at a chunk whose
    size is missing, or does not lead to a line end.
    """
    position = 0
    while True:
        head = CHUNK.match(raw, position)
        if head is None:
            raise CodingError("wrong-chunk", _fault(raw, position))
        size = int(head[1], 16)
        if not size:
            return
        end = _LINE_END.match(raw, head.end() + (0 if are_empty else size))
        if end is None:
            raise CodingError("wrong-chunk", _fault(raw, head.end() + size))
        position = end.end()
        yield head, end.start(), position


def _partial_chunk(raw: bytes, position: int) -> bytes:
    """Return the data of a chunk that is cut off, or whose size does not lead to a line end."""
    head = CHUNK.match(raw, position)
    return raw[head.end() : head.end() + int(head[1], 16)] if head is not None else b""


def _fault(raw: bytes, position: int) -> str:
    if position >= len(raw):
        return f"the chunked body ends before its last chunk, {len(raw)} bytes from its start"
    excerpt = raw[position : position + _EXCERPT]
    return f"a chunk has the wrong size: {excerpt!r} stands {position} bytes from the start of the body"


class Stack:
    """Several codings applied in sequence, the outermost first."""

    slot: tuple[int, int] | None = None

    def __init__(self, codings: Sequence[Coding]) -> None:
        self._codings = codings

    def decode(self, raw: bytes) -> bytes:
        for number, coding in enumerate(self._codings, 1):
            try:
                raw = coding.decode(raw)
            except CodingError as error:
                raise self._passed_on(error, number) from error
        return raw

    def decode_mapped(self, raw: bytes) -> tuple[bytes, Offsets | None]:
        offsets: list[Offsets | None] = []
        for number, coding in enumerate(self._codings, 1):
            try:
                raw, found = coding.decode_mapped(raw)
            except CodingError as error:
                raise self._passed_on(error, number) from error
            offsets.append(found)
        through = offsets[0] if offsets else None
        for inner in offsets[1:]:
            through = Composed(through, inner) if through is not None and inner is not None else None
        return raw, through

    def _passed_on(self, error: CodingError, number: int) -> CodingError:
        """Return the error of an outer coding; the codings from this number on decode its value."""
        if error.value is None:
            return error
        try:
            return CodingError(error.code, error.message, Stack(self._codings[number:]).decode(error.value))
        except CodingError as inner:
            return CodingError(error.code, error.message, inner.value)

    def encode(self, value: bytes, after: bytes = b"", before: bytes = b"") -> bytes:
        for coding in reversed(self._codings):
            value = coding.encode(value, after, before)
        return value


# --- the parts of a response, and the codings of its body -------------------------------------------------------------

# status-line (RFC 9112 4); some servers omit the reason and the space before it, curl writes HTTP/2
_STATUS_LINE: Final = re.compile(rb"HTTP/[0-9]+(?:\.[0-9]+)?[\t ]+([0-9]{3})(?:[\t ][^\n]*+)?\r?\n")
# A response behind the body of a redirect: a status line with a field below it.
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
    r"""Return the response whose status line begins at this byte offset; None if there is no status line.

    >>> found = response_at(b"HTTP/1.1 200 OK\r\nAge: 1\r\n\r\n<p>", 0)
    >>> found.status, found.fields[0].name, found.body
    (b'200', 'age', 27)
    """
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
    """Return the redirects before the last response, in order; for example, one for `301` with a Location, then `200`.

    `curl -iL` writes the headers of all responses one after the other, HTTPie also their bodies. Raise WalkError
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
    """Return the last of several responses whose headers follow one another (100 Continue); the first is `response`."""
    while following := response_at(data, response.body):
        response = following
    return response


def codings_of(data: bytes, response: Response, options: WalkOptions) -> tuple[list[Coding], list[Finding]]:
    """Return the codings of the body, the outermost first, and a finding for each that is named but not applied.

    For example, Content-Encoding `br, gzip` gives the codings gzip and br. Archives store decoded bodies, but keep the
    field: a coding is skipped if the body, or its first chunk, lacks it. More than `MOST_CODINGS` cannot be read.
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
        coding: Coding = Unread(name)
        if name == "chunked":
            coding = Chunked()
        elif name in CODINGS:
            coding = CODINGS[name](options.max_decompressed)
        if start is not None and chunk is None and _lacks(name, coding, data, start):
            words = f"the header says {in_short(name)}, and the body is not"
            findings.append(Finding("not-encoded", words, response.body))
            continue
        codings.append(coding)
        start = chunk.end() if chunk is not None else None
    return codings, findings


def _names(data: bytes, found: Sequence[Field], name: str) -> list[str]:
    """Return the codings in all fields with a name, in lower case, the coding that was applied last first."""
    return listed(",".join(headers.value(data, field) for field in headers.named(found, name)))[::-1]


def _lacks(name: str, coding: Coding, data: bytes, start: int) -> bool:
    """Return whether a body without a chunk's size does not begin with the signature of this coding.

    A coding without a signature is lacking where the body looks like text and cannot be decoded.
    """
    if name == "chunked" or name in SIGNATURES:
        return name == "chunked" or not data.startswith(SIGNATURES[name], start)
    if start == len(data) or sniffing.looks_binary(data[start : start + _LOOKED_AT]):
        return False
    try:
        coding.decode(data[start : start + _TRIED])
    except CodingError as error:
        return error.code in {"broken", "unknown-coding", "not-installed"}
    return False


def payload(message: bytes | memoryview, *, options: WalkOptions, count: int | None) -> bytes | memoryview:
    """Return the body of a response with the `count` outermost codings decoded, or all codings for None.

    With a count of 0 the body is not copied. Data that is no HTTP response is returned unchanged. Raise CodingError
    where the body is not in the codings that its header names.
    """
    if count == 0:
        view = memoryview(message)
        response = response_at(bytes(view[:_HEAD]), 0)
        if response is not None and response.body < min(_HEAD, len(view)):  # otherwise the header may be longer
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
        return sniffing.sniff_content(coding.decode(raw)) or ""
    except CodingError:
        return registry.HTML


# --- the walker -------------------------------------------------------------------------------------------------------

_REQUEST_LINE: Final = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]++ [^\n]*?(?: HTTP/[0-9.]+)?\r?\n")  # RFC 9112 3
_BASES: Final = ("base", "content-base")  # not Content-Location: since RFC 7231 it sets no base in HTTP
_PARTIAL: Final = b"206"
_NOT_MODIFIED: Final = b"304"
_DIGITS: Final = 18  # maximum digits of a Content-Length


def walk(data: bytes, _charset: Charset, options: WalkOptions) -> Iterator[Event]:
    """Yield the events of one response, or of several where only the last has a body (100 Continue).

    For example, `HTTP/1.1 200 OK` with `Link: </a>` and an HTML body has a link and a part. Each response of a chain of
    redirects (`curl -iL`) is a part, because its URL is the Location before it. A request has no events. Raise
    WalkError for any other data.
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
        int(response.status) or None,
        headers.first(data, response.fields, "date") or "",
        headers.first(data, response.fields, "content-type") or "",
        0 if is_empty else None,
        robots=", ".join(headers.value(data, field) for field in headers.named(response.fields, "x-robots-tag")),
    )


def _body(data: bytes, response: Response, options: WalkOptions) -> list[Part | Finding]:
    """Return the body as a part, one of a media type without a walker only for the table of documents."""
    start, end = response.body, len(data)
    media_type = headers.first(data, response.fields, "content-type") or ""
    is_read = not media_type or registry.is_read(media_type)
    if start == end or response.status in NO_BODY or not (is_read or options.documents):
        return []
    if is_read and response.status == _PARTIAL:
        return [Finding("partial", "this body is a part of a document, and stays as it is", start)]
    derived: list[Derived] = []
    codings, findings = codings_of(data, response, options)
    length = None if any(isinstance(coding, Chunked) for coding in codings) else _length(data, response)
    if length is not None:
        field, size = length
        if start + size <= end and not (is_read and data[start + size :].strip(b"\r\n")):
            end = start + size
            derived = [new(Derived, (field.start, field.end, _in_digits))]
        else:
            text = f"Content-Length says {size} and the body has {end - start} bytes: the field stays"
            findings.append(Finding("wrong-length", text, start))
    coding: Coding = Stack(codings) if codings else IDENTITY
    if not media_type:
        media_type = sniffed(data[start:end], coding)
    part = Part(media_type, start, end, coding, name="body", own_charset=True, encloses=False, derived=derived)
    return [*findings, part] if is_read else [part]


def _in_digits(raw: bytes) -> bytes:
    return b"%d" % len(raw)


def _length(data: bytes, response: Response) -> tuple[Field, int] | None:
    """Return the Content-Length field and its value, if there is exactly one, all digits (RFC 9112 6.3); else None."""
    found = headers.named(response.fields, "content-length")
    if len(found) != 1 or found[0].end - found[0].start > _DIGITS:
        return None
    digits = data[found[0].start : found[0].end]
    return (found[0], int(digits)) if digits.isdigit() else None
