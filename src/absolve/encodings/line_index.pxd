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
    cdef readonly Py_ssize_t line, column
    cdef bytes _data
    cdef object _charset
    cdef bint _transparent, _one_byte, _utf8, _returns, _lone_returns
    cdef Py_ssize_t _first, _at, _remembered
    cdef list _known
    cpdef object move(self, Py_ssize_t position)
