"""How the body of an HTTP message is written: in chunks (RFC 9112 7.1), compressed, one coding in another."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from absolve.errors import CodingError
from absolve.offsets import Composed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from absolve.typing import Coding, Offsets

# chunk-size; then chunk-ext and the end of the line (RFC 9112 7.1), of which many servers write LF alone
CHUNK: Final = re.compile(rb"[\t ]*+([0-9A-Fa-f]{1,15}+)([\t ]*+(?:;[^\n]*+)?\n|[\t ]*+\r\n)")
_LINE_END: Final = re.compile(rb"\r?\n")
_EXCERPT: Final = 20


class _Chunk(NamedTuple):
    size: int
    before: bytes  # spaces that some servers write
    digits: bytes  # of the size; some servers pad them
    line: bytes  # what follows the size in its line, and the line's end
    end: bytes  # the line's end after the data


class Chunked:
    """RFC 9112 7.1. Chunks keep their sizes and extensions, but that the last one takes what is more; trailers stay.

    An instance serves one body: it keeps the chunks that it met.
    """

    slot: tuple[int, int] | None = None

    def __init__(self) -> None:
        self._chunks: list[_Chunk] = []
        self._rest = b""

    def decode(self, raw: bytes) -> bytes:
        """The data of all chunks. CodingError where a size does not lead to the end of a line, or there is no last."""
        self._chunks = []
        pieces: list[bytes] = []
        position = 0
        while True:
            found = CHUNK.match(raw, position)
            if found is None:
                raise CodingError("wrong-chunk", self._fault(raw, position))
            size = int(found[1], 16)
            if not size:
                self._rest = raw[position:]  # last-chunk, trailer section, and what is beyond
                return b"".join(pieces)
            data_end = found.end() + size
            end = _LINE_END.match(raw, data_end)
            if end is None:
                raise CodingError("wrong-chunk", self._fault(raw, data_end))
            pieces.append(raw[found.end() : data_end])
            before = raw[position : found.start(1)]
            self._chunks.append(_Chunk(size, before, found[1], found[2], end[0]))
            position = end.end()

    @staticmethod
    def _fault(raw: bytes, position: int) -> str:
        if position >= len(raw):
            return f"the chunked body ends before its last chunk, {len(raw)} bytes from its start"
        excerpt = raw[position : position + _EXCERPT]
        return f"a chunk has the wrong size: {excerpt!r} stands {position} bytes from the start of the body"

    def decode_mapped(self, raw: bytes) -> tuple[bytes, None]:
        return self.decode(raw), None  # an edit would change the size of its chunk, too

    def encode(self, value: bytes, after: bytes = b"", before: bytes = b"") -> bytes:  # noqa: ARG002 - as it is
        pieces: list[bytes] = []
        position = 0
        for index, chunk in enumerate(self._chunks):
            is_last = index == len(self._chunks) - 1
            data = value[position:] if is_last else value[position : position + chunk.size]
            position += len(data)
            if data:
                digits = chunk.digits if len(data) == chunk.size else b"%0*x" % (len(chunk.digits), len(data))
                pieces += [chunk.before, digits, chunk.line, data, chunk.end]
        pieces.append(self._rest)
        return b"".join(pieces)


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
