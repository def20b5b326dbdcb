"""HTML: the tokenizer of the HTML Standard (13.2.5), the parts of tree construction that links depend on, link tables.

In: the bytes of an HTML document. Out: its bases, links and parts, where html5lib and browsers see them.
Does not know other formats: CSS, JSON and srcdoc documents inside are parts.
"""
