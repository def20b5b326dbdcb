"""Members of a ZIP file (APPNOTE.TXT 6.3.10): the span of their data, their compression, the fields derived from it.

In: an entry of the central directory and the bytes of the file. Out: a `Member`, its decompressed content, and the
new values of the checksum and size fields after an edit (4.3.7, 4.3.9, 4.5.3).
A member whose local header contradicts the central directory gets a fault.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Sequence
from struct import Struct
from typing import TYPE_CHECKING, Final, NamedTuple

from absolve.core.errors import CodingError
from absolve.core.model import Derived
from absolve.encodings.offset_map import IDENTITY_OFFSETS
from absolve.formats.compression import deflated, inflate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from absolve.core.protocols import Offsets

STORED: Final = 0  # 4.4.5, compression method
DEFLATED: Final = 8
_ENCRYPTED: Final = 1 << 0 | 1 << 6 | 1 << 13  # 4.4.4, general purpose bit flag
_HAS_DESCRIPTOR: Final = 1 << 3
_BARE: Final = -15  # zlib's wbits for deflate data alone

_LOCAL: Final = Struct("<4s5H3L2H")  # 4.3.7
_IN_EXTRA: Final = 0xFFFFFFFF  # 4.5.3: the value is in the ZIP64 extra field
_ZIP64: Final = 1
_EXTRA: Final = Struct("<HH")

# 4.4.17.1 allows no drive and no leading slash. Also names that lead out of the unpacking folder; some programs write
# backslashes.
_UNSAFE: Final = re.compile(r"[A-Za-z]:|[\\/]|(?:.*[\\/])?\.\.(?:[\\/]|\Z)|.*\0", re.DOTALL)

UNSAFE_NAME: Final = ("unsafe-name", "its name leads out of the archive")


class Field(NamedTuple):
    """A little-endian number at a byte offset of the file: crc, size (compressed) or value (decompressed size)."""

    name: str
    start: int
    width: int


class Member(NamedTuple):
    """A file in the archive: its name, the byte offsets of its local header and its data, its fields.

    `fault` is a code and the reason why the member cannot be processed. With any fault but UNSAFE_NAME, only `name` and
    `header` are valid.
    """

    name: str
    header: int
    start: int
    end: int
    after: int  # the end of its data descriptor, if it has one
    method: int
    crc: int
    size: int  # bytes when decompressed
    date: int = 0  # 4.4.6: in MS-DOS form, the date in the upper 16 bits
    fields: tuple[Field, ...] = ()
    fault: tuple[str, str] | None = None

    @property
    def digits(self) -> str:
        """The date as YYYYMMDDhhmmss: for example, "20200102030404" (MS-DOS counts in 2 seconds)."""
        day, time = self.date >> 16, self.date & 0xFFFF
        parts = (day >> 5 & 15, day & 31, time >> 11, time >> 5 & 63, (time & 31) * 2)
        return f"{(day >> 9) + 1980}" + "".join(f"{part:02}" for part in parts)

    @property
    def derived(self) -> list[Derived]:
        """Return the fields that change with the data."""
        facts = _Facts(self)
        return [Derived(start, start + width, facts.encoder(name, width)) for name, start, width in self.fields]


class Fields(Sequence[Derived]):
    """The fields that change with a member's data, created lazily."""

    __slots__ = ("_member",)

    def __init__(self, member: Member) -> None:
        self._member = member

    def __len__(self) -> int:
        return len(self._member.fields)

    def __iter__(self) -> Iterator[Derived]:
        return iter(self._member.derived)

    def __getitem__(self, index: int) -> Derived:  # type: ignore[override]  # no slices
        return self._member.derived[index]


