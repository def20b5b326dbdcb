"""C layout of rfc1808.py."""

from absolve.core cimport byte_scan
from absolve.urls.parse cimport components, hierarchical, unsplit

cpdef str steps(str base, object parts, str text)
cdef object _is_absolute(str text)
cdef str _inherited(str base, str own)
cdef str _directory(str base)
cpdef str merge(str base, str path)
cdef Py_ssize_t _kept(unsigned char* p, Py_ssize_t n) noexcept
cdef bint _ends_with_dots(unsigned char* p, Py_ssize_t size) noexcept
