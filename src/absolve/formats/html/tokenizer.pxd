"""C layout of the tokenizer, for the walker; the code is in tokenizer.py."""

cimport cython

from absolve.core cimport byte_scan
from absolve.core.byte_scan cimport comment_end, is_tag_name, raw_text_end
from absolve.encodings.codings cimport reference_at
from absolve.formats.html.tag cimport Tag
from absolve.formats.html.tree_rules cimport Tree

cdef int END, TAG, COMMENT, KEPT, IGNORED, MERGED, RCDATA, SCRIPT_DATA, PLAINTEXT, HTML, SVG, _SPACE, _LETTER
cdef int _START, _END_TAG, _NOT_FRAMESET, _ANNOTATION_XML, _NOSCRIPT, _FONT, _INPUT, _ENCODING, _COLOR, _FACE, _SIZE
cdef int _TYPE, _ATTRIBUTES, _SVG_ROW, _MATHML_ROW
cdef const unsigned char* _CLASSES
cdef const unsigned char* _ELEMENT_FLAGS

cdef Py_ssize_t _script_end(bytes data, Py_ssize_t i, Py_ssize_t name)


@cython.final
cdef class Tokenizer:
    cdef readonly bytes data
    cdef const unsigned char* p
    cdef readonly Tree tree
    cdef Py_ssize_t size
    cdef Py_ssize_t at
    cdef bytes interest
    cdef public bint recorded
    cdef int row
    cdef readonly Tag tag
    # the current token
    cdef readonly Py_ssize_t start
    cdef readonly Py_ssize_t end
    cdef readonly int element
    cdef readonly int namespace
    cdef readonly int fate
    cdef readonly Py_ssize_t name_start
    cdef readonly Py_ssize_t name_end
    cdef readonly Py_ssize_t text_start
    cdef readonly Py_ssize_t text_end
    cdef readonly Py_ssize_t truncated
    cdef set merged
    cdef readonly Py_ssize_t noscript_end
    cdef tuple noscript_modes
    cdef bint noscript_ended
    cdef Py_ssize_t stop

    cdef int begin(self, bytes data, bytes interest)
    cdef int release(self)
    cpdef int next(self) except? -1
    cdef int _text(self, Py_ssize_t i, Py_ssize_t end, bint references) except? -1
    cdef int _start_tag(self) except? -1
    cdef int _build(self, int element) except? -1
    cdef inline bint is_of_interest(self) noexcept
    cdef int _merge(self)
    cdef int _in_noscript(self)
    cdef int _past_noscript(self, Py_ssize_t less)
    cdef bint _decided(self) except? -1
    cdef Py_ssize_t _end_tag(self, Py_ssize_t i) except? -1
    cdef Py_ssize_t _markup_declaration(self, Py_ssize_t i) except? -1
    cdef Py_ssize_t _bogus_comment_end(self, Py_ssize_t start, Py_ssize_t i) except? -1
