"""The rfc3986 profile: all tables of section 5.4, dot segments, and PrefixResolver."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from resolver_strategies import references
from resolver_tables import BASE_3986, EXAMPLES_3986

from absolve.urls import rfc3986


@pytest.mark.parametrize(("reference", "target"), EXAMPLES_3986)
def test_the_examples_of_section_5_4_resolve(reference: str, target: str) -> None:
    assert rfc3986.profile(BASE_3986)(reference) == target


MORE = [
    # 5.2.2: a defined component replaces the base's, even if empty
    ("http://a/b?q#f", "?", "http://a/b?"), ("http://a/b?q#f", "#", "http://a/b?q#"), ("http://a/b?q#f", "", "http://a/b?q"),
    ("http://a/b?q", "//", "http://"), ("http://a/b", "///x", "http:///x"),
    # 3.2: a question mark also ends the authority
    ("http://a/b", "//h?q/../x", "http://h?q/../x"),
    ("http://h?q/x", "g", "http://h/g"),
    # 3.1: a scheme begins with a letter
    ("http://a/b", "1:x", "http://a/1:x"),
    # 5.2.2: dot segments are removed from absolute references
    ("http://a/b", "http://h/a/../b/./c", "http://h/b/c"), ("http://a/b", "x:./y", "x:y"), ("http://a/b", "//h/../y", "http://h/y"),
    # except where the path is opaque
    ("http://a/b", "data:,a/../b", "data:,a/../b"),
    ("http://a/b", "data://h/a/../b", "data://h/b"),
    # 3.3: without an authority a path cannot begin with two slashes
    ("app:/a", ".//x", "app:/.//x"), ("http://h", "g", "http://h/g"), ("http://h", ";x", "http://h/;x"), ("http://h", "?y", "http://h?y"),
]


@pytest.mark.parametrize(("base", "reference", "target"), MORE)
def test_the_strict_algorithm(base: str, reference: str, target: str) -> None:
    assert rfc3986.profile(base)(reference) == target


def literal(path: str) -> str:
    """Apply the algorithm of 5.2.4 literally, with strings for its two buffers."""
    output = ""
    while path:
        if path.startswith(("../", "./")):  # A
            path = path.partition("/")[2]
        elif path.startswith("/./") or path == "/.":  # B
            path = "/" + path[3:]
        elif path.startswith("/../") or path == "/..":  # C
            path = "/" + path[4:]
            output = output[: max(output.rfind("/"), 0)]
        elif path in {".", ".."}:  # D
            path = ""
        else:  # E
            end = path.find("/", 1)
            end = len(path) if end < 0 else end
            output += path[:end]
            path = path[end:]
    return output


@given(references | st.lists(st.sampled_from([".", "..", "a", "a.", ".a", "...", "/"])).map("".join))
@example("a./../b")
def test_removing_dot_segments_by_list_equals_the_output_buffer_of_rfc3986(path: str) -> None:
    assert rfc3986.remove_dot_segments(path) == literal(path)
