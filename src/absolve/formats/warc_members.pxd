"""C signatures of warc_members.py."""

cpdef Py_ssize_t next_member(bytes data, Py_ssize_t start, Py_ssize_t end) noexcept
cpdef bytes opened(bytes raw, Py_ssize_t limit)
