"""Compressed data as codings: gzip (RFC 1952), deflate (RFC 1950, 1951), brotli (RFC 7932), Zstandard (RFC 8878).

In: compressed bytes. Out: the decompressed bytes, at most `limit` of them; and the compressed bytes of a changed value.
An edit in the value has no counterpart in the compressed bytes: a changed value is compressed as a whole. Each
instance serves one part, because `decode` stores the format details that `encode` restores.
"""

from __future__ import annotations

import zlib
from contextlib import suppress
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from absolve.core.errors import CodingError, in_short

if TYPE_CHECKING:
    from collections.abc import Callable

_LEVEL: Final = 6
_GZIP: Final = 31  # zlib's wbits: gzip header and trailer, zlib header and trailer, neither
_ZLIB: Final = 15
_BARE: Final = -15


def _decompressing() -> Any:
    """Return the module zlib-ng where it is installed, else zlib: it takes half the time, with the same errors."""
    try:
        return import_module("zlib_ng.zlib_ng")
    except ImportError:
        return zlib


decompressor: Final[Callable[[int], zlib._Decompress]] = _decompressing().decompressobj
BROKEN: Final[type[Exception]] = _decompressing().error  # the exception for broken data


class Compressed:
    """Base class of the codings in this module; `limit` is the maximum size of the decoded value in bytes."""

    slot: tuple[int, int] | None = None

    def __init__(self, limit: int) -> None:
        self._limit = limit

    def decode(self, raw: bytes) -> bytes:
        """Return the decompressed bytes. Raise CodingError for broken or truncated data, or a value over the limit."""
        raise NotImplementedError

    def decode_mapped(self, raw: bytes) -> tuple[bytes, None]:
        return self.decode(raw), None

    def encode(self, value: bytes, after: bytes = b"", before: bytes = b"") -> bytes:
        raise NotImplementedError

    def _checked(self, value: bytes) -> bytes:
        if len(value) > self._limit:
            raise too_large(self._limit)
        return value


def too_large(limit: int) -> CodingError:
    """Return the error for a value of more than `limit` bytes."""
    return CodingError("too-large", f"more than {limit:,} bytes come out of this (max-decompressed)")


def _truncated(name: str, value: bytes) -> CodingError:
    return CodingError("truncated", f"the {name} data ends before its end", value)


class Gzip(Compressed):
    """gzip (RFC 1952): one member or several. Bytes after the last member are kept after the new member."""

    _tail = b""

    def decode(self, raw: bytes) -> bytes:
        value, rest = inflate(raw, _GZIP, self._limit, "gzip")
        pieces = [value]
        size = len(value)
        while rest.startswith(b"\x1f\x8b"):
            try:
                value, rest = inflate(rest, _GZIP, self._limit - size, "gzip")
            except CodingError as error:
                if error.value is not None:
                    error.value = b"".join((*pieces, error.value))
                raise
            pieces.append(value)
            size += len(value)
        self._tail = rest
        return b"".join(pieces)

    def encode(self, value: bytes, after: bytes = b"", before: bytes = b"") -> bytes:  # noqa: ARG002 - as it is
        return deflated(value, _GZIP) + self._tail


class Deflate(Compressed):
    """The content coding deflate (RFC 9110 8.4.1.2): the zlib format (RFC 1950).

    Bare deflate data (RFC 1951), which some servers send instead, is accepted.
    """

    _wbits = _ZLIB

    def decode(self, raw: bytes) -> bytes:
        self._wbits = _ZLIB if len(raw) > 1 and raw[0] & 15 == 8 and (raw[0] << 8 | raw[1]) % 31 == 0 else _BARE
        return inflate(raw, self._wbits, self._limit, "deflate")[0]

    def encode(self, value: bytes, after: bytes = b"", before: bytes = b"") -> bytes:  # noqa: ARG002 - as it is
        return deflated(value, self._wbits)


class BareDeflate(Deflate):
    """Bare deflate data (RFC 1951), as in ZIP files."""

    def decode(self, raw: bytes) -> bytes:
        self._wbits = _BARE
        return inflate(raw, _BARE, self._limit, "deflate")[0]


def inflate(raw: bytes, wbits: int, limit: int, name: str) -> tuple[bytes, bytes]:
    """Return the value of one deflate stream and the bytes after it.

    `wbits` is zlib's, `name` is for messages. Raise CodingError for broken or truncated data or a value over the limit.

    >>> inflate(deflated(b"abc", 15) + b"rest", 15, 100, "deflate")
    (b'abc', b'rest')
    """
    machine = decompressor(wbits)
    try:
        value = machine.decompress(raw, max(limit, 0) + 1)
    except BROKEN as error:
        before = _before_fault(raw, wbits, limit)
        raise CodingError("broken", f"the {name} data is broken: {error}", before) from error
    if len(value) > limit:
        raise too_large(limit)
    if not machine.eof:
        raise _truncated(name, value)
    return value, machine.unused_data


