cimport cython
from absolve.core cimport byte_scan
from absolve.core.model cimport LinkSite
from absolve.formats cimport grammars
from absolve.formats.events cimport EventList
from absolve.formats.html.tag cimport Tag, Values, may_be_savers
from absolve.formats.html.tag cimport may_be_space, may_end_in_space, may_hold_css_link, may_hold_link, may_name_map
from absolve.formats.html.tokenizer cimport Tokenizer
from absolve.urls.predicates cimport http_host

cdef int _ATTRIBUTES, _TAG, _END, _AS, _CODEBASE, _CONTENT, _HREF, _HTTP_EQUIV, _ITEMPROP, _NAME, _PROPERTY, _REL, _TYPE
cdef int _SCRIPT_ELEMENT, _STYLE_ELEMENT, _NOTHING, _URL, _OTHER, _IN_CODEBASE, _META, _LINK_HREF, _BASE_HREF
cdef int _CODEBASE_ROW, _STYLE, _SAVED, _PARAM, _VALUE, _VALUETYPE, _ATTRIBUTE_NAME_ID, _ANIMATED, _SVG, _SVG_ROW, _MATHML_ROW
cdef Py_ssize_t _SHORT, _SMALL

@cython.final
cdef class _Walk:
    cdef bytes data, actions, interest
    cdef object charset, options, meta_places, link_places, scripts, ruled
    cdef bint scripting, only_changing, has_base, has_retrieval
    cdef Py_ssize_t most
    cdef list places
    cdef Tokenizer scanner
    cdef Tag tag
    cdef Values values
    cdef EventList events
    cdef object facts  # a FactCollector, or None
    cdef int html_tag(self, Tokenizer scanner)
    cdef int foreign_tag(self, Tokenizer scanner)
    cdef str element_name(self, Tokenizer scanner)
    cdef int url(self, int attribute, LinkSite place, object claim)
    cdef int value(self, int attribute, LinkSite place)
    cdef int references(self, LinkSite place, str syntax, Py_ssize_t start, Py_ssize_t end, object coding)
    cdef int declarations(self, int attribute)
    cdef int add_link(self, LinkSite place, Py_ssize_t start, Py_ssize_t end, object coding, object claim)
    cdef bint is_absolute(self, Py_ssize_t start, Py_ssize_t end) noexcept
    cdef int base(self, LinkSite place)
    cdef object codebase(self)
    cdef int meta(self)
    cdef int param(self) except? -1
    cdef int saved(self, int attribute, LinkSite place)
    cdef LinkSite link_place(self)
    cdef int style(self, Tokenizer scanner)
    cdef int sheet(self, Py_ssize_t start, Py_ssize_t end, object coding)
    cdef int foreign_text(self, Tokenizer scanner)
    cdef int script(self, Py_ssize_t start, Py_ssize_t end, object coding)
    cdef int comment(self, Py_ssize_t start, Py_ssize_t text, Py_ssize_t end)
