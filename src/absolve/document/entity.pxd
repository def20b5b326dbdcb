cimport cython
from absolve.core cimport byte_scan
from absolve.core.byte_scan cimport cut
from absolve.core.column_buffers cimport IntColumn
from absolve.core.model cimport Link, Part
from absolve.encodings.line_index cimport LineIndex
from absolve.formats.events cimport EventList
from absolve.urls.base cimport BaseContext, Bases, establish
from absolve.urls.predicates cimport has_scheme

cdef Py_ssize_t _MOST_SCOPED, _SCOPED, _LARGE, _IS_KEPT, _HEAD
cdef NestingBudget _UNLIMITED
cdef bint _may_list(bytes data) noexcept

@cython.final
cdef class NestingBudget:
    cdef Py_ssize_t _left
    cdef bint spend(self, Py_ssize_t amount) except? -1

@cython.final
cdef class InnerDocuments:
    cdef dict _kept
    cdef IntColumn _indexes, _named
    cdef int keep(self, Py_ssize_t index, object inner) except? -1
    cdef int skip(self, Py_ssize_t index, Py_ssize_t named) except? -1
    cpdef object kept(self, Py_ssize_t index)
    cdef Py_ssize_t index(self, Py_ssize_t number) noexcept
    cdef Py_ssize_t named(self, Py_ssize_t index) noexcept

cdef class Entity:
    cdef public bytes own_data, around
    cdef Py_ssize_t _at, _size, _scoped_size
    cdef public object charset, media_type, name, path, settings, facts, capture, origin, held, beside, files
    cdef public EventList events
    cdef public InnerDocuments inside
    cdef public NestingBudget documents_left, text_left
    cdef public Bases bases
    cdef public Py_ssize_t level, depth, count, links, repeated, long_bases, named
    cdef public bint has_useless, for_rewrite, is_proof
    cdef public tuple enclosed
    cdef public list findings
    cdef public dict contexts
    cdef tuple _inside
    cdef object _positions
    cdef dict _scoped
    cpdef bytes cut(self, Py_ssize_t start, Py_ssize_t end)
    cdef bint may_keep(self, Py_ssize_t size) except? -1
    cdef dict contexts_inside(self, Bases around, object charset)
    cdef int share_bytes(self, Entity outer, Py_ssize_t at) except? -1
    cdef Entity for_part(self, Part part, bytes value, str media_type, Py_ssize_t named)
    cdef int is_text_in(self, Entity outer) except? -1
    cpdef bint rules_by_own_url(self, Link link) except? -1
    cpdef BaseContext ruled(self, Link link)
    cpdef BaseContext base_context(self, object scope, bint own=*)
