"""WACZ: a ZIP package of WARC files, their indexes, and a description with digests (Webrecorder, WACZ 1.1.1).

In: the members of a package, and the edits in its files. Out: the same edits with those of indexes and descriptions.
An index (CDXJ) has the offset, length and digest of each record, the description (datapackage.json) the size and digest
of each file: they change with a record. A package that cannot be kept consistent is rejected before any edit.
"""

from __future__ import annotations

import io
import re
import sys
from array import array
from itertools import pairwise
from operator import attrgetter
from typing import TYPE_CHECKING, Final, NamedTuple

from absolve.core.errors import CodingError, in_short
from absolve.core.model import Edit, Finding
from absolve.formats.compression import Zstandard, deflated, inflate
from absolve.formats.events import ordered
from absolve.formats.json.tokens import JSONString, Value, values
from absolve.formats.warc.digests import payloads, renewed
from absolve.formats.warc.headers import record_at
from absolve.formats.warc.reader import pieces
from absolve.formats.zip import members as zip_members

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from absolve.formats.protocols import WalkOptions
    from absolve.formats.zip.members import Member

DESCRIPTION: Final = "datapackage.json"
DIGEST: Final = "datapackage-digest.json"  # of the description; may be signed (WACZ Signing and Verification 0.1.0)
_ARCHIVE: Final = re.compile(r"archive/.+")
_INDEX: Final = re.compile(r"indexes/.+")
_TABLE: Final = re.compile(r".+\.cdxj?(?:\.gz)?")  # CDXJ lines: a key, a time, a JSON object
_TABLE_OF_BLOCKS: Final = re.compile(r".+\.idx")  # the same for the blocks of a compressed table
_GZIP: Final = 31  # zlib's wbits for a header and a trailer of gzip
_DIGITS: Final = 18  # maximum digits of an offset or a length
_ANY_SIZE: Final = 1 << 62
_START: Final = attrgetter("start")
_STRING: Final = JSONString()
_SIGNED: Final = b'"signedData"'


class Segment(NamedTuple):
    """The span of a record, or of a block of an index, in the bytes of its file.

    `value` is the decompressed content, where the bytes of the span do not suffice to decompress it.
    """

    file: bytes
    start: int
    end: int
    value: bytes | None = None

    @property
    def raw(self) -> memoryview:
        return memoryview(self.file)[self.start : self.end]


class Moves:
    """The segments of a file before and after its edits, by their old offsets: there may be a million of them.

    Raise ValueError where their number has changed.
    """

    def __init__(self, before: Iterable[Segment], after: Iterable[Segment]) -> None:
        self._before, self._after = _Segments(before), _Segments(after)
        if len(self._before.starts) != len(self._after.starts):
            raise ValueError("a file has other stretches than before: nobody knows which became which")
        self._numbers = {start: number for number, start in enumerate(self._before.starts)}

    def at(self, start: int) -> tuple[Segment, Segment] | None:
        """Return the segment that was at this offset, and the same segment after the edits; None if none was."""
        number = self._numbers.get(start)
        return None if number is None else (self._before.at(number), self._after.at(number))


class _Segments:
    """The segments of one file, their offsets in arrays."""

    def __init__(self, found: Iterable[Segment]) -> None:
        self.starts = array("q")
        self._ends = array("q")
        self._file = b""
        self._values: dict[int, bytes] = {}
        for number, (self._file, start, end, value) in enumerate(found):
            self.starts.append(start)
            self._ends.append(end)
            if value is not None:
                self._values[number] = value

    def at(self, number: int) -> Segment:
        return Segment(self._file, self.starts[number], self._ends[number], self._values.get(number))


def is_record_file(name: str) -> bool:
    """Return whether a member is a WARC file of the package, by its folder."""
    return _ARCHIVE.fullmatch(name) is not None


