"""C layout of ByteBuilder; byte_builder.py has the code."""

cimport cython

from absolve.core.model cimport Edit
from cpython.object cimport PyObject


cdef extern from "Python.h":
    int _PyBytes_Resize(PyObject** bytes, Py_ssize_t size) except -1
    PyObject* PyBytes_FromStringAndSize(const char* bytes, Py_ssize_t size) except NULL
    char* PyBytes_AS_STRING(PyObject* bytes)
    void Py_CLEAR(PyObject* object)


@cython.final
cdef class ByteBuilder:
    cdef readonly Py_ssize_t size
    cdef Py_ssize_t _room
    cdef PyObject* _made

    cdef int add(self, bytes data, Py_ssize_t start, Py_ssize_t end) except? -1
    cdef int splice(self, bytes data, Py_ssize_t start, object edits, Py_ssize_t size) except? -1
    cdef unsigned char* more(self, Py_ssize_t size) except *
    cdef bytes finish(self)
