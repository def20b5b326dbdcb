"""Resynchronise: find the next start of a record or gzip member behind broken data of a WARC or ARC file.

In: a buffer and offsets. Out: whether a record begins there, which the reader verifies by splitting from there.
"""

from __future__ import annotations

import re
from typing import Final

from absolve.formats.warc.headers import head_end, record_at

GZIP: Final = b"\x1f\x8b\x08"
_LINE: Final = rb"WARC/[0-9]\.[0-9]+[\t ]*+\r?\n"
_VERSION: Final = re.compile(rb"\n" + _LINE)
_RECORD: Final = rb"\n(?=%b|[a-z]{3,10}:[^\n ]*+ )" % _LINE
_MEMBER: Final = rb"\x1f\x8b\x08(?=[\x00-\x1f])"
START: Final = re.compile(rb"%b|(%b)" % (_RECORD, _MEMBER))


def begun(held: bytes, position: int) -> bool:
    """Return whether a record with a complete header begins at a match of `START`.

    A header has no second version line, so it is searched only up to the next one: linear in total, for any number of
    version lines.
    """
    following = _VERSION.search(held, position) if held.startswith(b"WARC/", position) else None
    if following is not None and head_end(held, position, following.start() + 1) < 0:
        return False
    return record_at(held, position) is not None