class Package:
    """The indexes and descriptions of a package, and its members by name.

    Raise CodingError where they cannot be read, or could not be kept consistent.
    """

    def __init__(self, data: bytes, members: Mapping[str, Member], options: WalkOptions) -> None:
        self._data = data
        self._members = members
        self._options = options
        self._old = {name: self._content(members[name]) for name in self._listed()}
        values = _objects(self._old[DESCRIPTION])
        paths = {_text(self._old[DESCRIPTION], value) for path, value in values.items() if path[-1:] == ("path",)}
        self._files = {name for name in members if is_record_file(name) or (name in paths and name not in self._old)}
        for name in filter(_INDEX.fullmatch, self._old):
            for _, value in _blocks(name, self._old[name], options.max_decompressed):
                for line in _lines(value):
                    _object_in(line)

    @property
    def signature(self) -> str:
        """Return the name of the file that signs the description; "" if it is not signed."""
        return DIGEST if _SIGNED in self._old.get(DIGEST, b"") else ""

    def describes(self, name: str) -> bool:
        """Return whether a member is an index or a description, which never counts as a document."""
        return name in self._old

    def _listed(self) -> Iterator[str]:
        """Yield the names of the indexes and descriptions. Raise CodingError for an unknown kind of index."""
        for name in self._members:
            if _INDEX.fullmatch(name) and not name.endswith("/"):
                if not (_TABLE.fullmatch(name) or _TABLE_OF_BLOCKS.fullmatch(name)):
                    raise CodingError("unknown-index", f"{in_short(name)} is no index that absolve reads")
                yield name
        yield from (name for name in (DESCRIPTION, DIGEST) if name in self._members)

    def _content(self, member: Member) -> bytes:
        if member.fault:
            raise CodingError(*member.fault)
        if member.size > self._options.max_decompressed:
            raise CodingError("too-large", f"{in_short(member.name)} is larger than --max-decompressed")
        return zip_members.Content(member).decode(self._data[member.start : member.end])

    def settled(self, parts: Iterable[list[Edit]]) -> Iterator[list[Edit]]:
        """Yield the edits, which come in order, with those of the indexes and descriptions that depend on them."""
        held = [edit for some in parts for edit in some]  # buffered: a description may precede what it describes
        yield from ordered([held, self._following(held)])

    def _following(self, held: list[Edit]) -> list[Edit]:
        """Return the edits of the indexes and descriptions."""
        files: dict[str, Moves] = {}
        description = _Description(self._old[DESCRIPTION])
        changed: dict[str, bytes] = {}
        for member, new in self._changed(held):
            old = zip_members.decompressed(self._data[member.start : member.end], member)
            if is_record_file(member.name):
                files[_file_name(member.name)] = self._moves(old, new)
            description.take(member.name, old, new)
        if not files and not description.edits:
            return []
        for name in sorted(filter(_INDEX.fullmatch, self._old), key=_is_table_of_blocks):  # these speak of the others
            new, files[_file_name(name)] = self._rewritten(name, files)
            description.take(name, self._old[name], new)
            changed[name] = new
        changed[DESCRIPTION] = description.made()
        if DIGEST in self._old:
            about = _Description(self._old[DIGEST])
            about.take(DESCRIPTION, self._old[DESCRIPTION], changed[DESCRIPTION])
            changed[DIGEST] = about.made()
        found: list[Edit] = []
        for name, new in changed.items():
            if new != self._old[name]:
                found += _replaced(self._members[name], new)
        return found

    def _changed(self, edits: list[Edit]) -> Iterator[tuple[Member, bytes]]:
        """Yield the described files with edits in them, and their new decompressed content."""
        found = map(self._members.__getitem__, self._files)
        spans = sorted(((one.start, one.end, one.name) for one in found if not one.fault), reverse=True)
        made: io.BytesIO | None = None
        read = 0
        for edit in [*edits, Edit(sys.maxsize, sys.maxsize, b"")]:
            while spans and spans[-1][1] < edit.start:
                _, end, name = spans.pop()
                if made is not None:
                    made.write(self._data[read:end])
                    raw = made.getvalue()
                    made = None
                    yield self._members[name], zip_members.decompressed(raw, self._members[name], _ANY_SIZE)
            if spans and spans[-1][0] <= edit.start and edit.end <= spans[-1][1]:
                if made is None:
                    made = io.BytesIO()
                    read = spans[-1][0]
                made.write(self._data[read : edit.start])
                made.write(edit.new)
                read = edit.end

    def _moves(self, old: bytes, new: bytes) -> Moves:
        return Moves(self._segments(old), self._segments(new))

    def _segments(self, data: bytes) -> Iterator[Segment]:
        for piece in pieces(data, self._options.max_decompressed):
            value = piece.records if isinstance(piece.coding, Zstandard) else None  # it may need a dictionary
            yield Segment(data, piece.offset, piece.offset + len(piece.raw), value)

    def _rewritten(self, name: str, files: Mapping[str, Moves]) -> tuple[bytes, Moves]:
        """Return an index with its entries updated, and the old and new segments of its blocks."""
        made = io.BytesIO()
        before: list[Segment] = []
        ends: list[int] = []
        about = ""
        for block, value in _blocks(name, self._old[name], self._options.max_decompressed):
            changed = io.BytesIO()
            for line in _lines(value):
                entry = _object_in(line)
                about = _text(line, entry.get(("filename",))) or about or _table_of(name)
                changed.write(self._line(line, entry, files.get(_file_name(about))))
            new = changed.getvalue()
            if new == value:
                made.write(block.raw)
            else:
                made.write(deflated(new, _GZIP) if name.endswith(".gz") else new)
            before.append(block)
            ends.append(made.tell())
        whole = made.getvalue()
        return whole, Moves(before, (Segment(whole, start, end) for start, end in pairwise([0, *ends])))

    def _line(self, line: bytes, entry: Mapping[tuple[str | int, ...], Value], moves: Moves | None) -> bytes:
        """Return an index entry with the offset, length and digests of its segment updated."""
        offset = _text(line, entry.get(("offset",)))
        moved = moves.at(int(offset)) if moves is not None and _is_number(offset) else None
        if moved is None:
            return line
        old, new = moved
        if old.start == new.start and old.raw == new.raw:
            return line
        edits: list[Edit] = []
        for path, found in entry.items():
            text = line[found.start : found.end]
            if path == ("offset",):
                new_value = b"%d" % new.start
            elif path == ("length",) and _is_number(text):  # some writers count the line ends after a record
                new_value = b"%d" % (int(text) + len(new.raw) - len(old.raw))
            elif path in {("digest",), ("recordDigest",)}:
                new_value = self._digest(text, old, new)
            else:
                continue
            edits.append(Edit(found.start, found.end, new_value))
        return _spliced(line, edits)

    def _digest(self, digest: bytes, old: Segment, new: Segment) -> bytes:
        """Return the new digest: of all bytes of the segment, or else of the block or payload of its record.

        A digest that matched none of them stays unchanged.
        """
        found = renewed(digest, old.raw, new.raw)
        if found != digest:
            return found
        one, other = map(self._block, (old, new))
        if one is None or other is None or one == other:
            return digest
        return renewed(digest, one, other, payloads(self._options))

    def _block(self, stretch: Segment) -> bytes | None:
        """Return the block of the record in a segment; None if there is no record."""
        value = stretch.value
        if value is None:
            found = pieces(bytes(stretch.raw), self._options.max_decompressed)
            value = next((piece.records for piece in found), None)
        record = record_at(value, 0) if value is not None else None
        return value[record.block : record.end] if value is not None and record is not None else None


