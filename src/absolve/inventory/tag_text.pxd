"""C layout of the class in tag_text.py."""

cimport cython

from absolve.formats.html.row_text cimport Folded
from absolve.core.model cimport Link


@cython.final
cdef class Tag:
    cdef bytes _data
    cdef Folded _folded
    cdef Py_ssize_t _start
    cdef str rel
    cdef bytes source
    cdef Py_ssize_t text
    cdef Py_ssize_t text_end

    cdef int see(self, Link link) except? -1
    cdef int _read(self, Link link) except? -1
