cimport cython
from absolve.core cimport byte_scan
from absolve.core.byte_scan cimport comment_end, is_tag_name, raw_text_end
from absolve.encodings.codings cimport reference_at
from absolve.formats.html.tag cimport Tag
from absolve.formats.html.tree_rules cimport Tree

cdef int END, TAG, COMMENT, KEPT, IGNORED, MERGED, RCDATA, SCRIPT_DATA, PLAINTEXT, HTML, SVG, _SPACE, _LETTER, _START
cdef int _END_TAG, _NOT_FRAMESET, _ANNOTATION_XML, _NOSCRIPT, _FONT, _INPUT, _ENCODING, _COLOR, _FACE, _SIZE, _TYPE
cdef int _ATTRIBUTES, _SVG_ROW, _MATHML_ROW
cdef const unsigned char* _CLASSES
cdef const unsigned char* _ELEMENT_FLAGS
cdef Py_ssize_t _script_end(bytes data, Py_ssize_t i, Py_ssize_t name)

@cython.final
cdef class Tokenizer:
    cdef readonly bytes data
    cdef const unsigned char* p
    cdef readonly Tree tree
    cdef Py_ssize_t size, at
    cdef bytes interest
    cdef public bint recorded
    cdef int row
    cdef readonly Tag tag
    # the current token
    cdef readonly Py_ssize_t start, end, name_start, name_end, text_start, text_end, truncated, noscript_end
    cdef readonly int element, namespace, fate
    cdef set merged
    cdef tuple noscript_modes
    cdef bint noscript_ended
    cdef Py_ssize_t stop
    cpdef int next(self) except? -1
    cdef int _text(self, Py_ssize_t i, Py_ssize_t end, bint references) except? -1
    cdef int _start_tag(self) except? -1
    cdef int _build(self, int element) except? -1
    cdef inline bint is_of_interest(self) noexcept
    cdef bint _decided(self) except? -1
    cdef Py_ssize_t _end_tag(self, Py_ssize_t i) except? -1
    cdef Py_ssize_t _markup_declaration(self, Py_ssize_t i) except? -1
    cdef Py_ssize_t _bogus_comment_end(self, Py_ssize_t start, Py_ssize_t i) except? -1
