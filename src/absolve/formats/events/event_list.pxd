"""C layout of the events of a document; event_list.py holds the code."""

cimport cython

from absolve.core.column_buffers cimport IntColumn
from absolve.core.model cimport Link, LinkSite, Part
from absolve.formats.events.packed_records cimport PackedRecords
from absolve.formats.events.scoped_bases cimport ScopedBases
from absolve.formats.events.templates cimport LinkTemplates, PartTemplates


@cython.final
cdef class EventList:
    cdef public ScopedBases scopes
    cdef readonly bint has_derived
    cdef readonly list objects
    cdef readonly Py_ssize_t count
    cdef readonly Py_ssize_t parts
    cdef object naming
    cdef bytes _data
    cdef object _make_part
    cdef PackedRecords _records
    cdef LinkTemplates _links
    cdef list _templates
    cdef PartTemplates _part_templates
    cdef IntColumn _part_indexes
    cdef Link _passing
    cdef Py_ssize_t start
    cdef Py_ssize_t end
    cdef bint has_claim
    cdef bint is_bare
    cdef int template
    cdef Link shared

    cdef int trim(self) except? -1
    cdef Py_ssize_t template_count(self) noexcept
    cpdef append(self, object event)
    cdef int add_link(
        self,
        LinkSite place,
        Py_ssize_t start,
        Py_ssize_t end,
        object coding,
        object base,
        Py_ssize_t tag_start,
        Py_ssize_t tag_end,
        object claim,
    ) except? -1
    cpdef int add_scoped(
        self,
        LinkSite place,
        Py_ssize_t start,
        Py_ssize_t end,
        object coding,
        Py_ssize_t scope,
        Py_ssize_t tag_start,
        Py_ssize_t tag_end,
        Py_ssize_t claim,
    ) except? -1
    cdef int add_part(
        self, str media_type, Py_ssize_t start, Py_ssize_t end, object coding, str name, Py_ssize_t scope
    ) except? -1
    cpdef int add_numbered_part(self, Py_ssize_t number, Py_ssize_t start, Py_ssize_t end) except? -1
    cdef int _add_part(self, Part part, Py_ssize_t scope) except? -1
    cdef int _count_part(self) except? -1
    cdef int _add_object(self, object event) except? -1
    cdef int _add_link_object(
        self,
        LinkSite place,
        Py_ssize_t start,
        Py_ssize_t end,
        object coding,
        object base,
        Py_ssize_t tag_start,
        Py_ssize_t tag_end,
        object claim,
    ) except? -1
    cpdef Py_ssize_t part_index(self, Py_ssize_t number) noexcept
    cpdef object at(self, Py_ssize_t index)
    cdef bint is_link(self, Py_ssize_t index) except? -1
    cdef Link link(self, Py_ssize_t index)
    cdef int _read(self, Link link) except? -1
    cdef Part _part(self)
