"""C layout of edits that are held; packed.py holds the code."""

cimport cython

from absolve.core.model cimport Edit


@cython.final
cdef class PackedEdits:
    cdef Py_ssize_t _count
    cdef Py_ssize_t _last
    cdef list _aside
    # the numbers of all that are packed, and where those of the next one stand
    cdef unsigned char* _coded
    cdef Py_ssize_t _written
    cdef Py_ssize_t _room
    cdef Py_ssize_t _read
    cdef list _words
    cdef list _apart

    cpdef int add(self, list[Edit] edits) except? -1
    cdef int _put(self, Edit edit) except? -1
    cdef Edit _next(self, Py_ssize_t index)
