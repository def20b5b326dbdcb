"""Shorten XML for the check by expat: empty the long attribute values, which take most of its time for a drawing.

In: the bytes of a document, and the offset behind its declarations. Out: a shorter copy, or the same object. A document
whose copy is well-formed (XML 1.0 2.1; Namespaces in XML 1.0) is well-formed.
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
_SHARE = cython.declare(cython.Py_ssize_t, 4)  # a copy pays only if it omits at least 1 / _SHARE of the document
_PLAIN = cython.declare(
    bytes,
    bytes(chr(byte).isascii() and (chr(byte).isalnum() or byte in b"\t\n\r #%()+,-./:;=_") for byte in range(256)),
)


@cython.boundscheck(False)
@cython.wraparound(False)
def shortened(data: bytes, start: cython.Py_ssize_t) -> bytes | bytearray:
    """Return the document with empty long values from this offset on, which must be behind all declarations.

    The omitted bytes are between `="` and `"`, without quotes, markup, references and double hyphens. In a value, text,
    a comment, a CDATA section or a processing instruction, omitting them changes nothing. Anywhere else neither
    document is well-formed: the first quote would end a value, and the second one follow it directly. An emptied
    declaration of a prefix makes only the copy malformed: where the copy is not well-formed, check `data` itself.
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
    """Return whether two adjacent hyphens are between these offsets, which are those of other bytes."""
    k: cython.Py_ssize_t
    found: cython.uchar = 0
    if cython.compiled:
        for k in range(start, end):  # without an early exit the compiler vectorizes the loop
            found |= (p[k] == 45) & (p[k + 1] == 45)
        return found != 0
    return p.find(b"--", start, end) >= 0
