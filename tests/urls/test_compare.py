"""Predicates on a reference together with its base."""

from itertools import product
from typing import get_args

import pytest
from hypothesis import given
from resolver_strategies import bases, references

from absolve import Profile
from absolve.urls import PROFILES, resolve, whatwg
from absolve.urls.base import Compared

PACKAGES = ["package:///", "package:///p.html", "package:///OEBPS/text/p.html", "package:///a%20b//c.d/e:f"]
SHAPES = ["/x", "x", "?x", "#x", "./x", "../x", "../../x/y:z?a=1&b=2#c/d?e", "/", "#", "x;y", "/w/a:b", "a/b:c", "/%C3%A9", "x//y"]


@pytest.mark.parametrize("base", PACKAGES)
def test_profiles_agree_on_plain_references_in_a_package_unless_its_path_is_unusual(base: str) -> None:
    assert Compared(base).agrees_on_shapes()
    for reference in (*SHAPES, "//h/x", "//a-1.1b.example/x/y?z#w"):
        assert not Compared(base).divergent(reference)
        assert len({whatwg.parse(resolve(base, reference, profile) or "") for profile in get_args(Profile)}) == 1
    for path in ("/x", "./x", "x/../y", "x/%2E/y", "x;y", "x\\y", "x y", "x?y", "x#y"):
        assert not Compared(f"package:///{path}").agrees_on_shapes(), path


CLIMBS = {
    False: [
        ("http://h/a/b/c", "../../x"), ("http://h/a/b/c", "x/..y"), ("http://h/a/b/c", "?../../../.."),
        ("http://h/a/b/c", "#../../../.."), ("http://h/a/b/", "../.."), ("http://h/a/../b/c", "../x"), ("http://h/a//b", "../../x"),
        ("http://h/a", "/x/../y"), ("http://h/a/b", "data:../x"), ("http://h/b", "g;x/../y"), ("mailto:u", "../x"), ("", "../x"),
        ("http://h/../a", "x"), ("http://h/a/b", "x/.."),
    ],
    True: [
        ("http://h/a/b/c", "../../../x"), ("http://h/a/b/c", "../../.."), ("http://h/a/b/c", "x/../../../../y"),
        ("http://h/a/../b/c", "../../x"), ("http://h", "../x"), ("http://h/a", "/../x"), ("http://h/a/b", "//o/../x"),
        ("http://h/a/b", "http://o/../x"), ("http://h/b;v=1/c", "../x"), ("http://h/b", "g;x/../../y"), ("http://h/a/b", "../../x;.."),
        ("http://h/a", "x;/../../y"),
    ],
}


@pytest.mark.parametrize("climbs", CLIMBS)
def test_references_that_climb_above_the_root_of_the_base_are_found(climbs: bool) -> None:
    for base, reference in CLIMBS[climbs]:
        assert Compared(base).climbs_above_root(reference) == climbs, (base, reference)


BASES = [
    "http://a/b/c/d;p?q", "http://a/b/c/d;p?q#f", "http://a/b/c/d", "http://a/b;v/c", "http://a/b\\c",
    "http://a/b/..", "http://u:p@a/b", "http://:é[@a/b", "http://u?@a/b", "http://u\\@a/b", "http://a/b/%2e%2E",
    "http://a/b", "file:///C:/a", "file:///a/b", "mailto:u", "", "http://a/b;c?q", "http://a/b?c ", "http://a/b?c\n ",
    "http://a/b?c\t", "http://a/b;c?\t ", "http://a/b;c", "http://a?b/c;d", "http://a/b;c#f", "http://a/b;c#",
    "http://a/b;c  #f", "http://u:p@a/b;c", "http://u@v@a/b;c", "http://u@v\\w@a/b",
]
REFERENCES = [
    "g", ";x", "../../../g", "", "?", "http:g", "G g|é", "g g?h i#j k", " g", "g ", "//h", "\\y\\z", "..;x",
    "%2e%2e/../x", "//h?q", "///h/q", "http://h/a\\b/../c", "/x", "#x", "12:30.html", "+1:2", "host:8080/x",
    "\\\\my server\\x", "//my server/x", "http://[x", "mailto:u@h", "#f", "?  ", "c:d?e#f", ";g", "/g",
    "//u@v\\w@a/b", "//@/c", "x://u@h/../c", "x:c/../d", "x:c?d/../e", "file:c", "https:c",
]


@pytest.mark.parametrize("base", BASES)
def test_profiles_diverge_if_their_parsed_targets_differ(base: str) -> None:
    for reference in REFERENCES:
        assert Compared(base).divergent(reference) == judged(base, reference), reference


def test_a_query_encoded_in_another_charset_is_no_divergence_except_of_the_base() -> None:
    assert not Compared("http://a/b", "windows-1252").divergent("\udce9/é|?é")
    assert Compared("http://a/b;c?é", "windows-1252").divergent("")
    assert not Compared("http://a/b;c?é").divergent("")
    assert not Compared("http://a/b;c?e", "windows-1252").divergent("")


def judged(base: str, reference: str) -> bool:
    targets = [PROFILES[name].resolver(base)(reference) for name in ("rfc1808", "rfc3986", "whatwg")]
    parsed = {None if target is None else whatwg.parse(target) for target in targets}
    return len(parsed) > 1


@given(bases, references)
def test_the_divergence_shortcuts_agree_with_the_three_resolvers(base: str, reference: str) -> None:
    assert Compared(base).divergent(reference) == judged(base, reference)


def test_divergence_does_not_depend_on_the_length_of_the_reference() -> None:
    befores, units = ("", "//", "http://h/", "x:", "?", "#", "http://u"), ("'", "€", "@", "../", "..;/", "\\", "a\t", "?", "#")
    for base, before, unit in product(("http://h/a", "http://h/a;b"), befores, units):
        long = before + unit * 6000 + "@g/x"
        assert Compared(base).divergent(long) == judged(base, long) == Compared(base).divergent(before + unit * 6 + "@g/x"), (base, before, unit)
