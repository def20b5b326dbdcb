"""Detect HTTP responses without links by a scan of the header, without parsing each field (RFC 9110 5, 9112 4 and 5).

In: the span of a response. Out: whether the HTTP walker is certain to find no link in it. Most records of an archive
have none: images, and revisits, which have no body.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from absolve.core import byte_scan
from absolve.formats import registry
from absolve.formats.headers import OF_HTTP
from absolve.formats.http.responses import NO_BODY

if TYPE_CHECKING:
    import cython


_CONTENT_TYPE: Final = b"content-type"
_MEANT: Final = frozenset({_CONTENT_TYPE, *(name.encode() for name in OF_HTTP)})  # the fields that the walker reads
# Indexed by the first byte and the length of a field name: 1 if a name of _MEANT has both. Most other names are
# rejected by it without a bytes object.
_LONGEST = 31
_shapes = bytearray(256 << 5)
for _name in _MEANT:
    _shapes[_name[0] << 5 | len(_name)] = _shapes[_name.upper()[0] << 5 | len(_name)] = 1
_SHAPES = bytes(_shapes)
_NO_BODY = frozenset(map(int, NO_BODY))


def is_bare(data: bytes, start: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.bint:
    """Return whether the HTTP walker certainly finds nothing in this span: no field with a reference, no body.

    A body of a media type without a walker counts as no body. False, too, for a header in an unusual form (no status
    line in the form of RFC 9112 4, folded lines, names that are no tokens), and for one followed by a second response.
    """
    p: cython.p_const_uchar = data
    shapes: cython.p_const_uchar = _SHAPES
    i: cython.Py_ssize_t
    line_end: cython.Py_ssize_t
    length: cython.Py_ssize_t
    status: cython.int = _status(p, start, end)
    media_type: str | None = None
    if status < 0:
        return False
    start = byte_scan.find(p, 10, start, end) + 1
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
        line_end = byte_scan.find(p, 10, i, end)
        if line_end < 0 or (line_end + 1 < end and p[line_end + 1] in (9, 32)):  # obs-fold (RFC 9112 5.2)
            return False
        if length <= _LONGEST and shapes[p[start] << 5 | length]:
            name: bytes = p[start:i].lower()
            if name in _MEANT:
                if name != _CONTENT_TYPE:
                    return False
                if media_type is None:  # the first Content-Type counts
                    media_type = p[i + 1 : line_end].strip(b"\t\r ").decode("utf-8", "surrogateescape")
        start = line_end + 1
    if start + 5 <= end and p[start : start + 5] == b"HTTP/":
        return False
    return start == end or status in _NO_BODY or (bool(media_type) and not registry.is_read(media_type or ""))


def _status(p: cython.p_const_uchar, i: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.int:
    """Return the status code of the status line at `i` (RFC 9112 4), `HTTP/1.1 200`; -1 for any other form."""
    at: cython.Py_ssize_t
    number: cython.int = 0
    if byte_scan.find(p, 10, i, end) < i + 12 or p[i] != 72 or p[i + 1] != 84 or p[i + 2] != 84 or p[i + 3] != 80:
        return -1
    if p[i + 4] != 47 or not 48 <= p[i + 5] <= 57 or p[i + 6] != 46 or not 48 <= p[i + 7] <= 57 or p[i + 8] != 32:
        return -1
    for at in range(i + 9, i + 12):
        if not 48 <= p[at] <= 57:
            return -1
        number = 10 * number + p[at] - 48
    return number if p[i + 12] == 32 or p[i + 12] == 10 or (p[i + 12] == 13 and p[i + 13] == 10) else -1
