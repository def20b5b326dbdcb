"""C layout of what makes the rows; inventory.py holds the code."""

cimport cython

from absolve.core.column_buffers cimport Numbers, Texts, Words
from absolve.formats.events.event_list cimport Events
from absolve.core.model cimport Link
from absolve.encodings.line_index cimport Positions
from absolve.inventory.facts cimport Facts, Ruled
from absolve.inventory.tag_text cimport Tag


@cython.final
cdef class Columns:
    cdef readonly Py_ssize_t at_once
    cdef Py_ssize_t most
    cdef readonly bint full
    cdef readonly tuple names
    cdef Py_ssize_t size
    cdef Py_ssize_t words  # characters of those that rows share, in all rows
    cdef readonly Words ruled
    cdef readonly Numbers line
    cdef readonly Numbers column
    cdef readonly Numbers start
    cdef readonly Numbers end
    cdef readonly Words rel
    cdef readonly Texts text
    cdef readonly Texts reference
    cdef readonly Texts target
    cdef readonly Words scope
    cdef readonly Words problems

    cdef int _begin(self, Py_ssize_t rows, Texts text, Texts reference, Texts target) except? -1
    cdef int add(self, Ruled ruled, Positions positions, Py_ssize_t start, Py_ssize_t end, Tag tag) except? -1
    cdef int add_told(self, Ruled ruled, bytes data, Py_ssize_t start, Py_ssize_t end) except? -1
    cdef int add_facts(self, Facts facts) except? -1
    cdef int fill(self) noexcept
    cdef Py_ssize_t texts(self) noexcept
    cdef object _row(self, Py_ssize_t at, bint is_last)


@cython.final
cdef class _Span:
    cdef bint _transparent
    cdef object _entity
    cdef Positions _positions
    cdef _Span _outer
    cdef object _inner
    cdef Py_ssize_t _start
    cdef Py_ssize_t _end
    cdef object _offsets

    cpdef object of(self, Py_ssize_t start, Py_ssize_t end)
    cpdef Positions placed(self, Py_ssize_t start)


@cython.final
cdef class _Events:
    cdef object _entity
    cdef str _document
    cdef _Span _span
    cdef bytes _data
    cdef object _events
    cdef Events _packed
    cdef Tag _tag
    cdef dict _rules
    cdef object _known
    cdef Ruled _ruled
    cdef Link _passing

    cpdef Py_ssize_t take(self, Columns columns, Py_ssize_t at)
    cdef int link(self, Columns columns, Link link)
    cdef Ruled ruled(self, Link link)
