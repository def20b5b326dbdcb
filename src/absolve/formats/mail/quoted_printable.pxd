"""C signature of quoted_printable.py."""

cpdef tuple decode_mapped(bytes raw)
