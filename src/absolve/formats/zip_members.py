"""The members of a ZIP file (APPNOTE.TXT 6.3.10): where each stands, and the fields that speak of it.

What counts is the central directory. A member that it and the bytes do not agree on is told with its fault.
"""

from __future__ import annotations

import re
import zlib
from array import array
from collections.abc import Sequence
from struct import Struct
from typing import TYPE_CHECKING, Final, NamedTuple

from absolve.errors import CodingError, WalkError
from absolve.formats.compression import deflated, inflate
from absolve.model import Derived
from absolve.offsets import IDENTITY_OFFSETS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from absolve.typing import Offsets

STORED: Final = 0  # 4.4.5, compression method
DEFLATED: Final = 8
_ENCRYPTED: Final = 1 << 0 | 1 << 6 | 1 << 13  # 4.4.4, general purpose bit flag
_HAS_DESCRIPTOR: Final = 1 << 3
_UTF_8: Final = 1 << 11
_BARE: Final = -15  # zlib's wbits for deflate data alone

_LOCAL: Final = Struct("<4s5H3L2H")  # 4.3.7
_CENTRAL: Final = Struct("<4s6H3L5H2L")  # 4.3.12
_END: Final = Struct("<4s4H2LH")  # 4.3.16
_LOCATOR: Final = Struct("<4sLQL")  # 4.3.15
_END_64: Final = Struct("<4sQ2H2L4Q")  # 4.3.14
_LONGEST_COMMENT: Final = 0xFFFF
_IN_EXTRA: Final = 0xFFFFFFFF  # 4.5.3: the value stands in the ZIP64 extra field
_ZIP64: Final = 1
_EXTRA: Final = Struct("<HH")

# 4.4.17.1: no drive, no leading slash; what leads out of the folder that it is unpacked in. Some write backslashes.
_UNSAFE: Final = re.compile(r"[A-Za-z]:|[\\/]|(?:.*[\\/])?\.\.(?:[\\/]|\Z)|.*\0", re.DOTALL)


class Field(NamedTuple):
    """A number, little-endian, at an offset of the file: crc, size (of what is compressed), value (decompressed)."""

    name: str
    start: int
    width: int


class Place(NamedTuple):
    """A field that says where something stands, counted from where the archive begins in the file."""

    start: int
    width: int
    target: int  # an offset of the file


class Member(NamedTuple):
    """A file in the archive: its name, where its local header, its data and what belongs to them stand.

    `fault` is a code and why nothing can be done with it; then only the name and the header's offset count.
    """

    name: str
    header: int
    start: int
    end: int
    after: int  # the end of its data descriptor, if it has one
    method: int
    crc: int
    size: int  # bytes when decompressed
    fields: tuple[Field, ...] = ()
    fault: tuple[str, str] | None = None

    @property
    def derived(self) -> list[Derived]:
        """The fields that change with the data."""
        facts = _Facts(self)
        return [Derived(start, start + width, facts.of(name, width)) for name, start, width in self.fields]


class Fields(Sequence[Derived]):
    """The fields that change with a member's data, made when they are asked for."""

    __slots__ = ("_member",)

    def __init__(self, member: Member) -> None:
        self._member = member

    def __len__(self) -> int:
        return len(self._member.fields)

    def __iter__(self) -> Iterator[Derived]:
        return iter(self._member.derived)

    def __getitem__(self, index: int) -> Derived:  # type: ignore[override]  # nobody asks for some of them
        return self._member.derived[index]


