"""HTML: the tokenizer of the HTML Standard (13.2.5), the parts of tree construction that links depend on, link tables.

In: the bytes of an HTML document. Out: its base claims, links and parts, as html5lib and browsers parse them.
Does not import other formats: CSS, JSON and srcdoc documents inside are parts.
"""
