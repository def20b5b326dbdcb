"""Globs: which files of a folder are wanted."""

from __future__ import annotations

import pytest

from absolve import UsageError
from absolve.globs import Globs


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
    with pytest.raises(UsageError, match=r"'\[z-a\]' is no glob"):
        Globs(("[z-a]",)).checked()