class Archive(Sequence[Member]):
    """The members in the order of the central directory, made when they are asked for; `start` is where it begins.

    There are tens of thousands in a megabyte, of some kilobytes each.
    """

    def __init__(self, data: bytes, end: _End) -> None:
        self.start = end.base
        self._data = data
        self._end = end
        self._entries = array("q")  # where each stands in the directory
        self._overlapping = bytearray()  # which share bytes with others

    @property
    def places(self) -> Iterator[Place]:
        """The fields that say where something is."""
        yield from self._end.places
        for position in self._entries:
            yield _entry(self._data, position, self._end).place

    def __len__(self) -> int:
        return len(self._entries)

    def __getitem__(self, index: int) -> Member:  # type: ignore[override]  # nobody asks for some of them
        member = _entry(self._data, self._entries[index], self._end).member(self._data, self._end.start)
        if self._overlapping[index] and not member.fault:
            return member._replace(fault=("overlap", "it overlaps another member of the archive"))
        return member

    def read(self, most: int) -> None:
        """Go through the directory; WalkError where it is broken, or has more than so many members."""
        headers, afters = array("q"), array("q")
        position = self._end.start
        while position < self._end.end:
            if len(headers) >= most:
                text = f"archives of more than {most} members are left as they are"
                raise WalkError("too-many-links", text, position)
            entry = _entry(self._data, position, self._end)
            member = entry.member(self._data, self._end.start)
            headers.append(member.header)
            afters.append(member.after)
            self._entries.append(position)
            position = entry.following
        if len(headers) & 0xFFFF != self._end.number & 0xFFFF:
            text = f"the central directory has {len(headers)} members, and its end says {self._end.number}"
            raise WalkError("broken", text, position)
        self._overlapping = _sharing(headers, afters, self._end.start)


class Content:
    """The data of a member; its size and checksum are those that the directory says."""

    slot: tuple[int, int] | None = None

    def __init__(self, member: Member) -> None:
        self._member = member

    def decode(self, raw: bytes) -> bytes:
        """CodingError where this is broken, or not what the directory says."""
        value = decompressed(raw, self._member)
        if len(value) != self._member.size or zlib.crc32(value) != self._member.crc:
            raise CodingError("broken", "its size or checksum is not what the central directory says")
        return value

    def decode_mapped(self, raw: bytes) -> tuple[bytes, Offsets | None]:
        return self.decode(raw), IDENTITY_OFFSETS if self._member.method == STORED else None

    def encode(self, value: bytes, after: bytes = b"", before: bytes = b"") -> bytes:  # noqa: ARG002 - as it is
        return compressed(value, self._member)


def decompressed(raw: bytes, member: Member, limit: int | None = None) -> bytes:
    """What a member's data decompress to, at most its size unless another limit is given; CodingError where broken."""
    if member.method == STORED:
        return raw
    try:
        value, rest = inflate(raw, _BARE, member.size if limit is None else limit, "deflate")
    except CodingError as error:
        if error.code != "too-large":
            raise
        text = f"more comes out of this than the {member.size} bytes that the central directory says"
        raise CodingError("wrong-length", text) from error
    if rest:
        raise CodingError("wrong-length", "the deflate data ends before its end in the file")
    return value


def compressed(value: bytes, member: Member) -> bytes:
    return value if member.method == STORED else deflated(value, _BARE)


def head(data: bytes, member: Member, size: int) -> bytes:
    """The first bytes of a member, as far as they can be had."""
    raw = data[member.start : min(member.end, member.start + size)]
    if member.method == STORED:
        return raw
    try:
        return zlib.decompressobj(_BARE).decompress(raw, size)
    except zlib.error:
        return b""


class _Facts:
    """What the fields say of new data: worked out once for all of them."""

    def __init__(self, member: Member) -> None:
        self._member = member
        self._raw = b""
        self._numbers: dict[str, int] = {}

    def of(self, name: str, width: int) -> Callable[[bytes], bytes]:
        return lambda raw: self._known(raw)[name].to_bytes(width, "little")

    def _known(self, raw: bytes) -> dict[str, int]:
        if raw is not self._raw:
            self._raw = raw
            value = decompressed(raw, self._member, limit=1 << 62)
            self._numbers = {"crc": zlib.crc32(value), "size": len(raw), "value": len(value)}
        return self._numbers


# --- reading ----------------------------------------------------------------------------------------------------------


class _End(NamedTuple):
    """Where the central directory stands, and how many members it has; the fields about it."""

    start: int
    end: int
    number: int
    base: int
    places: list[Place]


def archive(data: bytes, most: int) -> Archive:
    """WalkError where there is no central directory, it is broken, or it has more than so many members."""
    found = Archive(data, _end(data))
    found.read(most)
    return found


