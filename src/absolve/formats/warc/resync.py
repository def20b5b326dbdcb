"""Resynchronise: find the next start of a record or gzip member from any offset of a WARC or ARC file.

In: a file or a buffer, and offsets. Out: the offset of a candidate, which the reader verifies by splitting from there.
"""

from __future__ import annotations

import re
from typing import IO, Final

from absolve.formats.warc.gzip_members import begins_record
from absolve.formats.warc.headers import LONGEST_LINE, head_end, record_at
from absolve.formats.warc.reader_window import CHUNK

GZIP: Final = b"\x1f\x8b\x08"
_LINE: Final = rb"WARC/[0-9]\.[0-9]+[\t ]*+\r?\n"
_VERSION: Final = re.compile(rb"\n" + _LINE)
_RECORD: Final = rb"\n(?=%b|[a-z]{3,10}:[^\n ]*+ )" % _LINE
_MEMBER: Final = rb"\x1f\x8b\x08(?=[\x00-\x1f])"
START: Final = re.compile(rb"%b|(%b)" % (_RECORD, _MEMBER))
_RECORDS: Final = re.compile(_RECORD)
_MEMBERS: Final = re.compile(_MEMBER)  # alone it is searched by its literal prefix: ten times as fast as START


def begun(held: bytes, position: int) -> bool:
    """Return whether a record with a complete header begins at a match of `START`.

    A header has no second version line, so it is searched only up to the next one: linear in total, for any number of
    version lines.
    """
    following = _VERSION.search(held, position) if held.startswith(b"WARC/", position) else None
    if following is not None and head_end(held, position, following.start() + 1) < 0:
        return False
    return record_at(held, position) is not None


def first_record(file: IO[bytes], start: int, end: int) -> int | None:
    """Return the offset of the first apparent record or gzip member between these offsets; None if none is found.

    It may be a false positive, inside a record. `file` must be seekable; `start` must be greater than 0.
    """
    file.seek(0)
    in_members = file.read(len(GZIP)) == GZIP
    begins = _MEMBERS if in_members else _RECORDS
    at = start - 1  # the line end before a record
    file.seek(at)
    held = b""
    while at < end:
        more = file.read(CHUNK)
        held += more
        known = len(held) - LONGEST_LINE if more else len(held)
        for found in begins.finditer(held):
            if found.start() >= known:
                break
            position = found.start() if in_members else found.end()
            if not start <= at + position < end:
                continue
            if begins_record(held[position : position + CHUNK]) if in_members else begun(held, position):
                return at + position
        if not more:
            break
        held = held[max(known, 0) :]
        at += max(known, 0)
    return None
