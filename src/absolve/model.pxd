"""C layout of the two values that are made once a link; model.py holds the code."""

cimport cython


@cython.final
@cython.freelist(64)
cdef class Link:
    cdef readonly object place
    cdef readonly Py_ssize_t start
    cdef readonly Py_ssize_t end
    cdef readonly object coding
    cdef readonly object base
    cdef readonly Py_ssize_t tag_start
    cdef readonly Py_ssize_t tag_end
    cdef readonly object claim


@cython.final
cdef class Part:
    cdef readonly object media_type
    cdef readonly Py_ssize_t start
    cdef readonly Py_ssize_t end
    cdef readonly object coding
    cdef readonly object name
    cdef readonly object base
    cdef readonly object claims
