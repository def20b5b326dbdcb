"""C layout of the start tags of XML; xml_tags.py holds the code."""

cimport cython


@cython.final
cdef class Tag:
    cdef bytes _data
    cdef object _prolog
    cdef readonly object text
    cdef object _double
    cdef object _single
    cdef Py_ssize_t start
    cdef Py_ssize_t end
    cdef bint is_closed
    cdef bint declares
    cdef bint has_others
    cdef Py_ssize_t _name_end
    cdef Py_ssize_t _at
    # of the attribute that was read last
    cdef Py_ssize_t attribute
    cdef Py_ssize_t attribute_end
    cdef Py_ssize_t value_start
    cdef Py_ssize_t value_end

    cdef bytes read(self, Py_ssize_t start)
    cdef int rewind(self) noexcept
    cdef bint next(self) noexcept
    cdef bint _is_declaration(self) noexcept
    cdef tuple declared(self, object defaults, dict bindings)
    cdef dict words(self)
    cdef list keywords(self, object names)
    cdef str _word(self)
    cdef bytes _unfolded(self, bytes raw, int depth)
    cdef object coding(self, Py_ssize_t start)
    cdef bytes decoded(self, Py_ssize_t start, Py_ssize_t end)
