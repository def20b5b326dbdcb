"""The references inside one value: a srcset, a refresh, a list of URLs.

A value is the decoded text of an attribute, as UTF-8 bytes; the grammars are ASCII, so no character is ever cut. Each
function takes a value and gives the spans of the references in it, half open, in order, without white space around
them. `GRAMMARS` has one for each syntax that tables of places name (css and srcdoc are documents, not grammars);
`ESCAPES` has what a target must have escaped when it is written in the place of such a span. All of them take time
linear in the value: no quantifier stands inside another one that could give back what it took.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from absolve.core.lazy_regex import pattern
from absolve.encodings.offset_map import replaced

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    import cython
else:
    from absolve.core import _cython as cython

if cython.compiled:
    from cython.cimports.absolve.core.byte_scan import find, is_space
else:
    from absolve.core.byte_scan import find, is_space

Span = tuple[int, int]

WHITE_SPACE: Final = b"\t\n\f\r "  # the HTML Standard's ASCII whitespace


def _trimmed(value: bytes, start: int, end: int) -> Span:
    """The span without the ASCII white space at its ends; an empty one stands where the white space ends."""
    text = value[start:end]
    inner = text.lstrip(WHITE_SPACE)
    start += len(text) - len(inner)
    return start, start + len(inner.rstrip(WHITE_SPACE))


def url(value: bytes) -> list[Span]:
    """One URL potentially surrounded by spaces; the empty reference is one too."""
    return [_trimmed(value, 0, len(value))]


@cython.boundscheck(False)
@cython.wraparound(False)
def srcset(value: bytes) -> Iterator[Span]:
    """HTML Standard 4.8.4.3.10, "parse a srcset attribute".

    A candidate with a bad descriptor is listed all the same.
    """
    p: cython.p_const_uchar = value
    n: cython.Py_ssize_t = len(value)
    i: cython.Py_ssize_t = 0
    start: cython.Py_ssize_t
    end: cython.Py_ssize_t
    while True:
        while i < n and (p[i] == 44 or is_space(p[i])):  # 4. splitting loop: collect ASCII white space and commas
            i += 1
        if i >= n:  # 5. at the end, return
            return
        start = i
        while i < n and not is_space(p[i]):  # 6. collect the URL
            i += 1
        end = i
        while end > start and p[end - 1] == 44:
            end -= 1
        yield start, end
        if end == i:  # 8. a URL that ends with commas has no descriptors: they are not part of it, and separate
            i = _descriptors_end(p, i, n)
        # 9 to 15, the descriptor parser, cannot change where candidates stand; 16. go on at 4


@cython.cfunc
@cython.exceptval(check=False)
@cython.boundscheck(False)
@cython.wraparound(False)
def _descriptors_end(p: cython.p_const_uchar, i: cython.Py_ssize_t, n: cython.Py_ssize_t) -> cython.Py_ssize_t:
    """8. descriptor tokenizer: after the first comma that is not in parentheses."""
    while i < n and p[i] != 44:
        if p[i] == 40:
            i = find(p, 41, i, n)
            if i < 0:
                return n
        i += 1
    return i + 1 if i < n else n


@cython.boundscheck(False)
@cython.wraparound(False)
def spaces(value: bytes) -> Iterator[Span]:
    """A set of space-separated tokens: ping, attributionsrc, itemtype, the archive of an object."""
    p: cython.p_const_uchar = value
    n: cython.Py_ssize_t = len(value)
    i: cython.Py_ssize_t = 0
    start: cython.Py_ssize_t
    while True:
        while i < n and is_space(p[i]):
            i += 1
        if i >= n:
            return
        start = i
        while i < n and not is_space(p[i]):
            i += 1
        yield start, i


_BETWEEN_COMMAS: Final = re.compile(rb"[^,]++")


def commas(value: bytes) -> Iterator[Span]:
    """A comma-separated list, white space around its items: the archive of an applet (HTML 4.01 13.4)."""
    for found in _BETWEEN_COMMAS.finditer(value):
        start, end = _trimmed(value, found.start(), found.end())
        if start < end:
            yield start, end


# HTML Standard 4.2.5.3, shared declarative refresh steps
_REFRESH: Final = pattern(
    rb"[\t\n\f\r ]*+"  # 4. skip ASCII white space
    rb"[0-9.]++"  # 6 to 9. digits, or a full stop and then digits and full stops
    rb"(?=[;,\t\n\f\r ])"  # 11.1. anything else: return
    rb"[\t\n\f\r ]*+[;,]?+[\t\n\f\r ]*+"  # 11.2 to 11.4
    rb"(?:[Uu][Rr][Ll][\t\n\f\r ]*+=[\t\n\f\r ]*+)?+"  # 12.2 to 12.7; where it breaks off, the URL begins before it
    rb"([\"']?+)"  # 12.8. skip quotes
)


def refresh(value: bytes) -> list[Span]:
    """The URL of a `meta` refresh or a Refresh header; none where there is only a time, or nothing after `url=`."""
    found = _REFRESH.match(value)
    if not found:
        return []
    quote = found[1]
    end = value.find(quote, found.end()) if quote else -1  # 12.10. what follows the closing quote is no part of it
    start, end = _trimmed(value, found.end(), len(value) if end < 0 else end)
    return [(start, end)] if start < end else []


_TASK: Final = pattern(rb"[\t\n\f\r ]*+(?:action|icon|polling)-uri[0-9]?+[\t\n\f\r ]*+=", re.IGNORECASE)
_BETWEEN_SEMICOLONS: Final = re.compile(rb"[^;]++")


def tasks(value: bytes) -> Iterator[Span]:
    """Internet Explorer's pinned sites: `name=N;action-uri=URL;icon-uri=URL`, `frequency=30;polling-uri=URL`."""
    for item in _BETWEEN_SEMICOLONS.finditer(value):
        if key := _TASK.match(value, item.start(), item.end()):
            start, end = _trimmed(value, key.end(), item.end())
            if start < end:
                yield start, end


