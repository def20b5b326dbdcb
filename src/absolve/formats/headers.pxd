cimport cython
from absolve.core cimport byte_scan

cdef dict _NAMES
cdef Field _field(str name, Py_ssize_t position, Py_ssize_t start, Py_ssize_t end)

@cython.final
cdef class Field:
    cdef readonly str name
    cdef readonly Py_ssize_t position, start, end

cpdef str value(bytes data, Field field)
cdef int _DIGITS
cdef bint _is_digit(int byte) noexcept

@cython.final
cdef class Record:
    cdef readonly str url, kind, media_type
    cdef readonly list fields
    cdef readonly tuple size
    cdef readonly Py_ssize_t block, end

cpdef Py_ssize_t head_end(bytes data, Py_ssize_t start, Py_ssize_t end) noexcept
