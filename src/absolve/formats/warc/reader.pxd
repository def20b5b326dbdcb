"""C layout of the segments in reader.py."""

cimport cython


@cython.final
cdef class RawSegment:
    cdef readonly Py_ssize_t offset
    cdef readonly bytes raw
    cdef readonly bytes records
    cdef readonly object coding
    cdef readonly tuple findings
