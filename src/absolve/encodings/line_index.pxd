"""C layout of LineIndex; line_index.py has the code."""

cimport cython

from absolve.core cimport byte_scan
from absolve.core.byte_scan cimport character

cdef Py_ssize_t _APART

cdef bint _has_lone_return(bytes data, Py_ssize_t end) noexcept
cdef Py_ssize_t _line_feeds(bytes data, Py_ssize_t start, Py_ssize_t end) noexcept
cdef Py_ssize_t _behind_line_feed(bytes data, Py_ssize_t end) noexcept
cpdef bint is_ascii(const unsigned char* p, Py_ssize_t start, Py_ssize_t end) noexcept
cdef Py_ssize_t _characters(const unsigned char* p, Py_ssize_t i, Py_ssize_t end) noexcept


@cython.final
cdef class LineIndex:
    cdef readonly Py_ssize_t line
    cdef readonly Py_ssize_t column
    cdef bytes _data
    cdef object _charset
    cdef bint _transparent
    cdef bint _one_byte
    cdef bint _utf8
    cdef bint _returns
    cdef bint _lone_returns
    cdef Py_ssize_t _first
    cdef Py_ssize_t _at
    cdef list _known
    cdef Py_ssize_t _remembered

    cpdef object move(self, Py_ssize_t position)
