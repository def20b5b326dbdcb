cimport cython
from absolve.core.model cimport Link, LinkSite, Part
from absolve.encodings.codings cimport Unquoted

cdef Py_ssize_t _SHORTEST
cdef bint _may_be_data(const unsigned char* p, Py_ssize_t start, Py_ssize_t end) noexcept
cdef object _settled(object coding, Py_ssize_t start, Py_ssize_t end)

@cython.final
cdef class EventList:
    cdef object _naming
    cdef bytes _data
    cdef list _events
    cdef readonly list others, parts
    cdef readonly Py_ssize_t count, counted
    cdef readonly bint is_ordered, has_scopes
    cdef Py_ssize_t _reached
    cpdef append(self, object event)
    cdef object _follow(self, Py_ssize_t start)
    cdef int add_link(
        self, LinkSite place, Py_ssize_t start, Py_ssize_t end, object coding, object base, Py_ssize_t tag_start,
        Py_ssize_t tag_end, object claim) except? -1
    cdef int count_link(self) except? -1
    cpdef object at(self, Py_ssize_t index)
    cdef Link link(self, Py_ssize_t index)
    cdef Link unread(self, Py_ssize_t index)
    cdef Link _complete(self, Link link)
