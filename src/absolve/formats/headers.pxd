"""C layout of header fields; the code is in headers.py."""

cimport cython

from absolve.core cimport byte_scan

cdef dict _NAMES

cdef Field _field(str name, Py_ssize_t position, Py_ssize_t start, Py_ssize_t end)


@cython.final
cdef class Field:
    cdef readonly str name
    cdef readonly Py_ssize_t position
    cdef readonly Py_ssize_t start
    cdef readonly Py_ssize_t end


cpdef str value(bytes data, Field field)
cpdef str first(bytes data, object found, str name)
cpdef list[Field] named(object found, str name)
