"""The rfc1808 profile: all tables of section 5, and the algorithms of sections 2.4 and 4."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from resolver_strategies import references
from resolver_tables import BASE_1808, EXAMPLES_1808

from absolve.core.model import Reference
from absolve.urls import rfc1808, rfc3986

PARSED = [
    ("", Reference(None, None, "", None, None, None)), ("s://n/p;a?q#f", Reference("s", "n", "/p", "a", "q", "f")),
    ("s://n/;?#", Reference("s", "n", "/", "", "", "")),
    ("#f#g?q;a", Reference(None, None, "", None, None, "f#g?q;a")),  # 2.4.1 comes first
    ("?q;a?r", Reference(None, None, "", None, "q;a?r", None)),  # 2.4.4 comes before 2.4.5
    (";a;b/c", Reference(None, None, "", "a;b/c", None, None)),
    ("a/b:c", Reference(None, None, "a/b:c", None, None, None)),
    (":a", Reference(None, None, ":a", None, None, None)),  # 2.4.2: after the first character
    ("+1-a.b:c", Reference("+1-a.b", None, "c", None, None, None)),
    ("é:a", Reference(None, None, "é:a", None, None, None)),
    ("//h?q;a/p", Reference(None, "h?q;a", "/p", None, None, None)),  # 2.4.3 comes before 2.4.4
    ("//", Reference(None, "", "", None, None, None)), ("///p", Reference(None, "", "/p", None, None, None)),
    ("//h#f", Reference(None, "h", "", None, None, "f")), ("s:#f", Reference("s", None, "", None, None, "f")),
]


@pytest.mark.parametrize(("text", "reference"), PARSED)
def test_components_are_parsed_in_the_order_of_section_2_4(text: str, reference: Reference) -> None:
    assert rfc1808.split(text) == reference
    assert rfc1808.unsplit(reference) == text


@given(references)
def test_parsing_loses_nothing(text: str) -> None:
    assert rfc1808.unsplit(rfc1808.split(text)) == rfc1808.unsplit(rfc3986.split(text)) == text


@pytest.mark.parametrize(("reference", "target"), EXAMPLES_1808)
def test_the_examples_of_section_5_resolve(reference: str, target: str) -> None:
    assert rfc1808.profile(BASE_1808)(reference) == target


LETTER = [
    # step 5 asks for "non-empty", step 7 writes the delimiters that the reference had
    ("http://a/b/c/d;p?q#f", "?", "http://a/b/c/d;p?q"), ("http://a/b/c/d;p", "?", "http://a/b/c/d;p?"),
    ("http://a/b/c/d;p?q#f", ";", "http://a/b/c/d;p?q"), ("http://a/b/c/d?q", ";", "http://a/b/c/d;?q"),
    ("http://a/b/c/d;p?q#f", ";x?", "http://a/b/c/d;x?"), ("http://a/b/c/d;p?q#f", "#", "http://a/b/c/d;p?q#"),
    ("http://a/b/c/d;p?q#f", "?#s", "http://a/b/c/d;p?q#s"), ("http://a/b/c/d;p?q#f", "g?", "http://a/b/c/g?"),
    ("http://a/b/c/d;p?q#f", "g;", "http://a/b/c/g;"), ("http://a/b/c/d;p?q#f", "g#", "http://a/b/c/g#"),
    # step 3: an empty net_loc is inherited
    ("http://a/b", "///x", "http://a/x"), ("http://a/b?q", "//", "http://a/b?q"), ("file:///a/b", "///x", "file:///x"),
    ("app:/a/b", "///x", "app:///x"),
    # 2.4.3: the net_loc runs to the next slash
    ("http://a/b", "//h?q/x", "http://h?q/x"), ("http://h", "a.html", "http://h/a.html"), ("http://h", "?y", "http://h?y"),
    ("http://h", "../g", "http://h/../g"),
    # 2.4.2: a scheme may begin with a digit, it has no other characters
    ("http://a/b", "1:x", "1:x"), ("http://a/b", "a_b:x", "http://a/a_b:x"), ("http://a/b", ":x", "http://a/:x"),
    # 2.4.5: the params may hold slashes, in the base too
    ("http://a/b;v=1/c/d", "g", "http://a/g"),
    ("http://a/b/c/d", "g;x=1/../y", "http://a/b/c/g;x=1/../y"),
    # step 6 applies to the whole path, step 5 to none
    ("http://a/b/../c/./d", "g", "http://a/c/g"), ("http://a/b/../c/./d", "?y", "http://a/b/../c/./d?y"),
    ("http://a/b//c/d", "../../g", "http://a/b/g"), ("http://a/b/c", "x/..", "http://a/b/"),
    # a path must not become a net_loc, and lone surrogates pass
    ("app:/a", ".//x", "app:/.//x"), ("http://h/\udce9/a", "\udce8?\udce7", "http://h/\udce9/\udce8?\udce7"),
]


@pytest.mark.parametrize(("base", "reference", "target"), LETTER)
def test_rfc1808_is_followed_literally(base: str, reference: str, target: str) -> None:
    assert rfc1808.profile(base)(reference) == target


def removed(path: str) -> str:
    """Apply steps 6a to 6d literally to the segments after the first slash."""
    segments = [segment for segment in path.split("/")[1:-1] if segment != "."]
    last = path.rpartition("/")[2]
    index = 0
    while index + 1 < len(segments):  # leftmost first
        if segments[index] != ".." and segments[index + 1] == "..":
            del segments[index : index + 2]
            index = max(index - 1, 0)
        else:
            index += 1
    if last == ".." and segments and segments[-1] != "..":
        segments.pop()
        last = "."
    return "/".join(("", *segments, "" if last == "." else last))


@given(st.lists(st.sampled_from(["", ".", "..", "...", ".x", "x..", "x.", "a", "b", "\xe9", "\udc80"]), max_size=12).map("/".join))
@example("x./.././b/x.")
@example("../../a/../../b/./..")
@example("./.")
def test_dot_segments_are_removed_as_in_step_6_of_rfc1808(path: str) -> None:
    assert rfc1808.merge("/d/e", path) == removed("/d/" + path)
