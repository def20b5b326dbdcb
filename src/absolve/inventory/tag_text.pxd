"""C layout of the class in tag_text.py."""

cimport cython

from absolve.core.model cimport Link
from absolve.formats.html.row_text cimport Folded, anchor_text, rel_and_alt, written_end

cdef bytes _CLASSES
cdef int _NAME_END, _OPENED, _CLOSED

cdef bint _has_no_more(bytes data, Link link) noexcept
cdef bint _is_anchor(bytes data, Py_ssize_t start) noexcept


@cython.final
cdef class Tag:
    cdef bytes _data
    cdef Folded _folded
    cdef Py_ssize_t _start
    cdef str rel
    cdef bytes source
    cdef Py_ssize_t text
    cdef Py_ssize_t text_end

    cdef int see(self, Link link) except? -1
    cdef int _read(self, Link link) except? -1
