"""Decode bytes to text and encode it again, with a map between their offsets: charsets and the codings of values.

In: raw bytes and a charset. Out: UTF-8 values, and for each offset in a value the offset in the raw bytes.
Independent of formats, URLs and links.
"""
