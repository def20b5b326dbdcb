"""C layout of a window on gzip members; gzip_members.py holds the code."""

from absolve.core cimport byte_scan
from absolve.formats.warc.headers cimport arc_record, version_end
from absolve.formats.warc.reader_window cimport Window

cdef Py_ssize_t _LEAST, _LONGEST, _RATIO
cdef int _CHECKED_HEADER


cpdef Py_ssize_t next_member(bytes data, Py_ssize_t start, Py_ssize_t end) noexcept
cdef Py_ssize_t _size_of(const unsigned char* p, Py_ssize_t end, Py_ssize_t limit) noexcept
cpdef bytes decompress_member(bytes raw, Py_ssize_t limit)


cdef class MemberWindow(Window):
    cdef Py_ssize_t _limit
    cdef bytes _raw

    cdef bytes _whole_member(self)
    cdef Py_ssize_t _member_end(self) except? -2
