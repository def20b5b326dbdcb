"""C layout of the codings of values without quotes; slots.py holds the code."""

cimport cython

from absolve.encodings.codings cimport Unquoted


@cython.final
cdef class SharedCodings:
    cdef list _kinds
    cdef Unquoted _kind
    cdef Unquoted _last

    cdef Unquoted kind(self, Unquoted coding)
    cdef Unquoted coding(self, Unquoted kind, Py_ssize_t start, Py_ssize_t end)
