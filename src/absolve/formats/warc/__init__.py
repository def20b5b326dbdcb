"""WARC 1.1 and ARC: records, compressed or plain, a few in memory at a time.

In: the bytes of an archive, or a file. Out: records as parts, with the lengths and digests to renew.
Does not parse the block of a record, except the HTTP header of a response.
"""
