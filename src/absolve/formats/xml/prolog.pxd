"""C layout of the check of limits in prolog.py."""

cimport cython

from absolve.core cimport byte_scan
from absolve.core.byte_scan cimport tag_end

cdef Py_ssize_t _DEEPEST, _MOST, _LEAST, _LEAST_ATTRIBUTE, _MOST_NAMES, _LEAST_NAMED
cdef unsigned int _HASHES, _FNV_BASIS, _FNV_PRIME, _32_BITS


@cython.final
cdef class _Tags:
    cdef Py_ssize_t names
    cdef bytearray _seen

    cdef Py_ssize_t attributes(self, const unsigned char* p, Py_ssize_t i, Py_ssize_t end) except? -1
