"""C declarations for edits.py."""

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
    cdef Py_ssize_t _most
    cdef object _spill
    cdef readonly Py_ssize_t spilled
    cdef Py_ssize_t _read
    cdef Py_ssize_t _end
    cdef ByteBuilder _made

    cpdef bint take(self, object edits)
    cdef bint _put_down(self, Edit edit) except? -1
    cpdef bytes finish(self)


cpdef list[Edit] lower(object edits, bytes data, Part part, object offsets)
cpdef list[Edit] moved(object edits, Py_ssize_t by)
cpdef Edit shortened(Edit edit, bytes value, object offsets)


@cython.final
cdef class ValueEncoder:
    cdef bytes _data
    cdef object _coding
    cdef Py_ssize_t _start
    cdef Py_ssize_t _end
    cdef Py_ssize_t _read
    cdef ByteBuilder _made

    cdef int take(self, Edit edit) except? -1
    cdef list[Edit] settled(self)


cdef bytes _before(bytes data, Py_ssize_t start)


@cython.final
cdef class Written:
    cdef dict known
    cdef dict prefixes


cpdef Edit edit_of(Entity entity, Link link, LinkContext context, str reference, str new, bytes raw, Written written)
