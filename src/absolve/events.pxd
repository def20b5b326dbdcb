"""C layout of the events of an entity; events.py holds the code."""

cimport cython

from absolve.codings cimport Unquoted
from absolve.model cimport Link


cdef struct Packed:
    Py_ssize_t start  # or, where `kind` is that of an object, its number
    unsigned int size
    unsigned int tag_before  # how far the tag begins before it
    unsigned int tag_size  # 0 where there is no tag
    unsigned int kind


cdef inline unsigned int marked(object place, object coding) noexcept:
    return ((<size_t><void*>place >> 5) ^ (<size_t><void*>coding >> 4)) & 15


@cython.final
cdef class Events:
    cdef readonly list objects
    cdef readonly Py_ssize_t count
    cdef readonly list kinds
    cdef dict _numbers
    cdef Unquoted _bare
    cdef Packed* _packed
    cdef Py_ssize_t _size
    cdef Py_ssize_t _room
    cdef unsigned short _recent[16]  # by `marked`: the number of a kind and one; 0 for none

    cpdef append(self, object event)
    cdef int tell(
        self,
        object place,
        Py_ssize_t start,
        Py_ssize_t end,
        object coding,
        object base,
        Py_ssize_t tag_start,
        Py_ssize_t tag_end,
        object claim,
    ) except? -1
    cdef int _keep(self, object event) except? -1
    cdef bint _pack(
        self, object place, Py_ssize_t start, Py_ssize_t end, object coding, Py_ssize_t tag_start, Py_ssize_t tag_end
    ) except? -1
    cdef int _kind(self, object place, object coding) except? -1
    cdef Unquoted _common(self, Unquoted coding, Py_ssize_t start, Py_ssize_t end)
    cdef int _grow(self) except? -1
    cdef Py_ssize_t start(self, Py_ssize_t index) noexcept
    cdef Py_ssize_t end(self, Py_ssize_t index) noexcept
    cdef Py_ssize_t tag_start(self, Py_ssize_t index) noexcept
    cdef int kind(self, Py_ssize_t index) noexcept
    cdef object at(self, Py_ssize_t index)
