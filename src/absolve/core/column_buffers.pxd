cimport cython
from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer
from libc.stdlib cimport realloc
from libc.string cimport memcpy

cdef Py_ssize_t _MOST_BYTES, _FEW
cpdef TextColumn encoded(object words, object shown)

cdef inline unsigned char* grown(void* cells, Py_ssize_t size) except NULL:
    """Return the cells reallocated to `size` bytes; raise MemoryError if that fails."""
    found = realloc(cells, size)
    if found == NULL:
        raise MemoryError
    return <unsigned char*>found

cdef inline unsigned char* copied(object buffer, Py_ssize_t* size) except? NULL:
    """Return a copy of a buffer's bytes in newly allocated memory, NULL if it is empty; write its size to `size`."""
    cdef Py_buffer view
    cdef unsigned char* found = NULL
    PyObject_GetBuffer(buffer, &view, PyBUF_SIMPLE)
    try:
        size[0] = view.len
        if view.len:
            found = grown(NULL, view.len)
            memcpy(found, view.buf, view.len)
    finally:
        PyBuffer_Release(&view)
    return found

@cython.final
cdef class IntColumn:
    cdef bint _narrow
    cdef Py_ssize_t _size, _room
    cdef unsigned char* _cells
    cpdef int add(self, Py_ssize_t number) except? -1
    cdef int _grow(self, Py_ssize_t room) except? -1
    cdef Py_ssize_t at(self, Py_ssize_t index) noexcept
    cdef Py_ssize_t before(self, Py_ssize_t number) noexcept
    cdef int cut(self, Py_ssize_t size) noexcept
    cdef IntColumn mapped(self, IntColumn numbers)
    cdef Py_ssize_t put(self, unsigned char* block, Py_ssize_t at) noexcept

@cython.final
cdef class TextColumn:
    cdef readonly IntColumn ends
    cdef set _missing
    cdef Py_ssize_t _size, _room
    cdef unsigned char* _text
    cpdef int add(self, bytes text) except? -1
    cpdef int add_behind(self, bytes prefix, bytes data, Py_ssize_t start, Py_ssize_t end) except? -1
    cdef int _grow(self, Py_ssize_t size) except? -1
    cdef str at(self, Py_ssize_t index)
    cdef bint equals(self, TextColumn other, Py_ssize_t index)
    cpdef tuple array(self)
    cdef Py_ssize_t put(self, unsigned char* block, Py_ssize_t at) noexcept

@cython.final
cdef class DictColumn:
    cdef readonly list words
    cdef readonly IntColumn numbers
    cdef dict _known
    cdef object _last
    cdef Py_ssize_t _number
    cpdef int add(self, object word) except? -1
    cdef Py_ssize_t _number_of(self, object word) except? -1
    cdef object at(self, Py_ssize_t index)
    cpdef DictColumn part(self, Py_ssize_t place)
    cpdef tuple array(self, object shown, bytes present=*)
    cpdef tuple lists(self, object shown, bytes present=*)
    cpdef IntColumn ends(self)
    cpdef list items(self)
