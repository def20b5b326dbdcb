"""The headers of records in WARC and ARC files: what a record says that it is, and where its block stands."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from absolve.formats import headers

if TYPE_CHECKING:
    from absolve.formats.headers import Field

LONGEST_HEAD: Final = 1 << 20  # bytes of a record's header
LONGEST_LINE: Final = 1 << 16  # bytes of an ARC record's header
VERSION: Final = re.compile(rb"WARC/[0-9]\.[0-9]+[\t ]*+\r?\n")
HEAD_END: Final = re.compile(rb"\n\r?\n")


class Record(NamedTuple):
    """One record's header: its URL and type, its fields (of a WARC), and where its block begins and ends.

    `size` is the span of the number that says how long the block is.
    """

    url: str
    kind: str
    media_type: str
    fields: list[Field]
    size: tuple[int, int]
    block: int
    end: int


def record_at(data: bytes, start: int) -> Record | None:
    """The record whose header stands here; None for what is no header, or not all of one."""
    if VERSION.match(data, start):
        return _warc_record(data, start)
    return arc_record(data, start)


def _warc_record(data: bytes, start: int) -> Record | None:
    """ISO 28500:2017 4: a version line, named fields, an empty line, the block."""
    line = VERSION.match(data, start)
    if line is None or not HEAD_END.search(data, line.end() - 1, start + LONGEST_HEAD):
        return None
    fields, block = headers.fields(data, line.end(), skip=True)
    size = next((field for field in fields if field.name == "content-length"), None)
    if size is None or not data[size.start : size.end].isdigit() or size.end - size.start > _DIGITS:
        return None
    url = (headers.first(data, fields, "warc-target-uri") or "").removeprefix("<").removesuffix(">")
    kind = (headers.first(data, fields, "warc-type") or "").lower()
    media_type = headers.first(data, fields, "content-type") or ""
    end = block + int(data[size.start : size.end])
    return Record(url, kind, media_type, fields, (size.start, size.end), block, end)


class Extent(NamedTuple):
    """What of a record's header is wanted of every record: what it is, and where its block begins and ends."""

    kind: str
    block: int
    end: int


_LENGTH: Final = re.compile(rb"\nContent-Length[\t ]*+:([^\n]*+)\n", re.IGNORECASE)
_BLANKS: Final = b"\t\r "
_TYPE: Final = re.compile(rb"\nWARC-Type[\t ]*+:([^\n]*+)", re.IGNORECASE)


def extent_at(data: bytes, start: int) -> Extent | None:
    """As `record_at`, without reading the fields one by one where the header is as most are."""
    line = VERSION.match(data, start)
    head = HEAD_END.search(data, line.end() - 1, start + LONGEST_HEAD) if line is not None else None
    if line is not None and head is not None:
        size = _LENGTH.search(data, line.end() - 1, head.end())
        number = size[1].strip(_BLANKS) if size is not None else b""
        if size is not None and number.isdigit() and len(number) <= _DIGITS and data[size.end()] not in _BLANKS:
            found = _TYPE.search(data, line.end() - 1, head.end())
            kind = found[1].strip(_BLANKS).lower().decode("latin-1") if found is not None else ""
            return Extent(kind, head.end(), head.end() + int(number))
    record = record_at(data, start)
    return Extent(record.kind, record.block, record.end) if record is not None else None


_DIGITS: Final = 18
_DATE: Final = re.compile(rb"[0-9]{8,17}")
_SCHEME: Final = re.compile(rb"[A-Za-z][A-Za-z0-9+.-]*+:")


def arc_record(data: bytes, start: int) -> Record | None:
    """The ARC File Format of the Internet Archive: one line of words, the URL first, the length of the block last."""
    if not _SCHEME.match(data, start):
        return None
    line_end = data.find(b"\n", start, start + LONGEST_LINE)
    words = data[start:line_end].rstrip(b"\r").split(b" ") if line_end >= 0 else []
    if len(words) < 5 or not words[-1].isdigit() or len(words[-1]) > _DIGITS:
        return None
    if _DATE.fullmatch(words[-3]):  # version 1: URL, address, date, type, length; some URLs have blanks
        url, media_type = words[:-4], words[-2]
    elif len(words) >= 10 and _DATE.fullmatch(words[-8]):  # version 2: five more before the length
        url, media_type = words[:-9], words[-7]
    else:
        return None
    text = b" ".join(url).decode("utf-8", "surrogateescape")
    size_end = start + len(b" ".join(words))
    kind = "filedesc" if text.startswith("filedesc:") else "arc"
    size = (size_end - len(words[-1]), size_end)
    return Record(text, kind, media_type.decode("latin-1"), [], size, line_end + 1, line_end + 1 + int(words[-1]))
