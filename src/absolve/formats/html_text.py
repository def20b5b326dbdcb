"""What rows say beside the reference: the attributes of a tag, and the text of an anchor."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final

from absolve.codings import CharacterReferences, quoted
from absolve.formats import html_names as names

if TYPE_CHECKING:
    import cython

    from absolve.charsets import Charset

    Pair = tuple[str, bytes]
else:
    from absolve import _cython as cython

if cython.compiled:
    from cython.cimports.absolve.seek import comment_end, find, tag_end
else:
    from absolve.seek import comment_end, find, tag_end

LONGEST: Final = 200  # characters of text in a row
_LONGEST = cython.declare(cython.Py_ssize_t, LONGEST)
_LOOKED_AT = cython.declare(cython.Py_ssize_t, 4096)  # bytes of an anchor's content that are read for it

_SPACE = cython.declare(cython.int, names.SPACE)
_NAME_END = cython.declare(cython.int, names.NAME_END)
_ATTRIBUTE_NAME_END = cython.declare(cython.int, names.ATTRIBUTE_NAME_END)
_CLASSES = cython.declare(bytes, names.CLASSES)
_HIDDEN: Final = frozenset({b"script", b"style", b"template", b"noscript"})


@cython.ccall
@cython.boundscheck(False)
@cython.wraparound(False)
def rel_and_alt(data: bytes, start: cython.Py_ssize_t, end: cython.Py_ssize_t, charset: Charset) -> Pair:
    """The `rel` and the `alt`, in UTF-8, of the start tag in this span, decoded and folded; empty for what it lacks.

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
                rel = p[value:value_end] if rel is None else rel
            elif p[name] | 32 == 97 and p[name + 1] | 32 == 108 and p[name + 2] | 32 == 116:
                alt = p[value:value_end] if alt is None else alt
    return _decoded(rel, charset).decode() if rel else "", _decoded(alt, charset) if alt else b""


@cython.cfunc
def _decoded(value: bytes, charset: Charset) -> bytes:
    words = _plain(value, charset)
    return words if words is not None else folded(quoted(charset, 0x22).decode(value))


@cython.ccall
@cython.boundscheck(False)
@cython.wraparound(False)
def anchor_text(data: bytes, start: cython.Py_ssize_t, charset: Charset) -> bytes:
    """The text of the anchor whose start tag ends here, or the alternative texts in it, in UTF-8; folded, and cut.

    A tag or comment that the stretch which is read cuts off takes all the rest of it.
    """
    p: cython.p_const_uchar = data
    classes: cython.p_const_uchar = _CLASSES
    size: cython.Py_ssize_t = len(data)
    end: cython.Py_ssize_t = min(size, start + _LOOKED_AT)
    less: cython.Py_ssize_t = find(p, 60, start, end)
    position: cython.Py_ssize_t = start
    token_end: cython.Py_ssize_t
    name: cython.Py_ssize_t
    name_end: cython.Py_ssize_t
    is_start: cython.bint
    if less >= 0 and _closes(p, less, size):  # most anchors hold text alone
        return _text_of(p[start:less], charset)
    pieces: list[bytes] = []
    alternatives: list[bytes] = []
    hidden = b""
    while less >= 0 and less + 1 < end:
        is_start = p[less + 1] != 47
        name = less + 1 if is_start else less + 2
        name_end = name
        if name < end and 97 <= p[name] | 32 <= 122:  # 13.2.5.6 and .7: a letter begins a tag
            while name_end < end and not classes[p[name_end]] & _NAME_END:
                name_end += 1
            token_end = tag_end(p, name_end, end)
        elif p[less + 1] == 33 and less + 3 < end and p[less + 2] == 45 and p[less + 3] == 45:
            token_end = find(p, 62, comment_end(p, less + 4, end), end) + 1 or end
        elif p[less + 1] == 33 or p[less + 1] == 63 or not is_start:
            token_end = find(p, 62, less + 2, end) + 1 or end
        else:
            less = find(p, 60, less + 1, end)  # a character as any other
            continue
        if not hidden and less > position:
            pieces.append(p[position:less])
        position = token_end
        if name_end - name == 1 and p[name] | 32 == 97:
            break
        if hidden:
            if not is_start and p[name:name_end].lower() == hidden:
                hidden = b""
        elif is_start and name_end > name:
            if name_end - name == 3 and p[name:name_end].lower() == b"img":
                alternatives.append(rel_and_alt(data, less, token_end, charset)[1])
            elif name_end - name >= 5 and (found := p[name:name_end].lower()) in _HIDDEN:
                hidden = found
        less = find(p, 60, position, end)
    else:
        if not hidden and position < end:
            pieces.append(data[position:end].partition(b"<")[0])
    text = _text_of(pieces[0] if len(pieces) == 1 else b" ".join(pieces), charset)
    return text or folded(b" ".join(alternatives))


@cython.cfunc
@cython.exceptval(check=False)
@cython.boundscheck(False)
@cython.wraparound(False)
def _closes(p: cython.p_const_uchar, i: cython.Py_ssize_t, size: cython.Py_ssize_t) -> cython.bint:
    """Whether what begins here is `</a>`."""
    return i + 3 < size and p[i + 1] == 47 and p[i + 2] | 32 == 97 and p[i + 3] == 62


@cython.cfunc
def _text_of(value: bytes, charset: Charset) -> bytes:
    """The text that the content of an element stands for, folded."""
    words = _plain(value, charset)
    return words if words is not None else folded(_text(charset).decode(value))


@cache
def _text(charset: Charset) -> CharacterReferences:
    """The coding of an element's text."""
    return CharacterReferences(charset, b"")


@cython.cfunc
@cython.boundscheck(False)
@cython.wraparound(False)
def _plain(value: bytes, charset: Charset) -> bytes | None:
    """What `folded` makes of a value that needs no decoding; None where it may."""
    p: cython.p_const_uchar = value
    start: cython.Py_ssize_t = 0
    end: cython.Py_ssize_t = len(value)
    i: cython.Py_ssize_t
    blanks: cython.bint = False
    high: cython.bint = False
    if not charset.transparent:
        return None
    while start < end and (p[start] == 32 or p[start] == 10):
        start += 1
    while end > start and (p[end - 1] == 32 or p[end - 1] == 10):
        end -= 1
    for i in range(start, end):
        if p[i] == 38:
            return None
        high = high or p[i] > 126
        if p[i] <= 32:
            if p[i] == 13 or p[i] == 0:
                return None
            if p[i] != 32 or p[i + 1] <= 32:  # there is a byte behind: it is no blank at the end
                blanks = True
    if high:
        return folded(p[start:end]) if charset.codec == "utf-8" else None
    if blanks:
        value = " ".join(p[start:end].decode("ascii").split()).encode("ascii")
    elif end - start < len(value):
        value = p[start:end]
    return value if len(value) <= _LONGEST else value[:_LONGEST]


@cython.cfunc
def folded(value: bytes) -> bytes:
    """White space folded, and cut; what is no UTF-8 is replaced."""
    return " ".join(value.decode("utf-8", "replace").split())[:LONGEST].encode()
