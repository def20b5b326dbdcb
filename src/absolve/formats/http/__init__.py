"""HTTP messages (RFC 9110, 9112): header fields that hold references, content codings, the body as a part.

In: the bytes of a response. Out: the bases and links of the header, and the body as a part.
Does not parse the body.
"""
