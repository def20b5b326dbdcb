"""Bytes to text and back, with the offsets between them: charsets and the codings of values.

In: raw bytes and a charset. Out: UTF-8 values, and for a position in a value the position in the raw bytes.
Does not know formats, URLs or links.
"""
