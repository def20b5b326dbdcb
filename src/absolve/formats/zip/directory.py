"""Read the central directory of a ZIP file (APPNOTE.TXT 6.3.10, 4.3.12 to 4.3.16): its entries and its end record.

In: the bytes of the file. Out: the members in directory order, checked against their local headers, and the byte
offsets of all fields that depend on sizes and offsets. The central directory alone defines the members: for example, a
deleted member still has its local header, and is none.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Sequence
from itertools import islice
from struct import Struct
from typing import TYPE_CHECKING, Final, NamedTuple
from urllib.parse import quote
from zlib import crc32

from absolve.core.errors import WalkError
from absolve.encodings.charsets import of_html
from absolve.formats.zip.members import Field, Member, extra, head, located, numbers

if TYPE_CHECKING:
    from collections.abc import Iterator

    from absolve.encodings.charsets import Charset

_UTF_8: Final = 1 << 11  # 4.4.4, general purpose bit flag

_CENTRAL: Final = Struct("<4s6H3L5H2L")  # 4.3.12
_NAME: Final = Struct("<8xH18x2H")  # the same, only flags and lengths of the name and the extra fields
_END: Final = Struct("<4s4H2LH")  # 4.3.16
_LOCATOR: Final = Struct("<4sLQL")  # 4.3.15
_END_64: Final = Struct("<4sQ2H2L4Q")  # 4.3.14
_LONGEST_COMMENT: Final = 0xFFFF
_UNICODE_PATH: Final = 0x7075  # 4.6.9, an extra field
_IN_EXTRA: Final = 0xFFFFFFFF  # 4.5.3: the value is in the ZIP64 extra field


class Place(NamedTuple):
    """An offset field: its byte offset and width in the file, and its target.

    The stored number counts from the start of the archive, which may follow a program that unpacks it.
    """

    start: int
    width: int
    target: int  # byte offset in the file


class Archive(Sequence[Member]):
    """The members in the order of the central directory, created lazily.

    A megabyte of directory has tens of thousands of entries, and a `Member` takes some kilobytes. All offsets are byte
    offsets in the file: `start` of the archive, `headers` of the members' local headers, `directory` of the central
    directory. `places` are the fields of the end records with offsets of the directory. `charset` is the charset of
    names without the UTF-8 flag, "" if it is unknown; `is_guessed`: no page shows it.
    """

    def __init__(self, data: bytes, end: _End) -> None:
        self.start = end.base
        self.directory = end.start
        self.headers = array("q")
        self.places = end.places
        self.charset = ""
        self.is_guessed = False
        self._data = data
        self._end = end
        self._entries = array("q")  # offset of each entry in the directory
        self._overlapping = bytearray()  # 1 for members that share bytes with others

    @property
    def names(self) -> Iterator[str]:
        """Yield the name of each member."""
        for position in self._entries:
            flags, size, extra_size = _NAME.unpack(self._data[position : position + _NAME.size])
            charset = "utf-8" if flags & _UTF_8 else self.charset
            yield _name(self._data, position + _CENTRAL.size, size, extra_size, charset)

    @property
    def fields(self) -> Iterator[tuple[list[Field], Place]]:
        """Yield the fields of each directory entry that depend on the member's data, and its offset field."""
        for position in self._entries:
            entry = _entry(self._data, position, self._end, self.charset)
            yield entry.fields, entry.place

    def __len__(self) -> int:
        return len(self._entries)

    def __getitem__(self, index: int) -> Member:  # type: ignore[override]  # no slices
        entry = _entry(self._data, self._entries[index], self._end, self.charset)
        member = entry.member(self._data, self._end.start)
        if self._overlapping[index] and not member.fault:
            return member._replace(fault=("overlap", "it overlaps another member of the archive"))
        return member

    def comment(self, index: int) -> str:
        """Return the comment about a member, or ""."""
        position = self._entries[index]
        fields = _CENTRAL.unpack(self._data[position : position + _CENTRAL.size])
        start = position + _CENTRAL.size + fields[10] + fields[11]
        return self._data[start : start + fields[12]].decode("utf-8", "replace")

    def read(self, most: int) -> None:
        """Index the directory. Raise WalkError where it is broken, or has more than `most` members."""
        headers, afters = self.headers, array("q")
        position = self._end.start
        old: list[bytes] = []  # names without the flag, other than ASCII
        while position < self._end.end:
            if len(headers) >= most:
                text = f"archives of more than {most:,} members are left as they are"
                raise WalkError("too-many-links", text, position)
            entry = _entry(self._data, position, self._end, "")
            old += [entry.raw_name] if not (entry.raw_name.isascii() or entry.flags & _UTF_8) else []
            member = entry.member(self._data, self._end.start)
            headers.append(min(member.header, len(self._data)))  # a ZIP64 offset may exceed a signed 64-bit number
            afters.append(min(member.after, len(self._data)))
            self._entries.append(position)
            position = entry.following
        if len(headers) & 0xFFFF != self._end.number & 0xFFFF:
            text = f"the central directory has {len(headers):,} members, and its end says {self._end.number:,}"
            raise WalkError("broken", text, position)
        self._overlapping = _sharing(headers, afters, self._end.start)
        if old:
            names = (index for index, name in enumerate(self.names) if name.lower().endswith(_PAGES))
            pages = [page for page in map(self.__getitem__, islice(names, _MOST)) if not page.fault]
            self.charset = _charset(old, [head(self._data, page, _PIECE) for page in pages])
            self.is_guessed = bool(pages) and not self.charset