def config(value: bytes) -> list[Span]:
    """msapplication-config: a URL, or `none` for "fetch no browserconfig.xml"."""
    start, end = _trimmed(value, 0, len(value))
    return [] if value[start:end].lower() == b"none" else [(start, end)]


# What begins as an absolute reference or a path does, or one word that ends as the name of a file does; so no "true",
# "#fff", JSON, template or identifier, and no URL that was percent-encoded or base64-encoded as a whole.
_LIKELY: Final = pattern(
    rb"[A-Za-z][A-Za-z0-9+.-]*+:"  # a scheme
    rb"|\.{0,2}+/"  # /path, ./path, ../path, //host
    rb"|(?![A-Za-z]++%3[Aa])[A-Za-z0-9_~%@!$&*,;=+:/\x80-\xff-]"
    rb"[^\t\n\f\r <>\"'{}\\?#]*(?<=\.)[A-Za-z][A-Za-z0-9]{1,4}+(?:[?#][^\t\n\f\r <>\"{}\\]*+)?+\Z"
)


def likely(value: bytes) -> list[Span]:
    """One URL in an attribute that pages use for other things too: only what looks like a URL."""
    start, end = _trimmed(value, 0, len(value))
    return [(start, end)] if _LIKELY.match(value[start:end]) else []


# RFC 8288 3 and B.2: commas between, and in a link parameters with strings, in which `<` is no link
_LINK_VALUE: Final = pattern(rb"[^<\"]*+(?:\"(?:[^\"\\]++|\\.)*+\"?+[^<\"]*+)*+<([^>]*+)>", re.DOTALL)


def link(value: bytes) -> Iterator[Span]:
    """The targets of a Link header field: `<URL>; rel=next; title="x, <y>", <URL>`."""
    position = 0
    while found := _LINK_VALUE.match(value, position):
        yield _trimmed(value, found.start(1), found.end(1))
        position = found.end()


GRAMMARS: Final[dict[str, Callable[[bytes], Iterable[Span]]]] = {
    "url": url,
    "srcset": srcset,
    "spaces": spaces,
    "commas": commas,
    "refresh": refresh,
    "tasks": tasks,
    "config": config,
    "likely": likely,
    "link": link,
}


def _percent(bytes_to_escape: re.Match[bytes]) -> bytes:
    return b"%" + bytes_to_escape[0].hex("%").upper().encode()


def _escape_nothing(target: bytes, _before: bytes) -> bytes:
    return target


_SPACE: Final = re.compile(rb"[\t\n\f\r ]++")
_SPACE_OR_COMMA: Final = re.compile(rb"[\t\n\f\r ,]++")
_SPACE_OR_ANGLE: Final = re.compile(rb"[\t\n\f\r >]++")
_SEMICOLON: Final = re.compile(rb";++")


def _escape_spaces(target: bytes, _before: bytes) -> bytes:
    return replaced(_SPACE, _percent, target)


def _escape_srcset(target: bytes, _before: bytes) -> bytes:
    """A comma inside a URL of a srcset is part of it; one at an edge would separate."""
    inner = target.lstrip(b",")
    leading = len(target) - len(inner)
    trailing = len(inner) - len(inner.rstrip(b","))
    middle = replaced(_SPACE, _percent, inner[: len(inner) - trailing])
    return b"%2C" * leading + middle + b"%2C" * trailing


def _escape_commas(target: bytes, _before: bytes) -> bytes:
    return replaced(_SPACE_OR_COMMA, _percent, target)


def _escape_refresh(target: bytes, before: bytes) -> bytes:
    """Escape the quote before the URL, which would end it, or else one that the URL begins with."""
    quote = before.rstrip(WHITE_SPACE)[-1:]
    if quote in (b'"', b"'"):
        return target.replace(quote, b"%%%02X" % quote[0])
    return b"%%%02X" % target[0] + target[1:] if target[:1] in (b'"', b"'") else target


def _escape_tasks(target: bytes, _before: bytes) -> bytes:
    return replaced(_SEMICOLON, _percent, target)


def _escape_link(target: bytes, _before: bytes) -> bytes:
    return replaced(_SPACE_OR_ANGLE, _percent, target)


# What a target must have percent-escaped to be read back as one reference: the target, as UTF-8, and the value's bytes
# before the place where it is written -> the target to write. The target is a whole absolute URL without white space
# around it; for most targets these functions give back the same bytes.
ESCAPES: Final[dict[str, Callable[[bytes, bytes], bytes]]] = {
    "url": _escape_nothing,
    "srcset": _escape_srcset,
    "spaces": _escape_spaces,
    "commas": _escape_commas,
    "refresh": _escape_refresh,
    "tasks": _escape_tasks,
    "config": _escape_nothing,
    "likely": _escape_nothing,
    "link": _escape_link,
}