class Content:
    """The coding of a member's data; decoded data is checked against the size and checksum of the directory."""

    slot: tuple[int, int] | None = None

    def __init__(self, member: Member) -> None:
        self._member = member

    @property
    def is_stored(self) -> bool:
        """Whether the content is in the package as it is."""
        return self._member.method == STORED

    def decode(self, raw: bytes) -> bytes:
        """Return the content. Raise CodingError where it is broken, or contradicts the directory."""
        value = decompressed(raw, self._member)
        if len(value) != self._member.size or zlib.crc32(value) != self._member.crc:
            raise CodingError("broken", "its size or checksum is not what the central directory says")
        return value

    def decode_mapped(self, raw: bytes) -> tuple[bytes, Offsets | None]:
        return self.decode(raw), IDENTITY_OFFSETS if self.is_stored else None

    def encode(self, value: bytes, after: bytes = b"", before: bytes = b"") -> bytes:  # noqa: ARG002 - as it is
        return compressed(value, self._member)


class Unread(Content):
    """The coding of a member with a fault, or with content larger than the limit: `decode` raises CodingError."""

    def decode(self, raw: bytes) -> bytes:  # noqa: ARG002 - it is not read
        large = "too-large", f"{self._member.size:,} bytes come out of this (max-decompressed)"
        raise CodingError(*(self._member.fault or large))


def decompressed(raw: bytes, member: Member, limit: int | None = None) -> bytes:
    """Return the decompressed data of a member, at most `limit` bytes (by default the member's size).

    Raise CodingError where it is broken or larger, or where bytes follow the compressed data.
    """
    if member.method == STORED:
        return raw
    try:
        value, rest = inflate(raw, _BARE, member.size if limit is None else limit, "deflate")
    except CodingError as error:
        if error.code != "too-large":
            raise
        text = f"more comes out of this than the {member.size:,} bytes that the central directory says"
        raise CodingError("wrong-length", text) from error
    if rest:
        raise CodingError("wrong-length", "the deflate data ends before its end in the file")
    return value


def compressed(value: bytes, member: Member) -> bytes:
    """Return content in the compression method of a member."""
    return value if member.method == STORED else deflated(value, _BARE)


def head(data: bytes, member: Member, size: int) -> bytes:
    """Return at most `size` bytes from the start of a member; b"" where they cannot be decompressed."""
    raw = data[member.start : min(member.end, member.start + size)]
    if member.method == STORED:
        return raw
    try:
        return zlib.decompressobj(_BARE).decompress(raw, size)
    except zlib.error:
        return b""


class _Facts:
    """New values of a member's derived fields, computed once for all of them."""

    def __init__(self, member: Member) -> None:
        self._member = member
        self._raw = b""
        self._numbers: dict[str, int] = {}

    def encoder(self, name: str, width: int) -> Callable[[bytes], bytes]:
        return lambda raw: self._members_by_name(raw)[name].to_bytes(width, "little")

    def _members_by_name(self, raw: bytes) -> dict[str, int]:
        if raw is not self._raw:
            self._raw = raw
            value = decompressed(raw, self._member, limit=1 << 62)
            self._numbers = {"crc": zlib.crc32(value), "size": len(raw), "value": len(value)}
        return self._numbers


# --- reading ----------------------------------------------------------------------------------------------------------


