"""Find the end of script content (HTML Standard 13.2.5.15 to .31); that of other raw text is in byte_scan.

In: the bytes of a document and the offset behind the start tag. Out: the offset of the end tag, or the end of the
document if there is none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from absolve.core import byte_scan
from absolve.core.byte_scan import is_tag_name

if TYPE_CHECKING:
    import cython



def script_end(data: bytes, i: cython.Py_ssize_t, name: cython.Py_ssize_t) -> cython.Py_ssize_t:
    """Return the offset of the end tag of a script (13.2.5.15 to .31); `name` is that of its start tag's name.

    After `<!--` a start tag `<script` hides the next end tag.
    """
    p: cython.p_const_uchar = data
    n: cython.Py_ssize_t = len(data)
    escaped: cython.int = 0  # 1: script data escaped, 2: double escaped
    ends: cython.bint
    while True:
        if not escaped:
            i = byte_scan.find(p, 60, i, n)
            if i < 0:
                return n
        elif i >= n:
            return n
        if p[i] == 60:
            ends = i + 1 < n and p[i + 1] == 47 and is_tag_name(p, n, i + 2, name, 6)
            if ends and escaped < 2:
                return i
            if ends:
                escaped = 1
            elif escaped == 1 and is_tag_name(p, n, i + 1, name, 6):
                escaped = 2
            elif not escaped and i + 3 < n and p[i + 1] == 33 and p[i + 2] == 45 and p[i + 3] == 45:
                escaped = 1
                i += 1  # the two dashes may be those of the end `-->`
            i += 1
        elif p[i] == 45 and i + 1 < n and p[i + 1] == 45:
            while i < n and p[i] == 45:
                i += 1
            if i < n and p[i] == 62:
                escaped = 0
        else:
            i += 1
