"""C layout of grammars.py."""

from absolve.core cimport byte_scan
from absolve.core.byte_scan cimport word_end, word_start

cdef Py_ssize_t _descriptors_end(const unsigned char* p, Py_ssize_t i, Py_ssize_t n) noexcept
