"""C layout of the coding of text and attributes in XML; the code is in codings.py."""

cimport cython

from absolve.encodings.offset_map cimport Decoded

cdef tuple _SINGLE

cdef Py_ssize_t _reference_end(const unsigned char* p, Py_ssize_t i, Py_ssize_t end) noexcept
cdef int _predefined(const unsigned char* p, Py_ssize_t i, Py_ssize_t end) noexcept
cdef bint _is_of_name(int byte) noexcept
cdef bint _stands_for_itself(bytes value, Py_ssize_t end, int quote) noexcept


@cython.final
cdef class CharacterData:
    cdef readonly object slot
    cdef object _charset
    cdef object _entities
    cdef int _quote
    cdef object _must

    cpdef bytes decode(self, bytes raw)
    cpdef int read(self, Decoded decoded, bytes raw, Py_ssize_t start, Py_ssize_t end)
    cdef bytes _meaning(self, bytes raw, Py_ssize_t start, Py_ssize_t end)

cpdef bint is_plain(const unsigned char* p, Py_ssize_t start, Py_ssize_t end) noexcept
