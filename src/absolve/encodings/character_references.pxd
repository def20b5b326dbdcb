"""C signatures of character_references.py."""

cpdef object reference_at(bytes value, Py_ssize_t at, Py_ssize_t size, bint attribute)
