cimport cython
from absolve.core cimport byte_scan
from absolve.core.model cimport Edit, Link, Part, edit_at
from absolve.document.entity cimport Entity
from absolve.document.resolved cimport LinkContext, link_context, text
from absolve.encodings.codings cimport CharacterReferences, Unquoted
from absolve.formats.events cimport EventList
from absolve.rewriting.edits cimport Splicer, ValueEncoder, Written, edit_of, shortened
from absolve.urls cimport predicates
from absolve.urls.predicates cimport PrefixResolver, is_name, shape

cdef Py_ssize_t _SOME, _MUCH
cdef int _H, _LONGEST_WEB
cdef Edit _UNDECIDED
cdef bint _is_odd(str reference, str new) except? -1
cdef bint _rules(LinkContext context, Link link) noexcept
cdef bint _may_be_special(int first) noexcept
cdef bint _is_host(const unsigned char* p, Py_ssize_t start, Py_ssize_t end) noexcept
cdef tuple _slot(object coding)
cdef bint _after_word(bytes data, Py_ssize_t start) noexcept

@cython.final
cdef class LinkEdits:
    cdef Entity entity
    cdef bytes data, _prefix
    cdef EventList events
    cdef object policy, open, mentions
    cdef bint _is_absolute, _empties_base, _any_scheme, whole, is_full, _climbs, odd
    cdef list _found, _changed
    cdef ValueEncoder _encoder
    cdef dict _written
    cdef LinkContext _context, _other
    cdef Py_ssize_t _held, at, links, changes, companions
    cdef PrefixResolver _resolver
    cdef int _shape
    cdef LinkEdits outer
    cdef inline bint _stays_absolute(self, int shaped, int first)
    cdef bint _is_closed(self, Py_ssize_t index)
    cdef int _link(self, Py_ssize_t index, Link link)
    cdef Edit _short_way(self, LinkContext context, Py_ssize_t start, Py_ssize_t end, int shaped)
    cdef int _long_way(self, Link link, LinkContext context)
    cdef int _write(self, Link link, Edit edit)
    cdef int _put_prefix(self, Edit edit, Py_ssize_t start, Py_ssize_t end)
    cdef int put(self, Edit edit, object coding)
