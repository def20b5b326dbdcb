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
CUT: Final = " \N{HORIZONTAL ELLIPSIS}"
_HIDDEN: Final = re.compile(rb"<(?:!--|(?:s(?:cript|tyle)|t(?:itle|extarea|emplate))(?=[\t\n\f\r />]))")
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
        words = b" ".join(b" ".join(_SHOWN.findall(piece)).split())[:left]
        shown.append(words)
        left -= len(words)
        if left <= 0:
            break
    text = unescape(b" ".join(shown).decode(codec, "ignore")).strip()
    return text + CUT if left <= 0 or len(data) > READ else text


def _pieces(data: bytes) -> Iterator[bytes]:
    """Yield what is between comments and elements that are not shown. Linear: each search begins where one ended."""
    lower = data.lower()
    at = max(lower.find(b"<body"), 0)
    while hidden := _HIDDEN.search(lower, at):
        yield data[at : hidden.start()]
        is_comment = hidden[0] == b"<!--"
        at = lower.find(b"-->" if is_comment else b"</" + hidden[0][1:], hidden.end() - 2 * is_comment)
        if at < 0:
            return
    yield data[at:]
