cimport cython
from absolve.core.model cimport Edit
from cpython.object cimport PyObject
from libc.string cimport memchr, memcmp, memcpy

cdef extern from "Python.h":
    int _PyBytes_Resize(PyObject** bytes, Py_ssize_t size) except -1
    PyObject* PyBytes_FromStringAndSize(const char* bytes, Py_ssize_t size) except NULL
    char* PyBytes_AS_STRING(PyObject* bytes)
    void Py_CLEAR(PyObject* object)

cdef inline Py_ssize_t find(const unsigned char* data, int byte, Py_ssize_t start, Py_ssize_t end) noexcept:
    """Return the offset of the first such byte in the span, or -1."""
    if start >= end:
        return -1
    found = <const unsigned char*>memchr(data + start, byte, end - start)
    return -1 if found is NULL else found - data

cdef inline bint same(const unsigned char* p, Py_ssize_t i, const unsigned char* q, Py_ssize_t j, Py_ssize_t size) noexcept:
    return memcmp(p + i, q + j, size) == 0

cdef inline unsigned long long word_at(const unsigned char* p, Py_ssize_t at) noexcept:
    cdef unsigned long long word
    memcpy(&word, p + at, 8)  # at any offset
    return word

cpdef bytes cut(bytes data, Py_ssize_t start, Py_ssize_t end)
cpdef Py_ssize_t comment_end(const unsigned char* p, Py_ssize_t i, Py_ssize_t end) noexcept
cpdef Py_ssize_t tag_end(const unsigned char* p, Py_ssize_t i, Py_ssize_t end) noexcept
cpdef bint is_tag_name(const unsigned char* p, Py_ssize_t end, Py_ssize_t i, Py_ssize_t name, Py_ssize_t length) noexcept
cpdef Py_ssize_t raw_text_end(const unsigned char* p, Py_ssize_t i, Py_ssize_t end, Py_ssize_t name, Py_ssize_t length) noexcept
cpdef Py_ssize_t word_start(const unsigned char* p, Py_ssize_t i, Py_ssize_t end) noexcept
cpdef Py_ssize_t character(const unsigned char* p, Py_ssize_t i, Py_ssize_t end) noexcept
cdef Py_ssize_t _SHORTEST, _LONGEST
cdef unsigned long long _HIGH_BITS
cdef bytes _LENGTHS
cdef bint _begins_name(int byte) noexcept
cdef bint _is_meta(const unsigned char* p, Py_ssize_t i) noexcept
cdef bint _may_matter(const unsigned char* p, Py_ssize_t i, Py_ssize_t end) noexcept
cdef bint _may_declare(const unsigned char* p, Py_ssize_t i, Py_ssize_t end) noexcept

@cython.final
cdef class Metas:
    cdef bytes _data
    cdef bint _in_head
    cdef readonly Py_ssize_t start, end

@cython.final
cdef class ByteBuilder:
    cdef readonly Py_ssize_t size
    cdef Py_ssize_t _room
    cdef PyObject* _made
    cdef int add(self, bytes data, Py_ssize_t start, Py_ssize_t end) except? -1
    cdef int splice(self, bytes data, Py_ssize_t start, object edits, Py_ssize_t size) except? -1
    cdef unsigned char* more(self, Py_ssize_t size) except *
    cdef bytes finish(self)
