"""C signatures of the function of raw_text.py that the tokenizer calls."""

cimport cython

cpdef Py_ssize_t script_end(bytes data, Py_ssize_t i, Py_ssize_t name)
