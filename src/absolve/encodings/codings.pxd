"""C layout of the codings that are called once per link; codings.py has the code."""

cimport cython


@cython.final
cdef class Raw:
    cdef readonly object slot
    cdef readonly object inner
    cdef object _charset


cdef class CharacterReferences:
    cdef readonly object slot
    cdef object _charset
    cdef bint _transparent
    cdef bint _attribute
    cdef object _must

    cpdef bytes decode(self, bytes raw)
    cdef bint is_plain(self, bytes data, Py_ssize_t start, Py_ssize_t end)
    cdef tuple _mapped(self, bytes utf8, bint mapped)


@cython.final
cdef class Unquoted(CharacterReferences):
    cdef bint _absent

    cpdef Unquoted of(self, object slot)
