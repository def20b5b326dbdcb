"""C layout of what is known of the links under one rule; ruled.py holds the code."""

cimport cython

from absolve.model cimport Link
from absolve.resolved cimport Rule
from absolve.resolvers.appending cimport Appending


@cython.final
@cython.no_gc
cdef class Facts:
    cdef readonly bytes reference
    cdef readonly bytes target
    cdef readonly str scope
    cdef readonly tuple problems
    cdef readonly bint spaceable
    cdef Facts _spaced

    cpdef Facts spaced(self)


@cython.final
cdef class _Under:
    cdef str url
    cdef tuple words
    cdef object site
    cdef bytes site_name
    cdef bytes own_page
    cdef bint secure
    cdef bint tidies
    cdef object held
    cdef object near
    cdef Appending appending
    cdef dict _prefixes
    cdef dict _climbing

    cdef object seen(self, str url)
    cdef bytes prefix(self, int of)
    cdef bint climbs(self, int of, bytes reference)


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
    cdef dict _hosts
    cdef _Under _under

    cpdef Facts facts(self, Link link, bytes value)
    cdef Facts _found(self, Link link, bytes value)
    cdef Facts _told(self, bytes value)
    cdef Facts _scheme_relative(self, bytes value)
    cdef object _host(self, bytes target, Py_ssize_t start, Py_ssize_t end)
    cdef Facts _known_from(self, object seen, bytes reference, bytes target, object codes)


cpdef str shown(str text)
