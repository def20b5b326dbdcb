"""C layout of values in the making and of their offsets; offsets.py holds the code."""

cimport cython
from absolve.buffers cimport Growing, Numbers


@cython.final
cdef class Offsets:
    cdef Numbers _ends
    cdef bint _are_narrow
    cdef Numbers _raw_starts
    cdef Numbers _raw_ends

    cpdef int add(self, Py_ssize_t end, Py_ssize_t raw_start, Py_ssize_t raw_end)
    cdef int _widen(self)
    cpdef Py_ssize_t start(self, Py_ssize_t position)
    cpdef Py_ssize_t end(self, Py_ssize_t position)
    cdef Py_ssize_t _last_before(self, Py_ssize_t position) noexcept
    cdef Py_ssize_t _begins(self, Py_ssize_t index) noexcept


@cython.final
cdef class Decoded:
    cdef bytes _raw
    cdef bint _mapped
    cdef Py_ssize_t _read
    cdef Growing _value
    cdef Offsets _offsets

    cpdef int unit(self, Py_ssize_t start, Py_ssize_t end, bytes new)
    cpdef tuple whole(self)
