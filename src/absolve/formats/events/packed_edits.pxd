"""C layout of buffered edits; packed_edits.py holds the code."""

cimport cython

from absolve.core.model cimport Edit
from absolve.formats.events.packed_records cimport Varints


@cython.final
cdef class PackedEdits:
    cdef Py_ssize_t _count
    cdef Py_ssize_t _last
    cdef list _unordered
    cdef Varints _numbers
    cdef list _cache
    cdef list _long

    cpdef int add(self, list[Edit] edits) except? -1
    cdef int _put(self, Edit edit) except? -1
    cdef Edit _next(self)
