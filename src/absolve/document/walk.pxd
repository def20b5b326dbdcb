from absolve.core cimport byte_scan
from absolve.core.model cimport Document, Link, Part
from absolve.document.entity cimport Entity, InnerDocuments, NestingBudget
from absolve.document.resolved cimport LinkContext, text
from absolve.formats.events cimport EventList
from absolve.urls.base cimport Bases, establish
from absolve.urls.predicates cimport has_scheme, http_host, runs_code

cdef int _FEW_AROUND
cdef Py_ssize_t _MOST_KEPT, _WORDS, _SHORT
cdef bytes _DATA_URL
cdef bint _stay(bytes value, object links) except -1
cdef object _begin(Entity entity, Bases around, Py_ssize_t mark, Py_ssize_t depth)
cdef tuple _media_type(Document document, str name)
cdef bint _is_text(str media_type)
cdef tuple _charset(bytes data, str media_type, str label, str header)
cdef EventList _with_data_urls(Entity entity, EventList events)
cdef object _measure(Entity entity, EventList events)
cdef EventList _counted(Entity entity, object events)
cdef str _kind(Part part)
cdef Py_ssize_t _depth(Entity entity, Part part)
cdef object _walk_inside(Entity inner, Entity entity, Part part, object events, object charset)
cdef tuple _decoded(Part part, bytes raw)
cdef object _events_of(bytes value, str media_type, object settings)
cdef tuple _charset_inside(Part part, bytes value, str media_type, object charset)
cpdef object fold(Entity entity, object events, Bases around, Py_ssize_t depth=*)
cdef object _enter(Entity entity, Part part, Py_ssize_t index, object charset=*)
cpdef object inner_at(Entity entity, Py_ssize_t index)
