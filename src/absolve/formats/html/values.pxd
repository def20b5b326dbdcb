"""C layout of the values of a tag, for the walker; the code is in values.py."""

cimport cython

from absolve.encodings.codings cimport Unquoted
from absolve.formats.html.tag cimport Tag

cdef int UNQUOTED


@cython.final
cdef class Values:
    cdef bytes _data
    cdef object _charset
    cdef Tag _tag
    cdef readonly list codings
    cdef readonly object double
    cdef readonly object raw
    cdef readonly object text

    cdef int begin(self, bytes data)
    cdef object coding(self, int attribute)
    cdef object common(self, int attribute, Py_ssize_t start, Py_ssize_t end)
