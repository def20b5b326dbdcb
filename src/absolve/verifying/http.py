"""Second check of HTTP messages (RFC 9112): http.client reads equal header fields and bodies, except for the links.

In: the two entities. Out: differences. A changed body is compared by the second check of its own media type, after
Python's own modules have decoded it to the same bytes as absolve.
"""

from __future__ import annotations

import io
import zlib
from email.parser import HeaderParser
from http.client import HTTPException, HTTPMessage, HTTPResponse
from itertools import takewhile, zip_longest
from typing import TYPE_CHECKING, NamedTuple, cast

from absolve.document.walk import inners
from absolve.formats.headers import OF_HTTP
from absolve.verifying.differences import shown
from absolve.verifying.fields import faults, judged

if TYPE_CHECKING:
    import socket
    from collections.abc import Iterator
    from email.message import Message

    from absolve.document.entity import Entity
    from absolve.verifying.differences import Differences
    from absolve.verifying.meant import Meant

_EMPTY_LINES = (b"\r\n", b"\n")


class _Read(NamedTuple):
    """A message: its status lines, each with its header, and the raw body of the last one."""

    heads: list[tuple[bytes, Message]]
    body: bytes

    @property
    def last(self) -> Message:
        return self.heads[-1][1]


def compare(before: Entity, after: Entity, meant: Meant, differences: Differences) -> None:
    """Add the differences between the messages that http.client reads."""
    for code, words in _faults(before, after, meant):
        differences.add(code, f"http.client: {words}", None, None)


def _faults(before: Entity, after: Entity, meant: Meant) -> Iterator[tuple[str, str]]:
    old, new = (_read(entity.data) for entity in (before, after))
    if [line for line, _ in old.heads] != [line for line, _ in new.heads]:
        yield "bytes", "the status line differs"
        return
    for (_, header), (_, changed) in zip(old.heads, new.heads, strict=True):
        yield from _header(header, changed, before, after, meant)
    if old.heads:
        yield from _lengths(old, new)
        yield from _bodies(old, new, before, after, meant)


def _read(data: bytes) -> _Read:
    file = io.BytesIO(data)
    heads: list[tuple[bytes, Message]] = []
    while True:
        start = file.tell()
        line = file.readline()
        if not line.startswith(b"HTTP/"):
            return _Read(heads, data[start:])
        lines = takewhile(lambda line: line not in _EMPTY_LINES, iter(file.readline, b""))
        heads.append((line, HeaderParser(HTTPMessage).parsestr(b"".join(lines).decode("latin-1"))))


def _header(old: Message, new: Message, one: Entity, other: Entity, meant: Meant) -> Iterator[tuple[str, str]]:
    if old.get_payload() != new.get_payload():
        yield "unjudged", "it takes an invalid header line and all lines after it for text, and that text differs"
    for field, changed in zip_longest(old.raw_items(), new.raw_items()):
        if field == changed or (field and changed and {field[0].lower(), changed[0].lower()} == {"content-length"}):
            continue
        place = OF_HTTP.get(field[0].lower()) if field and changed and field[0] == changed[0] else None
        if place is None:
            yield "attribute", f"the field {shown(str(field))} changed to {shown(str(changed))}"
        else:
            yield from faults(place, _text(field[1]), _text(changed[1]), one, other, meant)


def _text(value: str) -> str:
    """Return the value of a field as absolve decodes it; http.client decodes each byte as a character."""
    return value.encode("latin-1").decode("utf-8", "surrogateescape")


def _lengths(old: _Read, new: _Read) -> Iterator[tuple[str, str]]:
    """Check that Content-Length has its new value, if it was right; line ends after the body do not count."""
    lengths, changed = ([value.strip() for value in read.last.get_all("content-length", [])] for read in (old, new))
    expected = lengths
    if len(lengths) == 1 and lengths[0].isdecimal() and _without_chunks(old) == old.body:
        behind = old.body[int(lengths[0]) :]
        if int(lengths[0]) <= len(old.body) and not behind.strip(b"\r\n"):
            expected = [str(len(new.body) - len(behind))]
    if changed != expected:
        yield "attribute", f"Content-Length changed to {shown(str(changed))}, expected {shown(str(expected))}"


def _bodies(old: _Read, new: _Read, before: Entity, after: Entity, meant: Meant) -> Iterator[tuple[str, str]]:
    if old.body == new.body:
        return
    one, other = (next((inner.entity for inner in inners(entity)), None) for entity in (before, after))
    if one is None or other is None:
        yield "tree", "the body differs"
        return
    for read, entity in ((old, one), (new, other)):
        try:
            decoded = _decoded(read)
        except (ValueError, HTTPException, EOFError, OSError, zlib.error, ImportError) as error:
            yield "unjudged", f"it cannot decode this body: {str(error) or type(error).__name__}"
            return
        if decoded.rstrip(b"\r\n") != entity.data.rstrip(b"\r\n"):
            yield "unjudged", "it decodes this body differently from absolve"
            return
    yield from judged(one, other, meant)


# --- bodies -----------------------------------------------------------------------------------------------------------


class _Socket:
    """A substitute for the socket that HTTPResponse reads from."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    def makefile(self, _mode: str) -> io.BytesIO:
        return io.BytesIO(self._data)


def _decoded(read: _Read) -> bytes:
    """Return the decoded body; archives store decoded bodies under a header that still names the codings."""
    body = _without_chunks(read)
    for value in reversed(read.last.get_all("content-encoding", [])):
        for name in reversed(value.split(",")):
            body = _opened(name.strip().lower(), body)
    return body


def _without_chunks(read: _Read) -> bytes:
    if "chunked" not in read.last.get("transfer-encoding", "").lower():
        return read.body
    data = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + read.body
    response = HTTPResponse(cast("socket.socket", _Socket(data)))
    response.begin()
    try:
        return response.read()
    except (HTTPException, ValueError):
        return read.body


def _opened(name: str, body: bytes) -> bytes:
    if name in {"gzip", "x-gzip"} and body.startswith(b"\x1f\x8b"):
        import gzip

        return gzip.decompress(body)
    if name == "deflate":
        try:
            return zlib.decompress(body)
        except zlib.error:
            return zlib.decompress(body, -15)
    if name == "br":
        import brotli

        return bytes(brotli.decompress(body))
    if name == "zstd" and body.startswith(b"\x28\xb5\x2f\xfd"):
        import zstandard

        with zstandard.ZstdDecompressor().stream_reader(body, read_across_frames=True) as reader:
            return reader.read()
    return body
