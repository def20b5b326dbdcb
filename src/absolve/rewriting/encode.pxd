"""C declarations for encode.py."""

cimport cython

from absolve.document.entity cimport Entity
from absolve.core.model cimport Edit, Link
from absolve.document.resolved cimport LinkContext


@cython.final
cdef class Written:
    cdef dict known
    cdef dict prefixes


cdef Edit edit_of(Entity entity, Link link, LinkContext context, str reference, str new, bytes raw, Written written)
