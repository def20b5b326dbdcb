"""C signatures of linkless.py."""

cpdef bint is_bare(bytes data, Py_ssize_t start, Py_ssize_t end) except? -1
