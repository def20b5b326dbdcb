"""C layout of the events of an entity; events.py holds the code."""

cimport cython

from absolve.core.column_buffers cimport IntColumn
from absolve.encodings.codings cimport Unquoted
from absolve.formats.events.templates cimport LinkTemplates
from absolve.core.model cimport Link, Part
from absolve.formats.events.parts cimport PartTemplates
from absolve.formats.events.packed_records cimport PackedRecords
from absolve.formats.events.scoped_bases cimport ScopedBases


@cython.final
cdef class EventList(PackedRecords):
    cdef public ScopedBases scopes
    cdef object naming
    cdef bytes _data
    cdef object _make
    cdef readonly bint derives
    cdef readonly list objects
    cdef readonly Py_ssize_t count
    cdef readonly Py_ssize_t parts
    cdef readonly list kinds
    cdef PartTemplates _kinds_of_parts
    cdef IntColumn _parts
    cdef LinkTemplates _links

    cpdef append(self, object event)
    cdef int add_link(
        self,
        object place,
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
        object place,
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
    cdef int _count_part(self) except? -1
    cdef int _add(self, Part part, Py_ssize_t scope) except? -1
    cdef Py_ssize_t part(self, Py_ssize_t number) noexcept
    cdef int _keep(self, object event) except? -1
    cdef int _keep_link(
        self,
        object place,
        Py_ssize_t start,
        Py_ssize_t end,
        object coding,
        object base,
        Py_ssize_t tag_start,
        Py_ssize_t tag_end,
        object claim,
    ) except? -1
    cdef Py_ssize_t start(self, Py_ssize_t index) noexcept
    cdef Py_ssize_t end(self, Py_ssize_t index) noexcept
    cdef int kind(self, Py_ssize_t index) noexcept
    cdef object at(self, Py_ssize_t index)
    cdef bint read(self, Py_ssize_t index, Link link) except? -1
    cdef int _complete(self, Link link, Py_ssize_t what) except? -1
    cdef Part _its_part(self)
