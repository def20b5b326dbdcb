"""Values and building blocks shared by all other packages; implements no RFC.

In: bytes, numbers and text. Out: the model (links, parts, bases, documents), errors, byte search, column buffers.
Imports no other package of absolve.
"""
