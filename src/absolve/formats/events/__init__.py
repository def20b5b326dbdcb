"""The events of one document, packed: what walkers write and everything above reads.

In: links, bases and parts, as objects or by their fields. Out: the same in document order, one at a time.
Does not know any format.
"""
