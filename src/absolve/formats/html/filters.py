"""Filters for values and comments: whether a span of bytes is worth parsing, without creating objects.

In: the bytes of a document and offsets into them. Out: truth values, with false positives, but no false negatives.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from absolve.formats.registry import NAMES_MAP, SCRIPT_END

if TYPE_CHECKING:
    import cython


def may_hold_css_link(p: cython.p_const_uchar, start: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.bint:
    """Return whether CSS declarations may have a link; most do not.

    A link needs `url(`, `src(` or `-set(`; escapes and character references (but those of quotes) may hide one.
    """
    i: cython.Py_ssize_t
    for i in range(start, end):
        if p[i] == 92 or (p[i] == 38 and not _is_quote(p, i, end)):
            return True
        if p[i] == 40 and i - start >= 3:
            last: cython.int = p[i - 1] | 32
            middle: cython.int = p[i - 2] | 32
            if (last == 108 and middle == 114) or (last == 99 and middle == 114) or (last == 116 and middle == 101):
                return True
    return False


def _is_quote(p: cython.p_const_uchar, i: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.bint:
    """Return whether `&` begins &quot;, &#34; or &#39;, the most frequent references in declarations."""
    if i + 5 < end and p[i + 1] == 113 and p[i + 2] == 117 and p[i + 3] == 111 and p[i + 4] == 116 and p[i + 5] == 59:
        return True
    return i + 4 < end and p[i + 1] == 35 and p[i + 2] == 51 and p[i + 3] in (52, 57) and p[i + 4] == 59


def may_be_space(p: cython.p_const_uchar, i: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.bint:
    """Return whether the reference whose `&` is at `i` may be white space: a number, &Tab; or &NewLine;."""
    return i + 1 < end and (p[i + 1] == 35 or p[i + 1] == 84 or p[i + 1] == 78)


def may_end_in_space(p: cython.p_const_uchar, start: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.bint:
    """Return whether the last character reference in the span may be white space."""
    while end > start and p[end - 1] != 38:
        end -= 1
    return end > start and p[end] in (35, 84, 78)


def may_be_savers(p: cython.p_const_uchar, i: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.bint:
    """Return whether a comment may begin as those of savers; most do not.

    They begin with Archive processed, End Wayback, Mirrored, Page saved or Saved from.
    """
    while i < end and p[i] <= 32:
        i += 1
    if i + 3 >= end:
        return False
    second: cython.int = p[i + 1] | 32
    third: cython.int = p[i + 2] | 32
    first: cython.int = p[i] | 32
    if first == 97:
        return second == 114 and third == 99
    if first == 101:
        return second == 110 and third == 100 and i + 4 < end and p[i + 4] | 32 == 119
    if first == 109:
        return second == 105 and third == 114
    return second == 97 and ((first == 112 and third == 103) or (first == 115 and third == 118))


def may_name_map(data: bytes, start: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.bint:
    """Return whether a script or a style sheet may end with a comment that names a source map; few do.

    Most end with a short line of code.
    """
    p: cython.p_const_uchar = data
    while end > start and p[end - 1] <= 32:
        end -= 1
    if end == start or (p[end - 1] in (41, 59, 125) and not _has_comment(p, start, end)):  # ) ; }
        return False
    return data.rfind(NAMES_MAP, max(start, end - SCRIPT_END), end) >= 0


def _has_comment(p: cython.p_const_uchar, start: cython.Py_ssize_t, i: cython.Py_ssize_t) -> cython.bint:
    """Return whether `//` is in the last line, or in its last bytes if it is long."""
    i -= 1
    start = max(start, i - _SHORT_LINE)
    while i > start and p[i] != 10 and p[i] != 13:
        if p[i] == 47 and p[i - 1] == 47:
            return True
        i -= 1
    return False


_SHORT_LINE = 200  # bytes
