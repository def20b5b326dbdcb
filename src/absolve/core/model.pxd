"""C layout of the values created once per link or per document; model.py has the code."""

cimport cython

from cpython.object cimport PyObject, PyTypeObject
from cpython.ref cimport Py_INCREF
from cpython.tuple cimport PyTuple_GET_ITEM, PyTuple_GET_SIZE, PyTuple_SET_ITEM


cdef extern from "Python.h":
    object PyType_GenericAlloc(PyTypeObject* type, Py_ssize_t size)


cdef inline object made(object kind, tuple items):
    """Return a named tuple of the class `kind`, without calling its interpreted constructor; like `new` in model.py."""
    cdef Py_ssize_t i
    cdef object item, found = PyType_GenericAlloc(<PyTypeObject*>kind, PyTuple_GET_SIZE(items))
    for i in range(PyTuple_GET_SIZE(items)):
        item = <object>PyTuple_GET_ITEM(items, i)
        Py_INCREF(item)
        PyTuple_SET_ITEM(found, i, item)
    return found


@cython.final
cdef class LinkSite:
    cdef readonly str element
    cdef readonly str attribute
    cdef readonly str syntax
    cdef readonly str kind
    cdef readonly str against
    cdef readonly str empty
    cdef readonly str stays


@cython.final
cdef class Link:
    cdef public LinkSite place
    cdef public Py_ssize_t start
    cdef public Py_ssize_t end
    cdef public object coding
    cdef public object base
    cdef public Py_ssize_t tag_start
    cdef public Py_ssize_t tag_end
    cdef public object claim


@cython.final
cdef class Part:
    cdef public object media_type
    cdef public Py_ssize_t start
    cdef public Py_ssize_t end
    cdef public object coding
    cdef public object name
    cdef public object base
    cdef public object claims
    cdef public bint own_charset
    cdef public bint encloses
    cdef public object derived
    cdef public object signed_by
    cdef public object capture


cdef class Document:
    cdef public bint is_text
    cdef public bytes data
    cdef public object name
    cdef public object media_type
    cdef public object charset
    cdef public object url
    cdef public object url_source
    cdef public tuple claims
    cdef public Py_ssize_t before
    cdef public str inside
    cdef public object origin
    cdef public object headers
    cdef public object requested
    cdef public object beside


@cython.final
cdef class Edit:
    cdef public Py_ssize_t start
    cdef public Py_ssize_t end
    cdef public bytes new


cpdef Edit edit_at(Py_ssize_t start, Py_ssize_t end, bytes new)
