"""Where records stand in WARC and ARC files: a file is read forward and cut, one record or compressed member at a time.

A WARC file is nothing but its records, one behind the other, so that each piece is a WARC file again. The pieces of a
file are all of its bytes, in their order. What is found from the beginning of a piece on depends on nothing but the
bytes that follow (and on the dictionary of Zstandard that came before): not on how many of them happen to be held.
"""

from __future__ import annotations

import re
from functools import cache
from typing import IO, TYPE_CHECKING, Final

from absolve.errors import CodingError
from absolve.formats.compression import BROKEN, ZSTD_FRAME, Gzip, Zstandard, decompressor, frame_end, is_skippable
from absolve.formats.warc_headers import LONGEST_HEAD, LONGEST_LINE
from absolve.model import Notice

if TYPE_CHECKING:
    import zlib
    from collections.abc import Iterator

    import cython

    from absolve.typing import Coding
else:
    from absolve import _cython as cython

if cython.compiled:
    from cython.cimports.absolve.formats.warc_headers import arc_record, extent_at, head_end, record_at, version_end
else:
    from absolve.formats.warc_headers import arc_record, extent_at, head_end, record_at, version_end

_CHUNK: Final = 1 << 16  # bytes that are read at once: a cache holds them
_FIRST: Final = 1 << 13  # bytes of a member that are decompressed at first: of most it is all
_KEPT: Final = 4 << 20
GAP: Final = 64  # bytes of empty lines behind a record that are taken for its own
_LINE_ENDS: Final = re.compile(rb"[\r\n]*+")
_GZIP: Final = b"\x1f\x8b\x08"
DICTIONARY: Final = b"\x5d\x2a\x4d\x18"  # WARC-ZSTD 1.0: the first frame is skippable, and holds the dictionary


@cython.final
@cython.cclass
class Piece:
    """A stretch of a file: where it begins, its bytes, and the records in them.

    `records` is None for what stays as it is: what is broken, too large, or no record. `coding` says how the records
    are compressed there, None for not at all. `notices` have offsets into the file.
    """

    def __init__(
        self,
        offset: int,
        raw: bytes,
        records: bytes | None = None,
        coding: Coding | None = None,
        notices: tuple[Notice, ...] = (),
    ) -> None:
        self.offset = offset
        self.raw = raw
        self.records = records
        self.coding = coding
        self.notices = notices


def pieces(file: IO[bytes], limit: int, *, compressed: bool = True, start: int = 0) -> Iterator[Piece]:
    """The pieces of a file, in order. One of more than `limit` bytes, compressed or not, is cut as it comes.

    `compressed`: members of gzip and frames of Zstandard are opened; else they are no records. `start` is where the
    file stands, in bytes: where a piece begins.
    """
    return _Cutter(file, limit, compressed=compressed, start=start).pieces()


@cache
def _keep_memory() -> None:
    """Let glibc keep what records free: it keeps twice as much as the largest block was that it gave to the system.

    Else the memory of each large record comes from the system anew, page by page.
    """
    bytes(_KEPT)


