cimport cython
from absolve.core cimport model
from absolve.urls.predicates cimport has_scheme, is_malformed, runs_code

cpdef object establish(object outer, object claims, str profile, object line_of=*, Py_ssize_t longest=*, object ignored=*)

@cython.final
cdef class BaseContext:
    cdef readonly object base, resolver
    cdef readonly str profile, charset
    cdef readonly bint elsewhere, unknown
    cdef readonly BaseContext other
    cdef object _compared, _inside

@cython.final
cdef class Bases:
    cdef readonly object own, base, other
    cdef readonly tuple beside
    cdef readonly Bases before
    cdef BaseContext _around
    cdef list _base_contexts
    cpdef BaseContext base_context(self, bint own, str profile, str charset)
    cpdef BaseContext base_context_for(self, object base, str profile, str charset)