def find(data: bytes, names: bytes) -> Iterator[Member]:
    """Yield the members whose names match a pattern, without reading others. Raise WalkError as `archive` does."""
    end = _end(data)
    entry = b"PK\\x01\\x02.{42}(?:%b)" % names
    for found in re.finditer(entry, data[end.start : end.end], re.DOTALL):
        yield _entry(data, end.start + found.start(), end, "").member(data, end.start)


class _End(NamedTuple):
    """The span of the central directory, its number of members, the start of the archive, and its offset fields."""

    start: int
    end: int
    number: int
    base: int
    places: list[Place]


def archive(data: bytes, most: int) -> Archive:
    """Return the members of a ZIP file.

    Raise WalkError where the central directory is missing or broken, or has more than `most` members.
    """
    found = Archive(data, _end(data))
    found.read(most)
    return found


def _end(data: bytes) -> _End:
    """Find the end of central directory record (4.3.16): the last one whose comment ends with the file.

    If there is none, take the last one directly after a central directory: other bytes may follow, as in a page with an
    archive.
    Read the ZIP64 records if they are present (4.3.14, 4.3.15). Raise WalkError for a missing, split or broken record.
    """
    first = max(0, len(data) - _END.size - _LONGEST_COMMENT)
    found = _found_end(data, first)
    if found < 0:
        raise WalkError("truncated", "this ZIP file has no end: its central directory is not there", len(data))
    position = first + found
    _, disk, start_disk, _, count, size, offset, _ = _END.unpack(data[position : position + _END.size])
    places = [Place(position + 16, 4, offset)]
    end = position
    locator = position - _LOCATOR.size
    if locator >= 0 and data.startswith(b"PK\6\7", locator):
        end = _end_64(data, locator)
        values = _END_64.unpack(data[end : end + _END_64.size])
        disk, start_disk, count, size = values[4], values[5], values[7], values[8]
        places = [] if offset == _IN_EXTRA else places
        offset = values[9]
        places += [Place(end + 48, 8, offset), Place(locator + 8, 8, -1)]
    if disk or start_disk:
        raise WalkError("split", "this is one of several parts of a ZIP file", position)
    start = end - size
    base = start - offset  # bytes before the archive: a program that unpacks it
    if start < 0 or base < 0:
        raise WalkError("broken", "the central directory is not where the end of the ZIP file says", position)
    places = [place._replace(target=end if place.target < 0 else start) for place in places]
    return _End(start, end, count, base, sorted(places))


def _found_end(data: bytes, first: int) -> int:
    """Return the offset of the end record, searched from `first` on; -1 without one."""
    tail = data[first:]
    found = behind = len(tail)
    while (found := tail.rfind(b"PK\5\6", 0, found)) >= 0:
        if found + _END.size <= len(tail):
            *_, size, _, comment = _END.unpack_from(tail, found)
            if found + _END.size + comment == len(tail):
                return found
            start = first + found - size
            if behind == len(tail) and start >= 0 and data.startswith(b"PK\1\2", start):
                behind = found
    return behind if behind < len(tail) else -1


def _end_64(data: bytes, locator: int) -> int:
    """Return the offset of the ZIP64 end of central directory record (4.3.14), by its locator (4.3.15).

    Where bytes before the archive make the locator's offset wrong, the record is expected directly before the locator.
    """
    offset = _LOCATOR.unpack(data[locator : locator + _LOCATOR.size])[2]
    for position in (offset, locator - _END_64.size):
        if 0 <= position <= locator - _END_64.size and data.startswith(b"PK\6\6", position):
            return int(position)
    raise WalkError("broken", "the ZIP64 end of the central directory is not where its locator says", locator)


class _Entry(NamedTuple):
    """An entry of the central directory (4.3.12): the member by this entry alone, and its compressed size.

    `fields` depend on the member's data, `place` is its offset field, `following` the offset of the next entry.
    """

    found: Member
    raw_name: bytes
    flags: int
    size: int
    fields: list[Field]
    place: Place
    following: int

    def member(self, data: bytes, most: int) -> Member:
        """Return the member, checked against its local header; its data must end at or before `most`."""
        return located(data, self.found, self.raw_name, self.flags, self.size, self.fields, most)


