cimport cython
from absolve.core cimport byte_scan
from absolve.core.byte_scan cimport word_start
from absolve.core.model cimport LinkSite
from absolve.formats.events cimport EventList
from absolve.formats.html.tag cimport may_be_savers, may_name_map
from absolve.formats.xml.codings cimport is_plain
from absolve.formats.xml.tags cimport Namespaces, Tag, Written, site_for

cdef int _NESTED, _LINKED
cdef bint _is_blank(const unsigned char* p, Py_ssize_t start, Py_ssize_t end) noexcept

@cython.final
cdef class Values:
    cdef bytes _data
    cdef object _charset, _prolog, under, stated
    cdef EventList _events
    cdef Tag _tag
    cdef bint _in_office
    cdef int value(self, LinkSite place, Py_ssize_t start, Py_ssize_t end) except? -1
    cdef int text(self, LinkSite place, Py_ssize_t start, Py_ssize_t end, object scope) except? -1
    cdef int references(self, LinkSite place, Py_ssize_t start, Py_ssize_t end, object coding) except? -1
    cdef int _add_link(self, LinkSite place, Py_ssize_t start, Py_ssize_t end, object coding) except? -1

@cython.final
cdef class _Walk:
    cdef bytes data
    cdef object charset, prolog, expansion, scope, text_scope, facts
    cdef EventList events
    cdef set marked
    cdef dict defaults
    cdef Tag last
    cdef Namespaces names
    cdef bint has_root, is_page, has_base, has_retrieval
    cdef int depth, template, title_depth
    cdef list outer, linked
    cdef Values values
    cdef LinkSite text
    cdef Py_ssize_t text_start
    cdef Py_ssize_t declaration(self) except? -1
    cdef int comment(self, Py_ssize_t start, Py_ssize_t end) except? -1
    cdef Py_ssize_t start_tag(self, Py_ssize_t start) except? -1
    cdef int collect(self, object facts, Written element, Tag tag) except? -1
    cdef int end_element(self, Py_ssize_t start) except? -1
    cdef int tag(self, Written element, Tag tag) except? -1
    cdef object claim(self, object read_base, Py_ssize_t start, Py_ssize_t end, object outer)
    cdef int states(self, object claim, LinkSite place, Py_ssize_t start, Py_ssize_t end) except? -1
    cdef object codebase(self, list[tuple] found, object outer)
    cdef int html_attribute(self, LinkSite place, Py_ssize_t start, Py_ssize_t end) except? -1
