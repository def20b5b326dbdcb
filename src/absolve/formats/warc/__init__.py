"""WARC 1.1 and ARC: records, compressed or plain, a few in memory at a time.

In: the bytes of an archive, or a file. Out: records as parts, with their digests to renew.
Does not know what is in a record, but for the HTTP header of a response.
"""
