"""Split a WARC (ISO 28500) or ARC file into segments: one record, gzip member or Zstandard frame at a time.

In: a file, read forward, or its bytes. Out: `RawSegment`s, which together are all bytes of the file in order.
A WARC file is a sequence of records, so each segment is a WARC file, too: for example, 3 gzip members are 3 segments.
The segments from an offset on depend only on the bytes from there (and on an earlier Zstandard dictionary), never on
how many bytes happen to be in the buffer.
"""

from __future__ import annotations

import io
import re
from functools import cache
from typing import IO, TYPE_CHECKING, Final, NamedTuple

from absolve.core.errors import CodingError, in_short
from absolve.core.model import Finding
from absolve.formats.compression import (
    BROKEN,
    LEAST_MEMBER,
    ZSTD_FRAME,
    Gzip,
    Zstandard,
    decompress_member,
    decompressor,
    frame_end,
    is_skippable,
    libdeflate,
)
from absolve.formats.headers import LONGEST_HEAD, LONGEST_LINE, arc_record, head_end, record_at, version_end

if TYPE_CHECKING:
    import zlib
    from collections.abc import Iterator

    from absolve.core.protocols import Coding


CHUNK: Final = 1 << 16  # bytes per read: they fit in a processor cache
_KEPT: Final = 4 << 20  # bytes
_LARGE: Final = 1 << 20  # bytes; a record of this size is not held twice
_LONGEST_MEMBER: Final = 1 << 20  # bytes of a member that is decompressed whole
_MEMBER_START: Final = re.compile(rb"\x1f\x8b\x08[\x00-\x1f]")  # ID1 and ID2, CM that is deflate, FLG (RFC 1952 2.3)
is_there: Final = libdeflate()[0] is not None
_GZIP: Final = b"\x1f\x8b\x08"
_LINE: Final = rb"WARC/[0-9]\.[0-9]+[\t ]*+\r?\n"
_VERSION: Final = re.compile(rb"\n" + _LINE)
_BEHIND: Final = rb"\n(?=%b|[a-z]{3,10}:[^\n ]*+ )" % _LINE
_BEGUN_MEMBER: Final = rb"\x1f\x8b\x08(?=[\x00-\x1f])"
_START: Final = re.compile(rb"%b|(%b)" % (_BEHIND, _BEGUN_MEMBER))
_FIRST: Final = 1 << 13  # bytes of a member in the first step of decompression: most members are shorter
GAP: Final = 64  # maximum bytes of empty lines after a record that belong to it
_LINE_ENDS: Final = re.compile(rb"[\r\n]*+")
_RECORD = 0  # kinds of segments
_BLANK = 1
_MEMBER = 2
_FRAME = 3
DICTIONARY: Final = b"\x5d\x2a\x4d\x18"  # WARC-ZSTD 1.0: the first frame, a skippable one, holds the dictionary


class RawSegment(NamedTuple):
    """A segment of a file: its byte offset, its bytes as they are in the file, and the records in them.

    `records` are the decompressed bytes; None for a segment that is left unchanged (broken, too large, or no record).
    `coding` is the compression of the records, None for plain ones. `findings` have offsets into the file. A segment
    with records and findings has a record that the end of the file cuts off: its data is read, and left unchanged.
    """

    offset: int
    raw: bytes
    records: bytes | None = None
    coding: Coding | None = None
    findings: tuple[Finding, ...] = ()


@cache
def _keep_memory() -> None:
    """Make glibc keep freed memory, by freeing one large block.

    glibc adapts to the largest block that it returned to the system, and keeps up to twice its size. Otherwise the
    memory of each large record would be mapped from the system page by page.
    """
    bytes(_KEPT)


