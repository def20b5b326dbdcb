"""C layout of the collector of facts; page_facts.py has the code."""

cimport cython

from absolve.core cimport byte_scan
from absolve.formats.html.row_text cimport Folded
from absolve.formats.html.tag cimport Tag, Values
from absolve.formats.html.tokenizer cimport Tokenizer

cdef int _SPACE, _ATTRIBUTE_NAME_END, _IGNORED, _MERGED, _A, _BODY, _HTML, _LINK, _META, _TEMPLATE, _TITLE, _CONTENT
cdef int _HREF, _NAME, _REL
cdef bytes _CLASSES


@cython.final
cdef class FactCollector:
    cdef bytes data
    cdef Values values
    cdef Folded folded
    cdef readonly object anchors
    cdef readonly object title
    cdef readonly str lang
    cdef readonly str canonical
    cdef readonly list robots
    cdef readonly list alternates
    cdef bint has_lang
    cdef bint has_html_id
    cdef bint has_body_id
    cdef public bint ignored_base
    cdef Py_ssize_t span_start
    cdef Py_ssize_t span_end

    cpdef int tag(self, Tokenizer scanner) except? -1
    cdef int identify(self, Tokenizer scanner) except? -1
    cdef int anchor(self, Py_ssize_t start, Py_ssize_t end, bytes name) except? -1
    cdef str shown(self, Py_ssize_t start, Py_ssize_t end, bint attribute)
    cdef int meta(self, Tag tag) except? -1
    cdef str reference(self, Tag tag)
    cdef int link(self, Tokenizer scanner) except? -1
    cdef bint find(self, Py_ssize_t i, Py_ssize_t end, bytes wanted) except? -1
    cpdef object taken(self)
