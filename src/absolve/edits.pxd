"""C layout of what splices; edits.py holds the code."""

cimport cython
from cpython.object cimport PyObject

from absolve.model cimport Edit


cdef extern from "Python.h":
    int _PyBytes_Resize(PyObject** bytes, Py_ssize_t size) except -1
    PyObject* PyBytes_FromStringAndSize(const char* bytes, Py_ssize_t size) except NULL
    char* PyBytes_AS_STRING(PyObject* bytes)
    void Py_CLEAR(PyObject* object)


@cython.final
cdef class Splicer:
    cdef bytes _data
    cdef Py_ssize_t _most
    cdef Py_ssize_t _read
    cdef Py_ssize_t _size
    cdef Py_ssize_t _room
    cdef PyObject* _made

    cpdef bint take(self, object edits)
    cpdef bytes finish(self)
    cdef int _make_room(self, Py_ssize_t size)


cpdef list[Edit] lower(object edits, bytes raw, Py_ssize_t start, object coding, object offsets)
cpdef Edit shortened(Edit edit, bytes value, object offsets)
