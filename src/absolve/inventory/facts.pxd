"""C layout of the cached row values; facts.py has the code."""

cimport cython

from absolve.core cimport byte_scan
from absolve.core.model cimport Link
from absolve.document.entity cimport Entity
from absolve.document.resolved cimport LinkContext, link_context, shown, text
from absolve.encodings.codings cimport CharacterReferences
from absolve.urls.base cimport BaseContext
from absolve.urls cimport predicates
from absolve.urls.predicates cimport PrefixResolver, canonical_host_end, http_host, is_canonical_opaque, is_name, may_have_placeholder, shape

cdef tuple _NONE, _SPACED, _SCHEME_RELATIVE

cdef bint _is_characters(str text)
cdef bint _is(const unsigned char* p, Py_ssize_t start, Py_ssize_t end, bytes word) noexcept
cdef bint _is_page(bytes page, bytes prefix, bytes data, Py_ssize_t start, Py_ssize_t end) noexcept
cdef bint _is_place(bytes reference)
cdef Py_ssize_t _host_end(const unsigned char* p, Py_ssize_t host, Py_ssize_t end) noexcept
cdef bint _spaced(bytes data, Link link)
cdef bint _is_quote(int byte) noexcept


@cython.final
cdef class BaseFacts:
    cdef object base
    cdef str url
    cdef tuple words
    cdef Py_ssize_t size
    cdef object site
    cdef bytes site_name
    cdef bytes own_page
    cdef str own
    cdef bint normalizes
    cdef bint in_utf_8
    cdef Py_ssize_t room
    cdef dict held
    cdef bint files
    cdef str where
    cdef tuple codes
    cdef PrefixResolver appending
    cdef bytes scheme
    cdef tuple http_codes
    cdef tuple https_codes
    cdef tuple relative_codes
    cdef int _shape
    cdef bytes _prefix
    cdef dict _prefixes
    cdef int _levels

    cdef object seen(self, str url)
    cdef bytes prefix(self, int of)
    cdef bint climbs(self, int of) except? -1


@cython.final
cdef class ReferenceFacts:
    cdef readonly bytes reference
    cdef readonly bytes target
    cdef readonly str scope
    cdef readonly tuple problems
    cdef readonly bint spaceable
    cdef ReferenceFacts _spaced

    cpdef ReferenceFacts spaced(self)


@cython.final
cdef class RowFacts:
    cdef readonly object place
    cdef readonly object scope
    cdef readonly tuple words
    cdef readonly Py_ssize_t size
    cdef bytes data
    cdef Py_ssize_t start
    cdef Py_ssize_t end
    cdef readonly bytes target
    cdef readonly Py_ssize_t skipped
    cdef readonly str where
    cdef readonly tuple codes
    cdef bytes _shown
    cdef str _text
    cdef Entity _entity
    cdef bytes _data
    cdef LinkContext _context
    cdef dict _known
    cdef bint _is_url
    cdef bint _of_documents
    cdef bint _may_be_local
    cdef dict _hosts
    cdef BaseFacts _base_facts

    cpdef int find(self, Link link, bytes data, Py_ssize_t start, Py_ssize_t end) except? -1
    cdef str target_text(self, str reference)
    cdef ReferenceFacts _judged(self, Link link, bytes value)
    cdef bint _find_fast(self, Link link, bytes data, Py_ssize_t start, Py_ssize_t end)
    cdef ReferenceFacts _as_plain(self, Link link, bytes value)
    cdef ReferenceFacts _found(self, Link link, bytes value)
    cdef bint _is_seen(self, bytes data, Py_ssize_t start, Py_ssize_t host, Py_ssize_t end)
    cdef bint _complete(self, Link link, bytes data, Py_ssize_t start, Py_ssize_t end)
