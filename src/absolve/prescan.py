"""Find the meta elements in which a browser looks for a document's charset before it parses it (HTML 13.2.3.2)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import cython
else:
    from absolve import _cython as cython

_PRESCAN: Final = 1024
_TEXT: Final = {
    name: re.compile(rb"</%b(?=[\t\n\f\r />])" % name, re.IGNORECASE)
    for name in b"script style title textarea xmp iframe noembed noframes".split()
}
_OF_HEAD: Final = frozenset(
    b"script style title meta link object base noscript html head /script /style /title /meta /link /object /base"
    b" /noscript".split()
)


@cython.final
@cython.cclass
class Metas:
    """The meta elements that name a charset, in the first 1024 bytes or the head.

    Chromium stops where both are over, and reads no text of scripts and the like; the standard's prescan reads 1024
    bytes, such text too. `next` moves to the next one: its attributes are from `start` to `end`.
    """

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._in_head = True
        self.start = self.end = 0

    @cython.ccall
    @cython.boundscheck(False)
    @cython.wraparound(False)
    def next(self) -> cython.bint:
        """Whether there is another. Comments, tags with their quoted values and declarations are looked at as a whole.

        What the end of the file cuts off takes all the rest, so that no byte is looked at twice.
        """
        data: bytes = self._data
        p: cython.p_const_uchar = data
        n: cython.Py_ssize_t = len(data)
        position: cython.Py_ssize_t = self.end
        i: cython.Py_ssize_t
        while True:
            i = data.find(b"<", position) + 1
            if i <= 0 or i >= n or not (self._in_head or i <= _PRESCAN):
                return False
            if p[i] == 33 and i + 2 < n and p[i + 1] == 45 and p[i + 2] == 45:
                position = _comment_end(data, i + 3)
            elif _is_letter(p[i]) or (p[i] == 47 and i + 1 < n and _is_letter(p[i + 1])):
                position = i
                i += 1
                while i < n and not _is_space(p[i]) and p[i] != 47 and p[i] != 62:
                    i += 1
                name = data[position:i].lower()
                position = _tag_end(data, i)
                if name == b"meta":
                    if p[position - 1] == 62 and data[i:position].lower().find(b"charset") >= 0:
                        self.start = i
                        self.end = position
                        return True
                    continue
                self._in_head = self._in_head and name in _OF_HEAD
                if name in _TEXT:
                    position = _text_end(data, position, name)
            elif p[i] == 33 or p[i] == 47 or p[i] == 63:
                position = _after(data, b">", i)
            else:
                position = i


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _is_letter(byte: cython.int) -> cython.bint:
    return 97 <= byte | 32 <= 122


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _is_space(byte: cython.int) -> cython.bint:
    return byte in (9, 10, 12, 13, 32)


@cython.cfunc
def _after(data: bytes, what: bytes, position: cython.Py_ssize_t) -> cython.Py_ssize_t:
    """Where what is looked for is over; the end of the document where it does not come."""
    found: cython.Py_ssize_t = data.find(what, position)
    return found + len(what) if found >= 0 else len(data)


@cython.cfunc
def _comment_end(data: bytes, position: cython.Py_ssize_t) -> cython.Py_ssize_t:
    """Where a comment is over: after `-->` or `--!>`, or what may stand for that right at its beginning."""
    if data[position : position + 1] == b">":
        return position + 1
    if data[position : position + 2] == b"->":
        return position + 2
    while True:
        position = data.find(b"--", position)
        if position < 0:
            return len(data)
        if data[position + 2 : position + 3] == b">":
            return position + 3
        if data[position + 2 : position + 4] == b"!>":
            return position + 4
        position += 1


@cython.cfunc
@cython.boundscheck(False)
@cython.wraparound(False)
def _tag_end(data: bytes, i: cython.Py_ssize_t) -> cython.Py_ssize_t:
    """Where a tag is over, from the end of its name on: a quote counts after an equals sign only."""
    p: cython.p_const_uchar = data
    n: cython.Py_ssize_t = len(data)
    while i < n:
        i += 1
        if p[i - 1] == 62:
            return i
        if p[i - 1] == 61:
            while i < n and _is_space(p[i]):
                i += 1
            if i < n and (p[i] == 34 or p[i] == 39):
                i = _after(data, b'"' if p[i] == 34 else b"'", i + 1)
    return n


@cython.cfunc
def _text_end(data: bytes, position: cython.Py_ssize_t, name: bytes) -> cython.Py_ssize_t:
    """Where the end tag of this name begins; a search for two bytes is many times quicker than one for letters."""
    is_end = _TEXT[name].match
    while True:
        position = data.find(b"</", position)
        if position < 0:
            return len(data)
        if is_end(data, position):
            return position
        position += 2
