"""HTTP messages (RFC 9110, 9112): header fields that hold references, content codings, the body as a part.

In: the bytes of a response. Out: bases and links of the header, and its body.
Does not know what is in a body.
"""
