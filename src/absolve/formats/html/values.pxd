"""C layout of the values of a tag, for the walker; the code is in values.py."""

cimport cython

from absolve.encodings.codings cimport Unquoted
from absolve.formats.html.attributes cimport Attributes


@cython.final
cdef class Values:
    cdef bytes _data
    cdef object _charset
    cdef Attributes _attributes
    cdef readonly object double
    cdef readonly object raw
    cdef readonly object text
    cdef object _single
    cdef Unquoted _bare
    cdef Unquoted _absent

    cdef int begin(self, bytes data)
    cdef object coding(self, int attribute)
    cdef object common(self, int attribute, Py_ssize_t start, Py_ssize_t end)
