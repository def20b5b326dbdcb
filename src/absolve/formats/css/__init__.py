"""CSS: the tokens of CSS Syntax Level 3 that hold URLs (`url()`, `@import`, `image-set()`).

In: the bytes of a style sheet or of a style attribute. Out: its links.
Does not import other formats.
"""
