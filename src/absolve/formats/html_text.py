"""What rows say beside the reference: the attributes of a tag, and the text of an anchor."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Final

from absolve.codings import CharacterReferences, quoted
from absolve.formats import html_names as names

if TYPE_CHECKING:
    import cython

    from absolve.charsets import Charset

    Pair = tuple[str, str]
else:
    from absolve import _cython as cython

if cython.compiled:
    from cython.cimports.absolve.formats.html_bytes import find
else:
    from absolve.formats.html_bytes import find

LONGEST: Final = 200  # characters of text in a row
_LOOKED_AT: Final = 4096  # bytes of an anchor's content that are read for it

_SPACE = cython.declare(cython.int, names.SPACE)
_NAME_END = cython.declare(cython.int, names.NAME_END)
_ATTRIBUTE_NAME_END = cython.declare(cython.int, names.ATTRIBUTE_NAME_END)
_CLASSES = cython.declare(bytes, names.CLASSES)
# A tag or comment that the stretch cuts off takes all the rest of it: nothing in it is looked at twice.
_TOKEN: Final = re.compile(
    rb"<(?:!--(?:-?>|.*?--!?>|.*)"
    rb"|(/?)([A-Za-z][^\t\n\f\r />]*+)"
    rb"(?:[^>=]++|=[\t\n\f\r ]*+(?:\"[^\"]*+(?:\"|\Z)|'[^']*+(?:'|\Z))?+)*+(?:>|\Z)"
    rb"|[!?/][^>]*+(?:>|\Z))",
    re.DOTALL,
)
_CLOSED: Final = (b"</a>", b"</A>")
_HIDDEN: Final = re.compile(rb"script|style|template|noscript", re.IGNORECASE)


@cython.ccall
@cython.boundscheck(False)
@cython.wraparound(False)
def rel_and_alt(data: bytes, start: cython.Py_ssize_t, end: cython.Py_ssize_t, charset: Charset) -> Pair:
    """The `rel` and the `alt` of the start tag in this span, decoded and folded; "" for what it does not have.

    13.2.5.32 to .40: white space and slashes, a name (that may begin with =), and a value in quotes or without. A value
    whose quotes the span cuts off is read as one without.
    """
    p: cython.p_const_uchar = data
    classes: cython.p_const_uchar = _CLASSES
    i: cython.Py_ssize_t = start
    name: cython.Py_ssize_t
    length: cython.Py_ssize_t
    value: cython.Py_ssize_t
    value_end: cython.Py_ssize_t
    rel: bytes | None = None
    alt: bytes | None = None
    while i < end and not classes[p[i]] & _NAME_END:
        i += 1
    while True:
        while i < end and (classes[p[i]] & _SPACE or p[i] == 47):
            i += 1
        if i >= end or p[i] == 62:
            break
        name = i
        i += 1
        while i < end and not classes[p[i]] & _ATTRIBUTE_NAME_END:
            i += 1
        length = i - name
        value = i
        while value < end and classes[p[value]] & _SPACE:
            value += 1
        if value < end and p[value] == 61:
            value += 1
            while value < end and classes[p[value]] & _SPACE:
                value += 1
            value_end = -1
            if value < end and (p[value] == 34 or p[value] == 39):
                value_end = find(p, p[value], value + 1, end)
            if value_end >= 0:
                value += 1
                i = value_end + 1
            else:
                i = value
                while i < end and not classes[p[i]] & _SPACE and p[i] != 62:
                    i += 1
                value_end = i
        else:
            value_end = value
        if length == 3:  # the first of duplicate attributes counts
            if p[name] | 32 == 114 and p[name + 1] | 32 == 101 and p[name + 2] | 32 == 108:
                rel = data[value:value_end] if rel is None else rel
            elif p[name] | 32 == 97 and p[name + 1] | 32 == 108 and p[name + 2] | 32 == 116:
                alt = data[value:value_end] if alt is None else alt
    return _decoded(rel, charset), _decoded(alt, charset)


@cython.cfunc
def _decoded(value: bytes | None, charset: Charset) -> str:
    return folded(quoted(charset, 0x22).decode(value)) if value else ""


def anchor_text(data: bytes, start: int, charset: Charset) -> str:
    """The text of the anchor whose start tag ends here, or the alternative texts in it; white space folded, cut."""
    end = min(len(data), start + _LOOKED_AT)
    tag = data.find(b"<", start, end)
    if tag >= 0 and data[tag : tag + 4] in _CLOSED:  # most anchors hold text alone
        return folded(_text(charset).decode(data[start:tag]))
    pieces: list[bytes] = []
    alternatives: list[str] = []
    position = start
    hidden = b""
    for token in _TOKEN.finditer(data, start, end):
        if not hidden:
            pieces.append(data[position : token.start()])
        position = token.end()
        name = (token[2] or b"").lower()
        if name == b"a":
            end = position
            break
        if hidden:
            if token[1] and name == hidden:
                hidden = b""
        elif not token[1] and _HIDDEN.fullmatch(name):
            hidden = name
        elif name == b"img" and not token[1]:
            alternatives.append(rel_and_alt(data, token.start(), token.end(), charset)[1])
    else:
        if not hidden:
            pieces.append(data[position:end].partition(b"<")[0])
    text = folded(_text(charset).decode(b" ".join(pieces)))
    return text or folded(" ".join(alternatives).encode())


@cache
def _text(charset: Charset) -> CharacterReferences:
    """The coding of an element's text."""
    return CharacterReferences(charset, b"")


def folded(value: bytes) -> str:
    return " ".join(value.decode("utf-8", "replace").split())[:LONGEST]
