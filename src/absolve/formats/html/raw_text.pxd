"""C signatures of the functions of raw_text.py that the tokenizer calls."""

cimport cython

cpdef Py_ssize_t raw_text_end(bytes data, Py_ssize_t i, Py_ssize_t name, Py_ssize_t length)
cpdef Py_ssize_t script_end(bytes data, Py_ssize_t i, Py_ssize_t name)
