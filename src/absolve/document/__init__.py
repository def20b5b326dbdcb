"""The fold: RFC 1808 section 3 applied to one document and to the documents inside it.

In: a Document and Settings. Out: an Entity with its bases, its events and its inner entities, and diagnostics.
Does not rewrite or list anything.
"""
