"""C layout of the values that are made once a link or once a document; model.py holds the code."""

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


cdef class Document:
    cdef public bint is_text
    cdef public bytes data
    cdef public object name
    cdef public object media_type
    cdef public object charset
    cdef public object url
    cdef public object said
    cdef public tuple claims
    cdef public Py_ssize_t before
    cdef public object origin


@cython.final
cdef class Edit:
    cdef public Py_ssize_t start
    cdef public Py_ssize_t end
    cdef public bytes new


cdef Edit edit_at(Py_ssize_t start, Py_ssize_t end, bytes new)
