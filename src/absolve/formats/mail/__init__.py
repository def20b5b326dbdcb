"""Internet messages (RFC 5322) and MIME (RFC 2045, 2557): mail, MHTML and mailboxes.

In: the bytes of a message. Out: bases and links of its header, and its parts with their transfer encodings.
Does not parse the content of parts.
"""
