"""C layout of the scoped base claims; scoped_bases.py has the code."""

cimport cython

from absolve.core.column_buffers cimport IntColumn


@cython.final
cdef class ScopedBases:
    cdef bytes _data
    cdef IntColumn _starts
    cdef IntColumn _ends
    cdef IntColumn _outer
    cdef IntColumn _how
    cdef list _ways
    cdef dict _made

    cpdef Py_ssize_t add(
        self, Py_ssize_t start, Py_ssize_t end, object coding, object read_base, Py_ssize_t outer
    ) except? -1
    cpdef object at(self, Py_ssize_t number)
    cdef object _remember(self, Py_ssize_t number, object claim, Py_ssize_t outer)
