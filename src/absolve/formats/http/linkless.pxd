"""C signatures of linkless.py."""

from absolve.core cimport byte_scan

cdef Py_ssize_t _LONGEST
cdef bytes _SHAPES
cdef frozenset _NO_BODY

cdef int _status(const unsigned char* p, Py_ssize_t i, Py_ssize_t end) noexcept


cpdef bint is_bare(bytes data, Py_ssize_t start, Py_ssize_t end) except? -1
