"""Detect HTTP responses without links by a scan of the header, without parsing each field (RFC 9110 5, 9112 4 and 5).

In: the span of a response. Out: whether the HTTP walker is certain to find no link in it. Most records of an archive
have none: images, and revisits, which have no body.
"""

from __future__ import annotations

import re
from typing import Final

from absolve.formats import registry
from absolve.formats.headers import OF_HTTP
from absolve.formats.http.responses import NO_BODY

_CONTENT_TYPE: Final = b"content-type"
_NAMES: Final = b"|".join((_CONTENT_TYPE, *(name.encode() for name in OF_HTTP)))
_READ: Final = re.compile(rb"^(%b):([^\n]*+)" % _NAMES, re.IGNORECASE | re.MULTILINE)
# The status line (RFC 9112 4) and its code, all fields whose names are tokens (RFC 9110 5.1) and that are not folded
# (RFC 9112 5.2), and the empty line.
_HEADER: Final = re.compile(
    rb"HTTP/[0-9]\.[0-9] ([0-9]{3})(?=[ \n]|\r\n)[^\n]*+\n((?>(?:[!-9;-~]++:[^\n]*+\n(?![\t ]))*))(\r?\n)?"
)
_NO_BODY: Final = {str(int(status)).encode() for status in NO_BODY}


def is_bare(data: bytes, start: int, end: int) -> bool:
    """Return whether the HTTP walker certainly finds nothing in this span: no field with a reference, no body.

    A body of a media type without a walker counts as no body. False, too, for a header in an unusual form (no status
    line in the form of RFC 9112 4, folded lines, names that are no tokens), and for one followed by a second response.
    """
    header = _HEADER.match(data, start, end)
    if header is None or (header[3] is None and header.end() < end):
        return False
    media_type: str | None = None
    for name, value in _READ.findall(data, *header.span(2)):
        if name.lower() != _CONTENT_TYPE:
            return False
        if media_type is None:  # the first Content-Type counts
            media_type = value.strip(b"\t\r ").decode("utf-8", "surrogateescape")
    if data.startswith(b"HTTP/", header.end(), end):
        return False
    is_empty = header.end() == end or header[1] in _NO_BODY
    return is_empty or (bool(media_type) and not registry.is_read(media_type or ""))
