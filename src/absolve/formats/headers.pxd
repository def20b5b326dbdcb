"""C layout of header fields; the code is in headers.py."""

cimport cython


@cython.final
cdef class Field:
    cdef readonly str name
    cdef readonly Py_ssize_t position
    cdef readonly Py_ssize_t start
    cdef readonly Py_ssize_t end


cpdef str value(bytes data, Field field)
cpdef str first(bytes data, object found, str name)
cpdef list[Field] named(object found, str name)
