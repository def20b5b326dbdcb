"""C layout of the kinds of parts; parts.py holds the code."""

cimport cython

from absolve.core.model cimport Part


@cython.final
cdef class PartTemplates:
    cdef list _first

    cdef int number(self, Part part) except? -1
    cdef Part part(self, int number, Py_ssize_t start, Py_ssize_t end)
