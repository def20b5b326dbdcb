"""What hostile documents are made of: something repeated, nested, numbered, escaped again and again."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable


class Shape(NamedTuple):
    """One hostile document for every size, and what must be said of it for it to be read as meant."""

    make: Callable[[int], bytes]
    media_type: str = "text/html"
    charset: str | None = "utf-8"


def repeated(unit: bytes, before: bytes = b"", after: bytes = b"") -> Callable[[int], bytes]:
    """The unit as often as it takes, between what stands around it."""
    return lambda size: before + unit * (max(0, size - len(before) - len(after)) // len(unit)) + after


def nested(opened: bytes, closed: bytes, inside: bytes = b"<a href=x>") -> Callable[[int], bytes]:
    """Elements in elements, each of them closed; the link stands in the innermost one."""

    def make(size: int) -> bytes:
        levels = (size - len(inside)) // (len(opened) + len(closed))
        return opened * levels + inside + closed * levels

    return make


def numbered(before: bytes, unit: bytes, after: bytes = b"") -> Callable[[int], bytes]:
    """The unit again and again with another number in the place of its `%d` each time."""

    def make(size: int) -> bytes:
        count = max(1, (size - len(before) - len(after)) // (len(unit) + 4))
        return before + b"".join(unit % number for number in range(count)) + after

    return make


def srcdocs(levels: int, quotes: bytes = b'"', link: bytes = b"<a href=x>") -> bytes:
    """Documents in documents: what has been escaped once is escaped again by every level further out."""
    document = link
    for level in range(levels):
        quote = quotes[level % len(quotes) : level % len(quotes) + 1]
        escaped = document.replace(b"&", b"&amp;").replace(quote, b"&quot;" if quote == b'"' else b"&#39;")
        document = b"<iframe srcdoc=" + quote + escaped + quote + b">"
    return document


def unquoted_srcdocs(levels: int) -> bytes:
    document = b"<a href=x>"
    for _ in range(levels):
        document = b"<iframe srcdoc=" + _unquoted(document) + b">"
    return document


def _unquoted(document: bytes) -> bytes:
    """A value that may stand without quotes."""
    for character, reference in ((b"&", b"&amp;"), (b" ", b"&#32;"), (b">", b"&gt;")):
        document = document.replace(character, reference)
    return document


def deep_srcdocs(make: Callable[[int], bytes]) -> Callable[[int], bytes]:
    """As many levels as the size has room for: each multiplies the ampersands of those inside, so a thousand at most."""

    def grown(size: int) -> bytes:
        levels = 1
        while levels < 1000 and len(make(2 * levels)) <= size:
            levels *= 2
        document = make(levels) + b"</iframe>"  # else what stands behind it would be text
        return document + document * ((size - len(document)) // len(document))

    return grown


def sixteen_bit(make: Callable[[int], bytes]) -> Callable[[int], bytes]:
    return lambda size: b"\xff\xfe" + make(size // 2).decode("latin-1").encode("utf-16-le")
