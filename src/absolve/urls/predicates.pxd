cimport cython
from absolve.core cimport byte_scan

cdef bint _is_letter(Py_UCS4 c) noexcept
cdef bint _is_letter_or_digit(Py_UCS4 c) noexcept
cpdef bint has_scheme(str reference) except? -1
cpdef bint runs_code(str reference) except? -1
cpdef bint is_plain(str url) except? -1
cpdef bint is_malformed(str url) except? -1
cpdef bint may_have_placeholder(str reference) except? -1
cdef int _DEEPEST, _PLAIN, _SCHEME, _BEGINS, _NAME, _COPIED, _OPAQUE
cdef bytes _CLASSES
cdef int _scheme(const unsigned char* p, Py_ssize_t start, Py_ssize_t colon, Py_ssize_t end) noexcept
cdef bint _is_tail(const unsigned char* p, Py_ssize_t i, Py_ssize_t end, bint in_fragment) noexcept
cdef Py_ssize_t _reference_end(const unsigned char* p, Py_ssize_t i, Py_ssize_t end) noexcept
cdef int OTHER, ABSOLUTE, OPAQUE, FRAGMENT, QUERY, ROOT, PATH, NETWORK, KIND, DOTS
cpdef int shape(const unsigned char* p, Py_ssize_t start, Py_ssize_t end) noexcept
cdef int _shape_of(bytes raw) except? -1
cdef bint _is_canonical(bytes raw, int found) except? -1
cpdef Py_ssize_t http_host(const unsigned char* p, Py_ssize_t start, Py_ssize_t end) noexcept
cpdef Py_ssize_t canonical_host_end(const unsigned char* p, Py_ssize_t host, Py_ssize_t end) noexcept
cpdef bint is_canonical_opaque(const unsigned char* p, Py_ssize_t start, Py_ssize_t end) noexcept
cpdef bint is_name(const unsigned char* p, Py_ssize_t i, Py_ssize_t end) noexcept

@cython.final
cdef class PrefixResolver:
    cdef object _resolve
    cdef readonly bint usable
    cdef bint _is_long
    cdef dict _known, _written
    cdef bytes written(self, int of)
    cdef str prefix(self, int of)
