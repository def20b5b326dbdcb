cimport cython
from absolve.core cimport byte_scan
from absolve.formats.xml.codings cimport CharacterData

cdef int _DEEPEST
cdef str _known(str namespace)
cdef bint _is_called(const unsigned char* p, Py_ssize_t start, Py_ssize_t end, str name) noexcept

@cython.final
cdef class Tag:
    cdef bytes _data
    cdef dict _nested
    cdef readonly CharacterData text
    cdef CharacterData _double, _single
    cdef Py_ssize_t start, end, _name_end, _at
    cdef bint is_closed, declares, has_others
    # spans of the current attribute's name and value
    cdef Py_ssize_t attribute, attribute_end, value_start, value_end
    cdef bytes read(self, Py_ssize_t start)
    cdef int rewind(self) noexcept
    cdef bint next(self) noexcept
    cdef bint _is_declaration(self) noexcept
    cdef tuple declared(self, object defaults, dict bindings)
    cdef list keywords(self, tuple names)
    cdef str _word(self)
    cdef bytes _unfolded(self, bytes raw, int depth)
    cdef CharacterData coding(self, Py_ssize_t start)
    cdef bytes decoded(self, Py_ssize_t start, Py_ssize_t end)

cpdef object site_for(object row, list[str] words)

@cython.final
cdef class Written:
    cdef readonly object element, text
    cdef readonly dict rows
    cdef readonly bint is_html, is_template, is_linked
    cdef object _names

@cython.final
cdef class Namespaces:
    cdef readonly dict bindings
    cdef object _names
    cdef dict _known
    cdef list _outer
    cdef Written element(self, bytes raw)
    cdef object row(self, Written element, bytes raw)
    cdef int declare(self, tuple declared, int depth) except? -1
    cdef int end(self, int depth) except? -1
