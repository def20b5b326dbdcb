"""C layout of the segments in reader.py."""

cimport cython

from absolve.formats.warc.gzip_members cimport MemberWindow
from absolve.formats.warc.headers cimport arc_record, extent_at, head_end, version_end

cdef Py_ssize_t _GAP, _LONGEST_HEAD
cdef int _RECORD, _BLANK, _MEMBER, _FRAME

cdef RawSegment _opened(Py_ssize_t offset, bytes raw, bytes records, object coding)


@cython.final
cdef class RawSegment:
    cdef readonly Py_ssize_t offset
    cdef readonly bytes raw
    cdef readonly bytes records
    cdef readonly object coding
    cdef readonly tuple findings


@cython.final
cdef class _Cutter(MemberWindow):
    cdef bint _compressed
    cdef bytes _dictionary
    cdef object _gzip
    cdef object _machine
    cdef list _values
    cdef Py_ssize_t _used
    cdef str _broken

    cdef int _kind(self)
    cdef RawSegment _record(self)
    cdef int _whole_head(self)
    cdef bint _head_is_there(self, Py_ssize_t size)
    cdef Py_ssize_t _with_line_ends(self, Py_ssize_t size)
    cdef bint _is_start(self, Py_ssize_t position)
    cdef RawSegment _member(self)
