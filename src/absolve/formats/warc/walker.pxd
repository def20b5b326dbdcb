"""C signatures of walker.py."""

cpdef Py_ssize_t bare(bytes data, object options) except? -2