class _Window:
    """A file that is read forward, with whole members decompressed to at most `limit` bytes where it is positioned.

    `_held` begins `_before` bytes into the file, and `_at` is the current offset into `_held`. Each read is of `CHUNK`
    bytes or more. A file given as bytes is used as the buffer, without a copy.
    """

    def __init__(self, file: IO[bytes] | bytes, start: int, limit: int) -> None:
        self._is_whole = isinstance(file, bytes)
        self._file = io.BytesIO() if isinstance(file, bytes) else file
        self._held = file if isinstance(file, bytes) else b""
        self._at = 0
        self._before = start
        self._limit = limit
        self._raw = b""
        _keep_memory()

    def _offset(self) -> int:
        """Return the current byte offset in the file."""
        return self._before + self._at

    def _has(self, size: int) -> bool:
        """Return whether `size` more bytes are available; if so, they are in the buffer."""
        if self._at + size > len(self._held):
            self._read(size)
        return len(self._held) - self._at >= size

    def _read(self, size: int) -> None:
        # Read at least as much as is held already: each byte is then copied twice at most, for a member of any size.
        missing = self._at + size - len(self._held)
        wanted = max(missing, CHUNK, len(self._held) - self._at)
        more = self._file.read(wanted)
        if not more:  # end of the file: no copy
            return
        self._held = self._held[self._at :] + more
        self._before += self._at
        self._at = 0
        while more and len(self._held) < size:  # a pipe may return fewer bytes
            more = self._file.read(max(size - len(self._held), CHUNK))
            self._held += more

    def _taken(self, size: int) -> bytes:
        """Return the next `size` bytes, or all that are in the buffer, and advance past them."""
        held = self._held
        start = self._at
        end = min(start + size, len(held))
        found = held[start:end] if end - start < len(held) else held
        self._at = end
        if end - start >= _LARGE and not self._is_whole:  # do not hold a large record twice while it is processed
            self._held = held[end:]
            self._before += end
            self._at = 0
        return found

    def _whole_member(self) -> bytes | None:
        """Return the content of a gzip member that the next member or the end of the file follows; move past it.

        The compressed bytes are then in `_raw`. Return None, without moving, where the end is not certain.
        """
        end = self._member_end()
        if end < 0:
            return None
        raw = self._held[self._at : end]
        value = decompress_member(raw, self._limit)
        if value is not None:
            self._raw = raw
            self._at = end
        return value

    def _member_end(self) -> int:
        """Return the offset in `_held` where the next member seems to begin or the file ends; -1 if it is too far."""
        searched = LEAST_MEMBER
        while (found := _MEMBER_START.search(self._held, self._at + searched, self._at + _LONGEST_MEMBER)) is None:
            held = len(self._held) - self._at
            if held >= _LONGEST_MEMBER:
                return -1
            searched = max(searched, held - 3)
            if not self._has(held + 1):
                return len(self._held)
        return found.start()


def pieces(file: IO[bytes] | bytes, limit: int, *, compressed: bool = True, start: int = 0) -> Iterator[RawSegment]:
    """Yield the segments of a file, in order. A record of more than `limit` bytes is split without being buffered.

    The limit applies to compressed and decompressed bytes. `file` may be the bytes of the file: they are not copied.
    `compressed`: decompress gzip members and Zstandard frames; otherwise they are no records. `start` is the byte
    offset of the file's position, where a segment begins.
    """
    return _Cutter(file, limit, compressed=compressed, start=start).pieces()


