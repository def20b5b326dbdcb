cimport cython
from absolve.formats.html cimport open_elements
from absolve.formats.html.open_elements cimport OpenTables, Stack

cdef int HTML, SVG, MATHML, KEPT, IGNORED, MERGED, RCDATA, RAWTEXT, SCRIPT_DATA, PLAINTEXT, _NUMBERS, _T_RCDATA
cdef int _T_RAWTEXT, _T_VOID, _T_BREAKOUT, _T_NOT_FRAMESET, _T_TABLE_PART, _T_CLOSES_P, _T_HEAD, _BODY, _FONT, _FORM
cdef int _FRAME, _FRAMESET, _HEAD, _HTML, _INPUT, _MATH, _NOFRAMES, _NOSCRIPT, _P, _BR, _PLAINTEXT, _SCRIPT, _SELECT
cdef int _SVG, _TABLE, _TD, _TEMPLATE
cdef tuple _TRAITS

@cython.final
cdef class Tree:
    cdef readonly bint frameset_ok, every
    cdef readonly OpenTables tables
    cdef readonly Stack foreign
    cdef readonly int namespace, frameset_depth
    cdef bint select_open, form_open, head_open, after_frameset
    cdef Py_ssize_t select_tables
    cdef int select_templates
    cdef int[256] started, ended
    cdef public bint guessed
    cpdef int start(self, int element, bytes name, bint self_closing, bint decided) except? -1
    cpdef int end(self, int element, bytes name) except? -1
    cdef int _watch(self) except? -1
    cdef int _foreign_end(self, int element, bytes name) except? -1
    cdef int _html_start(self, int element, bint self_closing, bint decided) except? -1
    cdef int _foreign_start(self, int element, bytes name, bint self_closing, bint decided) except? -1
    cdef int _html_end(self, int element) except? -1
    cdef bint _ends_select(self) except? -1
    cdef bint _encloses(self, int element, bytes name) except? -1
    cdef bint _has_body(self)
    cdef bint _is_around_table(self)
