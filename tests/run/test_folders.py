"""Globs: selection of the files of a folder."""

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from absolve import UsageError
from absolve.run.folders import Globs


@pytest.mark.parametrize("place", ["a.html", "docs/a.html", "a", "é"])
def test_without_globs_every_file_is_selected(place: str) -> None:
    assert Globs().wanted(place)
    assert not Globs().excluded(place)


@pytest.mark.parametrize(("glob", "matches", "others"), [
    ("*.html", ["a.html", "d/e/a.html", ".html"], ["a.htm", "a.html/b", "a.html.orig"]),
    ("a", ["a", "d/a"], ["a/b", "ab"]),
    ("/a", ["a"], ["d/a"]),
    ("d/*", ["d/a"], ["d/e/a", "a", "x/d/a"]),
    ("d/**", ["d/a", "d/e/a"], ["d", "x/d/a"]),
    ("**/d/*", ["d/a", "x/y/d/a"], ["d/e/a", "xd/a"]),
    ("d/**/a", ["d/a", "d/e/f/a"], ["d/ba"]),
    ("?", ["a", "d/é"], ["ab", ""]),
    ("[ab].c", ["a.c", "d/b.c"], ["c.c"]),
    ("[!ab]", ["c", "^"], ["a", "b"]),
    ("[]^]", ["]", "^"], ["a"]),
    ("[a", ["[a"], ["a"]),
    ("a.b+(c)", ["a.b+(c)"], ["axb", "a.bb(c)"]),
    ("d/[!a]", ["d/b"], ["d//"]),
])
def test_a_glob_matches_the_expected_paths(glob: str, matches: list[str], others: list[str]) -> None:
    for globs, wanted, unwanted in ((Globs((glob,)), matches, others), (Globs((), (glob,)), others, matches)):
        assert [place for place in wanted if not globs.wanted(place)] == []
        assert [place for place in unwanted if globs.wanted(place)] == []


def test_a_glob_with_a_final_slash_matches_only_folders() -> None:
    globs = Globs((), ("build/",))
    assert (globs.wanted("build"), globs.excluded("build"), globs.excluded("d/build")) == (True, True, True)


def test_exclude_overrides_include() -> None:
    assert not Globs(("*.html",), ("a*",)).wanted("a.html")


def by_backtracking(glob: str) -> re.Pattern[str]:
    """Match by Python's regular expressions, which backtrack."""
    means = {"**/": "(?:.*/)?", "/**": "/.*", "**": ".*", "*": "[^/]*", "?": "[^/]", "[ab]": "[ab]", "[!ab]": "[^ab/]"}
    tokens = re.findall(r"\*\*/|/\*\*\Z|\*\*|\*|\?|\[!?ab\]|.", glob if "/" in glob else f"**/{glob}")
    return re.compile("".join(means.get(token) or re.escape(token) for token in tokens), re.DOTALL)


def segments(*names: str) -> st.SearchStrategy[str]:
    return st.lists(st.sampled_from(names), min_size=1, max_size=6).map("/".join)


@given(segments("a", "a*b", "*", "**", "?", "[ab]*", "[!ab]", "."), st.lists(segments("a", "ab", "b", ".", "\n"), min_size=1))
def test_a_glob_matches_like_a_backtracking_matcher(glob: str, places: list[str]) -> None:
    regex = by_backtracking(glob)
    assert [Globs((glob,)).wanted(place) for place in places] == [bool(regex.fullmatch(place)) for place in places]


@pytest.mark.parametrize(("glob", "unit"), [
    ("*a" * 30 + "b", "a"),
    ("a*" * 30 + "b", "a"),
    ("**/a/" * 20 + "b", "a/"),
    ("**a" * 30 + "b", "a/"),
    ("*[ab]?" * 20 + "c", "ab"),
    ("*" * 60 + "b", "a"),
    ("**/" * 40 + "b", "a/"),
])
def test_a_glob_takes_linear_time(glob: str, unit: str) -> None:
    size = 20_000 // len(unit)
    start = time.process_time()
    assert not Globs((glob,)).wanted(unit * size)
    assert time.process_time() - start < 5


def test_a_too_long_glob_is_an_error() -> None:
    with pytest.raises(UsageError, match="is not a valid glob"):
        Globs(("*" * 5000,)).checked()


def test_a_character_set_of_a_glob_matches_no_slash() -> None:
    places = [chr(number) for number in range(128)]
    assert [place for place in places if Globs(("d/[+-9]",)).wanted(f"d/{place}")] == [*"+,-.", *"0123456789"]
