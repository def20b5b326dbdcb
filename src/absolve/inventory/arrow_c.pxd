"""Arrays handed over by Arrow's C data interface (its columnar format's page of that name); arrow.py hands them over.

One block of memory holds the structures of a batch and copies of all its buffers, and goes when pyarrow lets go of it,
in whatever thread: nothing in it belongs to Python. So none of the arrays in it may be moved out of the batch, as
pyarrow does not.
"""

from libc.stdlib cimport free, malloc
from libc.string cimport memcpy

from absolve.core.column_buffers cimport IntColumn, TextColumn


cdef struct ArrowArray:
    long long length
    long long null_count
    long long offset
    long long n_buffers
    long long n_children
    const void** buffers
    ArrowArray** children
    ArrowArray* dictionary
    void (*release)(ArrowArray*) noexcept nogil
    void* private_data


cdef inline void release(ArrowArray* array) noexcept nogil:
    free(array.private_data)  # the batch has the block there, what is in it NULL
    array.release = NULL


cdef inline Py_ssize_t padded(Py_ssize_t size) noexcept:
    """The bytes that buffers take whose beginnings are aligned as Arrow recommends."""
    return (size + 63) & ~63


cdef inline Py_ssize_t bytes_of(object buffer, const unsigned char** first) except -1:
    """How many bytes a buffer has, and where they begin."""
    if type(buffer) is IntColumn:
        first[0] = (<IntColumn>buffer)._cells
        return (<IntColumn>buffer)._size * (4 if (<IntColumn>buffer)._narrow else 8)
    if type(buffer) is TextColumn:
        first[0] = (<TextColumn>buffer)._text
        return (<TextColumn>buffer)._size
    cdef bytes raw = buffer
    first[0] = raw
    return len(raw)


cdef inline Py_ssize_t room(tuple node) except -1:
    """The bytes that an array takes with what is in it."""
    cdef tuple buffers = node[1], children = node[2]
    cdef const unsigned char* first
    cdef Py_ssize_t found = padded(sizeof(ArrowArray)) + padded(sizeof(void*) * (len(buffers) + len(children)))
    for buffer in buffers:
        if buffer is not None:
            found += padded(bytes_of(buffer, &first))
    for child in children:
        found += room(child)
    dictionary = node[3]
    return found + (room(dictionary) if dictionary is not None else 0)


cdef inline unsigned char* taken(unsigned char** block, Py_ssize_t size) noexcept:
    cdef unsigned char* found = block[0]
    block[0] += padded(size)
    return found


cdef inline ArrowArray* put(unsigned char** block, tuple node) except NULL:
    """Lay an array out at the beginning of a block, which then begins behind it."""
    cdef tuple buffers = node[1], children = node[2]
    cdef Py_ssize_t i, size
    cdef const unsigned char* first
    cdef ArrowArray* array = <ArrowArray*>taken(block, sizeof(ArrowArray))
    array.length = node[0]
    array.null_count = -1 if buffers[0] is not None else 0  # -1: to be counted
    array.offset = 0
    array.n_buffers = len(buffers)
    array.n_children = len(children)
    array.buffers = <const void**>taken(block, sizeof(void*) * (len(buffers) + len(children)))
    array.children = <ArrowArray**>(array.buffers + array.n_buffers)
    array.release = release
    array.private_data = NULL
    for i in range(array.n_buffers):
        array.buffers[i] = NULL
        if buffers[i] is not None:
            size = bytes_of(buffers[i], &first)
            array.buffers[i] = taken(block, size)
            if size:  # there may be no memory at all
                memcpy(<void*>array.buffers[i], first, size)
    for i in range(array.n_children):
        array.children[i] = put(block, children[i])
    dictionary = node[3]
    array.dictionary = put(block, dictionary) if dictionary is not None else NULL
    return array


cdef inline object handed_over(tuple node):
    """The address of an array that is laid out like this; what imports it must release it."""
    cdef void* whole = malloc(room(node) + 64)
    if whole == NULL:
        raise MemoryError
    cdef unsigned char* block = <unsigned char*>((<size_t>whole + 63) & ~<size_t>63)
    cdef ArrowArray* array = put(&block, node)
    array.private_data = whole
    return <size_t>array
