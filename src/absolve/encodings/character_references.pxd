"""C signatures of character_references.py."""

cdef int _BEYOND
cdef Py_ssize_t _LONGEST

cdef bytes _named(bytes name)
cdef object _numeric(bytes value, Py_ssize_t at, Py_ssize_t size)


cpdef object reference_at(bytes value, Py_ssize_t at, Py_ssize_t size, bint attribute)
