"""C layout of templates; templates.py holds the code."""

cimport cython

from absolve.core.model cimport Link, LinkSite, Part
from absolve.encodings.codings cimport Unquoted

cdef Py_ssize_t MOST, NAMED, SCOPED, CLAIMS, SLOTTED


cdef inline unsigned int bucket(object site, object coding) noexcept:
    return ((<size_t><void*>site >> 5) ^ (<size_t><void*>coding >> 4)) & 63


@cython.final
cdef class SharedCodings:
    cdef list _shared
    cdef Unquoted _last_shared
    cdef Unquoted _last

    cdef Unquoted shared(self, Unquoted coding)
    cdef Unquoted coding(self, Unquoted shared, Py_ssize_t start, Py_ssize_t end)


@cython.final
cdef class LinkTemplates:
    cdef list templates
    cdef SharedCodings _codings
    cdef bint _named
    cdef dict _numbers
    cdef list _recent

    cdef int number(
        self,
        LinkSite place,
        Py_ssize_t start,
        Py_ssize_t end,
        object coding,
        object base,
        Py_ssize_t tag_start,
        Py_ssize_t tag_end,
        object claim,
    ) except? -1
    cdef int _added(self, LinkSite place, object coding, object base, object claim) except? -1
    cdef Unquoted coding(self, Unquoted shared, Py_ssize_t start, Py_ssize_t end)


@cython.final
cdef class PartTemplates:
    cdef list _first

    cdef int number(self, Part part) except? -1
    cdef Part part(self, int number, Py_ssize_t start, Py_ssize_t end)
