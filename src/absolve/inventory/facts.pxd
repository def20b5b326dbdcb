cimport cython
from absolve.core cimport byte_scan
from absolve.core.model cimport Link
from absolve.document.entity cimport Entity
from absolve.document.resolved cimport LinkContext, link_context, shown, text
from absolve.encodings.codings cimport CharacterReferences
from absolve.urls cimport predicates
from absolve.urls.base cimport BaseContext
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
    cdef object base, site
    cdef str url, own, where
    cdef tuple words, codes, http_codes, https_codes, relative_codes
    cdef Py_ssize_t size, room
    cdef bytes site_name, own_page, scheme, _prefix
    cdef bint normalizes, in_utf_8, files
    cdef dict held, _prefixes
    cdef PrefixResolver appending
    cdef int _shape, _levels
    cdef bytes prefix(self, int of)
    cdef bint climbs(self, int of) except? -1

@cython.final
cdef class ReferenceFacts:
    cdef readonly bytes reference, target
    cdef readonly str scope
    cdef readonly tuple problems
    cdef readonly bint spaceable
    cdef ReferenceFacts _spaced

@cython.final
cdef class RowFacts:
    cdef readonly object place, scope
    cdef readonly tuple words, codes
    cdef readonly Py_ssize_t size, skipped
    cdef bytes data, _shown, _data
    cdef Py_ssize_t start, end
    cdef readonly bytes target
    cdef readonly str where
    cdef str _text
    cdef Entity _entity
    cdef LinkContext _context
    cdef dict _known, _hosts
    cdef bint _is_url, _of_documents, _may_be_local
    cdef BaseFacts _base_facts
    cpdef int find(self, Link link, bytes data, Py_ssize_t start, Py_ssize_t end) except? -1
    cdef str target_text(self, str reference)
    cdef bint _find_fast(self, Link link, bytes data, Py_ssize_t start, Py_ssize_t end)
    cdef bint _is_seen(self, bytes data, Py_ssize_t start, Py_ssize_t host, Py_ssize_t end)
    cdef bint _complete(self, Link link, bytes data, Py_ssize_t start, Py_ssize_t end)
