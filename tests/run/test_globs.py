"""Globs: selection of the files of a folder."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from absolve import UsageError
from absolve.run import globs as module
from absolve.run.globs import Globs


@pytest.mark.parametrize("place", ["a.html", "docs/a.html", "a", "é"])
def test_without_globs_every_file_is_selected(place: str) -> None:
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
def test_a_glob_matches_the_expected_paths(glob: str, matches: list[str], others: list[str]) -> None:
    for globs, wanted, unwanted in ((Globs((glob,)), matches, others), (Globs((), (glob,)), others, matches)):
        assert [place for place in wanted if not globs.wanted(place)] == []
        assert [place for place in unwanted if globs.wanted(place)] == []


def test_a_glob_with_a_final_slash_matches_only_folders() -> None:
    globs = Globs((), ("build/",))
    assert (globs.wanted("build"), globs.excluded("build"), globs.excluded("d/build")) == (True, True, True)


def test_exclude_overrides_include() -> None:
    assert not Globs(("*.html",), ("a*",)).wanted("a.html")


def test_a_reversed_range_in_a_glob_is_an_error() -> None:
    with pytest.raises(UsageError, match=r"'\[z-a\]' is not a valid glob"):
        Globs(("[z-a]",)).checked()


def by_backtracking(glob: str) -> re.Pattern[str]:
    """Match by Python's regular expressions, which backtrack."""
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
def test_a_glob_matches_like_a_backtracking_matcher(glob: str, places: list[str]) -> None:
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
def test_a_glob_reads_each_character_of_a_path_once(glob: str, unit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Count steps with an empty cache: each character takes one."""
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


def test_the_cache_of_a_glob_is_bounded() -> None:
    matcher = module._Matcher("*a*b*")
    for number in range(0x4E00, 0x4E00 + 20_000):
        matcher.matches(chr(number))
    assert len(matcher._known.entries) <= 4096


@pytest.mark.parametrize("glob", ["[" * 5000, "*" * 5000, "[]", "[!]", "[z-a]"])
def test_an_empty_or_too_long_glob_is_an_error(glob: str) -> None:
    with pytest.raises(UsageError, match="is not a valid glob"):
        Globs((glob,)).checked()


def test_a_character_set_of_a_glob_matches_no_slash() -> None:
    places = [chr(number) for number in range(128)]
    assert [place for place in places if Globs(("d/[+-9]",)).wanted(f"d/{place}")] == [*"+,-.", *"0123456789"]
