"""C layout of the record headers in headers.py."""

cimport cython

from absolve.core cimport byte_scan
from absolve.formats.headers cimport Field, first

cdef int _DIGITS

cdef bint _is_digit(int byte) noexcept
cdef Record _warc_record(bytes data, Py_ssize_t start, Py_ssize_t line)


@cython.final
cdef class Record:
    cdef readonly str url
    cdef readonly str kind
    cdef readonly str media_type
    cdef readonly list fields
    cdef readonly tuple size
    cdef readonly Py_ssize_t block
    cdef readonly Py_ssize_t end


cpdef Py_ssize_t version_end(bytes data, Py_ssize_t start) noexcept
cpdef Py_ssize_t head_end(bytes data, Py_ssize_t start, Py_ssize_t end) noexcept
cpdef Record record_at(bytes data, Py_ssize_t start)
cpdef Record arc_record(bytes data, Py_ssize_t start)