def _entry(data: bytes, position: int, end: _End, charset: str) -> _Entry:
    """Return the entry at this offset. Raise WalkError where no entry begins there, or it exceeds the directory."""
    if position + _CENTRAL.size > end.end or not data.startswith(b"PK\1\2", position):
        raise WalkError("broken", "the central directory is broken: no entry begins here", position)
    (_, _, _, flags, method, time, day, crc, size, value, name_size, extra_size, comment_size, _, _, _, offset) = (
        _CENTRAL.unpack(data[position : position + _CENTRAL.size])
    )
    name_end = position + _CENTRAL.size + name_size
    following = name_end + extra_size + comment_size
    if following > end.end:
        raise WalkError("broken", "the central directory is broken: an entry goes on past its end", position)
    raw_name = data[position + _CENTRAL.size : name_end]
    known = {"value": (value, position + 24), "size": (size, position + 20), "offset": (offset, position + 42)}
    values, fields = numbers(data, known, name_end, name_end + extra_size)
    header = values["offset"] + end.base
    place = Place(fields["offset"].start, fields["offset"].width, header)
    named = [Field("crc", position + 16, 4), fields["size"], fields["value"]]
    name = _name(data, position + _CENTRAL.size, name_size, extra_size, "utf-8" if flags & _UTF_8 else charset)
    member = Member(name, *(header, header, header, header), method, crc, values["value"], day << 16 | time)
    return _Entry(member, raw_name, flags, values["size"], named, place, following)


def _name(data: bytes, start: int, size: int, extra_size: int, charset: str) -> str:
    r"""Decode the name at this offset: its Unicode Path (4.6.9), else in this charset; "" is UTF-8, or code page 437.

    For example, `\x95\x5c.html` is `表.html` in Shift_JIS: only in such a charset 0x5C is no separator.
    """
    end = start + size
    raw = data[start:end]
    if raw.isascii():
        return raw.decode("ascii")
    found = extra(data, end, end + extra_size, _UNICODE_PATH)
    if found is not None and data[found[0] : found[0] + 5] == b"\1" + crc32(raw).to_bytes(4, "little"):
        return data[found[0] + 5 : found[1]].decode("utf-8", "replace")
    try:
        return raw.decode(charset or "utf-8", "replace" if charset else "strict")
    except UnicodeDecodeError:
        return raw.decode("cp437")


# --- charsets of names ------------------------------------------------------------------------------------------------

_MOST: Final = 16  # names, and pages, that are looked at
_PIECE: Final = 1 << 16  # bytes of such a page
_PAGES: Final = (".html", ".htm", ".xhtml")
# DOS and Windows programs write names in the charset of their system; APPNOTE appendix D knows only code page 437.
_OF_SYSTEMS: Final = (
    "utf-8",
    *("cp437", "cp850", "cp932", "gb18030", "cp949", "cp950", "cp866", "cp1251", "cp852", "cp1250", "cp1252"),
    *("cp737", "cp1253", "cp857", "cp1254", "cp862", "cp1255", "cp720", "cp1256", "cp874", "euc_jp", "koi8_r"),
)


def _charset(names: list[bytes], pages: list[bytes]) -> str:
    """Return the charset in which the pages use most of these names, else a charset of the pages; "" if unknown."""
    known = [(page.lower(), of_html(page)[0]) for page in pages]
    codecs = dict.fromkeys((*_OF_SYSTEMS, *(charset.codec for _, charset in known)))
    counts = {codec: sum(_uses(name, codec, known) for name in names[:_MOST]) for codec in codecs if known}
    found = [codec for codec in sorted(counts, key=lambda codec: -counts[codec]) if counts[codec]]
    found += ["utf-8", *(charset.codec for _, charset in known if not charset.one_byte)]
    return next((codec for codec in found if not any(_decoded(name, codec) is None for name in names)), "")


def _decoded(name: bytes, codec: str) -> str | None:
    try:
        return name.decode(codec)
    except UnicodeDecodeError:
        return None


def _uses(name: bytes, codec: str, pages: list[tuple[bytes, Charset]]) -> bool:
    """Return whether a page uses the last part of a path that is not ASCII: in its charset or UTF-8, escaped or not."""
    steps = re.split(r"[/\\]", _decoded(name, codec) or "")
    step = next((step for step in reversed(steps) if not step.isascii()), None)
    if step is None:
        return False
    escaped = quote(step), step.encode("ascii", "xmlcharrefreplace").decode()
    forms = ((page, step.encode(charset.codec, "xmlcharrefreplace")) for page, charset in pages)
    return any(one.lower() in page for page, raw in forms for one in (*map(str.encode, (*escaped, quote(raw))), raw))


def _sharing(headers: Sequence[int], afters: Sequence[int], end: int) -> bytearray:
    """Return a byte for each member, 1 where it overlaps another: an edit in one would change the other, too.

    `headers` and `afters` are the start and end offsets of the members, `end` is where the directory begins.
    """
    found = bytearray(len(headers))
    reached, last = 0, -1
    for index in sorted(range(len(headers)), key=headers.__getitem__):
        if afters[index] == headers[index]:  # a fault: its extent is unknown
            continue
        if headers[index] < reached:
            found[index] = found[last] = 1
        if afters[index] > reached:
            reached, last = min(afters[index], end), index
    return found
