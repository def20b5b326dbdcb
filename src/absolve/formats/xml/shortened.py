"""XML without its long attribute values, which take most of the time that expat needs for a drawing.

Whether a document is well-formed (XML 1.0 2.1; Namespaces in XML 1.0) does not depend on what is left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import cython
else:
    from absolve.core import _cython as cython

if cython.compiled:
    from cython.cimports.absolve.core.byte_scan import find
else:
    from absolve.core.byte_scan import find

_LONG = cython.declare(cython.Py_ssize_t, 128)  # bytes of a value
_SHARE = cython.declare(cython.Py_ssize_t, 4)  # of the document is left out at least, else a copy of it is too dear
_PLAIN = cython.declare(
    bytes,
    bytes(chr(byte).isascii() and (chr(byte).isalnum() or byte in b"\t\n\r #%()+,-./:;=_") for byte in range(256)),
)


@cython.boundscheck(False)
@cython.wraparound(False)
def shortened(data: bytes, start: cython.Py_ssize_t) -> bytes | bytearray:
    """The document with nothing in its long values behind this offset, where the declarations are over.

    What is left out stands between `="` and `"`, and has no quotes, no markup, no reference and no two hyphens. In a
    value, in text, in a comment, a CDATA section or an instruction it is as good as nothing; if it is anywhere else,
    neither document is well-formed, as two quotes stand where the first of them has ended a value. So is neither where
    it declared a prefix; who is told that the shorter one is not well-formed asks for the longer.
    """
    p: cython.p_const_uchar = data
    plain: cython.p_const_uchar = _PLAIN
    n: cython.Py_ssize_t = len(data)
    i: cython.Py_ssize_t = find(p, 34, start, n)
    at: cython.Py_ssize_t
    end: cython.Py_ssize_t
    kept: cython.Py_ssize_t = 0
    left_out: cython.Py_ssize_t = 0
    short = bytearray()
    while i > 0:
        if p[i - 1] != 61:
            i = find(p, 34, i + 1, n)
            continue
        end = find(p, 34, i + 1, n)
        if end - i > _LONG:
            at = i + 1
            while plain[p[at]]:
                at += 1
            if at == end and not _has_hyphens(p, i, end):
                short += data[kept : i + 1]
                left_out += end - i - 1
                kept = end
        if end < 0:
            break
        i = find(p, 34, end + 1, n)
    if left_out < n // _SHARE:
        return data
    short += data[kept:]
    return short


@cython.cfunc
@cython.exceptval(check=False)
@cython.boundscheck(False)
@cython.wraparound(False)
def _has_hyphens(p: cython.p_const_uchar, start: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.bint:
    """Whether two hyphens stand next to each other between these offsets, at which there is none."""
    k: cython.Py_ssize_t
    found: cython.uchar = 0
    if cython.compiled:
        for k in range(start, end):  # without a way out of it a compiler takes many bytes at once
            found |= (p[k] == 45) & (p[k + 1] == 45)
        return found != 0
    return p.find(b"--", start, end) >= 0
