"""C layout of the events of an entity; events.py holds the code."""

cimport cython

from absolve.buffers cimport Numbers
from absolve.codings cimport Unquoted
from absolve.model cimport Link, Part


cdef enum:
    LONGEST = 50  # bytes of an event: five numbers


cdef struct Mark:
    Py_ssize_t at  # where the numbers of an event stand
    Py_ssize_t start  # of the link before it
    Py_ssize_t objects  # before it


cdef inline unsigned int marked(object place, object coding) noexcept:
    return ((<size_t><void*>place >> 5) ^ (<size_t><void*>coding >> 4)) & 63


cdef inline unsigned char* put_number(unsigned char* at, Py_ssize_t number) noexcept:
    """Seven bits a byte, the lowest first; the highest bit says that more follow."""
    while number > 127:
        at[0] = number & 127 | 128
        number >>= 7
        at += 1
    at[0] = number
    return at + 1


cdef inline unsigned char* next_number(unsigned char* at, Py_ssize_t* number) noexcept:
    cdef int shift = 7
    number[0] = at[0] & 127
    while at[0] > 127:
        at += 1
        number[0] |= <Py_ssize_t>(at[0] & 127) << shift
        shift += 7
    return at + 1


@cython.final
cdef class Events:
    cdef readonly list objects
    cdef readonly Py_ssize_t count
    cdef readonly Py_ssize_t parts
    cdef readonly list kinds
    cdef list _kinds_of_parts
    cdef Numbers _parts
    cdef dict _numbers
    cdef Py_ssize_t _size
    cdef unsigned short _recent[64]  # by `marked`: the number of a kind and one; 0 for none
    # the numbers of all events, and where some of them stand
    cdef unsigned char* _coded
    cdef Py_ssize_t _written
    cdef Py_ssize_t _room
    cdef Py_ssize_t _last  # where the last link starts
    cdef Py_ssize_t _told_tag  # and its tag, if one was told since the last mark
    cdef Py_ssize_t _told_tag_end
    cdef object _bare  # the coding of the last value without quotes of which links were told
    cdef bint _claims  # whether there are kinds that make one
    cdef Mark* _marks
    cdef Py_ssize_t _marks_room
    # those that were read last, of the event `_index`
    cdef Py_ssize_t _index
    cdef Py_ssize_t _read  # where the next one's stand
    cdef Py_ssize_t _objects  # the number of the last object so far
    cdef Py_ssize_t _start
    cdef int _its_kind
    cdef Py_ssize_t _its_size
    cdef Py_ssize_t _tag  # the last one, and whether the link is in it
    cdef Py_ssize_t _tag_size
    cdef bint _in_tag

    cpdef append(self, object event)
    cdef int tell(
        self,
        object place,
        Py_ssize_t start,
        Py_ssize_t end,
        object coding,
        object base,
        Py_ssize_t tag_start,
        Py_ssize_t tag_end,
        object claim,
    ) except? -1
    cdef int _add(self, Part part) except? -1
    cdef Py_ssize_t part(self, Py_ssize_t number) noexcept
    cdef int _keep(self, object event) except? -1
    cdef bint _pack(
        self,
        object place,
        Py_ssize_t start,
        Py_ssize_t end,
        object coding,
        object base,
        Py_ssize_t tag_start,
        Py_ssize_t tag_end,
        object claim,
    ) except? -1
    cdef bint _put(
        self, int number, Py_ssize_t start, Py_ssize_t end, Py_ssize_t tag_start, Py_ssize_t tag_end
    ) except? -1
    cdef int _kind_of_part(self, Part part) except? -1
    cdef int _kind(self, object place, object coding, object base, object claim) except? -1
    cdef int _grow(self) except? -1
    cdef int _seek(self, Py_ssize_t index) noexcept
    cdef Py_ssize_t start(self, Py_ssize_t index) noexcept
    cdef Py_ssize_t end(self, Py_ssize_t index) noexcept
    cdef int kind(self, Py_ssize_t index) noexcept
    cdef bint read(self, Py_ssize_t index, Link link) except? -1
    cdef Part _its_part(self)
    cdef object at(self, Py_ssize_t index)
