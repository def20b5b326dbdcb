"""Building blocks of hostile documents: repeated, nested, numbered or repeatedly escaped units."""

from collections.abc import Callable
from typing import NamedTuple


class Shape(NamedTuple):
    """A hostile document for every size, with the options that it is read with."""

    make: Callable[[int], bytes]
    media_type: str = "text/html"
    charset: str | None = "utf-8"


def repeated(unit: bytes, before: bytes = b"", after: bytes = b"") -> Callable[[int], bytes]:
    """Return the unit repeated to the size, between a head and a tail."""
    return lambda size: before + unit * (max(0, size - len(before) - len(after)) // len(unit)) + after


def nested(opened: bytes, closed: bytes, inside: bytes = b"<a href=x>") -> Callable[[int], bytes]:
    """Return nested elements, each of them closed, with the link in the innermost one."""

    def make(size: int) -> bytes:
        levels = (size - len(inside)) // (len(opened) + len(closed))
        return opened * levels + inside + closed * levels

    return make


def numbered(before: bytes, unit: bytes, after: bytes = b"") -> Callable[[int], bytes]:
    """Return the unit repeated, with a number for each of its `%d`."""

    def make(size: int) -> bytes:
        count = max(1, (size - len(before) - len(after)) // (len(unit) + 4))
        return before + b"".join(unit % number for number in range(count)) + after

    return make


def srcdocs(levels: int, quotes: bytes = b'"', link: bytes = b"<a href=x>") -> bytes:
    """Return nested srcdoc documents: each outer level escapes the inner ones again."""
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
    """Return a value that needs no quotes."""
    for character, reference in ((b"&", b"&amp;"), (b" ", b"&#32;"), (b">", b"&gt;")):
        document = document.replace(character, reference)
    return document


def deep_srcdocs(make: Callable[[int], bytes]) -> Callable[[int], bytes]:
    """Return as many levels as fit: each level multiplies the ampersands of the inner ones; at most a thousand."""

    def grown(size: int) -> bytes:
        levels = 1
        while levels < 1000 and len(make(2 * levels)) <= size:
            levels *= 2
        document = make(levels) + b"</iframe>"  # otherwise the following markup would be text
        return document + document * ((size - len(document)) // len(document))

    return grown


def sixteen_bit(make: Callable[[int], bytes]) -> Callable[[int], bytes]:
    return lambda size: b"\xff\xfe" + make(size // 2).decode("latin-1").encode("utf-16-le")
