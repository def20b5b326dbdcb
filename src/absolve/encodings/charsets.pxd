"""C layout of charsets.py."""

from absolve.core.byte_scan cimport utf8_end
from absolve.encodings.meta_prescan cimport Metas

cdef int _BEGINS_MARK
