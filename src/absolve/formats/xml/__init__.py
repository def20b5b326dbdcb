"""XML 1.0: a non-validating scanner with limits, and tables of the link attributes of known vocabularies.

In: the bytes of an XML document. Out: its `xml:base` bases, links and parts. External entities are never read.
Does not import other formats, but for the names and rules of HTML, for XHTML and feeds.
"""
