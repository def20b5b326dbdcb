"""C layout of the stack of foreign content; the code is in foreign.py."""

cimport cython

from absolve.core.column_buffers cimport IntColumn

cdef int HTML, SVG, MATHML, DEPTH_LIMIT, _NAMESPACE, _HTML_POINT, _MATHML_POINT, _ANNOTATION_XML_POINT, _ANY_POINT
cdef int _ELEMENT, _T_SVG_POINT, _T_MATHML_POINT, _T_CLOSES_P, _T_SCOPE, _ANNOTATION_XML, _MALIGNMARK, _MGLYPH, _P
cdef int _SVG, _HTML_TABLE, _HTML_TEMPLATE
cdef tuple _TRAITS


@cython.final
cdef class Stack:
    cdef IntColumn _nodes
    cdef list _names
    cdef dict _known
    cdef readonly Py_ssize_t depth
    cdef readonly int namespace

    cdef int begin(self)
    cdef int push(self, int namespace, int element, bytes name, bint decided)
    cdef int pop_to(self, Py_ssize_t depth)
    cdef bint _is(self, Py_ssize_t depth, int element, bytes name) noexcept
    cdef bint takes_html(self, int element)
    cdef int break_out(self)
    cdef Py_ssize_t find(self, int element, bytes name)
    cdef Py_ssize_t find_html(self, int element)
    cdef bint is_bounded(self)
    cdef bint has_table(self)
    cdef int close_p(self)
    cdef int close_html(self, int element, bytes name)
    cdef Py_ssize_t _limit(self)