@cython.final
@cython.cclass
class _Cutter:
    """A file read forward: the bytes that are held, and how far they are cut."""

    _file: IO[bytes]
    _limit: cython.Py_ssize_t
    _compressed: cython.bint
    _held: bytes
    _at: cython.Py_ssize_t
    _before: cython.Py_ssize_t
    _dictionary: bytes
    _gzip: Gzip
    # of the member that is read
    _machine: zlib._Decompress
    _values: list[bytes]
    _used: cython.Py_ssize_t
    _broken: str | None

    def __init__(self, file: IO[bytes], limit: int, *, compressed: bool, start: int) -> None:
        self._file = file
        self._limit = limit
        self._compressed = compressed
        self._held = b""
        self._at = 0
        self._before = start  # bytes of the file before those held
        self._dictionary = b""
        self._gzip = Gzip(limit)  # one for all: what is read here is not decoded by it
        _keep_memory()

    # --- reading ---

    @cython.cfunc
    def _offset(self) -> cython.Py_ssize_t:
        return self._before + self._at

    @cython.cfunc
    def _has(self, size: cython.Py_ssize_t) -> cython.bint:
        """Whether the file goes on for so many bytes, which are held then."""
        if self._at + size > len(self._held):
            self._read(size)
        return len(self._held) - self._at >= size

    @cython.cfunc
    def _read(self, size: cython.Py_ssize_t) -> cython.int:
        # At least as much as is held already: each byte is then copied twice at most, however large a member is.
        missing = self._at + size - len(self._held)
        more: bytes = self._file.read(max(missing, _CHUNK, len(self._held) - self._at))
        if self._at:
            self._before += self._at
            self._held = self._held[self._at :] + more
            self._at = 0
        else:
            self._held += more
        while more and len(self._held) < size:  # a pipe gives what it has
            more = self._file.read(max(size - len(self._held), _CHUNK))
            self._held += more
        return 0

    @cython.cfunc
    def _taken(self, size: int) -> bytes:
        raw = self._held[self._at : self._at + size]
        self._at += len(raw)
        return raw

    def _passed(self, size: int) -> Iterator[Piece]:
        """So many bytes, or all there are, as they are."""
        while size > 0 and self._has(1):
            offset = self._offset()
            raw = self._taken(min(size, len(self._held) - self._at))
            size -= len(raw)
            yield Piece(offset, raw)

    # --- cutting ---

    def pieces(self) -> Iterator[Piece]:
        while self._has(1):
            self._has(16)
            start = self._held[self._at : self._at + 4]
            if self._compressed and start[:3] == _GZIP:
                piece = self._member()
                if piece is not None:
                    yield piece
                else:
                    yield from self._no_member()
            elif self._compressed and (start == ZSTD_FRAME or is_skippable(start)):
                yield from self._frame()
            elif start[:1] in b"\r\n":
                yield from self._blank()
            else:
                piece = self._record()
                if piece is not None:
                    yield piece
                else:
                    yield from self._no_record()

    def _blank(self) -> Iterator[Piece]:
        found = _LINE_ENDS.match(self._held, self._at)
        if found:
            yield Piece(self._offset(), self._taken(found.end() - self._at))

    @cython.cfunc
    def _record(self) -> Piece | None:
        """A record that is not compressed, and the empty lines behind it; None where none ends where it says."""
        self._whole_head()
        extent = extent_at(self._held, self._at)
        if extent is None:
            return None
        size: cython.Py_ssize_t = extent.end - self._at
        if size > self._limit or not self._has(size):
            return None
        size = self._with_line_ends(size)
        if self._has(size + 1) and not self._is_start(self._at + size):
            return None
        offset = self._offset()
        raw = self._taken(size)
        return Piece(offset, raw, raw)

    def _no_record(self) -> Iterator[Piece]:
        """What is none, or one that does not end where it says, or is too large."""
        extent = extent_at(self._held, self._at)
        offset = self._offset()
        if extent is None:
            yield from self._lost(self._said("no-record", "no record begins here", offset), 0)
            return
        size = extent.end - self._at
        head = extent.block - self._at
        url = self._url()
        if size > self._limit:
            yield from self._passed(size)
            is_whole = self._offset() == offset + size
            notice = self._too_large(offset, url) if is_whole else self._cut(offset, url)
            yield Piece(self._offset(), b"", notices=(notice,))
        elif not self._has(size) and self._next_start(head, size) is None:
            yield Piece(offset, self._taken(size), notices=(self._cut(offset, url),))
        else:  # it is the length that is wrong
            yield from self._lost(self._wrong_length(offset, url), head)

    @cython.cfunc
    def _whole_head(self) -> cython.int:
        size: cython.Py_ssize_t = 4096
        while size <= LONGEST_HEAD and self._has(size) and not self._head_is_there(size):
            size *= 4
        return 0

    @cython.cfunc
    def _head_is_there(self, size: cython.Py_ssize_t) -> cython.bint:
        if version_end(self._held, self._at) >= 0:
            return head_end(self._held, self._at, self._at + size) >= 0
        return self._held.find(b"\n", self._at, self._at + size) >= 0

    @cython.cfunc
    @cython.boundscheck(False)
    @cython.wraparound(False)
    def _with_line_ends(self, size: cython.Py_ssize_t) -> cython.Py_ssize_t:
        self._has(size + GAP)
        p: cython.p_const_uchar = self._held
        end: cython.Py_ssize_t = min(self._at + size + GAP, len(self._held))
        while self._at + size < end and (p[self._at + size] == 10 or p[self._at + size] == 13):
            size += 1
        return size

    @cython.cfunc
    def _is_start(self, position: cython.Py_ssize_t) -> cython.bint:
        """Whether a record or a compressed member begins here."""
        rest: cython.Py_ssize_t = position - self._at
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

    def _lost(self, notice: Notice, skip: int) -> Iterator[Piece]:
        """What cannot be cut, up to where a record begins again; `skip` is how much of it is known to be none."""
        yield Piece(self._offset(), b"", notices=(notice,))
        skip = max(skip, 1)
        while self._has(skip + 1):
            is_end = not self._has(skip + 1 + LONGEST_HEAD)
            known = len(self._held) - self._at - (0 if is_end else LONGEST_HEAD)  # of what begins there all is held
            start = self._next_start(skip, known)
            if start is not None:
                yield from self._passed(start)
                return
            yield from self._passed(known)
            skip = 1
        yield from self._passed(len(self._held) - self._at)

    def _next_start(self, skip: int, end: int) -> int | None:
        """Where, from here, the next record begins in what is held, before this end."""
        for found in _START.finditer(self._held, self._at + skip - 1):
            position = found.end()
            if found.start() - self._at >= end:
                break
            if found[1] is None:
                if record_at(self._held, position) is not None:
                    return position - self._at
            elif self._compressed and _begins_record(self._held[found.start() : found.start() + _CHUNK]):
                return found.start() - self._at
        return None

    # --- compressed ---

    @cython.cfunc
    def _member(self) -> Piece | None:
        """A member of gzip (RFC 1952 2.2), which holds one record, or more; None where it ends too early or late."""
        offset = self._offset()
        machine = self._machine = decompressor(31)
        values: list[bytes] = []
        size: cython.Py_ssize_t = 0
        step: cython.Py_ssize_t = _FIRST
        self._values = values
        self._used = 0
        self._broken = None
        while not machine.eof:
            if not self._has(self._used + step) and not self._has(self._used + 1):
                return None
            raw = self._held[self._at + self._used : self._at + self._used + step]
            step = min(2 * step, _CHUNK)
            try:
                value: bytes = machine.decompress(raw, self._limit - size + 1)
            except BROKEN as error:
                self._broken = f"the gzip data is broken: {error}"
                return None
            self._used += _consumed(machine, raw)
            size += len(value)
            values.append(value)
            if size > self._limit:
                return None
        return Piece(offset, self._taken(self._used), values[0] if len(values) == 1 else b"".join(values), self._gzip)

    def _no_member(self) -> Iterator[Piece]:
        """What was none to the end, or is too large."""
        offset = self._offset()
        machine = self._machine
        url = _url(self._values)
        if self._broken is not None:
            yield from self._lost(self._said("broken", self._broken, offset, url), 3)
        elif sum(map(len, self._values)) > self._limit:
            yield Piece(offset, b"", notices=(self._too_large(offset, url),))
            yield from self._rest_of_member(machine, self._used)
        else:
            text = "the file ends before the end of this gzip member"
            notice = self._said("truncated", text, offset, url)
            yield Piece(offset, self._taken(self._used), notices=(notice,))

    def _rest_of_member(self, machine: zlib._Decompress, used: int) -> Iterator[Piece]:
        yield from self._passed(used)
        while not machine.eof and self._has(1):
            self._has(_CHUNK)
            raw = self._held[self._at : self._at + _CHUNK]
            try:
                machine.decompress(raw, _CHUNK)
            except BROKEN:
                return
            yield from self._passed(_consumed(machine, raw))

    def _frame(self) -> Iterator[Piece]:
        """A frame of Zstandard (RFC 8878 3.1)."""
        offset = self._offset()
        try:
            while (end := frame_end(self._held, self._at)) is None:
                size = len(self._held) - self._at
                if size > self._limit:
                    yield from self._lost(self._too_large(offset), 4)
                    return
                if not self._has(size + 1):
                    notice = self._said("truncated", "the file ends before the end of this zstd frame", offset)
                    yield Piece(offset, self._taken(size), notices=(notice,))
                    return
        except CodingError as error:
            yield from self._lost(self._said(error.code, str(error), offset), 4)
            return
        if end - self._at > self._limit:  # more was held than was asked for
            yield from self._lost(self._too_large(offset), 4)
            return
        raw = self._taken(end - self._at)
        try:
            yield self._opened(offset, raw)
        except CodingError as error:
            yield Piece(offset, raw, notices=(self._said(error.code, str(error), offset),))

    def _opened(self, offset: int, raw: bytes) -> Piece:
        """A whole frame; one that is skippable holds the dictionary of the others, or nothing."""
        if is_skippable(raw):
            if raw[:4] == DICTIONARY:
                self._dictionary = _dictionary(raw[8:], self._limit)
            return Piece(offset, raw)
        coding = Zstandard(self._limit, self._dictionary)
        return Piece(offset, raw, coding.decode(raw), coding)

    # --- what is said ---

    def _url(self) -> str:
        """That of the record that begins here."""
        record = record_at(self._held, self._at)
        return record.url if record is not None else ""

    def _cut(self, offset: int, url: str) -> Notice:
        return self._said("truncated", "the file ends before the end of this record", offset, url)

    def _said(self, code: str, text: str, offset: int, url: str = "") -> Notice:
        return Notice(code, f"{text}; it stays as it is{f' ({url})' if url else ''}", offset, failed=True)

    def _wrong_length(self, offset: int, url: str) -> Notice:
        return self._said("wrong-length", "the length of this record does not lead to the next one", offset, url)

    def _too_large(self, offset: int, url: str = "") -> Notice:
        text = f"this record has more than {self._limit} bytes (--max-decompressed)"
        return self._said("too-large", text, offset, url)


_START: Final = re.compile(rb"\n(?=WARC/[0-9]\.[0-9]+[\t ]*+\r?\n|[a-z]{3,10}:[^\n ]*+ )|(\x1f\x8b\x08(?=[\x00-\x1f]))")


def _begins_record(raw: bytes) -> bool:
    """Whether this is a member of gzip in which a record begins."""
    try:
        value = decompressor(31).decompress(raw, LONGEST_LINE)
    except BROKEN:
        return False
    return version_end(value, 0) >= 0 or arc_record(value, 0) is not None


def _consumed(machine: zlib._Decompress, raw: bytes) -> int:
    """How many of the bytes that it was given last belong to the member."""
    return len(raw) - len(machine.unused_data if machine.eof else machine.unconsumed_tail)


def _url(values: list[bytes]) -> str:
    """The URL of the record that begins in what came out of a member; nothing where it is not there."""
    record = record_at(b"".join(values)[:LONGEST_HEAD], 0)
    return record.url if record is not None else ""


def _dictionary(raw: bytes, limit: int) -> bytes:
    """WARC-ZSTD 1.0: the dictionary may itself be compressed, without one."""
    return Zstandard(limit).decode(raw) if raw.startswith(ZSTD_FRAME) else raw
