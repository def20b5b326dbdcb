"""C layout of packed records; packed_records.py holds the code."""

cimport cython

from absolve.core.column_buffers cimport IntColumn

cdef int OBJECT
cdef Py_ssize_t LONGEST


cdef class Varints:
    cdef bytearray _buffer
    cdef unsigned char *_data
    cdef Py_ssize_t room
    cdef Py_ssize_t written
    cdef Py_ssize_t position

    cdef int reserve(self, Py_ssize_t numbers, Py_ssize_t size=*) except? -1
    cdef int trim(self) except? -1
    cdef int put_number(self, Py_ssize_t number) noexcept
    cdef int put_bytes(self, bytes data) except? -1
    cdef Py_ssize_t next(self) noexcept
    cdef bytes next_bytes(self, Py_ssize_t size)


@cython.final
cdef class PackedRecords(Varints):
    cdef IntColumn _index
    cdef Py_ssize_t size
    cdef Py_ssize_t _objects
    cdef Py_ssize_t _last_start
    # the fields that were written last since the last index entry, if any were
    cdef Py_ssize_t _written_tag
    cdef Py_ssize_t _written_tag_end
    cdef Py_ssize_t _written_scope
    cdef Py_ssize_t _written_claim
    cdef tuple _written_slot
    # the record that was read last
    cdef Py_ssize_t current
    cdef Py_ssize_t object_number
    cdef int template
    cdef Py_ssize_t start
    cdef Py_ssize_t length
    cdef Py_ssize_t tag  # the last one, and whether this record is in it
    cdef Py_ssize_t tag_length
    cdef bint in_tag
    cdef Py_ssize_t scope  # of the last record with either of them
    cdef Py_ssize_t claim
    cdef Py_ssize_t slot_start  # of the last record with one
    cdef Py_ssize_t slot_end

    cdef int put_object(self) except? -1
    cdef int put(
        self,
        int template,
        Py_ssize_t start,
        Py_ssize_t end,
        Py_ssize_t tag_start,
        Py_ssize_t tag_end,
        Py_ssize_t scope,
        Py_ssize_t claim,
        tuple slot,
    ) except? -1
    cdef int _begin(self) except? -1
    cdef int seek(self, Py_ssize_t number) noexcept
    cdef int _restart(self, Py_ssize_t entry) noexcept
