"""C layout of the text columns of rows; the code is in row_text.py."""

cimport cython


@cython.final
cdef class Folded:
    cdef object _charset
    cdef bint _is_utf8
    cdef bint _blank
    cdef Py_ssize_t _size
    cdef Py_ssize_t _characters
    cdef unsigned char _out[800]  # 4 * LONGEST

    cdef int clear(self) noexcept
    cdef bytes taken(self)
    cdef int add(self, bytes data, Py_ssize_t start, Py_ssize_t end, bint attribute) except? -1
    cdef int _put(self, const unsigned char* p, Py_ssize_t i, Py_ssize_t end) except? -1


cpdef object rel_and_alt(bytes data, Py_ssize_t start, Py_ssize_t end, Folded folded)
cpdef bytes anchor_text(bytes data, Py_ssize_t start, Folded folded)
cdef Py_ssize_t written_end(bytes data, Py_ssize_t start, Folded folded) noexcept
