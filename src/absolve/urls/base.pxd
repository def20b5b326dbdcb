"""C layout of the bases of a document; base.py has the code."""

cimport cython

from absolve.core cimport model
from absolve.urls.predicates cimport has_scheme, is_malformed, runs_code


cpdef object establish(object outer, object claims, str profile, object line_of=*, Py_ssize_t longest=*, object ignored=*)
cpdef str claimed_url(object claim, object outer, str profile)
cpdef object inherited(object base, str source)
cdef int _lose(list fates, tuple chain, str verdict)


@cython.final
cdef class BaseContext:
    cdef readonly object base
    cdef readonly str profile
    cdef readonly str charset
    cdef readonly object resolver
    cdef object _compared
    cdef object _inside
    cdef readonly bint elsewhere
    cdef readonly bint unknown
    cdef readonly BaseContext other

    cpdef object compared(self)
    cpdef str in_message(self, str reference)


@cython.final
cdef class Bases:
    cdef readonly object own
    cdef readonly object base
    cdef readonly tuple beside
    cdef readonly object other
    cdef readonly Bases before
    cdef BaseContext _around
    cdef list _base_contexts

    cpdef BaseContext base_context(self, bint own, str profile, str charset)
    cpdef BaseContext base_context_for(self, object base, str profile, str charset)
