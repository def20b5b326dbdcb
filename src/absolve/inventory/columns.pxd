cimport cython
from absolve.core.column_buffers cimport DictColumn, IntColumn, TextColumn
from absolve.core cimport model
from absolve.encodings.line_index cimport LineIndex
from absolve.formats.html.row_text cimport LinkTexts
from absolve.inventory.facts cimport RowFacts

cdef Py_ssize_t _LONG, _WORDS, _ALIGNMENT
cdef Py_ssize_t _put(unsigned char* block, Py_ssize_t at, tuple array) except -1
cdef void _release(long long* array) noexcept nogil

@cython.final
cdef class Columns:
    cdef readonly bint full
    cdef readonly tuple wanted, names
    cdef Py_ssize_t size, most
    cdef readonly Py_ssize_t at_once
    cdef readonly dict more
    cdef tuple _last
    cdef object _layer
    cdef Py_ssize_t words  # characters of the shared values, counted in each row
    cdef readonly DictColumn ruled, rel, scope, problems
    cdef readonly IntColumn line, column, start, end
    cdef readonly TextColumn text, reference, target
    cdef int add_reference(self, RowFacts ruled) except? -1
    cdef int add_position(self, LineIndex positions, Py_ssize_t start, Py_ssize_t end) except? -1
    cdef int add_tag(self, LinkTexts texts) except? -1
    cdef int fill(self) noexcept
    cdef object row(self, Py_ssize_t index)
