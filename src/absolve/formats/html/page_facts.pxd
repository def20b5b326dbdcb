cimport cython
from absolve.core cimport byte_scan
from absolve.formats.html.row_text cimport Folded
from absolve.formats.html.tag cimport Tag, Values
from absolve.formats.html.tokenizer cimport Tokenizer

cdef int _SPACE, _ATTRIBUTE_NAME_END, _IGNORED, _MERGED, _A, _BODY, _HTML, _LINK, _META, _TEMPLATE, _TITLE, _CONTENT
cdef int _HREF, _NAME, _REL, _TYPE
cdef bytes _CLASSES

@cython.final
cdef class FactCollector:
    cdef bytes data
    cdef Values values
    cdef Folded folded
    cdef readonly object anchors, title
    cdef readonly str lang, canonical
    cdef readonly list robots, alternates
    cdef bint has_lang, has_html_id, has_body_id
    cdef public bint ignored_base
    cdef Py_ssize_t span_start, span_end
    cpdef int tag(self, Tokenizer scanner) except? -1
    cdef int anchor(self, Py_ssize_t start, Py_ssize_t end, bytes name) except? -1
    cdef str shown(self, Py_ssize_t start, Py_ssize_t end, bint attribute)
    cdef bint find(self, Py_ssize_t i, Py_ssize_t end, bytes wanted) except? -1
