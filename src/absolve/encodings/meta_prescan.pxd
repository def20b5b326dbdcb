"""C layout of the search for meta elements; meta_prescan.py has the code."""

cimport cython


@cython.final
cdef class Metas:
    cdef bytes _data
    cdef bint _in_head
    cdef readonly Py_ssize_t start
    cdef readonly Py_ssize_t end

    cpdef bint next(self)