class _Cutter(_Window):
    """The state of splitting one file; the window's position is the start of the next segment."""

    def __init__(self, file: IO[bytes] | bytes, limit: int, *, compressed: bool, start: int) -> None:
        super().__init__(file, start, limit)
        self._compressed = compressed
        self._dictionary = b""
        self._gzip = Gzip(limit)  # one for all members: its `decode`, which has state, is not called

    def _passed(self, size: int) -> Iterator[RawSegment]:
        """Yield the next `size` bytes, or all that are left, as segments without records."""
        while size > 0 and self._has(1):
            offset = self._offset()
            raw = self._taken(size)
            size -= len(raw)
            yield RawSegment(offset, raw)

    # --- cutting ---

    def pieces(self) -> Iterator[RawSegment]:
        while self._has(1):
            self._has(16)
            kind = self._kind()
            if kind == _MEMBER:
                piece = self._member()
                if piece is not None:
                    yield piece
                else:
                    yield from self._no_member()
            elif kind == _FRAME:
                yield from self._frame()
            elif kind == _BLANK:
                yield from self._blank()
            else:
                piece = self._record()
                if piece is not None:
                    yield piece
                else:
                    yield from self._no_record()

    def _kind(self) -> int:
        """Return the kind of the next segment, by its first bytes."""
        p = self._held
        first = p[self._at]
        if first == 10 or first == 13:
            return _BLANK
        left = len(self._held) - self._at if self._compressed else 0
        if left > 2 and first == 0x1F and p[self._at + 1] == 0x8B and p[self._at + 2] == 8:
            return _MEMBER
        if left > 3 and p[self._at + 1] in (0x2A, 0xB5):
            start = self._held[self._at : self._at + 4]
            if start == ZSTD_FRAME or is_skippable(start):
                return _FRAME
        return _RECORD

    def _blank(self) -> Iterator[RawSegment]:
        found = _LINE_ENDS.match(self._held, self._at)
        if found:
            yield RawSegment(self._offset(), self._taken(found.end() - self._at))

    def _record(self) -> RawSegment | None:
        """Return an uncompressed record with the empty lines after it.

        Return None if there is no record, it is too large, or its length leads to no other record at its end.
        """
        self._whole_head()
        record = record_at(self._held, self._at)
        if record is None:
            return None
        size = record.end - self._at
        if size > self._limit or not self._has(size):
            return None
        size = self._with_line_ends(size)
        if self._has(size + 1) and not self._is_start(self._at + size):
            return None
        offset = self._offset()
        raw = self._taken(size)
        return RawSegment(offset, raw, raw)

    def _no_record(self) -> Iterator[RawSegment]:
        """Yield the segments for data where `_record` returned None, with a finding."""
        record = record_at(self._held, self._at)
        offset = self._offset()
        if record is None:
            yield from self._lost(_record_finding("no-record", "no record begins here", offset), 0)
            return
        size = record.end - self._at
        head = record.block - self._at
        url = record.url
        if size > self._limit:
            yield from self._passed(size)
            stays_absolute = self._offset() == offset + size
            finding = _too_large(self._limit, offset, url) if stays_absolute else _cut_off("record", offset, url)
            yield RawSegment(self._offset(), b"", findings=(finding,))
        elif not self._has(size) and self._next_start(head, size) is None:
            raw = self._taken(size)
            yield RawSegment(offset, raw, _completed(raw, head), findings=(_cut_off("record", offset, url),))
        else:
            text = "the length of this record does not lead to the next one"
            yield from self._lost(_record_finding("wrong-length", text, offset, url), head)

    def _whole_head(self) -> int:
        size = 4096
        while size <= LONGEST_HEAD and self._has(size) and not self._head_is_there(size):
            size *= 4
        return 0

    def _head_is_there(self, size: int) -> bool:
        if version_end(self._held, self._at) >= 0:
            return head_end(self._held, self._at, self._at + size) >= 0
        return self._held.find(b"\n", self._at, self._at + size) >= 0

    def _with_line_ends(self, size: int) -> int:
        self._has(size + GAP)
        p = self._held
        end = min(self._at + size + GAP, len(self._held))
        while self._at + size < end and (p[self._at + size] == 10 or p[self._at + size] == 13):
            size += 1
        return size

    def _is_start(self, position: int) -> bool:
        """Return whether a record or a compressed member begins at this offset into the buffer."""
        rest = position - self._at
        self._has(rest + 4096)
        position = self._at + rest
        if 0 <= version_end(self._held, position) <= position + 4096:
            return True
        if self._compressed and self._held.startswith((_GZIP, ZSTD_FRAME), position):
            return True
        if self._held.find(b"\n", position, position + 4096) >= 0:
            return arc_record(self._held, position) is not None
        self._has(rest + LONGEST_LINE)
        line = self._held[self._at + rest : self._at + rest + LONGEST_LINE]
        return version_end(line, 0) >= 0 or arc_record(line, 0) is not None

    def _lost(self, finding: Finding, skip: int) -> Iterator[RawSegment]:
        """Yield the finding, then the bytes up to the next start of a record.

        The search for it begins after `skip` bytes.
        """
        yield RawSegment(self._offset(), b"", findings=(finding,))
        skip = max(skip, 1)
        while self._has(skip + 1):
            is_end = not self._has(skip + 1 + LONGEST_HEAD)
            known = len(self._held) - self._at - (0 if is_end else LONGEST_HEAD)  # headers up to here are complete
            start = self._next_start(skip, known)
            if start is not None:
                yield from self._passed(start)
                return
            yield from self._passed(known)
            skip = 1
        yield from self._passed(len(self._held) - self._at)

    def _next_start(self, skip: int, end: int) -> int | None:
        """Return the distance to the next start of a record in the buffer, between `skip` and `end`; or None."""
        for found in _START.finditer(self._held, self._at + skip - 1):
            position = found.end()
            if found.start() - self._at >= end:
                break
            if found[1] is None:
                if _begun(self._held, position):
                    return position - self._at
            elif self._compressed and begins_record(self._held[found.start() : found.start() + CHUNK]):
                return found.start() - self._at
        return None

    # --- compressed ---

    def _member(self) -> RawSegment | None:
        """Return a gzip member (RFC 1952 2.2) with one record or more; None if it is broken, cut off or too large."""
        offset = self._offset()
        value: bytes | None = self._whole_member() if is_there else None
        if value is not None:
            return RawSegment(offset, self._raw, value, self._gzip)
        machine = self._machine = decompressor(31)
        values: list[bytes] = []
        size = 0
        step = _FIRST
        self._values = values
        self._used = 0
        self._broken = None
        while not machine.eof:
            if not self._has(self._used + step) and not self._has(self._used + 1):
                return None
            raw = self._held[self._at + self._used : self._at + self._used + step]
            step = min(2 * step, CHUNK)
            try:
                value = machine.decompress(raw, self._limit - size + 1)
            except BROKEN as error:
                self._broken = f"the gzip data is broken: {error}"
                return None
            self._used += consumed(machine, raw)
            size += len(value)
            values.append(value)
            if size > self._limit:
                return None
        value = values[0] if len(values) == 1 else b"".join(values)
        self._values = []  # no second reference to the value while it is processed
        return RawSegment(offset, self._taken(self._used), value, self._gzip)

    def _no_member(self) -> Iterator[RawSegment]:
        """Yield the segments for a member where `_member` returned None, with a finding."""
        offset = self._offset()
        machine = self._machine
        begun = record_at(b"".join(self._values)[:LONGEST_HEAD], 0)
        url = begun.url if begun is not None else ""
        if self._broken is not None:
            yield from self._lost(_record_finding("broken", self._broken, offset, url), 3)
        elif sum(map(len, self._values)) > self._limit:
            yield RawSegment(offset, b"", findings=(_too_large(self._limit, offset, url),))
            yield from self._rest_of_member(machine, self._used)
        else:
            value = b"".join(self._values)
            record = record_at(value, 0)
            records = _completed(value, record.block) if record is not None else None
            yield RawSegment(offset, self._taken(self._used), records, findings=(_cut_off("gzip member", offset, url),))

    def _rest_of_member(self, machine: zlib._Decompress, used: int) -> Iterator[RawSegment]:
        yield from self._passed(used)
        while not machine.eof and self._has(1):
            self._has(CHUNK)
            raw = self._held[self._at : self._at + CHUNK]
            try:
                machine.decompress(raw, CHUNK)
            except BROKEN:
                return
            yield from self._passed(consumed(machine, raw))

    def _frame(self) -> Iterator[RawSegment]:
        """Yield a Zstandard frame (RFC 8878 3.1)."""
        offset = self._offset()
        try:
            while (end := frame_end(self._held, self._at)) is None:
                size = len(self._held) - self._at
                if size > self._limit:
                    yield from self._lost(_too_large(self._limit, offset), 4)
                    return
                if not self._has(size + 1):
                    yield RawSegment(offset, self._taken(size), findings=(_cut_off("zstd frame", offset),))
                    return
        except CodingError as error:
            yield from self._lost(_record_finding(error.code, str(error), offset), 4)
            return
        if end - self._at > self._limit:  # the frame was in the buffer already
            yield from self._lost(_too_large(self._limit, offset), 4)
            return
        raw = self._taken(end - self._at)
        try:
            yield self._frame_of(offset, raw)
        except CodingError as error:
            yield RawSegment(offset, raw, findings=(_record_finding(error.code, str(error), offset),))

    def _frame_of(self, offset: int, raw: bytes) -> RawSegment:
        """Return the segment of a complete frame. A skippable frame has no records, but may be the dictionary."""
        if is_skippable(raw):
            if raw[:4] == DICTIONARY:
                value = raw[8:]  # WARC-ZSTD 1.0: the dictionary may be compressed itself, without a dictionary
                self._dictionary = Zstandard(self._limit).decode(value) if value.startswith(ZSTD_FRAME) else value
            return RawSegment(offset, raw)
        coding = Zstandard(self._limit, self._dictionary)
        return RawSegment(offset, raw, coding.decode(raw), coding)


