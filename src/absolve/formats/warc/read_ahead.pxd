"""C layout of what reads members ahead; warc_ahead.py holds the code."""

cimport cython

from absolve.formats.warc.gzip_members cimport Opener
from absolve.formats.warc.read_ahead_thread cimport Thread
from absolve.formats.warc.reader_window cimport Window


@cython.no_gc
@cython.final
cdef class Ahead:
    cdef readonly int opened  # members that were when they were come to
    cdef Thread* _thread
    cdef int _process
    cdef bytes _held
    cdef list _values
    cdef int _at
    cdef Py_ssize_t _limit
    cdef Py_ssize_t _until

    cdef int _forget(self) except? -1
    cdef bint _is_here(self) noexcept
    cpdef Py_ssize_t size_at(self, Py_ssize_t offset) noexcept
    cpdef bytes value(self, bytes raw, Opener opener)
    cpdef int see(self, bytes held, Py_ssize_t at, Py_ssize_t before) except? -1
    cpdef int close(self) except? -1


cdef class Members(Window):
    cdef Py_ssize_t _limit
    cdef bytes _raw
    cdef Opener _opener
    cdef Ahead _ahead
    cdef bint _starts

    cdef int _close(self) except? -1
    cdef bytes _whole_member(self)
    cdef Py_ssize_t _member_end(self) except? -2
