"""C signatures of the predicates called once per link or per base; predicates.py has the code."""

cdef bint _is_letter(Py_UCS4 c) noexcept
cdef bint _is_letter_or_digit(Py_UCS4 c) noexcept


cpdef bint has_scheme(str reference) except? -1
cpdef bint runs_code(str reference) except? -1
cpdef bint is_plain(str url) except? -1
cpdef bint is_malformed(str url) except? -1
cpdef bint may_have_placeholder(str reference) except? -1
