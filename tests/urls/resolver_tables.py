"""The examples of RFC 1808 section 5 and RFC 3986 section 5.4: (reference, absolute URL), by table."""

BASE_1808 = "http://a/b/c/d;p?q#f"
BASE_3986 = "http://a/b/c/d;p?q"

IN_BOTH = [
    ("g:h", "g:h"), ("g", "http://a/b/c/g"), ("./g", "http://a/b/c/g"), ("g/", "http://a/b/c/g/"), ("/g", "http://a/g"),
    ("//g", "http://g"), ("?y", "http://a/b/c/d;p?y"), ("g?y", "http://a/b/c/g?y"), ("g?y/./x", "http://a/b/c/g?y/./x"),
    ("#s", "http://a/b/c/d;p?q#s"), ("g#s", "http://a/b/c/g#s"), ("g#s/./x", "http://a/b/c/g#s/./x"), ("g?y#s", "http://a/b/c/g?y#s"),
    ("g;x", "http://a/b/c/g;x"), ("g;x?y#s", "http://a/b/c/g;x?y#s"), (".", "http://a/b/c/"), ("./", "http://a/b/c/"),
    ("..", "http://a/b/"), ("../", "http://a/b/"), ("../g", "http://a/b/g"), ("../..", "http://a/"), ("../../", "http://a/"),
    ("../../g", "http://a/g"), ("g.", "http://a/b/c/g."), (".g", "http://a/b/c/.g"), ("g..", "http://a/b/c/g.."),
    ("..g", "http://a/b/c/..g"), ("./../g", "http://a/b/g"), ("./g/.", "http://a/b/c/g/"), ("g/./h", "http://a/b/c/g/h"),
    ("g/../h", "http://a/b/c/h"), ("http:g", "http:g"),
]
EXAMPLES_1808 = [
    *IN_BOTH, (";x", "http://a/b/c/d;x"), ("", "http://a/b/c/d;p?q#f"), ("../../../g", "http://a/../g"),
    ("../../../../g", "http://a/../../g"), ("/./g", "http://a/./g"), ("/../g", "http://a/../g"), ("http:", "http:"),
]
EXAMPLES_3986 = [
    *IN_BOTH, (";x", "http://a/b/c/;x"), ("", "http://a/b/c/d;p?q"), ("../../../g", "http://a/g"), ("../../../../g", "http://a/g"),
    ("/./g", "http://a/g"), ("/../g", "http://a/g"), ("g;x=1/./y", "http://a/b/c/g;x=1/y"), ("g;x=1/../y", "http://a/b/c/y"),
    ("g?y/../x", "http://a/b/c/g?y/../x"), ("g#s/../x", "http://a/b/c/g#s/../x"),
]