def _end(data: bytes) -> _End:
    """4.3.16: the last record that could be the end of the central directory, its comment the last of the file."""
    position = len(data)
    first = max(0, len(data) - _END.size - _LONGEST_COMMENT)
    while (position := data.rfind(b"PK\5\6", first, position)) >= 0:
        if position + _END.size <= len(data):
            fields = _END.unpack_from(data, position)
            if position + _END.size + fields[7] == len(data):
                break
    if position < 0:
        raise WalkError("truncated", "this ZIP file has no end: its central directory is not there", len(data))
    _, disk, start_disk, _, count, size, offset, _ = fields
    places = [Place(position + 16, 4, offset)]
    end = position
    locator = position - _LOCATOR.size
    if locator >= 0 and data.startswith(b"PK\6\7", locator):
        end = _end_64(data, locator)
        values = _END_64.unpack_from(data, end)
        disk, start_disk, count, size = values[4], values[5], values[7], values[8]
        places = [] if offset == _IN_EXTRA else places
        offset = values[9]
        places += [Place(end + 48, 8, offset), Place(locator + 8, 8, -1)]
    if disk or start_disk:
        raise WalkError("split", "this is one of several parts of a ZIP file", position)
    start = end - size
    base = start - offset  # what stands before the archive: a program that unpacks it
    if start < 0 or base < 0:
        raise WalkError("broken", "the central directory is not where the end of the ZIP file says", position)
    places = [place._replace(target=end if place.target < 0 else start) for place in places]
    return _End(start, end, count, base, places)


def _end_64(data: bytes, locator: int) -> int:
    """4.3.14 and 4.3.15: where the ZIP64 end of the central directory stands; what is before it may be missing."""
    offset = _LOCATOR.unpack_from(data, locator)[2]
    for position in (offset, locator - _END_64.size):
        if 0 <= position <= locator - _END_64.size and data.startswith(b"PK\6\6", position):
            return int(position)
    raise WalkError("broken", "the ZIP64 end of the central directory is not where its locator says", locator)


class _Entry(NamedTuple):
    """An entry of the central directory: the member as it is there, its size there, the fields that say it.

    Beside them the field with its offset, and where the next entry begins.
    """

    found: Member
    raw_name: bytes
    flags: int
    size: int
    fields: list[Field]
    place: Place
    following: int

    def member(self, data: bytes, most: int) -> Member:
        """The member, as its own header agrees; nothing of it stands behind `most`."""
        return _located(data, self.found, self.raw_name, self.flags, self.size, self.fields, most)


def _entry(data: bytes, position: int, end: _End) -> _Entry:
    """The entry that begins here; WalkError where none does."""
    if position + _CENTRAL.size > end.end or not data.startswith(b"PK\1\2", position):
        raise WalkError("broken", "the central directory is broken: no entry begins here", position)
    (_, _, _, flags, method, _, _, crc, size, value, name_size, extra_size, comment_size, _, _, _, offset) = (
        _CENTRAL.unpack_from(data, position)
    )
    name_end = position + _CENTRAL.size + name_size
    following = name_end + extra_size + comment_size
    if following > end.end:
        raise WalkError("broken", "the central directory is broken: an entry goes on past its end", position)
    raw_name = data[position + _CENTRAL.size : name_end]
    known = {"value": (value, position + 24), "size": (size, position + 20), "offset": (offset, position + 42)}
    numbers, fields = _numbers(data, known, name_end, name_end + extra_size)
    header = numbers["offset"] + end.base
    place = Place(fields["offset"].start, fields["offset"].width, header)
    named = [Field("crc", position + 16, 4), fields["size"], fields["value"]]
    name = _name(raw_name, flags)
    member = Member(name, header, header, header, header, method, crc, numbers["value"])
    return _Entry(member, raw_name, flags, numbers["size"], named, place, following)


def _name(raw: bytes, flags: int) -> str:
    """APPNOTE appendix D: UTF-8 where the flag says so, else code page 437; UTF-8 that is so without saying it."""
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return raw.decode("utf-8", "replace") if flags & _UTF_8 else raw.decode("cp437")


