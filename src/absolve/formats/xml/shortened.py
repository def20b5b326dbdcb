"""Shorten XML for the check by expat: empty the long attribute values, which take most of its time for a drawing.

In: the bytes of a document, and the offset behind its declarations. Out: a shorter copy, or the same object. A document
whose copy is well-formed (XML 1.0 2.1; Namespaces in XML 1.0) is well-formed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from absolve.core import byte_scan

if TYPE_CHECKING:
    import cython


_LONG = 128  # bytes of a value
_SHARE = 4  # a copy pays only if it omits at least 1 / _SHARE of the document
_PLAIN = bytes(chr(byte).isascii() and (chr(byte).isalnum() or byte in b"\t\n\r #%()+,-./:;=_") for byte in range(256))


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
    i: cython.Py_ssize_t = byte_scan.find(p, 34, start, n)
    at: cython.Py_ssize_t
    end: cython.Py_ssize_t
    kept: cython.Py_ssize_t = 0
    left_out: cython.Py_ssize_t = 0
    short = bytearray()
    while i > 0:
        if p[i - 1] != 61:
            i = byte_scan.find(p, 34, i + 1, n)
            continue
        end = byte_scan.find(p, 34, i + 1, n)
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
        i = byte_scan.find(p, 34, end + 1, n)
    if left_out < n // _SHARE:
        return data
    short += data[kept:]
    return short


def _has_hyphens(p: cython.p_const_uchar, start: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.bint:
    """Return whether two adjacent hyphens are between these offsets, which are those of other bytes."""
    i: cython.Py_ssize_t = byte_scan.find(p, 45, start, end)
    while i >= 0 and p[i + 1] != 45:
        i = byte_scan.find(p, 45, i + 1, end)
    return i >= 0
