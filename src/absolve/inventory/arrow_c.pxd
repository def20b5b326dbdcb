"""Export arrays by Arrow's C data interface (a page of its columnar format specification); used by arrow_batches.py.

One block of memory holds the structures of a batch and copies of all its buffers. It is freed when pyarrow releases the
batch, in any thread, because it has no reference to a Python object. So no array may be moved out of the batch, which
pyarrow does not do.
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
    free(array.private_data)  # the block, for the batch; NULL for the arrays in it
    array.release = NULL


cdef inline Py_ssize_t padded(Py_ssize_t size) noexcept:
    """Return a size in bytes rounded up to the alignment that Arrow recommends."""
    return (size + 63) & ~63


cdef inline Py_ssize_t bytes_of(object buffer, const unsigned char** first) except -1:
    """Return the number of bytes of a buffer; set `first` to their address."""
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
    """Return the number of bytes that an array takes with its buffers and children."""
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
    """Write an array to the start of a block, and advance the block past it."""
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
            if size:  # `first` may be NULL for an empty buffer
                memcpy(<void*>array.buffers[i], first, size)
    for i in range(array.n_children):
        array.children[i] = put(block, children[i])
    dictionary = node[3]
    array.dictionary = put(block, dictionary) if dictionary is not None else NULL
    return array


cdef inline object handed_over(tuple node):
    """Return the address of a new array for this node; the importer must release it."""
    cdef void* whole = malloc(room(node) + 64)
    if whole == NULL:
        raise MemoryError
    cdef unsigned char* block = <unsigned char*>((<size_t>whole + 63) & ~<size_t>63)
    cdef ArrowArray* array = put(&block, node)
    array.private_data = whole
    return <size_t>array
