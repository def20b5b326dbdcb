"""Responses that no link is in, as is seen without reading their fields one by one.

Most records of an archive are such: images, and revisits, which have no body.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from absolve import formats
from absolve.formats.headers import OF_HTTP
from absolve.formats.http_responses import NO_BODY, STATUS_LINE

if TYPE_CHECKING:
    import cython
else:
    from absolve import _cython as cython

if cython.compiled:
    from cython.cimports.absolve.seek import find
else:
    from absolve.seek import find

_CONTENT_TYPE: Final = b"content-type"
_MEANT: Final = frozenset({_CONTENT_TYPE, *(name.encode() for name in OF_HTTP)})  # what the walker reads of a header
_LENGTHS = cython.declare(cython.longlong, sum(1 << length for length in {len(name) for name in _MEANT}))


@cython.boundscheck(False)
@cython.wraparound(False)
def is_bare(data: bytes, start: cython.Py_ssize_t, end: cython.Py_ssize_t) -> bool:
    """Whether it is sure that the walker of HTTP finds nothing in this span: no field with a reference, no body.

    A body of a kind that is not read counts as none. A header that is not written as most are is never sure, and no
    more is one that ends where a second response begins.
    """
    p: cython.p_const_uchar = data
    i: cython.Py_ssize_t
    line_end: cython.Py_ssize_t
    length: cython.Py_ssize_t
    line = STATUS_LINE.match(data, start, end)
    if line is None:
        return False
    start = line.end()
    media_type: str | None = None
    while start < end:
        if p[start] == 10 or (p[start] == 13 and start + 1 < end and p[start + 1] == 10):
            start += 1 if p[start] == 10 else 2
            break
        i = start
        while i < end and 33 <= p[i] <= 126 and p[i] != 58:  # RFC 9110 5.1
            i += 1
        if i == start or i == end or p[i] != 58:
            return False
        length = i - start
        line_end = find(p, 10, i, end)
        if line_end < 0 or (line_end + 1 < end and p[line_end + 1] in (9, 32)):  # RFC 9112 5.2: it is folded
            return False
        if length < 63 and _LENGTHS >> length & 1:
            name = data[start:i].lower()
            if name in _MEANT:
                if name != _CONTENT_TYPE:
                    return False
                if media_type is None:  # the first one counts
                    media_type = data[i + 1 : line_end].strip(b"\t\r ").decode("utf-8", "surrogateescape")
        start = line_end + 1
    if data.startswith(b"HTTP/", start):
        return False
    return start == end or line[1] in NO_BODY or (bool(media_type) and not formats.is_read(media_type or ""))