def _is_number(text: str | bytes) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= _DIGITS


def _file_name(path: str) -> str:
    return path.rpartition("/")[2]


def _is_table_of_blocks(name: str) -> bool:
    return _TABLE_OF_BLOCKS.fullmatch(name) is not None


def _table_of(name: str) -> str:
    """Return the name of the index that an index of blocks (.idx) belongs to, by default."""
    return name.removesuffix(".idx") + ".cdx.gz"


def _blocks(name: str, data: bytes, limit: int) -> Iterator[tuple[Segment, bytes]]:
    """Yield the gzip members of a compressed index and their content; an index that is not compressed as a whole."""
    if not name.endswith(".gz"):
        yield Segment(data, 0, len(data)), data
        return
    rest = data
    size = 0
    while rest:
        start = len(data) - len(rest)
        value, rest = inflate(rest, _GZIP, limit - size, "gzip")
        size += len(value)
        yield Segment(data, start, len(data) - len(rest)), value


_LINE: Final = re.compile(rb"[^\r\n]*+(?:\r\n?|\n)|[^\r\n]++")


def _lines(text: bytes) -> Iterator[bytes]:
    """Yield the lines with their ends, as `splitlines(keepends=True)` returns them, lazily."""
    return (found[0] for found in _LINE.finditer(text))


