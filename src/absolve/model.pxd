"""C layout of the two values that are made once a link; model.py holds the code."""

cimport cython


@cython.final
cdef class Link:
    cdef public object place
    cdef public Py_ssize_t start
    cdef public Py_ssize_t end
    cdef public object coding
    cdef public object base
    cdef public Py_ssize_t tag_start
    cdef public Py_ssize_t tag_end
    cdef public object claim


@cython.final
cdef class Part:
    cdef public object media_type
    cdef public Py_ssize_t start
    cdef public Py_ssize_t end
    cdef public object coding
    cdef public object name
    cdef public object base
    cdef public object claims
    cdef public bint whole
    cdef public bint encloses
    cdef public object derived
    cdef public object sealed


@cython.final
cdef class Edit:
    cdef public Py_ssize_t start
    cdef public Py_ssize_t end
    cdef public bytes new
