"""C layout of an entity; entity.py holds the code."""

cimport cython

from absolve.urls.base cimport Bases, Ruling
from absolve.core.column_buffers cimport Numbers
from absolve.core.model cimport Link


@cython.final
cdef class Room:
    cdef Py_ssize_t _left

    cdef bint takes(self, Py_ssize_t size) except? -1


@cython.final
cdef class Deep:
    cdef Py_ssize_t _left

    cdef bint takes(self, Py_ssize_t size) except? -1


@cython.final
cdef class Insides:
    cdef dict _kept
    cdef Numbers _indexes
    cdef Numbers _named

    cdef int keep(self, Py_ssize_t index, object inner) except? -1
    cdef int let_go(self, Py_ssize_t index, Py_ssize_t named) except? -1
    cpdef object kept(self, Py_ssize_t index)
    cdef Py_ssize_t index(self, Py_ssize_t number) noexcept
    cdef Py_ssize_t named(self, Py_ssize_t index) noexcept


cdef class Entity:
    cdef public bytes own_data
    cdef public bytes around
    cdef Py_ssize_t _at
    cdef Py_ssize_t _size
    cdef public object charset
    cdef public object media_type
    cdef public object name
    cdef public object path
    cdef public object settings
    cdef public Bases bases
    cdef public object events
    cdef public Insides inside
    cdef public Room room
    cdef public Deep deep
    cdef public Py_ssize_t level
    cdef public Py_ssize_t depth
    cdef public Py_ssize_t count
    cdef public Py_ssize_t repeated
    cdef public Py_ssize_t long_bases
    cdef public bint for_rewrite
    cdef public bint is_proof
    cdef public Py_ssize_t named
    cdef public tuple enclosed
    cdef public list notices
    cdef public object origin
    cdef public object held
    cdef object _positions
    cdef dict _scoped
    cdef Py_ssize_t _scoped_size

    cpdef bytes cut(self, Py_ssize_t start, Py_ssize_t end)
    cdef int stands_in(self, Entity outer, Py_ssize_t at) except? -1
    cdef int let_go(self, Py_ssize_t kept) except? -1
    cdef int is_text_in(self, Entity outer) except? -1
    cdef bint may_be_so_deep(self) except? -1
    cpdef Ruling ruled(self, Link link)
    cpdef Ruling ruling(self, object scope, bint own=*)
