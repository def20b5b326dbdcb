"""Hypothesis strategies for bases and references, made of the characters that the algorithms distinguish, and random references."""

import random
from collections.abc import Iterator

from hypothesis import strategies as st

PIECES = ["a", "b.c", ".", "..", "/", "//", ";", "?", "#", ":", "x:", "%2e", "\\", " ", "é", "\udce9", "@", "..g", "1:"]
ABSOLUTE = ["http:", "http://", "http://h", "https://o.example/p", "mailto:u", "tel:1", "app:", "app:/", "app://h", "file:///"]

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

HOSTS = ["h", "é@h", "é.b", "a.b", "a-1.example", "A.b", "1.2", "a..b", "xn--a", "h:8", "u@h", "", "%61", "a_b", "[::1]", "0x7f", "é", "-a", "h.", "1.2.3.4", "a.xn--a"]
SCHEMES = ["http://", "https://", "ftp://", "http:", "http:/", "https:///", "mailto:", "javascript:", "file:", "x:", "ws:", "Http://", "//", ""]
WORDS = ["/", "//", "/x", "x", ".", "..", ".x", "1:", "/.", "/..", "%2e", "%41", "?", "#", "&", "&amp;", "=", ":", "@", ";", "'", '"', "<", "\\", "|", "^", " ", "\t", "{", "~", "é"]


def references_of_parts(count: int) -> Iterator[str]:
    """Yield references of schemes, hosts and words in any order, most of them plain."""
    choose = random.Random(1808)  # noqa: S311 - the same in every run
    for _ in range(count):
        words = choose.choices(WORDS, weights=[5] * 4 + [1] * (len(WORDS) - 4), k=choose.randrange(7))
        yield choose.choice(SCHEMES) + choose.choice(HOSTS) + "".join(words)
