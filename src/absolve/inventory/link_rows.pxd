cimport cython
from absolve.core.byte_scan cimport cut
from absolve.core.model cimport Link
from absolve.document.resolved cimport context_key, shown, value_of
from absolve.encodings.codings cimport CharacterReferences
from absolve.encodings.line_index cimport LineIndex
from absolve.formats.events cimport EventList
from absolve.formats.html.row_text cimport LinkTexts
from absolve.inventory.columns cimport Columns
from absolve.inventory.facts cimport RowFacts

cdef Py_ssize_t _MOST_RULES, _TOGETHER

@cython.final
cdef class _Rows:
    cdef Columns _columns
    cdef object _filled
    cdef Py_ssize_t _at
    cdef bint _is_last

@cython.final
cdef class Span:
    cdef bint _transparent
    cdef object _entity, _inner, _offsets
    cdef LineIndex _positions
    cdef Span _outer
    cdef Py_ssize_t _start, _end
    cpdef LineIndex placed(self, Py_ssize_t start)

@cython.final
cdef class _Events:
    cdef object _entity, _known, _place
    cdef str _document
    cdef Span _span
    cdef bytes _data
    cdef EventList _events
    cdef LinkTexts _texts
    cdef dict _rules
    cdef RowFacts _ruled
    cpdef Py_ssize_t take(self, Columns columns, Py_ssize_t at)
    cdef int _add_reference(self, Columns columns, Link link)
    cdef int _add_position(self, Columns columns, Link link)
    cdef RowFacts ruled(self, Link link)
