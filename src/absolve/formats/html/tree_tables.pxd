"""C layout of the open tables and templates; the code is in tree_tables.py."""

cimport cython

cdef int KEPT, IGNORED, _T_HEAD, _T_TABLE_PART, _CAPTION, _COL, _COLGROUP, _TD, _TEMPLATE, _TH, _TR, _FRESH
cdef int _IN_COLUMNS, _IN_BODY, _IN_TABLE, _IN_TABLE_BODY, _IN_ROW
cdef tuple _TRAITS
cdef bytes _CELLS

cdef bint _is_cell(int element) noexcept


cdef int DECISIVE


@cython.final
cdef class OpenTables:
    cdef list around
    cdef int innermost
    cdef Py_ssize_t size
    cdef Py_ssize_t first
    cdef list templates
    cdef readonly int template_depth
    cdef int mode

    cdef int begin(self)
    cdef int open_template(self)
    cdef int close_template(self)
    cdef bint drops(self, int element) except? -1
    cdef int _enter_mode(self, int element)
    cdef int _open(self)
    cdef int _without_table(self)
    cdef Py_ssize_t count(self) except? -1
    cdef Py_ssize_t total(self) except? -1
    cdef bint any(self) except? -1
    cdef bint between_cells(self) except? -1
    cdef int open_table(self)
    cdef int close_table(self)
    cdef int start_part(self, int element) except? -1
    cdef bint end_part(self, int element) except? -1
    cdef int cell(self) except? -1
    cdef bint ends_cell(self, int cell, int element) except? -1
