"""Markdown: CommonMark 0.31, with tables, front matter, footnotes and the shortcodes of site generators.

In: the bytes of a document. Out: the links of its syntax (inline links, images, definitions, autolinks) and those of
the raw HTML in it. Code is literal text, and has none.
"""
