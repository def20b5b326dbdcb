"""C signatures of parse.py."""


cpdef object components(str text)
cpdef str unsplit(object reference)
cpdef bint hierarchical(object base) except? -1
