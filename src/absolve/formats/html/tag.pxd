cimport cython
from absolve.core cimport byte_scan
from absolve.encodings.codings cimport Unquoted, only_ampersands

cdef int UNQUOTED, ABSENT, _SPACE, _CELL, _WORD, _WORDS, _SHIFT
cdef const unsigned char* _CLASSES
cdef const unsigned char* _TAG_NAME
cdef const unsigned char* _ATTRIBUTE_NAME
cdef const unsigned char* _ELEMENT_SLOTS
cdef const unsigned char* _ELEMENT_CELLS
cdef const unsigned char* _SLOTS
cdef const unsigned char* _CELLS
cdef const unsigned char* _LOWER
cdef unsigned int _LAST_SLOT
cdef unsigned long long _FACTOR, _ALL

cdef inline int _lookup(
    const unsigned char* slots, const unsigned char* cells, unsigned long long word, const unsigned char* data, Py_ssize_t start, Py_ssize_t length
) noexcept
cdef int _search(
    const unsigned char* slots, const unsigned char* cells, unsigned long long word, const unsigned char* data, Py_ssize_t start, Py_ssize_t length, unsigned int slot
) noexcept

@cython.final
cdef class Tag:
    cdef bytes data
    cdef const unsigned char* p
    cdef Py_ssize_t size, name_end
    cdef int element, found
    cdef int[256] order
    cdef list record
    cdef readonly bint self_closing
    # by attribute number, valid where stamp equals serial
    cdef Py_ssize_t serial
    cdef Py_ssize_t[256] stamp, value_start, value_end
    cdef int[256] quote
    cdef int begin(self, bytes data)
    cdef Py_ssize_t read(self, Py_ssize_t i) except? -1
    cdef int _add(self, Py_ssize_t name, Py_ssize_t name_end, Py_ssize_t value, Py_ssize_t value_end, int quote) except -1
    cdef bint has(self, int number) noexcept
    cdef int drop(self, int number)
    cdef bint equals(self, int number, bytes text)
    cdef bytes raw(self, int number)

@cython.final
cdef class Values:
    cdef bytes _data
    cdef object _charset
    cdef Tag _tag
    cdef readonly list codings
    cdef readonly object double, raw, text
    cdef object coding(self, int attribute)
    cdef bint is_plain(self, Py_ssize_t start, Py_ssize_t end)
    cdef object common(self, int attribute, Py_ssize_t start, Py_ssize_t end)

cdef Py_ssize_t _SHORT_LINE
cdef bint _calls(const unsigned char* p, Py_ssize_t start, Py_ssize_t i) noexcept
cdef bint _has_comment(const unsigned char* p, Py_ssize_t start, Py_ssize_t i) noexcept
cdef bint _is_quote(const unsigned char* p, Py_ssize_t i, Py_ssize_t end) noexcept
cpdef bint may_hold_css_link(const unsigned char* p, Py_ssize_t start, Py_ssize_t end) noexcept
cpdef bint may_hold_link(const unsigned char* p, Py_ssize_t start, Py_ssize_t end) noexcept
cpdef bint may_be_space(const unsigned char* p, Py_ssize_t i, Py_ssize_t end) noexcept
cpdef bint may_end_in_space(const unsigned char* p, Py_ssize_t start, Py_ssize_t end) noexcept
cpdef bint may_be_savers(const unsigned char* p, Py_ssize_t i, Py_ssize_t end) noexcept
cpdef bint may_name_map(bytes data, Py_ssize_t start, Py_ssize_t end) except -1