def _numbers(
    data: bytes, known: dict[str, tuple[int, int]], start: int, end: int
) -> tuple[dict[str, int], dict[str, Field]]:
    """4.5.3: numbers that do not fit in a header stand in the ZIP64 extra field, in a fixed order."""
    at = _extra(data, start, end)
    numbers: dict[str, int] = {}
    fields: dict[str, Field] = {}
    for name, (number, position) in known.items():
        numbers[name], fields[name] = number, Field(name, position, 4)
        if number == _IN_EXTRA and at is not None and at[0] + 8 <= at[1]:
            numbers[name] = int.from_bytes(data[at[0] : at[0] + 8], "little")
            fields[name] = Field(name, at[0], 8)
            at = (at[0] + 8, at[1])
    return numbers, fields


def _extra(data: bytes, start: int, end: int) -> tuple[int, int] | None:
    """The span of the ZIP64 extra field's data."""
    while start + _EXTRA.size <= end:
        kind, size = _EXTRA.unpack_from(data, start)
        start += _EXTRA.size
        if kind == _ZIP64:
            return start, min(start + size, end)
        start += size
    return None


def _located(
    data: bytes, member: Member, raw_name: bytes, flags: int, size: int, fields: list[Field], most: int
) -> Member:
    """A member with its data, by its local header (4.3.7), which has to agree with the directory."""
    if flags & _ENCRYPTED:
        return member._replace(fault=("encrypted", "this is encrypted"))
    if _UNSAFE.match(member.name):
        return member._replace(fault=("unsafe-name", "its name leads out of the archive"))
    if member.header + _LOCAL.size > most or not data.startswith(b"PK\3\4", member.header):
        return member._replace(fault=("broken", "it is not where the central directory says"))
    (_, _, its_flags, method, _, _, crc, its_size, its_value, name_size, extra_size) = _LOCAL.unpack_from(
        data, member.header
    )
    name_end = member.header + _LOCAL.size + name_size
    start = name_end + extra_size
    end = start + size
    if data[member.header + _LOCAL.size : name_end] != raw_name or method != member.method:
        return member._replace(fault=("broken", "its own header and the central directory do not agree"))
    if end > most:
        return member._replace(fault=("truncated", "its data goes on past the central directory"))
    known = {"value": (its_value, member.header + 22), "size": (its_size, member.header + 18)}
    numbers, places = _numbers(data, known, name_end, start)
    right = {"crc": member.crc, "size": size, "value": member.size}
    found = [(Field("crc", member.header + 14, 4), crc), *((places[name], numbers[name]) for name in known)]
    for field, number in found:
        if number == right[field.name]:
            fields.append(field)
        elif number or not its_flags & _HAS_DESCRIPTOR:  # 4.4.4, bit 3: they are zero here, and stand behind the data
            return member._replace(fault=("broken", "its own header and the central directory do not agree"))
    after = end
    if its_flags & _HAS_DESCRIPTOR:
        described = list(_descriptor(data, end, right))
        if not described:
            return member._replace(fault=("broken", "what stands behind its data is not what the directory says"))
        fields += described
        after = described[-1].start + described[-1].width
    fault = None if member.method in {STORED, DEFLATED} else ("unknown-coding", f"compression method {member.method}")
    return member._replace(start=start, end=end, after=after, fields=tuple(fields), fault=fault)


def _descriptor(data: bytes, position: int, right: dict[str, int]) -> Iterator[Field]:
    """4.3.9: checksum and sizes behind the data, of 4 bytes or (ZIP64) of 8, with a signature or without."""
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


def _sharing(headers: Sequence[int], afters: Sequence[int], end: int) -> bytearray:
    """Which members share bytes, by where each begins and ends: what is done to one would be done to the other."""
    found = bytearray(len(headers))
    reached, last = 0, -1
    for index in sorted(range(len(headers)), key=headers.__getitem__):
        if afters[index] == headers[index]:  # nobody knows where it stands
            continue
        if headers[index] < reached:
            found[index] = found[last] = 1
        if afters[index] > reached:
            reached, last = min(afters[index], end), index
    return found