def _objects(text: bytes) -> dict[tuple[str | int, ...], Value]:
    """Return the strings, numbers and literals of a JSON text by path. Raise CodingError for invalid JSON."""
    found: dict[tuple[str | int, ...], Value] = {}
    for value in values(text):
        if isinstance(value, Finding):
            raise CodingError(value.code, value.text)
        if value.kind in {"string", "word"}:
            found[value.path] = value
    return found


def _object_in(line: bytes) -> dict[tuple[str | int, ...], Value]:
    """Return the values of the JSON object of an index entry, with offsets into the line; none for an empty line.

    Raise CodingError for a line without an object.
    """
    if not line.strip():
        return {}
    start = line.find(b"{")
    if start < 0:
        raise CodingError("unknown-index", "an index has entries that absolve does not read")
    return {
        path: value._replace(start=value.start + start, end=value.end + start)
        for path, value in _objects(line[start:]).items()
    }


def _text(data: bytes, value: Value | None) -> str:
    return _STRING.decode(data[value.start : value.end]).decode("utf-8", "replace") if value is not None else ""


class _Description:
    """The size and digest of each file in a description, and the edits that update them; signed data is unchanged."""

    def __init__(self, text: bytes) -> None:
        self.edits: list[Edit] = []
        self._text = text
        self._fields: dict[str, list[tuple[bool, Value]]] = {}  # by file: whether the value is a digest, and the value
        found = _objects(text)
        for path, value in found.items():
            if path[-1:] not in {("hash",), ("bytes",)} or "signedData" in path:
                continue
            levels = range(len(path) - 1, -1, -1)
            above = next((path[:size] for size in levels if (*path[:size], "path") in found), None)
            if above is not None:
                name = _text(text, found[*above, "path"])
                self._fields.setdefault(name, []).append((path[-1] == "hash", value))

    def take(self, name: str, old: bytes, new: bytes) -> None:
        """Add the edits that replace the size and digest of a file by those of its new content."""
        for is_digest, value in self._fields.get(name, ()):
            old_value = self._text[value.start : value.end]
            if is_digest:
                self.edits.append(Edit(value.start, value.end, renewed(old_value, old, new)))
            elif old_value == b"%d" % len(old):
                self.edits.append(Edit(value.start, value.end, b"%d" % len(new)))

    def made(self) -> bytes:
        """Return the description with its edits applied."""
        return _spliced(self._text, self.edits)


def _replaced(member: Member, value: bytes) -> Iterator[Edit]:
    """Yield the edits that replace the content of a member."""
    raw = zip_members.compressed(value, member)
    yield Edit(member.start, member.end, raw)
    for start, end, value_of in member.derived:
        yield Edit(start, end, value_of(raw))


def _spliced(data: bytes, edits: Iterable[Edit]) -> bytes:
    """Return the data with these edits applied."""
    made: list[bytes] = []
    start = 0
    for edit in sorted(edits, key=_START):
        made += (data[start : edit.start], edit.new)
        start = edit.end
    return b"".join((*made, data[start:]))
