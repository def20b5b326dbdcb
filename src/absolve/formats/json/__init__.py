"""JSON: import maps, speculation rules, web app manifests, JSON-LD, and HTTP archives (HAR).

In: the bytes of a JSON text. Out: the links that its format names, and the bodies of a HAR as parts.
Does not import other formats, but for the codings of HTTP and mail that HAR bodies have.
"""
