"""Hypothesis strategies for bases and references, made of the characters that the algorithms distinguish."""

from hypothesis import strategies as st

PIECES = ["a", "b.c", ".", "..", "/", "//", ";", "?", "#", ":", "x:", "%2e", "\\", " ", "é", "\udce9", "@", "..g", "1:"]
ABSOLUTE = [
    "http:",
    "http://",
    "http://h",
    "https://o.example/p",
    "mailto:u",
    "tel:1",
    "app:",
    "app:/",
    "app://h",
    "file:///",
]

references = st.builds(
    "{}{}".format,
    st.sampled_from(["", "", "", "./", "../", "../../", "/", "//", *ABSOLUTE]),
    st.lists(st.sampled_from(PIECES), max_size=8).map("".join),
)
bases = st.builds(
    "{}{}".format,
    st.sampled_from(["http://h", "http://h/", "http://h/a/b/", "HTTP://H.Example:80/a/", "", "telnet://h/", *ABSOLUTE]),
    st.lists(st.sampled_from(PIECES), max_size=6).map("".join),
)
