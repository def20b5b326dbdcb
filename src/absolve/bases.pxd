"""C layout of the bases of a document; bases.py holds the code."""

cimport cython


cpdef object establish(object outer, object claims, str profile, object line_of=*)
cpdef str claimed_url(object claim, object outer, str profile)


@cython.final
cdef class Bases:
    cdef readonly object own
    cdef readonly object base
    cdef readonly tuple beside
    cdef dict _rulings

    cpdef object ruling(self, bint own, str profile, str charset)
    cpdef object ruled_by(self, object base, str profile, str charset)
