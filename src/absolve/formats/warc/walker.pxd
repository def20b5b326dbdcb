"""C signatures of walker.py."""

cimport cython

from absolve.formats.events cimport EventList
from absolve.formats.headers cimport Field
from absolve.formats.http.linkless cimport is_bare
from absolve.formats.warc.headers cimport Extent, Record, extent_at, has_field, only_line_ends, record_at

cdef Py_ssize_t _GAP

cdef Extent _alone(bytes data, object options)
cdef bint _is_walked(Extent extent)
cdef object _walked(bytes data, Py_ssize_t start, Extent extent, object options)
cdef object _part(bytes data, Record found, object options)


cpdef Py_ssize_t bare(bytes data, object options) except? -2


@cython.final
cdef class _Digest:
    cdef bytes _data
    cdef object _options
    cdef Py_ssize_t _start
    cdef Py_ssize_t _end
    cdef Py_ssize_t _block
    cdef Py_ssize_t _block_end
    cdef bint _is_whole
