"""C signatures of byte_scan.py."""

cdef Py_ssize_t find(const unsigned char* data, int byte, Py_ssize_t start, Py_ssize_t end) noexcept
cdef bytes cut(bytes data, Py_ssize_t start, Py_ssize_t end)
cdef Py_ssize_t comment_end(const unsigned char* p, Py_ssize_t i, Py_ssize_t end) noexcept
cdef Py_ssize_t tag_end(const unsigned char* p, Py_ssize_t i, Py_ssize_t end) noexcept
cdef bint is_tag_name(const unsigned char* p, Py_ssize_t end, Py_ssize_t i, Py_ssize_t name, Py_ssize_t length) noexcept
cdef Py_ssize_t raw_text_end(
    const unsigned char* p, Py_ssize_t i, Py_ssize_t end, Py_ssize_t name, Py_ssize_t length
) noexcept
cdef Py_ssize_t word_start(const unsigned char* p, Py_ssize_t i, Py_ssize_t end) noexcept
cdef Py_ssize_t word_end(const unsigned char* p, Py_ssize_t i, Py_ssize_t end) noexcept
cdef Py_ssize_t character(const unsigned char* p, Py_ssize_t i, Py_ssize_t end) noexcept
cdef Py_ssize_t utf8_end(const unsigned char* p, Py_ssize_t end) noexcept
