from absolve.core cimport byte_scan
from absolve.encodings.offset_map cimport Decoded

cdef bytes _SIMPLE, _DIGITS, _ESCAPED
cdef list _BYTES
cdef tuple _decoded(bytes raw, bint mapped)
cdef int _code_unit(const unsigned char* p, Py_ssize_t i, Py_ssize_t n) noexcept
cdef Py_ssize_t _text_start(const unsigned char* p, Py_ssize_t i, Py_ssize_t n) noexcept
cdef Py_ssize_t _string_end(const unsigned char* p, Py_ssize_t i, Py_ssize_t n) noexcept
cdef Py_ssize_t _word_end(bytes data, Py_ssize_t i, Py_ssize_t n)
