"""C layout of CharacterOffsets; multibyte.py has the code."""

cimport cython

from absolve.core.column_buffers cimport IntColumn

cdef int _STEP, _LONGEST, _MOST_KNOWN, _MANY, _RAW, _VALUE


@cython.final
cdef class CharacterOffsets:
    cdef readonly bytes value
    cdef object _charset
    cdef bytes _raw
    cdef dict _known
    cdef int _few
    cdef bytearray _sizes  # created on first use
    cdef object _decoder  # created on first use
    cdef IntColumn _values
    cdef IntColumn _raws
    cdef Py_ssize_t _last
    cdef Py_ssize_t _last_raw
    cdef Py_ssize_t _end  # raw end offset of the last character read

    cdef bytes _decoded(self)
    cdef bytes _stretch(self, Py_ssize_t start, Py_ssize_t end)
    cdef bytes _character(self, Py_ssize_t start)
    cdef bytes _learnt(self, bytes raw)
    cdef Py_ssize_t _found(self, Py_ssize_t position, bint after) except? -1
    cdef int _size(self, Py_ssize_t start) except? -1
