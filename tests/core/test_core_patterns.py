"""Patterns of a user's rules match in time linear in the text; those that cannot are rejected with the reason."""

import sys
import time

import pytest

from absolve import MissingPackageError, UsageError
from absolve.core import patterns
from absolve.core.patterns import PatternSet, backtracks, matcher, template, whole_matcher


@pytest.mark.parametrize(("pattern", "new", "text", "expected"), [
    (r"http://o/(\d+)/(?P<month>\d+)", r"http://n/\1-\g<month>", "http://o/1/2", "http://n/1-2"),
    (r"http://o/(\d+)", r"\1", "http://o/1x", None), ("a|ab", r"<\g<0>>", "ab", "<ab>"), (r"(\w)(x)?", r"\1\2!", "a", "a!"),
    ("(?i)A.*", r"\\", "abc", "\\"), (".", "x", "\u00e9", "x"), (".", "x", "\ud800", None), ("a", "", "a\n", None),
])
def test_a_pattern_matches_the_whole_text_and_its_template_is_expanded(pattern: str, new: str, text: str, expected: str | None) -> None:
    groups = whole_matcher(pattern)(text)
    parts = template(new, pattern)
    made = None if groups is None else "".join(part if isinstance(part, str) else groups[part] or "" for part in parts)
    assert made == expected


@pytest.mark.parametrize(("pattern", "why"), [
    (r"(a)\1", "a back-reference"), (r"(?P<x>a)(?P=x)", "a back-reference"), (r"(?=a).*", "look-ahead"), (r"(?<!a)b", "look-behind"),
    (r"(?>a*)b|c", "atomic"), (r"(a)?(?(1)b|c)", "a condition"), (r"(?:a|bc){99999999}", "repetition"),
    ("(" * 100 + ")" * 100, "more than 99 groups"), ("(", "missing"), ("a)(b", "unexpected"),
    ("\ud800", "utf-8|surrogates|no regular expression"),
])
def test_a_pattern_that_cannot_be_linear_is_rejected_with_the_reason(pattern: str, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        whole_matcher(pattern)


def test_a_template_that_names_no_group_is_rejected() -> None:
    for new in (r"\2", r"\g<y>", r"\x", r"\g<²>", rf"\g<{'1' * 5000}>"):
        with pytest.raises(UsageError, match="the target"):
            template(new, "(x)")


@pytest.mark.parametrize(
    ("pattern", "unit"),
    [(r"(a|a)*b", "a"), (r"(a+)+b", "a"), (r".*a.*a.*a.*a.*a.*b", "a"), (r"(.*)/(.*)/(.*)/(.*)x", "/"), (r"(a*)*b", "a")],
)
def test_a_pattern_with_many_ways_to_match_takes_linear_time(pattern: str, unit: str) -> None:
    rule = whole_matcher(pattern)
    start = time.process_time()
    assert rule(unit * 100_000) is None
    assert time.process_time() - start < 10


@pytest.mark.parametrize(("pattern", "expected"), [
    (r"^/b/(\d+)/(.*)$", False), (r"^/a[+*]*\+x+$", False), (r"^/(a|b)?/(?:(.*))?$", False), (r"^/(?<year>\d{4})/(?:x)?-(.*)", False),
    (r"(a+)+b", True), (r"(a|a)*b", True), (r"(.*)(.*)", True), (r"a*a{2,}b", True), (r"a*b?a*c", True),
])
def test_a_pattern_that_pcre_may_match_in_more_than_linear_time_is_known(pattern: str, expected: bool) -> None:
    assert backtracks(pattern) is expected


def test_patterns_that_need_more_memory_than_a_set_has_are_all_candidates(monkeypatch: pytest.MonkeyPatch) -> None:
    large = [(f"^/{letter}(x{{500}}){{2}}$", False) for letter in "abcdefgh"]
    monkeypatch.setattr(patterns, "_ALL_SETS", 1)
    assert 1 in PatternSet(large).candidates("/b" + "x" * 1000)


def test_patterns_that_are_a_text_or_begin_with_one_are_found_without_an_automaton() -> None:
    given = [r"^/a\.html$", r"^/a\.", "^/a/", "^", "^$", "^/é$", "^/a.html$", "/a", "^/a*", "^/\\d$"]
    chosen = PatternSet((pattern, False) for pattern in given)
    for text in ("/a.html", "/a/", "/axhtml", "", "/é", "/1", "/d", "x/a"):
        wanted = [number for number, pattern in enumerate(given) if matcher(pattern)(text)]
        assert chosen.candidates(text) == wanted
    assert [len(numbers) for _, numbers in chosen._sets] == [4]
    assert PatternSet([(".", False)] * 9).candidates("/\ud800") == []  # a lone surrogate is no character that a set can name


def test_without_google_re2_a_pattern_names_the_command_that_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "re2", None)
    monkeypatch.setattr(patterns, "_library", patterns._library.__wrapped__)
    with pytest.raises(MissingPackageError, match="pip install google-re2"):
        matcher("only in this test")
