"""C signatures of the function of raw_text.py that the tokenizer calls."""

from absolve.core cimport byte_scan
from absolve.core.byte_scan cimport is_tag_name


cpdef Py_ssize_t script_end(bytes data, Py_ssize_t i, Py_ssize_t name)
