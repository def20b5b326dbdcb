"""C layout of rfc3986.py."""

from absolve.core cimport byte_scan

cpdef str remove_dot_segments(str path)
cdef Py_ssize_t _kept(unsigned char* p, Py_ssize_t n) noexcept
cdef Py_ssize_t _segment_end(unsigned char* p, Py_ssize_t i, Py_ssize_t n) noexcept
cdef int _dots(unsigned char* p, Py_ssize_t i, Py_ssize_t end) noexcept
cdef Py_ssize_t _moved(unsigned char* p, Py_ssize_t size, Py_ssize_t i, Py_ssize_t end) noexcept
