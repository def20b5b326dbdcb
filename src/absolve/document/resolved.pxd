cimport cython
from absolve.core.model cimport Link, LinkSite
from absolve.document.entity cimport Entity
from absolve.urls.base cimport BaseContext
from absolve.urls.predicates cimport PrefixResolver, is_malformed, may_have_placeholder

cdef Py_ssize_t _MOST_CONTEXTS
cpdef str text(bytes value)
cpdef str shown(str text)
cpdef bytes value_of(str reference)
cpdef LinkContext link_context(Entity entity, Link link)
cpdef object context_key(Entity entity, Link link)

@cython.final
cdef class LinkContext:
    cdef public LinkSite place
    cdef public object scope, base, resolver, base_context, own, settings, held, files, filled_in
    cdef public bint elsewhere, keeps_fragments, stays_always, stays_as_fragment
    cdef readonly bint is_local, is_emptied
    cdef bint is_unknown
    cdef PrefixResolver prefixes
    cdef public str empty
    cdef public PrefixResolver short
    cdef public Py_ssize_t longest, room
    cpdef str target(self, str reference, bint claims)
