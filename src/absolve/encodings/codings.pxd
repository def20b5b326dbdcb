cimport cython
from absolve.core cimport byte_scan
from absolve.encodings.offset_map cimport Decoded

cdef bytes _QUOTING
cdef int _BEYOND
cdef Py_ssize_t _LONGEST
cdef bytes _named(bytes name)
cdef object _numeric(bytes value, Py_ssize_t at, Py_ssize_t size)
cpdef object reference_at(bytes value, Py_ssize_t at, Py_ssize_t size, bint attribute)
cpdef bint only_ampersands(const unsigned char* p, Py_ssize_t i, Py_ssize_t end, bint attribute) noexcept
cdef bint _stands_for_itself(bytes raw, Py_ssize_t start, Py_ssize_t end) noexcept
cdef bint _needs_quotes(const unsigned char* p, Py_ssize_t size) noexcept

@cython.final
cdef class Raw:
    cdef readonly object slot
    cdef object _charset

cdef class CharacterReferences:
    cdef readonly object slot
    cdef object _charset, _must
    cdef bint _transparent, _attribute
    cpdef bytes decode(self, bytes raw)
    cdef bint is_plain(self, bytes data, Py_ssize_t start, Py_ssize_t end)
    cdef tuple _mapped(self, bytes utf8, bint mapped)

@cython.final
cdef class Unquoted(CharacterReferences):
    cdef bint _absent
    cpdef Unquoted of(self, object slot)
