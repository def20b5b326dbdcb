"""C layout of the edits of an entity's links; rewriter.py has the code."""

cimport cython

from absolve.core cimport byte_scan
from absolve.core.model cimport Edit, Link, Part, edit_at
from absolve.document.entity cimport Entity
from absolve.document.resolved cimport LinkContext, link_context, text
from absolve.encodings.codings cimport CharacterReferences, Unquoted
from absolve.formats.events cimport EventList
from absolve.rewriting.edits cimport Splicer, ValueEncoder, Written, edit_of, lower, moved, shortened
from absolve.urls cimport predicates
from absolve.urls.predicates cimport PrefixResolver, is_name, shape

cdef Py_ssize_t _SOME, _MUCH
cdef int _H, _LONGEST_WEB
cdef Edit _UNDECIDED

cdef bint _is_odd(str reference, str new) except? -1
cdef bint _rules(LinkContext context, Link link) noexcept
cdef bint _may_be_special(int first) noexcept
cdef bint _is_host(const unsigned char* p, Py_ssize_t start, Py_ssize_t end) noexcept
cdef bint _after_word(bytes data, Py_ssize_t start) noexcept
cdef tuple _slot(object coding)


@cython.final
cdef class LinkEdits:
    cdef Entity entity
    cdef bytes data
    cdef EventList events
    cdef object policy
    cdef bint _is_absolute
    cdef bint _empties_base
    cdef bint _any_scheme
    cdef list _found
    cdef bint whole
    cdef object open
    cdef list _changed
    cdef ValueEncoder _encoder
    cdef dict _written
    cdef LinkContext _context
    cdef LinkContext _other
    cdef Py_ssize_t _held
    cdef bint is_full
    cdef PrefixResolver _resolver
    cdef int _shape
    cdef bytes _prefix
    cdef bint _climbs
    cdef LinkEdits outer
    cdef Py_ssize_t at
    cdef Py_ssize_t links
    cdef Py_ssize_t changes
    cdef Py_ssize_t companions
    cdef bint odd

    cdef int count(self, LinkEdits inner)
    cdef Py_ssize_t add_links(self, Py_ssize_t number, object order) except? -1
    cdef list[Edit] taken(self)
    cdef int _settle(self)
    cdef inline bint _stays_absolute(self, int shaped, int first)
    cdef bint _is_closed(self, Py_ssize_t index)
    cdef int _link(self, Py_ssize_t index, Link link)
    cdef int _refuse(self, Link link)
    cdef Edit _short_way(self, LinkContext context, Py_ssize_t start, Py_ssize_t end, int shaped)
    cdef int _long_way(self, Link link, LinkContext context)
    cdef int _write(self, Link link, Edit edit)
    cdef int _put_prefix(self, Edit edit, Py_ssize_t start, Py_ssize_t end)
    cdef int put(self, Edit edit, object coding)
