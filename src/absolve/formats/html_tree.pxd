"""C layout of the tree simulation; html_tree.py holds the code."""

cimport cython


@cython.final
cdef class Tree:
    cdef readonly bint frameset_ok
    cdef readonly int template_depth
    cdef list foreign
    cdef readonly int namespace
    cdef readonly bint foreign_content
    cdef readonly int foreign_depth
    cdef readonly bint every
    cdef list tables
    cdef list templates
    cdef bint select_open
    cdef bint form_open
    cdef bint head_open
    cdef readonly int frameset_depth
    cdef bint after_frameset
    cdef readonly bint guessed
    cdef int started[256]
    cdef int ended[256]

    cpdef int start(self, int element, bytes name, bint self_closing, bint decided)
    cpdef int end(self, int element, bytes name)
    cpdef text(self)
    cdef int _watch(self)
    cdef int _foreign_end(self, int element, bytes name)
    cdef int _html_start(self, int element, bint self_closing, bint decided)
    cdef int _enter_mode(self, int element)
    cdef int _without_table(self)
    cdef int _table_part(self, int element)
    cdef int _table(self)
    cdef bint _ends_cell(self, int cell, int element)
    cdef int _foreign_start(self, int element, bytes name, bint self_closing, bint decided)
    cdef int _in_integration_point(self, int element, bytes name, bint self_closing, bint decided)
    cdef int _push(self, int namespace, int element, bytes name, bint decided)
    cdef int _pop_to(self, Py_ssize_t length)
    cdef int _html_end(self, int element)
    cdef bint _bounded(self)
    cdef bint _encloses(self, int element, bytes name)
    cdef bint _has_body(self)
    cdef bint _is_around_table(self)
    cdef int _foreign_part_end(self, int element)
    cdef int _break_out(self)
    cdef Py_ssize_t _find(self, int element, bytes name, bint whole)
