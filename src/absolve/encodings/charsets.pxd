"""C declarations of charsets.py."""

from absolve.encodings.meta_prescan cimport Metas

cdef int _BEGINS_MARK
