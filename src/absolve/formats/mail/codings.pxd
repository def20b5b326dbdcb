from absolve.core cimport byte_scan
from absolve.encodings.offset_map cimport Decoded

cdef bytes _DIGITS
cdef list _BYTES
cdef tuple _quoted_printable(bytes raw)
cdef Py_ssize_t _next(const unsigned char* p, int byte, Py_ssize_t start, Py_ssize_t end) noexcept
cdef Py_ssize_t _soft_break_end(const unsigned char* p, Py_ssize_t i, Py_ssize_t n) noexcept
cdef Py_ssize_t _trimmed(Decoded decoded, const unsigned char* p, Py_ssize_t done, Py_ssize_t end) except? -1
