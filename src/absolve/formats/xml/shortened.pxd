"""C layout of shortened.py."""

from absolve.core cimport byte_scan

cdef Py_ssize_t _LONG, _SHARE
cdef bytes _PLAIN

cdef bint _has_hyphens(const unsigned char* p, Py_ssize_t start, Py_ssize_t end) noexcept
