"""Values and building blocks that the other rooms share; no RFC is implemented here.

In: bytes, numbers and text. Out: the model (links, parts, bases, documents), errors, byte search, column buffers.
Imports no other room.
"""
