"""C layout of what makes the rows; inventory.py holds the code."""

cimport cython

from absolve.model cimport Link
from absolve.positions cimport Positions
from absolve.ruled cimport Facts, Ruled


@cython.final
cdef class Columns:
    cdef readonly Py_ssize_t at_once
    cdef readonly tuple names
    cdef readonly list ruled
    cdef readonly list line
    cdef readonly list column
    cdef readonly list start
    cdef readonly list end
    cdef readonly list rel
    cdef readonly list text
    cdef readonly list reference
    cdef readonly list target
    cdef readonly list scope
    cdef readonly list problems

    cpdef object add(self, Ruled ruled, Facts facts, where=*)
    cdef object _row(self, Py_ssize_t at)


@cython.final
cdef class _Span:
    cdef bint _transparent
    cdef Positions _positions
    cdef _Span _outer
    cdef object _inner
    cdef Py_ssize_t _start
    cdef Py_ssize_t _end
    cdef object _offsets

    cpdef object of(self, Py_ssize_t start, Py_ssize_t end)
    cpdef Positions placed(self, Py_ssize_t start)


@cython.final
cdef class _Events:
    cdef object _entity
    cdef str _document
    cdef _Span _span
    cdef bytes _data
    cdef object _events
    cdef _Tag _tag
    cdef dict _rules
    cdef dict _hosts
    cdef Ruled _ruled

    cpdef Py_ssize_t take(self, Columns columns, Py_ssize_t at)
    cdef object link(self, Columns columns, Link link)
    cdef Ruled ruled(self, Link link)


@cython.final
cdef class _Tag:
    cdef bytes _data
    cdef object _charset
    cdef Py_ssize_t _start
    cdef str rel
    cdef str text

    cpdef object see(self, Link link)
