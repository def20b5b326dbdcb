"""C layout of events as numbers; records.py holds the code."""

cimport cython


cdef enum:
    LONGEST = 100  # bytes of an event: a kind, eight numbers, and what says which of them there are


cdef struct Mark:
    Py_ssize_t at  # where the numbers of an event stand
    Py_ssize_t start  # of the one before it
    Py_ssize_t objects  # before it


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


cdef class PackedRecords:
    cdef Py_ssize_t _size
    # the numbers of all events, and where some of them stand
    cdef unsigned char* _coded
    cdef Py_ssize_t _written
    cdef Py_ssize_t _room
    cdef Py_ssize_t _last  # where the last one starts that is no object
    cdef Py_ssize_t _kept  # how many are
    # what was told last since the last mark, if anything was
    cdef Py_ssize_t _told_tag
    cdef Py_ssize_t _told_tag_end
    cdef Py_ssize_t _told_scope
    cdef Py_ssize_t _told_claim
    cdef tuple _told_slot
    cdef Mark* _marks
    cdef Py_ssize_t _marks_room
    # those that were read last, of the event `_index`
    cdef Py_ssize_t _index
    cdef Py_ssize_t _read  # where the next one's stand
    cdef Py_ssize_t _objects  # the number of the last object so far
    cdef int _kind  # -1 for an object
    cdef Py_ssize_t _start
    cdef Py_ssize_t _its_size
    cdef Py_ssize_t _tag  # the last one, and whether this one is in it
    cdef Py_ssize_t _tag_size
    cdef bint _in_tag
    cdef Py_ssize_t _scope  # of the last one that has either of them
    cdef Py_ssize_t _claim
    cdef Py_ssize_t _slot  # of the last one that has any
    cdef Py_ssize_t _slot_end

    cdef int _put_object(self) except? -1
    cdef int _put(
        self,
        int kind,
        Py_ssize_t start,
        Py_ssize_t end,
        Py_ssize_t tag_start,
        Py_ssize_t tag_end,
        Py_ssize_t scope,
        Py_ssize_t claim,
        tuple slot,
    ) except? -1
    cdef int _grow(self) except? -1
    cdef int _seek(self, Py_ssize_t index) noexcept
