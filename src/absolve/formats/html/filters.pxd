"""C signatures of filters.py."""

cdef Py_ssize_t _SHORT_LINE

cdef bint _has_comment(const unsigned char* p, Py_ssize_t start, Py_ssize_t i) noexcept
cdef bint _is_quote(const unsigned char* p, Py_ssize_t i, Py_ssize_t end) noexcept


cpdef bint may_hold_css_link(const unsigned char* p, Py_ssize_t start, Py_ssize_t end) noexcept
cpdef bint may_be_space(const unsigned char* p, Py_ssize_t i, Py_ssize_t end) noexcept
cpdef bint may_end_in_space(const unsigned char* p, Py_ssize_t start, Py_ssize_t end) noexcept
cpdef bint may_be_savers(const unsigned char* p, Py_ssize_t i, Py_ssize_t end) noexcept
cpdef bint may_name_map(bytes data, Py_ssize_t start, Py_ssize_t end) except -1
