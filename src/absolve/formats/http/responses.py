"""The responses of HTTP: where their parts stand, and the codings that a body is in (RFC 9112, RFC 9110 8.4)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from absolve.core.errors import CodingError, in_short
from absolve.core.model import Finding, new
from absolve.formats import headers, registry
from absolve.formats.compression import CODINGS, SIGNATURES, Unread
from absolve.formats.http.codings import CHUNK, Chunked

if TYPE_CHECKING:
    from collections.abc import Sequence

    from absolve.core.protocols import Coding
    from absolve.formats.headers import Field
    from absolve.formats.protocols import WalkOptions

# RFC 9112 4; servers leave out the reason and its blank, curl writes HTTP/2
_STATUS_LINE: Final = re.compile(rb"HTTP/[0-9]+(?:\.[0-9]+)?[\t ]+([0-9]{3})(?:[\t ][^\n]*+)?\r?\n")
NO_BODY: Final = frozenset({b"204", b"304"})
_HEAD: Final = 1 << 16  # bytes of a message in which most headers end


class Response(NamedTuple):
    """A response's status, its header fields, and where its body begins."""

    status: bytes
    fields: list[Field]
    body: int


def response_at(data: bytes, start: int) -> Response | None:
    line = _STATUS_LINE.match(data, start) if data.startswith(b"HTTP/", start) else None
    if line is None:
        return None
    found, body = headers.fields(data, line.end(), skip=True)
    return new(Response, (line[1], found, body))


def codings_of(data: bytes, response: Response, options: WalkOptions) -> tuple[list[Coding], list[Finding]]:
    """How the body is coded, the outermost coding first, and what is said of it that is not so.

    Archives keep bodies that they have decoded under a header that still names the coding: what has no sign of it is
    not in it.
    """
    codings: list[Coding] = []
    findings: list[Finding] = []
    names = [*_names(data, response.fields, "transfer-encoding"), *_names(data, response.fields, "content-encoding")]
    for name in names:
        if name in {"identity", "none", ""}:
            continue
        if not codings and _lacks(name, data, response.body):
            words = f"the header says {in_short(name)}, and the body is not"
            findings.append(Finding("not-encoded", words, response.body))
        elif name == "chunked":
            codings.append(Chunked())
        else:
            codings.append(CODINGS[name](options.max_decompressed) if name in CODINGS else Unread(name))
    return codings, findings


def _names(data: bytes, found: Sequence[Field], name: str) -> list[str]:
    """The codings that all fields of a name list, the one that was applied last first."""
    values = [headers.value(data, field) for field in headers.named(found, name)]
    return [coding.strip().lower() for value in values for coding in value.split(",")][::-1]


def _lacks(name: str, data: bytes, body: int) -> bool:
    """Whether a body has not the sign that one in this coding begins with."""
    if name == "chunked":
        return not CHUNK.match(data, body)
    return not data.startswith(SIGNATURES.get(name, b""), body)


def payload(message: bytes | memoryview, *, options: WalkOptions, count: int | None) -> bytes | memoryview:
    """A response's body without so many of its codings, all of them for None; no copy of it where none is taken away.

    What is no response is given as it is. CodingError where it is not in those that its header names.
    """
    if count == 0:
        view = memoryview(message)
        response = response_at(bytes(view[:_HEAD]), 0)
        if response is not None and response.body < min(_HEAD, len(view)):  # else the header may go on
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
    """The media type of a body of which nothing says it; one that cannot be decoded is for the fold to report."""
    try:
        return registry.sniff_content(coding.decode(raw)) or ""
    except CodingError:
        return registry.HTML
