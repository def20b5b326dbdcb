"""Globs: which files of a folder are wanted."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from absolve import UsageError
from absolve.run import globs as module
from absolve.run.globs import Globs


@pytest.mark.parametrize("place", ["a.html", "docs/a.html", "a", "é"])
def test_without_globs_every_file_is_wanted(place: str) -> None:
    assert Globs().wanted(place)
    assert not Globs().excluded(place)


@pytest.mark.parametrize(
    ("glob", "matches", "others"),
    [
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
    ],
)
def test_a_glob_matches(glob: str, matches: list[str], others: list[str]) -> None:
    for globs, wanted, unwanted in ((Globs((glob,)), matches, others), (Globs((), (glob,)), others, matches)):
        assert [place for place in wanted if not globs.wanted(place)] == []
        assert [place for place in unwanted if globs.wanted(place)] == []


def test_a_last_slash_is_for_folders_only() -> None:
    globs = Globs((), ("build/",))
    assert (globs.wanted("build"), globs.excluded("build"), globs.excluded("d/build")) == (True, True, True)


def test_what_is_excluded_is_so_even_where_it_is_included() -> None:
    assert not Globs(("*.html",), ("a*",)).wanted("a.html")


def test_a_range_that_runs_backwards_is_no_glob() -> None:
    with pytest.raises(UsageError, match=r"'\[z-a\]' is not a valid glob"):
        Globs(("[z-a]",)).checked()


def by_backtracking(glob: str) -> re.Pattern[str]:
    """The same by Python's regular expressions, which try one way after the other."""
    means = {"**/": "(?:.*/)?", "/**": "/.*", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    tokens = re.findall(r"\*\*/|/\*\*\Z|\*\*|\*|\?|\[!?[a-c]+\]|.", glob.removeprefix("/"))
    regex = "".join(
        means.get(token)
        or (f"(?!/)[{'^' * (token[1] == '!')}{token.strip('[!]')}]" if len(token) > 1 else re.escape(token))
        for token in tokens
    )
    return re.compile(("" if "/" in glob else "(?:.*/)?") + regex, re.DOTALL)


@given(
    st.lists(st.sampled_from(["a", "b", "/", "*", "**", "**/", "?", "[ab]", "[!ab]", "."]), max_size=8).map("".join),
    st.lists(st.text("ab./\n", max_size=8), min_size=1, max_size=10),
)
def test_a_glob_matches_what_a_backtracking_matcher_does(glob: str, places: list[str]) -> None:
    regex = by_backtracking(glob.rstrip("/"))
    globs = Globs((glob.rstrip("/"),))
    assert [globs.wanted(place) for place in places] == [bool(regex.fullmatch(place)) for place in places]


@pytest.mark.parametrize(
    ("glob", "unit"),
    [
        ("*a" * 30 + "b", "a"),
        ("a*" * 30 + "b", "a"),
        ("**/a/" * 20 + "b", "a/"),
        ("**a" * 30 + "b", "a/"),
        ("*[ab]?" * 20 + "c", "ab"),
        ("*" * 60 + "b", "a"),
        ("**/" * 40 + "b", "a/"),
    ],
)
def test_each_character_of_a_path_is_looked_at_once(glob: str, unit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Steps are counted: what is remembered of earlier ones is forgotten, so that each character takes one."""
    steps = 0
    follow = module._Matcher._following

    def counted(matcher: module._Matcher, states: int, character: str) -> int:
        nonlocal steps
        steps += 1
        try:
            return follow(matcher, states, character)
        finally:
            matcher._known.entries.clear()

    monkeypatch.setattr(module._Matcher, "_following", counted)
    for size in (100, 200, 400):
        steps = 0
        place = unit * size
        assert not Globs((glob,)).wanted(place)
        assert steps <= len(place)


def test_what_is_remembered_has_a_limit() -> None:
    matcher = module._Matcher("*a*b*")
    for number in range(0x4E00, 0x4E00 + 20_000):
        matcher.matches(chr(number))
    assert len(matcher._known.entries) <= 4096


@pytest.mark.parametrize("glob", ["[" * 5000, "*" * 5000, "[]", "[!]", "[z-a]"])
def test_what_is_too_long_or_empty_is_no_glob(glob: str) -> None:
    with pytest.raises(UsageError, match="is not a valid glob"):
        Globs((glob,)).checked()


def test_a_set_has_no_slash_in_it() -> None:
    places = [chr(number) for number in range(128)]
    assert [place for place in places if Globs(("d/[+-9]",)).wanted(f"d/{place}")] == [*"+,-.", *"0123456789"]
