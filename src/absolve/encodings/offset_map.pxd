"""C layout of the offsets of decoded values; offset_map.py has the code."""

cimport cython

from absolve.core.byte_scan cimport ByteBuilder
from absolve.core.column_buffers cimport IntColumn

cdef int _STEP
cdef Py_ssize_t _LONG


@cython.final
cdef class Offsets:
    cdef bytearray _coded
    cdef Py_ssize_t _size
    cdef Py_ssize_t _end
    cdef Py_ssize_t _raw_end
    cdef IntColumn _ends
    cdef IntColumn _raw_ends
    cdef IntColumn _places
    cdef Py_ssize_t _found_end
    cdef Py_ssize_t _found_raw_start
    cdef Py_ssize_t _found_raw_end

    cpdef int add(self, Py_ssize_t end, Py_ssize_t raw_start, Py_ssize_t raw_end)
    cdef int _put(self, Py_ssize_t number) except? -1
    cpdef Py_ssize_t start(self, Py_ssize_t position)
    cpdef Py_ssize_t end(self, Py_ssize_t position)
    cdef int _seek(self, Py_ssize_t position) noexcept


@cython.final
cdef class Decoded:
    cdef bytes _raw
    cdef bint _mapped
    cdef Py_ssize_t _read
    cdef ByteBuilder _value
    cdef Offsets _offsets

    cpdef int unit(self, Py_ssize_t start, Py_ssize_t end, bytes new)
    cpdef tuple whole(self)
