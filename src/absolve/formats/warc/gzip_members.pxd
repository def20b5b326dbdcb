"""C signatures of warc_members.py."""

cimport cython

from absolve.formats.warc.libdeflate cimport Library

cdef Library library

cpdef Py_ssize_t next_member(bytes data, Py_ssize_t start, Py_ssize_t end) noexcept
cdef Py_ssize_t size_of(const unsigned char* p, Py_ssize_t end, Py_ssize_t limit) noexcept


@cython.final
cdef class Opener:
    cdef void* _machine

    cpdef bytes opened(self, bytes raw, Py_ssize_t limit)
