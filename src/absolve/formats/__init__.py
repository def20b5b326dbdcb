"""One folder for each format: walkers that read a document and yield bases, links and parts.

In: the bytes of one document. Out: events with byte offsets, in document order (`absolve.formats.events`).
Resolves nothing, writes nothing, and does not know the rooms above.
"""
