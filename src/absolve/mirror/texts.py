"""Read the beginning of a page's text, for the search of the entry page.

In: the bytes of a page and its charset. Out: text with white space folded, without scripts, styles and comments. It is
approximate, and quick: it is for people who search, and nothing else depends on it.
"""

from __future__ import annotations

import re
from html import unescape
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

    from absolve.encodings.charsets import Charset

READ: Final = 1 << 16  # bytes of a page that are read
_MOST: Final = 8000  # bytes of the text of a page that are kept,
_ALL: Final = 16 << 20  # and of all pages: many pages have shares of it,
_LEAST: Final = 200  # but no smaller ones
_PIECE: Final = 4096  # bytes that are read at once: the text of most pages is cut early
CUT: Final = " \N{HORIZONTAL ELLIPSIS}"
# A search skips to the first byte, as long as it is one without case.
_BODY: Final = re.compile(rb"<(?i:body)")
_HIDDEN: Final = re.compile(rb"<((?i:!--|(?:s(?:cript|tyle)|t(?:itle|extarea|emplate))(?=[\t\n\f\r />])))")
_ENDS: Final = {b"!--": re.compile(rb"-->")} | {
    name: re.compile(rb"<(?i:/%s)" % name) for name in (b"script", b"style", b"title", b"textarea", b"template")
}
_SHOWN: Final = re.compile(rb">([^<]+)")


def share_of(pages: int) -> int:
    """Return how many bytes of text are kept of each of a number of pages."""
    return max(_LEAST, min(_MOST, _ALL // max(pages, 1)))


def text_of(data: bytes, charset: Charset, most: int) -> str:
    """Return the beginning of the text of a page: at most so many bytes. Where it is cut it ends with CUT."""
    read, codec = data[:READ], charset.codec
    if not charset.transparent:
        read, codec = read.decode(codec, "replace").encode(), "utf-8"
    shown: list[bytes] = []
    left = most
    for piece in _pieces(read):
        if words := b" ".join(_SHOWN.findall(piece)).split():
            shown.append(b" ".join(words))
            left -= len(shown[-1]) + 1
            if left < 0:
                break
    text = unescape(b" ".join(shown)[:most].decode(codec, "ignore")).strip()
    return text + CUT if left < 0 or len(data) > READ else text


def _pieces(data: bytes) -> Iterator[bytes]:
    """Yield what is between comments and elements that are not shown. Linear: each search begins where one ended."""
    body = _BODY.search(data)
    at = body.start() if body else 0
    while at < len(data):
        end = data.find(b"<", at + _PIECE) % (len(data) + 1)  # -1: the end
        hidden = _HIDDEN.search(data, at, end)
        yield data[at : hidden.start() if hidden else end]
        found = _ENDS[hidden[1].lower()].search(data, hidden.end() - 2) if hidden else None
        if hidden and not found:
            return
        at = found.start() if found else end