# --- findings, and where records begin --------------------------------------------------------------------------------


def _record_finding(code: str, text: str, offset: int, url: str = "") -> Finding:
    """Return the finding for a segment that is left unchanged."""
    return Finding(code, f"{text}; it stays as it is{f' ({in_short(url)})' if url else ''}", offset, failed=True)


def _cut_off(what: str, offset: int, url: str = "") -> Finding:
    """Return the finding for a segment (`what` names its kind) that the end of the file cuts off."""
    return _record_finding("truncated", f"the file ends before the end of this {what}", offset, url)


def _completed(data: bytes, block: int) -> bytes | None:
    """Return a cut record whose Content-Length is the present size of its block; None without a plain length."""
    found = _LENGTH.search(data, 0, block)
    if found is None:
        return None
    return b"".join((data[: found.start(1)], b"%0*d" % (len(found[1]), len(data) - block), data[found.end(1) :]))


_LENGTH: Final = re.compile(rb"(?im)^content-length[ \t]*:[ \t]*([0-9]+)[ \t]*\r?$")


def _too_large(limit: int, offset: int, url: str = "") -> Finding:
    """Return the finding for a record of more than `limit` bytes."""
    return _record_finding("too-large", f"this record has more than {limit:,} bytes (max-decompressed)", offset, url)


def _begun(held: bytes, position: int) -> bool:
    """Return whether a record with a complete header begins at a match of `_START`.

    The header is searched only up to the next version line, because it has no second one: linear in total, for any
    number of version lines.
    """
    following = _VERSION.search(held, position) if held.startswith(b"WARC/", position) else None
    if following is not None and head_end(held, position, following.start() + 1) < 0:
        return False
    return record_at(held, position) is not None


def begins_record(raw: bytes) -> bool:
    """Return whether a compressed member begins with a record."""
    try:
        value = decompressor(31).decompress(raw, LONGEST_LINE)
    except BROKEN:
        return False
    return version_end(value, 0) >= 0 or arc_record(value, 0) is not None


def consumed(machine: zlib._Decompress, raw: bytes) -> int:
    """Return how many bytes of the decompressor's last input belong to the member."""
    return len(raw) - len(machine.unused_data if machine.eof else machine.unconsumed_tail)
