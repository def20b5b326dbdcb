"""C layout of the facts about a base; base_facts.py has the code."""

cimport cython

from absolve.document.entity cimport Entity
from absolve.document.resolved cimport shown
from absolve.urls.base cimport BaseContext
from absolve.urls cimport prefixing
from absolve.urls.prefixing cimport PrefixResolver

cdef tuple _SCHEME_RELATIVE


@cython.final
cdef class BaseFacts:
    cdef object base
    cdef str url
    cdef tuple words
    cdef Py_ssize_t size
    cdef object site
    cdef bytes site_name
    cdef bytes own_page
    cdef str own
    cdef bint normalizes
    cdef bint in_utf_8
    cdef Py_ssize_t room
    cdef dict held
    cdef bint files
    cdef str where
    cdef tuple codes
    cdef PrefixResolver appending
    cdef bytes scheme
    cdef tuple http_codes
    cdef tuple https_codes
    cdef tuple relative_codes
    cdef int _shape
    cdef bytes _prefix
    cdef dict _prefixes
    cdef int _levels

    cdef object seen(self, str url)
    cdef bytes prefix(self, int of)
    cdef bint climbs(self, int of) except? -1
