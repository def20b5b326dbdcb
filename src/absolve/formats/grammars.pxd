from absolve.core cimport byte_scan

cdef int _IN_WORD, _IN_TAIL, _BEGINS, _ALNUM
cdef bytes _classes
cdef const unsigned char* _CLASSES
cpdef Py_ssize_t candidate(const unsigned char* p, Py_ssize_t i, Py_ssize_t n) noexcept
cpdef Py_ssize_t word_end(const unsigned char* p, Py_ssize_t i, Py_ssize_t n) noexcept
cpdef Py_ssize_t without_commas(const unsigned char* p, Py_ssize_t start, Py_ssize_t end) noexcept
cpdef Py_ssize_t descriptors_end(const unsigned char* p, Py_ssize_t i, Py_ssize_t n) noexcept
cpdef bint is_likely(const unsigned char* p, Py_ssize_t start, Py_ssize_t end) noexcept
cpdef bint may_have_placeholder(const unsigned char* p, Py_ssize_t i, Py_ssize_t n) noexcept
