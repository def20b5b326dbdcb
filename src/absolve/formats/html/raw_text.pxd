"""C signatures of what html_raw_text.py offers to the scanner."""

cimport cython

cpdef Py_ssize_t raw_text_end(bytes data, Py_ssize_t i, Py_ssize_t name, Py_ssize_t length)
cpdef Py_ssize_t script_end(bytes data, Py_ssize_t i, Py_ssize_t name)
