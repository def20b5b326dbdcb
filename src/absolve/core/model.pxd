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
    cdef readonly str element, attribute, syntax, kind, against, empty, stays

@cython.final
cdef class Link:
    cdef public LinkSite place
    cdef public Py_ssize_t start, end, tag_start, tag_end
    cdef public object coding, base, claim

@cython.final
cdef class Part:
    cdef public object media_type, coding, name, base, claims, derived, signed_by, capture
    cdef public Py_ssize_t start, end
    cdef public bint own_charset, encloses

cdef class Document:
    cdef public bint is_text
    cdef public bytes data
    cdef public object name, media_type, charset, url, url_source, origin, headers, requested, beside
    cdef public tuple claims
    cdef public Py_ssize_t before
    cdef public str inside

@cython.final
cdef class Edit:
    cdef public Py_ssize_t start, end
    cdef public bytes new

cpdef Edit edit_at(Py_ssize_t start, Py_ssize_t end, bytes new)
