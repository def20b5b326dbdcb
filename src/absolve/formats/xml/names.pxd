"""C layout of qualified names and of the namespaces in scope; the code is in names.py."""

cimport cython


cpdef object of_words(object row, list[str] words)


@cython.final
cdef class Written:
    cdef readonly object element
    cdef readonly object text
    cdef readonly dict rows
    cdef readonly bint is_html
    cdef readonly bint is_template
    cdef object _names


@cython.final
cdef class Namespaces:
    cdef readonly dict bindings
    cdef object _names
    cdef dict _known
    cdef list _outer

    cdef Written element(self, bytes raw)
    cdef object row(self, Written element, bytes raw)
    cdef int declare(self, tuple declared, int depth) except? -1
    cdef int begin(self, str root) except? -1
    cdef int end(self, int depth) except? -1
    cdef int _go_on(self, object names) except? -1
