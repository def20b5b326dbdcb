"""How the body of an HTTP message is written: in chunks (RFC 9112 7.1), compressed, one coding in another."""

from __future__ import annotations

import re
from io import BytesIO
from typing import TYPE_CHECKING, Final

from absolve.core.errors import CodingError
from absolve.encodings.offset_map import Composed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from absolve.core.protocols import Coding, Offsets

# chunk-size; then chunk-ext and the end of the line (RFC 9112 7.1), of which many servers write LF alone
CHUNK: Final = re.compile(rb"[\t ]*+([0-9A-Fa-f]{1,15}+)([\t ]*+(?:;[^\n]*+)?\n|[\t ]*+\r\n)")
_LINE_END: Final = re.compile(rb"\r?\n")
_EXCERPT: Final = 20


class Chunked:
    """RFC 9112 7.1. Chunks keep their sizes and extensions, but that the last one takes what is more; trailers stay.

    An instance serves one body: it keeps what is around the data in that which it was decoded from.
    """

    slot: tuple[int, int] | None = None

    def __init__(self) -> None:
        self._frame = b""
        self._rest = 0  # where in it the last-chunk begins, the trailer section behind it, and what is beyond

    def decode(self, raw: bytes) -> bytes:
        """The data of all chunks. CodingError where a size does not lead to the end of a line, or there is no last."""
        value = BytesIO()  # which gives its bytes without a copy
        frame = BytesIO()
        position = following = 0
        for head, end, following in _chunks(raw):  # noqa: B007 - the last one is wanted
            frame.write(raw[position : head.end()])
            value.write(raw[head.end() : end])
            position = end
        frame.write(raw[position:])
        self._frame = frame.getvalue()
        self._rest = len(self._frame) - (len(raw) - following)
        return value.getvalue()

    def decode_mapped(self, raw: bytes) -> tuple[bytes, None]:
        return self.decode(raw), None  # an edit would change the size of its chunk, too

    def encode(self, value: bytes, after: bytes = b"", before: bytes = b"") -> bytes:  # noqa: ARG002 - as it is
        frame = self._frame
        raw = BytesIO()
        raw.seek(len(frame) + len(value))  # so that it never grows to be copied, or hardly
        raw.write(b"\0")
        raw.seek(0)
        rest = memoryview(value)  # whose pieces are no copies: most of it may go into the last chunk
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
    """Each chunk before the last: the line with its size, where its data ends, and where the next one begins.

    `are_empty`: none of the data is there.
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


def _fault(raw: bytes, position: int) -> str:
    if position >= len(raw):
        return f"the chunked body ends before its last chunk, {len(raw)} bytes from its start"
    excerpt = raw[position : position + _EXCERPT]
    return f"a chunk has the wrong size: {excerpt!r} stands {position} bytes from the start of the body"


class Stack:
    """Codings one in another, the outermost first."""

    slot: tuple[int, int] | None = None

    def __init__(self, codings: Sequence[Coding]) -> None:
        self._codings = codings

    def decode(self, raw: bytes) -> bytes:
        for coding in self._codings:
            raw = coding.decode(raw)
        return raw

    def decode_mapped(self, raw: bytes) -> tuple[bytes, Offsets | None]:
        offsets: list[Offsets | None] = []
        for coding in self._codings:
            raw, found = coding.decode_mapped(raw)
            offsets.append(found)
        through = offsets[0] if offsets else None
        for inner in offsets[1:]:
            through = Composed(through, inner) if through is not None and inner is not None else None
        return raw, through

    def encode(self, value: bytes, after: bytes = b"", before: bytes = b"") -> bytes:
        for coding in reversed(self._codings):
            value = coding.encode(value, after, before)
        return value
