cimport cython
from absolve.core.byte_scan cimport ByteBuilder, cut
from absolve.core.model cimport Edit, Link, Part, edit_at
from absolve.document.entity cimport Entity
from absolve.document.resolved cimport LinkContext, text, value_of
from absolve.encodings.offset_map cimport UnitOffsets

cdef Py_ssize_t _AROUND, _AT_ONCE, _AHEAD, _LARGE
cdef Py_ssize_t _raw_start(object offsets, Py_ssize_t position) except? -1
cdef Py_ssize_t _raw_end(object offsets, Py_ssize_t position) except? -1

@cython.final
cdef class Splicer:
    cdef bytes _data
    cdef Py_ssize_t _most, _read, _end
    cdef object _spill
    cdef readonly Py_ssize_t spilled
    cdef ByteBuilder _made
    cpdef bint take(self, object edits)
    cdef bint _put_down(self, Edit edit) except? -1

cpdef Edit shortened(Edit edit, bytes value, object offsets)

@cython.final
cdef class ValueEncoder:
    cdef bytes _data
    cdef object _coding
    cdef Py_ssize_t _start, _end, _read
    cdef ByteBuilder _made
    cdef int take(self, Edit edit) except? -1
    cdef list[Edit] settled(self)

cdef bytes _before(bytes data, Py_ssize_t start)

@cython.final
cdef class Written:
    cdef dict known, prefixes

cpdef Edit edit_of(Entity entity, Link link, LinkContext context, str reference, str new, bytes raw, Written written)
