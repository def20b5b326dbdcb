"""C layout of an entity; entity.py has the code."""

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
    cdef IntColumn _indexes
    cdef IntColumn _named

    cdef int keep(self, Py_ssize_t index, object inner) except? -1
    cdef int skip(self, Py_ssize_t index, Py_ssize_t named) except? -1
    cpdef object kept(self, Py_ssize_t index)
    cdef Py_ssize_t index(self, Py_ssize_t number) noexcept
    cdef Py_ssize_t named(self, Py_ssize_t index) noexcept


cdef class Entity:
    cdef public bytes own_data
    cdef public bytes around
    cdef Py_ssize_t _at
    cdef Py_ssize_t _size
    cdef public object charset
    cdef public object media_type
    cdef public object name
    cdef public object path
    cdef public object settings
    cdef public Bases bases
    cdef public EventList events
    cdef public InnerDocuments inside
    cdef public NestingBudget documents_left
    cdef public NestingBudget text_left
    cdef public Py_ssize_t level
    cdef public Py_ssize_t depth
    cdef public Py_ssize_t count
    cdef public Py_ssize_t links
    cdef public bint has_useless
    cdef public object facts
    cdef public object capture
    cdef public Py_ssize_t repeated
    cdef public Py_ssize_t long_bases
    cdef public bint for_rewrite
    cdef public bint is_proof
    cdef public Py_ssize_t named
    cdef public tuple enclosed
    cdef public list findings
    cdef public object origin
    cdef public object held
    cdef public object beside
    cdef public object files
    cdef public dict contexts
    cdef tuple _inside
    cdef object _positions
    cdef dict _scoped
    cdef Py_ssize_t _scoped_size

    cpdef bytes cut(self, Py_ssize_t start, Py_ssize_t end)
    cdef dict contexts_inside(self, Bases around, object charset)
    cpdef object forget_contexts(self, Entity outer)
    cdef int share_bytes(self, Entity outer, Py_ssize_t at) except? -1
    cdef int truncate(self, EventList events) except? -1
    cdef Entity for_part(self, Part part, bytes value, str media_type, Py_ssize_t named)
    cdef int is_text_in(self, Entity outer) except? -1
    cpdef bint may_be_reported(self) except? -1
    cdef bint may_be_so_deep(self) except? -1
    cdef bint may_keep(self, Py_ssize_t size) except? -1
    cpdef BaseContext ruled(self, Link link)
    cpdef bint rules_by_own_url(self, Link link) except? -1
    cpdef BaseContext base_context(self, object scope, bint own=*)
