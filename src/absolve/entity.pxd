"""C layout of an entity; entity.py holds the code."""

cimport cython

from absolve.bases cimport Bases
from absolve.model cimport Link


cdef class Entity:
    cdef public bytes data
    cdef public object charset
    cdef public object media_type
    cdef public object name
    cdef public object path
    cdef public object settings
    cdef public Bases bases
    cdef public object events
    cdef public dict inner
    cdef public Py_ssize_t count
    cdef public bint for_rewrite
    cdef public Py_ssize_t named
    cdef public tuple enclosed
    cdef public list notices
    cdef public object origin
    cdef public object held
    cdef object _positions
    cdef dict _scoped

    cpdef object ruled(self, Link link)
    cpdef object ruling(self, object scope, bint own=*)