def located(
    data: bytes, member: Member, raw_name: bytes, flags: int, size: int, fields: list[Field], most: int
) -> Member:
    """Return a member with the span of its data, by its local header (4.3.7), which must agree with the directory.

    `raw_name`, `flags` and `size` (compressed) are from the directory, `fields` are its derived fields; `most` is the
    largest offset at which the data may end. A contradiction becomes the member's fault.
    """
    if flags & _ENCRYPTED:
        return member._replace(fault=("encrypted", "this is encrypted"))
    if member.header + _LOCAL.size > most or not data.startswith(b"PK\3\4", member.header):
        return member._replace(fault=("broken", "it is not where the central directory says"))
    (_, _, its_flags, method, _, _, crc, its_size, its_value, name_size, extra_size) = _LOCAL.unpack(
        data[member.header : member.header + _LOCAL.size]
    )
    name_end = member.header + _LOCAL.size + name_size
    start = name_end + extra_size
    end = start + size
    if data[member.header + _LOCAL.size : name_end] != raw_name or method != member.method:
        return member._replace(fault=("broken", "its own header and the central directory do not agree"))
    if end > most:
        return member._replace(fault=("truncated", "its data goes on past the central directory"))
    known = {"value": (its_value, member.header + 22), "size": (its_size, member.header + 18)}
    values, places = numbers(data, known, name_end, start)
    right = {"crc": member.crc, "size": size, "value": member.size}
    found = [(Field("crc", member.header + 14, 4), crc), *((places[name], values[name]) for name in known)]
    for field, number in found:
        if number == right[field.name]:
            fields.append(field)
        elif number or not its_flags & _HAS_DESCRIPTOR:  # 4.4.4, bit 3: zero here, the values follow the data
            return member._replace(fault=("broken", "its own header and the central directory do not agree"))
    after = end
    if its_flags & _HAS_DESCRIPTOR:
        described = list(_descriptor(data, end, right))
        if not described:
            return member._replace(fault=("broken", "what stands behind its data is not what the directory says"))
        after = described[-1].start + described[-1].width
        if after > most:  # the descriptor would overlap the directory
            return member._replace(fault=("truncated", "its data goes on past the central directory"))
        fields += described
    fault = None if member.method in {STORED, DEFLATED} else ("unknown-coding", f"compression method {member.method}")
    if fault is None and _UNSAFE.match(member.name):
        fault = UNSAFE_NAME
    return member._replace(start=start, end=end, after=after, fields=tuple(fields), fault=fault)


def _descriptor(data: bytes, position: int, right: dict[str, int]) -> Iterator[Field]:
    """Yield the fields of the data descriptor (4.3.9), if its numbers are `right`.

    Sizes have 4 bytes, or 8 (ZIP64); the signature is optional.
    """
    for signature in (b"PK\7\x08", b""):
        for width in (4, 8):
            starts = {"crc": 0, "size": 4, "value": 4 + width}
            widths = {"crc": 4, "size": width, "value": width}
            if any(number >> 8 * widths[name] for name, number in right.items()):
                continue
            wanted = signature + b"".join(right[name].to_bytes(widths[name], "little") for name in starts)
            if data.startswith(wanted, position):
                first = position + len(signature)
                yield from (Field(name, first + start, widths[name]) for name, start in starts.items())
                return


def numbers(
    data: bytes, known: dict[str, tuple[int, int]], start: int, end: int
) -> tuple[dict[str, int], dict[str, Field]]:
    """Read numbers of a header: those that do not fit are in the ZIP64 extra field, in a fixed order (4.5.3).

    For example, a size of 0xFFFFFFFF is read from the extra field. `known` maps a name to the number in the header and
    its offset, `start` and `end` are the span of the extra fields. Return the numbers and their fields by name.
    """
    at = extra(data, start, end, _ZIP64)
    found: dict[str, int] = {}
    fields: dict[str, Field] = {}
    for name, (number, position) in known.items():
        found[name], fields[name] = number, Field(name, position, 4)
        if number == _IN_EXTRA and at is not None and at[0] + 8 <= at[1]:
            found[name] = int.from_bytes(data[at[0] : at[0] + 8], "little")
            fields[name] = Field(name, at[0], 8)
            at = (at[0] + 8, at[1])
    return found, fields


def extra(data: bytes, start: int, end: int, wanted: int) -> tuple[int, int] | None:
    """Return the data span of an extra field, by its header ID: for example, (4, 6) in `01 00 02 00 AA BB`; or None."""
    while start + _EXTRA.size <= end:
        kind, size = _EXTRA.unpack(data[start : start + _EXTRA.size])
        start += _EXTRA.size
        if kind == wanted:
            return start, min(start + size, end)
        start += size
    return None