def _before_fault(raw: bytes, wbits: int, limit: int) -> bytes | None:
    """Return nearly all data before the fault in a broken stream; None for no data, or more than `limit` bytes."""
    machine = decompressor(wbits)
    value = bytearray()
    step = (len(raw) >> 12) + 1  # a step with a fault gives nothing
    with suppress(BROKEN):
        for start in range(0, len(raw), step):
            value += machine.decompress(raw[start : start + step], limit + 1 - len(value))
            if len(value) > limit:
                return None
    return bytes(value) or None


def deflated(value: bytes, wbits: int) -> bytes:
    """Return the value compressed as one deflate stream; `wbits` is zlib's."""
    machine = zlib.compressobj(_LEVEL, zlib.DEFLATED, wbits)
    return machine.compress(value) + machine.flush()


class Brotli(Compressed):
    """Brotli (RFC 7932), by the package brotli."""

    def decode(self, raw: bytes) -> bytes:
        brotli = _package("brotli")
        machine = brotli.Decompressor()
        pieces: list[bytes] = []
        size = 0
        rest = raw
        try:
            while not machine.is_finished() and size <= self._limit:
                piece = machine.process(rest, output_buffer_limit=self._limit - size + 1)
                if not (piece or rest):
                    raise _truncated("brotli", b"".join(pieces))
                rest = b""
                pieces.append(piece)
                size += len(piece)
        except brotli.error as error:
            raise CodingError("broken", f"the brotli data is broken: {error}", b"".join(pieces) or None) from error
        return self._checked(b"".join(pieces))

    def encode(self, value: bytes, after: bytes = b"", before: bytes = b"") -> bytes:  # noqa: ARG002 - as it is
        raw: bytes = _package("brotli").compress(value, quality=_LEVEL)
        return raw


class Zstandard(Compressed):
    """Zstandard (RFC 8878), by the package zstandard: one frame or several, with a dictionary as in WARC files."""

    def __init__(self, limit: int, dictionary: bytes = b"") -> None:
        super().__init__(limit)
        self._dictionary = dictionary

    def decode(self, raw: bytes) -> bytes:
        zstandard = _package("zstandard")
        machine = zstandard.ZstdDecompressor(dict_data=self._dict(zstandard))
        try:
            with machine.stream_reader(raw, read_across_frames=True) as reader:
                value: bytes = reader.read(self._limit + 1)
        except zstandard.ZstdError as error:
            raise CodingError("broken", f"the zstd data is broken: {error}") from error
        if len(value) <= self._limit and not ends_with_frame(raw):
            raise _truncated("zstd", value)
        return self._checked(value)

    def encode(self, value: bytes, after: bytes = b"", before: bytes = b"") -> bytes:  # noqa: ARG002 - as it is
        zstandard = _package("zstandard")
        raw: bytes = zstandard.ZstdCompressor(dict_data=self._dict(zstandard)).compress(value)
        return raw

    def _dict(self, zstandard: Any) -> Any:
        return zstandard.ZstdCompressionDict(self._dictionary) if self._dictionary else None


def zstandard_head(raw: bytes, size: int) -> bytes:
    """Return at most `size` bytes from the start of a Zstandard frame, which may be cut off; b"" if none decodes."""
    with suppress(CodingError):
        zstandard = _package("zstandard")
        with suppress(zstandard.ZstdError), zstandard.ZstdDecompressor().stream_reader(raw) as reader:
            found: bytes = reader.read(size)
            return found
    return b""


ZSTD_FRAME: Final = b"\x28\xb5\x2f\xfd"
_SKIPPABLE: Final = b"\x2a\x4d\x18"  # behind a byte from 0x50 to 0x5f


def is_skippable(raw: bytes, start: int = 0) -> bool:
    """Return whether a skippable Zstandard frame begins at `start` (RFC 8878 3.1.2)."""
    return raw[start + 1 : start + 4] == _SKIPPABLE and 0x50 <= raw[start] <= 0x5F


def frame_end(raw: bytes, start: int = 0) -> int | None:
    """Return the end offset of the Zstandard frame at `start` (RFC 8878 3.1), by its block headers alone.

    Return None if `raw` ends before the frame. Raise CodingError where no frame begins.

    >>> frame_end(bytes.fromhex("28b52ffd 20 03 190000") + b"abc and more")
    12
    """
    if is_skippable(raw, start):
        end = start + 8 + int.from_bytes(raw[start + 4 : start + 8], "little")
        return end if len(raw) >= max(end, start + 8) else None
    if raw[start : start + 4] != ZSTD_FRAME[: len(raw) - start]:
        raise CodingError("broken", "the zstd data is broken: no frame begins here")
    if len(raw) < start + 5:
        return None
    descriptor = raw[start + 4]
    single = descriptor >> 5 & 1
    # 3.1.1.1: descriptor, window descriptor, dictionary id, content size
    at = start + 5 + (not single) + (0, 1, 2, 4)[descriptor & 3] + (single, 2, 4, 8)[descriptor >> 6]
    last = False
    while not last:  # 3.1.1.2: blocks
        if len(raw) < at + 3:
            return None
        header = int.from_bytes(raw[at : at + 3], "little")
        last = bool(header & 1)
        at += 3 + (1 if header >> 1 & 3 == 1 else header >> 3)
    at += 4 * (descriptor >> 2 & 1)  # checksum
    return at if len(raw) >= at else None


