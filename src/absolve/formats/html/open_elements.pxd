cimport cython
from absolve.core.column_buffers cimport IntColumn

cdef int HTML, SVG, MATHML, KEPT, IGNORED, DECISIVE, DEPTH_LIMIT, _T_HEAD, _T_TABLE_PART, _T_CELL, _CAPTION, _COL
cdef int _COLGROUP, _TD, _TEMPLATE, _TH, _TR, _FRESH, _IN_COLUMNS, _IN_BODY, _IN_TABLE, _IN_TABLE_BODY, _IN_ROW
cdef int _NAMESPACE, _HTML_POINT, _MATHML_POINT, _ANNOTATION_XML_POINT, _ANY_POINT, _ELEMENT, _T_SVG_POINT
cdef int _T_MATHML_POINT, _T_CLOSES_P, _T_SCOPE, _ANNOTATION_XML, _MALIGNMARK, _MGLYPH, _P, _SVG, _HTML_TABLE
cdef int _HTML_TEMPLATE
cdef tuple _TRAITS

@cython.final
cdef class OpenTables:
    cdef list around, templates
    cdef int innermost, mode
    cdef Py_ssize_t size, first
    cdef readonly int template_depth
    cdef bint drops(self, int element) except? -1
    cdef int _enter_mode(self, int element)
    cdef int _open(self)
    cdef int _without_table(self)
    cdef Py_ssize_t count(self) except? -1
    cdef bint any(self) except? -1
    cdef bint between_cells(self) except? -1
    cdef int open_table(self)
    cdef int close_table(self)
    cdef int start_part(self, int element) except? -1
    cdef bint end_part(self, int element) except? -1
    cdef int cell(self) except? -1
    cdef bint ends_cell(self, int cell, int element) except? -1

@cython.final
cdef class Stack:
    cdef IntColumn _nodes
    cdef list _names
    cdef dict _known
    cdef readonly Py_ssize_t depth
    cdef readonly int namespace
    cdef int push(self, int namespace, int element, bytes name, bint decided)
    cdef int pop_to(self, Py_ssize_t depth)
    cdef bint _is(self, Py_ssize_t depth, int element, bytes name) noexcept
    cdef bint takes_html(self, int element)
    cpdef Py_ssize_t find(self, int element, bytes name)
    cdef Py_ssize_t find_html(self, int element)
    cdef bint is_bounded(self)
    cdef bint has_table(self)
    cdef int close_p(self)
    cdef int close_html(self, int element, bytes name)
    cdef Py_ssize_t _limit(self)
