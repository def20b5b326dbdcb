r"""Parse the headers of WARC records (ISO 28500:2017 4 and 5) and of ARC records (ARC File Format, versions 1 and 2).

In: the bytes of a file and an offset. Out: the record's URL, type, media type and fields, and the span of its block.

>>> record = arc_record(b"http://h/ 192.0.2.1 20200102030405 text/html 3\n<p>\n", 0)
>>> record.url, record.kind, record.media_type, record.size, record.block, record.end
('http://h/', 'arc', 'text/html', (45, 46), 47, 50)
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from absolve.core import byte_scan
from absolve.formats.headers import Field, fields, first

if TYPE_CHECKING:
    import cython


LONGEST_HEAD: Final = 1 << 20  # maximum bytes of a record's header
LONGEST_LINE: Final = 1 << 16  # maximum bytes of an ARC record's header
_DIGITS = 18  # maximum digits of the length of a block


class Record:
    """The header of one record: its URL, its type, its fields (WARC only), and the span of its block.

    `kind` is WARC-Type in lower case; for ARC it is "arc", or "filedesc" for the version block. `size` is the span of
    the number that states the length of the block, `block` and `end` are the block's span, all as byte offsets.
    """

    def __init__(
        self, url: str, kind: str, media_type: str, fields: list[Field], size: tuple[int, int], block: int, end: int
    ) -> None:
        self.url = url
        self.kind = kind
        self.media_type = media_type
        self.fields = fields
        self.size = size
        self.block = block
        self.end = end


def version_end(data: bytes, start: cython.Py_ssize_t) -> cython.Py_ssize_t:
    r"""Return the end offset of the version line at `start`, WARC/[0-9]\.[0-9]+[\t ]*\r?\n; -1 for any other line."""
    p: cython.p_const_uchar = data
    n: cython.Py_ssize_t = len(data)
    i: cython.Py_ssize_t = start + 8
    if i >= n or p[start] != 87 or p[start + 1] != 65 or p[start + 2] != 82 or p[start + 3] != 67:
        return -1
    if p[start + 4] != 47 or not (_is_digit(p[start + 5]) and p[start + 6] == 46 and _is_digit(p[start + 7])):
        return -1
    while i < n and _is_digit(p[i]):
        i += 1
    while i < n and (p[i] == 32 or p[i] == 9):
        i += 1
    if i < n and p[i] == 13:
        i += 1
    return i + 1 if i < n and p[i] == 10 else -1


def head_end(data: bytes, start: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.Py_ssize_t:
    """Return the end offset of the first empty line in a span that includes the LF before it; -1 without one."""
    p: cython.p_const_uchar = data
    end = min(end, len(data))
    while True:
        start = byte_scan.find(p, 10, start, end) + 1
        if start <= 0 or start >= end:
            return -1
        if p[start] == 10:
            return start + 1
        if p[start] == 13 and start + 1 < end and p[start + 1] == 10:
            return start + 2


def _is_digit(byte: cython.int) -> cython.bint:
    return 48 <= byte <= 57


def record_at(data: bytes, start: cython.Py_ssize_t) -> Record | None:
    """Return the record whose header begins at `start`; None without a header, or if it is incomplete."""
    line: cython.Py_ssize_t = version_end(data, start)
    return _warc_record(data, start, line) if line >= 0 else arc_record(data, start)


def _warc_record(data: bytes, start: cython.Py_ssize_t, line: cython.Py_ssize_t) -> Record | None:
    """Parse a WARC record (ISO 28500:2017 4): version line (it ends at `line`), named fields, empty line, block."""
    field: Field
    size: Field | None = None
    if head_end(data, line - 1, start + LONGEST_HEAD) < 0:
        return None
    found, block = fields(data, line, skip=True, most=LONGEST_HEAD)
    for field in found:
        if field.name == "content-length":
            size = field
            break
    if size is None or size.end - size.start > _DIGITS or not data[size.start : size.end].isdigit():
        return None
    url = (first(data, found, "warc-target-uri") or "").removeprefix("<").removesuffix(">")
    kind = (first(data, found, "warc-type") or "").lower()
    media_type = first(data, found, "content-type") or ""
    end = block + int(data[size.start : size.end])
    return Record(url, kind, media_type, found, (size.start, size.end), block, end)


_DATE: Final = re.compile(rb"[0-9]{8,17}")
_SCHEME: Final = re.compile(rb"[A-Za-z][A-Za-z0-9+.-]*+:")


def arc_record(data: bytes, start: cython.Py_ssize_t) -> Record | None:
    """Parse an ARC record (ARC File Format of the Internet Archive): one line, URL first, length of the block last.

    Return None where there is no such line.
    """
    if not _SCHEME.match(data, start):
        return None
    line_end = data.find(b"\n", start, start + LONGEST_LINE)
    words = data[start:line_end].rstrip(b"\r").split(b" ") if line_end >= 0 else []
    if len(words) < 5 or not words[-1].isdigit() or len(words[-1]) > _DIGITS:
        return None
    if _DATE.fullmatch(words[-3]):  # version 1: URL (which may have spaces), address, date, type, length
        url, media_type = words[:-4], words[-2]
    elif len(words) >= 10 and _DATE.fullmatch(words[-8]):  # version 2: five more fields before the length
        url, media_type = words[:-9], words[-7]
    else:
        return None
    text = b" ".join(url).decode("utf-8", "surrogateescape")
    size_end = start + len(b" ".join(words))
    kind = "filedesc" if text.startswith("filedesc:") else "arc"
    size = (size_end - len(words[-1]), size_end)
    return Record(text, kind, media_type.decode("latin-1"), [], size, line_end + 1, line_end + 1 + int(words[-1]))
