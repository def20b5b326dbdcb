"""C layout of the kinds of links; kinds.py holds the code."""

cimport cython

from absolve.core.model cimport Link
from absolve.formats.events.slots cimport SharedCodings

cdef Py_ssize_t MOST, NAMED, SCOPED, CLAIMS, SLOTTED


cdef inline unsigned int marked(object place, object coding) noexcept:
    return ((<size_t><void*>place >> 5) ^ (<size_t><void*>coding >> 4)) & 63


@cython.final
cdef class LinkTemplates:
    cdef readonly list kinds
    cdef readonly SharedCodings slots  # of values without quotes that have several links
    cdef bint _named
    cdef dict _numbers
    cdef unsigned short _recent[64]  # by `marked`: the number of a kind and one; 0 for none

    cdef int number(
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
    cdef int _number_of(self, object place, object coding, object base, object claim) except? -1
