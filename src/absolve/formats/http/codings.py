"""Codings of an HTTP body: the chunked transfer coding (RFC 9112 7.1), and several codings applied in sequence.

In: the raw body. Out: the decoded content; and, encoded again after an edit, a body with the same framing.
"""

from __future__ import annotations

import re
from io import BytesIO
from typing import TYPE_CHECKING, Final

from absolve.core.errors import CodingError
from absolve.encodings.offset_map import Composed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from absolve.core.protocols import Coding, Offsets

# chunk-size, then chunk-ext and the line end (RFC 9112 7.1); many servers end the line with a bare LF
CHUNK: Final = re.compile(rb"[\t ]*+([0-9A-Fa-f]{1,15}+)([\t ]*+(?:;[^\n]*+)?\n|[\t ]*+\r\n)")
_LINE_END: Final = re.compile(rb"\r?\n")
_EXCERPT: Final = 20


class Chunked:
    """The chunked transfer coding (RFC 9112 7.1).

    `encode` keeps chunk sizes, chunk extensions and trailers; the last chunk before last-chunk takes any bytes in
    excess. An instance serves one body: `decode` stores the framing (all bytes but chunk-data) that `encode` uses.
    """

    slot: tuple[int, int] | None = None

    def __init__(self) -> None:
        self._frame = b""
        self._rest = 0  # offset into the frame: last-chunk, the trailer section and any bytes after it

    def decode(self, raw: bytes) -> bytes:
        """Return the data of all chunks.

        Raise CodingError where a chunk's size does not lead to a line end, or where last-chunk is missing. Its value is
        the data up to there, with what there is of the last chunk.
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
            error.value = value.getvalue() + _cut_chunk(raw, following)
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


def _cut_chunk(raw: bytes, position: int) -> bytes:
    """Return what there is of the data of a chunk whose size does not lead to a line end."""
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
        """Return the error of an outer coding, its value decoded by the codings from this number on."""
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
