cimport cython
from absolve.core.byte_scan cimport ByteBuilder
from absolve.core.column_buffers cimport IntColumn

cdef int _STEP, _APART, _LONGEST, _MOST_KNOWN, _MANY, _RAW, _VALUE
cdef Py_ssize_t _LONG

@cython.final
cdef class UnitOffsets:
    cdef bytearray _coded
    cdef Py_ssize_t _size, _end, _raw_end, _found_end, _found_raw_start, _found_raw_end
    cdef IntColumn _ends, _raw_ends, _places
    cpdef int add(self, Py_ssize_t end, Py_ssize_t raw_start, Py_ssize_t raw_end)
    cdef int _put(self, Py_ssize_t number) except? -1
    cpdef Py_ssize_t start(self, Py_ssize_t position)
    cpdef Py_ssize_t end(self, Py_ssize_t position)
    cdef int _seek(self, Py_ssize_t position) noexcept

@cython.final
cdef class Decoded:
    cdef bytes _raw
    cdef bint _mapped
    cdef Py_ssize_t _read
    cdef ByteBuilder _value
    cdef UnitOffsets _offsets
    cpdef int unit(self, Py_ssize_t start, Py_ssize_t end, bytes new)
    cpdef tuple whole(self)

@cython.final
cdef class CharacterOffsets:
    cdef readonly bytes value
    cdef object _charset
    cdef bytes _raw
    cdef dict _known
    cdef int _few
    cdef bytearray _sizes  # created on first use
    cdef object _decoder  # created on first use
    cdef IntColumn _values, _raws
    cdef Py_ssize_t _last, _last_raw
    cdef Py_ssize_t _end  # raw end offset of the last character read
    cdef bytes _decoded(self)
    cdef bytes _stretch(self, Py_ssize_t start, Py_ssize_t end)
    cdef bytes _character(self, Py_ssize_t start)
    cdef bytes _learnt(self, bytes raw)
    cdef Py_ssize_t _found(self, Py_ssize_t position, bint after) except? -1
    cdef int _size(self, Py_ssize_t start) except? -1
