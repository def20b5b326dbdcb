"""ZIP packages: EPUB, WACZ and plain ZIP files.

In: the bytes of a package. Out: its members as parts, and the offsets and digests to renew when they change.
Does not parse members, except the metadata of EPUB and the indexes of WACZ.
"""
