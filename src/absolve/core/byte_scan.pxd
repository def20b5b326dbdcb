"""C signatures of byte_scan.py, and the functions that are no Python in compiled code."""

from libc.string cimport memchr, memcmp


cdef inline Py_ssize_t find(const unsigned char* data, int byte, Py_ssize_t start, Py_ssize_t end) noexcept:
    """Return the offset of the first such byte in the span, or -1."""
    if start >= end:
        return -1
    found = <const unsigned char*>memchr(data + start, byte, end - start)
    return -1 if found is NULL else found - data


cdef inline bint same(const unsigned char* p, Py_ssize_t i, const unsigned char* q, Py_ssize_t j, Py_ssize_t size) noexcept:
    return memcmp(p + i, q + j, size) == 0


cdef inline unsigned long long word_at(const unsigned char* p, Py_ssize_t at) noexcept:
    return (<const unsigned long long*>(p + at))[0]


cpdef bytes cut(bytes data, Py_ssize_t start, Py_ssize_t end)
cpdef Py_ssize_t comment_end(const unsigned char* p, Py_ssize_t i, Py_ssize_t end) noexcept
cpdef Py_ssize_t tag_end(const unsigned char* p, Py_ssize_t i, Py_ssize_t end) noexcept
cpdef bint is_tag_name(const unsigned char* p, Py_ssize_t end, Py_ssize_t i, Py_ssize_t name, Py_ssize_t length) noexcept
cpdef Py_ssize_t raw_text_end(
    const unsigned char* p, Py_ssize_t i, Py_ssize_t end, Py_ssize_t name, Py_ssize_t length
) noexcept
cpdef Py_ssize_t word_start(const unsigned char* p, Py_ssize_t i, Py_ssize_t end) noexcept
cpdef Py_ssize_t character(const unsigned char* p, Py_ssize_t i, Py_ssize_t end) noexcept
