"""C layout of what resolvers take references apart and put them together by; references.py holds the code."""

cpdef object components(str text)
cpdef str unsplit(object reference)
cpdef bint hierarchical(object base) except? -1
