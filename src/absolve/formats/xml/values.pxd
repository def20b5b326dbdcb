"""C layout of the reader of values in XML; the code is in values.py."""

cimport cython

from absolve.core cimport byte_scan
from absolve.core.byte_scan cimport word_start
from absolve.core.model cimport LinkSite
from absolve.formats.events cimport EventList
from absolve.formats.xml.codings cimport is_plain
from absolve.formats.xml.tags cimport Tag

cdef bint _is_blank(const unsigned char* p, Py_ssize_t start, Py_ssize_t end) noexcept


@cython.final
cdef class Values:
    cdef bytes _data
    cdef object _charset
    cdef EventList _events
    cdef Tag _tag
    cdef object _prolog
    cdef bint _in_office
    cdef object under
    cdef object stated

    cdef int value(self, LinkSite place, Py_ssize_t start, Py_ssize_t end) except? -1
    cdef int text(self, LinkSite place, Py_ssize_t start, Py_ssize_t end, object scope) except? -1
    cdef int references(self, LinkSite place, Py_ssize_t start, Py_ssize_t end, object coding) except? -1
    cdef int _tell(self, LinkSite place, Py_ssize_t start, Py_ssize_t end, object coding) except? -1
