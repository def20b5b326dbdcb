"""C layout of what makes the rows; inventory.py holds the code."""

cimport cython

from absolve.model cimport Link
from absolve.positions cimport Positions
from absolve.resolved cimport Rule
from absolve.resolvers.appending cimport Appending


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
    cpdef object line_column(self, Py_ssize_t start)


@cython.final
cdef class _Tag:
    cdef bytes _data
    cdef object _charset
    cdef Py_ssize_t _start
    cdef str rel
    cdef str text

    cpdef object see(self, Link link)


@cython.final
cdef class Facts:
    cdef str reference
    cdef object target
    cdef str scope
    cdef list problems
    cdef bint never
    cdef bint spaced


@cython.final
cdef class _Ruled:
    cdef object _entity
    cdef bytes _data
    cdef Rule _rule
    cdef dict _known
    cdef str _path
    cdef str _element
    cdef str _attribute
    cdef str _kind
    cdef bint _is_url
    cdef str _base
    cdef str _layer
    cdef str _source
    cdef Appending _appending
    cdef str _own_page
    cdef bint _has_own
    cdef object _site
    cdef bint _secure
    cdef bint _tidies
    cdef dict _hosts

    cpdef object found(self, Link link, str document, _Span span, _Tag tag)
    cpdef object row(self, Link link, str reference, str document, object line, object column, object start, object end, str rel, str words)
    cdef Facts _facts(self, Link link, str reference)
    cdef object _seen(self, str url)
    cdef Facts _known_from(self, object seen, str reference, str target)