def ends_with_frame(raw: bytes) -> bool:
    """Return whether the bytes are nothing but complete Zstandard frames."""
    at: int | None = 0
    while at is not None and at < len(raw):
        try:
            at = frame_end(raw, at)
        except CodingError:
            return False
    return at is not None


def _package(name: str) -> Any:
    """Import an optional package. Raise CodingError, with the command that installs it, where it is missing."""
    try:
        return import_module(name)
    except ImportError as error:
        words = f"this is compressed, and {name} is not installed (pip install {name})"
        raise CodingError("not-installed", words) from error


class Unread(Compressed):
    """A coding that absolve does not implement: `decode` raises CodingError with its name."""

    def __init__(self, name: str) -> None:
        super().__init__(0)
        self._name = name

    def decode(self, raw: bytes) -> bytes:  # noqa: ARG002 - it cannot be read
        raise CodingError("unknown-coding", f"absolve does not read the coding {in_short(self._name)!r}")


def listed(value: str) -> list[str]:
    """Return the codings in a field, for example `gzip` and `br` in `GZIP, br`; the rest past `MOST_CODINGS` is one."""
    return [name.strip().lower() for name in value.split(",", MOST_CODINGS)] if value else []


def too_many(first: str) -> Unread:
    """Return a coding that refuses a body with more than `MOST_CODINGS` codings; `first` is one of them."""
    return Unread(f"{first} and at least {MOST_CODINGS} more")


# Content codings by their names (RFC 9110 8.4.1 and 18.6), and the signatures of those that have one.
CODINGS: Final[dict[str, Callable[[int], Compressed]]] = {
    "gzip": Gzip,
    "x-gzip": Gzip,
    "deflate": Deflate,
    "br": Brotli,
    "zstd": Zstandard,
}
MOST_CODINGS: Final = 16  # of one body; servers apply one or two
SIGNATURES: Final = {"gzip": b"\x1f\x8b", "x-gzip": b"\x1f\x8b", "zstd": ZSTD_FRAME}


# --- whole gzip members by libdeflate ---------------------------------------------------------------------------------
# It takes three quarters of the time of zlib-ng, but needs a whole member and the size of its contents. Whatever it
# cannot prove is left to zlib, which decides: members that are broken, padded, or larger than the limit.

LEAST_MEMBER: Final = 18  # bytes of a member: its header and its trailer (RFC 1952 2.3)
_RATIO: Final = 1032  # deflate's maximum: bytes out of one byte (zlib, technical details)
_CHECKED_HEADER: Final = 2  # FHCRC, which libdeflate ignores


@cache
def libdeflate() -> tuple[Callable[[bytes, int], bytearray] | None, type[Exception]]:
    """Return the function that decompresses a member and its exception; None where libdeflate is not installed."""
    try:
        found: Any = import_module("deflate")
    except ImportError:
        return None, ValueError
    return found.gzip_decompress, found.DeflateError


def _size_of(raw: bytes, limit: int) -> int:
    """Return the size of the contents by the member's own trailer; 0 where it must not be decompressed whole."""
    if len(raw) < LEAST_MEMBER or raw[3] & _CHECKED_HEADER:
        return 0
    size = int.from_bytes(raw[-4:], "little")
    return 0 if size > limit or size > _RATIO * len(raw) else size


def decompress_member(raw: bytes, limit: int) -> bytes | None:
    """Decompress exactly one member, which is all of `raw`, to at most `limit` bytes; None where that is not certain.

    Return None wherever zlib would decompress less of it, or nothing. (Only zlib rejects a code that RFC 1951 forbids
    where the size and the checksum of the contents are right all the same: no program writes such.)
    """
    size = _size_of(raw, limit)
    decompress, error = libdeflate()
    if size == 0 or decompress is None:
        return None
    try:
        value = bytes(decompress(raw, size))
    except error:
        return None
    # libdeflate does not report where it stopped reading, but its last four bytes were these: they may occur only once.
    stops_at = raw.find(raw[-4:], LEAST_MEMBER - 4)
    return value if len(value) == size and stops_at == len(raw) - 4 else None
