"""C layout of a tag, for the tokenizer and the walker; the code is in tag.py."""

cimport cython


cdef inline unsigned long long kept_word(const unsigned char* slots, Py_ssize_t at) noexcept:
    """Return the word of a name in the slots of names.py; `at` is a byte offset, a multiple of eight."""
    return (<const unsigned long long*>(slots + at))[0]


@cython.final
cdef class Tag:
    cdef bytes data
    cdef int element
    cdef Py_ssize_t name_end
    cdef list record
    cdef int found
    cdef readonly bint self_closing
    cdef int order[256]
    # by attribute number, valid where stamp equals serial
    cdef Py_ssize_t serial
    cdef Py_ssize_t stamp[256]
    cdef Py_ssize_t value_start[256]
    cdef Py_ssize_t value_end[256]
    cdef int quote[256]

    cdef int begin(self, bytes data)
    cdef Py_ssize_t read(self, Py_ssize_t i) except? -1
    cdef bint has(self, int number) noexcept
    cdef int drop(self, int number)
    cdef bytes raw(self, int number)
