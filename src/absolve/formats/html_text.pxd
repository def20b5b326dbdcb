"""C signatures of what rows ask of a tag; html_text.py holds the code."""

cpdef object rel_and_alt(bytes data, Py_ssize_t start, Py_ssize_t end, object charset)
cpdef bytes anchor_text(bytes data, Py_ssize_t start, object charset)
