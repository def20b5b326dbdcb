"""C layout of what the rewriter asks for each link; resolved.py holds the code."""

cimport cython

from absolve.core.model cimport Link, LinkSite
from absolve.document.entity cimport Entity
from absolve.urls.base cimport BaseContext
from absolve.urls.predicates cimport PrefixResolver, is_malformed, may_have_placeholder

cdef Py_ssize_t _MOST_CONTEXTS


cpdef str text(bytes value)
cpdef str shown(str text)
cpdef bytes value_of(str reference)
cpdef Py_ssize_t placeholder_at(str reference) except? -1
cpdef str fixed(str reference)
cpdef bint is_placeholder(str reference) except? -1
cpdef LinkContext link_context(Entity entity, Link link)
cpdef object context_key(Entity entity, Link link)


@cython.final
cdef class LinkContext:
    cdef public LinkSite place
    cdef public object scope
    cdef public object base
    cdef public object resolver
    cdef public object base_context
    cdef public object own
    cdef public bint elsewhere
    cdef readonly bint is_local
    cdef bint is_unknown
    cdef readonly bint is_emptied
    cdef PrefixResolver prefixes
    cdef public object settings
    cdef public bint keeps_fragments
    cdef public bint stays_always
    cdef public bint stays_as_fragment
    cdef public bint is_ruby
    cdef public str empty
    cdef public PrefixResolver short
    cdef public object held
    cdef public object files
    cdef public Py_ssize_t longest
    cdef public Py_ssize_t room

    cdef str _in_message(self, str reference)
    cdef str _in_own_document(self, str fragment)
    cpdef object how_held(self, str url)
    cdef object _files(self, object files, Link link)
    cpdef object file_url(self, str reference)
    cpdef str target(self, str reference, bint claims)
    cpdef bint is_too_long(self, str reference) except? -1
    cpdef bint may_write(self, str url) except? -1
