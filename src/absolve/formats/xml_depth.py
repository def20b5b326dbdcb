"""Where elements of XML are nested deeper than they are read: expat keeps something for each of them that is open."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import cython
else:
    from absolve import _cython as cython

if cython.compiled:
    from cython.cimports.absolve.seek import find, tag_end
else:
    from absolve.seek import find, tag_end

DEEPEST: Final = 5000  # elements inside of each other: as many as Blink reads (kMaxXMLTreeDepth)
_DEEPEST = cython.declare(cython.Py_ssize_t, DEEPEST)


@cython.boundscheck(False)
@cython.wraparound(False)
def too_deep(data: bytes, start: cython.Py_ssize_t) -> cython.Py_ssize_t:
    """Where the first element begins that is one too many; -1 where none is before the next document type declaration.

    Before `start` nothing has begun that does not end there. What is said holds as far as the document is well-formed.
    """
    p: cython.p_const_uchar = data
    n: cython.Py_ssize_t = len(data) - 2  # behind it nothing begins that has an end
    i: cython.Py_ssize_t = find(p, 60, start, n)
    at: cython.Py_ssize_t
    depth: cython.Py_ssize_t = 0
    while i >= 0:
        if p[i + 1] == 47:
            depth -= 1
            at = i + 2
        elif p[i + 1] == 63:
            at = data.find(b"?>", i + 2)
        elif p[i + 1] != 33:
            if depth == _DEEPEST:
                return i
            at = tag_end(p, i + 1, n + 2)
            if p[at - 2] != 47:
                depth += 1
        elif p[i + 2] == 45:
            at = data.find(b"-->", i + 4)
        elif p[i + 2] == 91:
            at = data.find(b"]]>", i + 9)
        else:
            return -1
        if at < 0:
            return -1
        i = find(p, 60, at, n)
    return -1
