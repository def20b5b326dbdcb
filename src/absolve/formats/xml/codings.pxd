cimport cython
from absolve.core cimport byte_scan
from absolve.core.byte_scan cimport tag_end
from absolve.encodings.offset_map cimport Decoded

cdef tuple _SINGLE
cdef Py_ssize_t _reference_end(const unsigned char* p, Py_ssize_t i, Py_ssize_t end) noexcept
cdef int _predefined(const unsigned char* p, Py_ssize_t i, Py_ssize_t end) noexcept
cdef bint _is_of_name(int byte) noexcept
cdef bint _stands_for_itself(bytes value, Py_ssize_t end, int quote) noexcept

@cython.final
cdef class CharacterData:
    cdef readonly object slot
    cdef object _charset, _entities, _must
    cdef int _quote
    cpdef bytes decode(self, bytes raw)
    cpdef int read(self, Decoded decoded, bytes raw, Py_ssize_t start, Py_ssize_t end)
    cdef bytes _meaning(self, bytes raw, Py_ssize_t start, Py_ssize_t end)

cpdef bint is_plain(const unsigned char* p, Py_ssize_t start, Py_ssize_t end) noexcept
cdef Py_ssize_t _DEEPEST, _MOST, _LEAST, _LEAST_ATTRIBUTE, _MOST_NAMES, _LEAST_NAMED
cdef unsigned int _HASHES, _FNV_BASIS, _FNV_PRIME, _32_BITS

@cython.final
cdef class _Tags:
    cdef Py_ssize_t names
    cdef bytearray _seen
    cdef Py_ssize_t attributes(self, const unsigned char* p, Py_ssize_t i, Py_ssize_t end) except? -1
