"""C layout of the scanner, for the walker beside it; html_scanner.py holds the code."""

cimport cython

from absolve.formats.html_tree cimport Tree



@cython.final
cdef class Scanner:
    cdef readonly bytes data
    cdef readonly Tree tree
    cdef Py_ssize_t size
    cdef Py_ssize_t at
    cdef bytes interest
    cdef list record
    # the token reported last
    cdef readonly Py_ssize_t start
    cdef readonly Py_ssize_t end
    cdef readonly int element
    cdef readonly int namespace
    cdef readonly int fate
    cdef readonly Py_ssize_t name_start
    cdef readonly Py_ssize_t name_end
    cdef readonly Py_ssize_t text_start
    cdef readonly Py_ssize_t text_end
    cdef readonly bint self_closing
    cdef readonly Py_ssize_t truncated
    # its attributes of known names, in the order in which they stand
    cdef int found
    cdef int order[256]
    # by attribute number, valid where stamp equals serial
    cdef Py_ssize_t serial
    cdef set merged
    cdef Py_ssize_t stamp[256]
    cdef Py_ssize_t value_start[256]
    cdef Py_ssize_t value_end[256]
    cdef int quote[256]

    cpdef int next(self)
    cdef Py_ssize_t _attributes(self, Py_ssize_t i)
    cdef int _start_tag(self)
    cdef int _merge(self)
    cdef bint _decided(self)
    cdef bytes _value(self, int attribute)
    cdef Py_ssize_t _end_tag(self, Py_ssize_t i)
    cdef Py_ssize_t _markup_declaration(self, Py_ssize_t i)
    cdef Py_ssize_t _bogus_comment_end(self, Py_ssize_t start, Py_ssize_t i)
