cimport cython
from absolve.core cimport byte_scan
from absolve.encodings.offset_map cimport Decoded

cdef Py_ssize_t _SHORT
cdef object _walked(bytes data, Py_ssize_t max_links, bint style_attribute)
cdef Py_ssize_t _skip(const unsigned char* p, Py_ssize_t size, Py_ssize_t pos, int role)
cdef bytes _CLASS_TABLE
cdef const unsigned char* _CLASSES
cdef int _TAB, _LINE_FEED, _FORM_FEED, _RETURN, _SPACE, _QUOTE, _APOSTROPHE, _HASH, _SEMICOLON, _AT, _SLASH, _STAR
cdef int _BACKSLASH, _LEFT, _RIGHT, _LEFT_BRACKET, _RIGHT_BRACKET, _LEFT_BRACE, _RIGHT_BRACE, _U, _R, _L, _C, _OURS
cdef int _PLAIN, _TRACKED, _BARE, _DOUBLE, _SINGLE, _REMNANTS, _NOT_NAME, _NOT_BLANK, _URL_FUNCTION, _SRC_FUNCTION
cdef int _IMAGE_SET_FUNCTION, _NAMESPACE_RULE, _FONT_FACE_RULE, _IMPORT_RULE, _LONGEST, _LENGTHS
cdef bytes _LAST_LETTERS, _FIRST_LETTERS

@cython.final
cdef class _Scanner:
    cdef bytes data
    cdef const unsigned char* p
    cdef Py_ssize_t size, most, floor, import_at, map_end
    cdef bint style_attribute
    cdef object links, map
    cdef int pending, images, fonts
    cdef bytearray stack
    cdef object scan(self)
    cdef int byte(self, Py_ssize_t pos) noexcept
    cdef bint blank(self, Py_ssize_t pos) noexcept
    cdef Py_ssize_t comment(self, Py_ssize_t pos) except -2
    cdef Py_ssize_t gap(self, Py_ssize_t pos) except -2
    cdef bint escapes(self, Py_ssize_t pos) noexcept
    cdef Py_ssize_t escape(self, Py_ssize_t pos) noexcept
    cdef Py_ssize_t name_end(self, Py_ssize_t pos) noexcept
    cdef Py_ssize_t name_start(self, Py_ssize_t pos) except -2
    cdef Py_ssize_t escaped_name(self, Py_ssize_t pos) except -2
    cdef Py_ssize_t parenthesis(self, Py_ssize_t pos) except -2
    cdef Py_ssize_t function(self, Py_ssize_t start, Py_ssize_t pos) except -2
    cdef int function_kind(self, Py_ssize_t start, Py_ssize_t end) except -2
    cdef object place(self, Py_ssize_t start)
    cdef object string_place(self, Py_ssize_t pos)
    cdef Py_ssize_t bare(self, Py_ssize_t start, object place) except -2
    cdef Py_ssize_t remnants(self, Py_ssize_t pos) noexcept
    cdef Py_ssize_t string(self, Py_ssize_t pos, object place) except -2
    cdef Py_ssize_t at_keyword(self, Py_ssize_t pos) except -2
    cdef Py_ssize_t open(self, Py_ssize_t pos, int closing) except -2
    cdef Py_ssize_t bracket(self, Py_ssize_t pos, int byte) except -2
