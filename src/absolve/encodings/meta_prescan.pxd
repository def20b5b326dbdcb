"""C layout of the search for meta elements; meta_prescan.py has the code."""

cimport cython

from absolve.core cimport byte_scan
from absolve.core.byte_scan cimport comment_end, raw_text_end, tag_end

cdef Py_ssize_t _SHORTEST, _LONGEST
cdef bytes _LENGTHS

cdef bint _is_letter(int byte) noexcept
cdef bint _is_meta(const unsigned char* p, Py_ssize_t i) noexcept
cdef bint _may_matter(const unsigned char* p, Py_ssize_t i, Py_ssize_t end) noexcept
cdef bint _may_declare(const unsigned char* p, Py_ssize_t i, Py_ssize_t end) noexcept


@cython.final
cdef class Metas:
    cdef bytes _data
    cdef bint _in_head
    cdef readonly Py_ssize_t start
    cdef readonly Py_ssize_t end

    cpdef bint next(self)
