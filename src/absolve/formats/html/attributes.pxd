"""C layout of the attributes of a tag, for the tokenizer and the walker; the code is in attributes.py."""

cimport cython


@cython.final
cdef class Attributes:
    cdef bytes data
    cdef list record
    cdef int found
    cdef readonly bint self_closing
    cdef int order[256]
    # by attribute number, valid where stamp equals serial
    cdef Py_ssize_t serial
    cdef Py_ssize_t stamp[256]
    cdef Py_ssize_t value_start[256]
    cdef Py_ssize_t value_end[256]
    cdef int quote[256]

    cdef int begin(self, bytes data)
    cdef Py_ssize_t read(self, Py_ssize_t i) except? -1
    cdef bint has(self, int number) noexcept
    cdef int drop(self, int number)
    cdef bytes raw(self, int number)
