"""C layout of what is known of the links under one rule; ruled.py holds the code."""

cimport cython

from absolve.model cimport Link
from absolve.resolved cimport Rule
from absolve.resolvers.appending cimport Appending


@cython.final
@cython.no_gc
cdef class Facts:
    cdef readonly str reference
    cdef readonly object target
    cdef readonly str scope
    cdef public list problems
    cdef readonly bint spaceable
    cdef Facts _spaced

    cpdef Facts spaced(self)


@cython.final
cdef class Ruled:
    cdef readonly object place
    cdef readonly object scope
    cdef readonly tuple words
    cdef object _entity
    cdef bytes _data
    cdef Rule _rule
    cdef dict _known
    cdef bint _is_url
    cdef Appending _appending
    cdef str _own_page
    cdef bint _has_own
    cdef object _held
    cdef object _site
    cdef bint _secure
    cdef bint _tidies
    cdef dict _hosts
    cdef object _near
    cdef str _url
    cdef dict _climbing

    cpdef Facts facts(self, Link link, bytes value)
    cdef Facts _found(self, Link link, bytes value)
    cdef Facts _told(self, Appending appending, str reference, bytes value)
    cdef Facts _scheme_relative(self, str reference)
    cdef object _host(self, str url)
    cdef bint _is_place(self, str reference)
    cdef object _seen(self, str url)
    cdef Facts _known_from(self, object seen, str reference, str target)


cpdef str shown(str text)
