"""C signatures of names_lookup.py."""

cdef inline unsigned long long kept_word(const unsigned char* slots, Py_ssize_t at) noexcept:
    """Return the word of a name in the slots of names.py; `at` is a byte offset, a multiple of eight."""
    return (<const unsigned long long*>(slots + at))[0]


cdef int lookup(
    const unsigned char* slots,
    const unsigned char* cells,
    unsigned long long word,
    const unsigned char* data,
    Py_ssize_t start,
    Py_ssize_t length,
) noexcept
cdef bint may_hold_css_link(const unsigned char* p, Py_ssize_t start, Py_ssize_t end) noexcept
cdef bint may_be_space(const unsigned char* p, Py_ssize_t i, Py_ssize_t end) noexcept
cdef bint may_end_in_space(const unsigned char* p, Py_ssize_t start, Py_ssize_t end) noexcept
cdef bint may_be_savers(const unsigned char* p, Py_ssize_t i, Py_ssize_t end) noexcept
