"""C declarations for encode.py."""

cimport cython

from absolve.core.model cimport Edit, Link
from absolve.document.entity cimport Entity
from absolve.document.resolved cimport LinkContext, text, value_of

cdef bytes _before(bytes data, Py_ssize_t start)


@cython.final
cdef class Written:
    cdef dict known
    cdef dict prefixes


cpdef Edit edit_of(Entity entity, Link link, LinkContext context, str reference, str new, bytes raw, Written written)
