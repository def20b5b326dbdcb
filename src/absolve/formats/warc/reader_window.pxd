"""C layout of the window in reader_window.py."""

from absolve.core.byte_scan cimport cut

cdef Py_ssize_t _CHUNK, _LARGE


cdef class Window:
    cdef bint _is_whole
    cdef object _file
    cdef bytes _held
    cdef Py_ssize_t _at
    cdef Py_ssize_t _before

    cdef Py_ssize_t _offset(self) noexcept
    cdef bint _has(self, Py_ssize_t size) except? -1
    cdef int _read(self, Py_ssize_t size) except? -1
    cdef bytes _taken(self, Py_ssize_t size)
