cimport cython
from absolve.core cimport byte_scan
from absolve.core.byte_scan cimport character, comment_end, tag_end
from absolve.core.model cimport Link
from absolve.encodings.codings cimport reference_at
from absolve.encodings.line_index cimport is_ascii

cdef Py_ssize_t _LONGEST, _LOOKED_AT
cdef int _SPACE, _NAME_END, _ATTRIBUTE_NAME_END, _OPENED, _CLOSED
cdef bytes _CLASSES, _AS_IT_IS
cdef bint _is_blank(const unsigned char* p, Py_ssize_t i, Py_ssize_t length) noexcept
cdef bytes _decoded(bytes data, Py_ssize_t start, Py_ssize_t end, Folded folded)
cdef bytes _anchor_text(bytes data, Py_ssize_t start, Folded folded)
cdef Py_ssize_t _written_end(bytes data, Py_ssize_t start, Folded folded) noexcept
cdef bint _closes(const unsigned char* p, Py_ssize_t i, Py_ssize_t size) noexcept
cdef bint _has_no_more(bytes data, Link link) noexcept
cdef bint _is_anchor(bytes data, Py_ssize_t start) noexcept

@cython.final
cdef class Folded:
    cdef object _charset
    cdef bint _transparent, _is_utf8, _blank
    cdef Py_ssize_t _size, _characters
    cdef unsigned char[800] _out
    cdef int clear(self) noexcept
    cdef bytes taken(self)
    cdef int add(self, bytes data, Py_ssize_t start, Py_ssize_t end, bint attribute) except? -1
    cdef int _put(self, const unsigned char* p, Py_ssize_t i, Py_ssize_t end) except? -1

cpdef object rel_and_alt(bytes data, Py_ssize_t start, Py_ssize_t end, Folded folded)

@cython.final
cdef class LinkTexts:
    cdef bytes _data, source
    cdef Folded _folded
    cdef Py_ssize_t _start, text, text_end
    cdef str rel
    cdef int see(self, Link link) except? -1
    cdef int _read(self, Link link) except? -1
