"""C layout of LineIndex; line_index.py has the code."""

cimport cython


@cython.final
cdef class LineIndex:
    cdef readonly Py_ssize_t line
    cdef readonly Py_ssize_t column
    cdef bytes _data
    cdef object _charset
    cdef bint _transparent
    cdef bint _one_byte
    cdef bint _utf8
    cdef bint _returns
    cdef bint _lone_returns
    cdef Py_ssize_t _first
    cdef Py_ssize_t _at
    cdef list _known
    cdef Py_ssize_t _remembered

    cpdef object move(self, Py_ssize_t position)
