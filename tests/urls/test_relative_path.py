"""Relative paths from a folder to a file: a URL parser resolves them back to the file."""

from urllib.parse import urljoin

import pytest
from hypothesis import given
from hypothesis import strategies as st

from absolve.urls.relative_path import relative_path

SEGMENTS = st.lists(st.text("abc", min_size=1, max_size=2), max_size=4)


@pytest.mark.parametrize(("folder", "path", "found"), [
    ("", "b", "b"), ("", "a/b", "a/b"), ("a", "b", "../b"), ("a", "a/b", "b"), ("a", "a/", ""), ("a", "a", "../a"),
    ("a/b", "a/c/d", "../c/d"), ("a/b/c", "", "../../../"), ("ab", "a/b", "../a/b"),
])
def test_a_path_leads_from_a_folder_to_a_file(folder: str, path: str, found: str) -> None:
    assert relative_path(folder, path) == found


@given(SEGMENTS, SEGMENTS, st.sampled_from(["x", "x.html", ""]))
def test_a_relative_path_resolves_to_the_file(folder: list[str], above: list[str], name: str) -> None:
    path = "/".join([*above, name])
    base = "/".join(["http://h", *folder, ""])
    assert urljoin(base, relative_path("/".join(folder), path) or ".") == f"http://h/{path}"
