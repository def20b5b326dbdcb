"""C layout of the text columns of rows; the code is in row_text.py."""

cimport cython

from absolve.core cimport byte_scan
from absolve.core.byte_scan cimport character, comment_end, tag_end
from absolve.encodings.codings cimport reference_at
from absolve.encodings.line_index cimport is_ascii

cdef Py_ssize_t _LONGEST, _LOOKED_AT
cdef int _SPACE, _NAME_END, _ATTRIBUTE_NAME_END
cdef bytes _CLASSES, _AS_IT_IS

cdef bint _is_blank(const unsigned char* p, Py_ssize_t i, Py_ssize_t length) noexcept
cdef bytes _decoded(bytes data, Py_ssize_t start, Py_ssize_t end, Folded folded)
cdef bint _closes(const unsigned char* p, Py_ssize_t i, Py_ssize_t size) noexcept


@cython.final
cdef class Folded:
    cdef object _charset
    cdef bint _transparent
    cdef bint _is_utf8
    cdef bint _blank
    cdef Py_ssize_t _size
    cdef Py_ssize_t _characters
    cdef unsigned char[800] _out

    cdef int clear(self) noexcept
    cdef bytes taken(self)
    cdef int add(self, bytes data, Py_ssize_t start, Py_ssize_t end, bint attribute) except? -1
    cdef int _put(self, const unsigned char* p, Py_ssize_t i, Py_ssize_t end) except? -1


cpdef object rel_and_alt(bytes data, Py_ssize_t start, Py_ssize_t end, Folded folded)
cpdef bytes anchor_text(bytes data, Py_ssize_t start, Folded folded)
cpdef Py_ssize_t written_end(bytes data, Py_ssize_t start, Folded folded) noexcept
