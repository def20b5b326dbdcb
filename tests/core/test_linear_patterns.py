"""Patterns of rules match as in Python, in time linear in the length of the text; others are rejected."""

from __future__ import annotations

import pickle
import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from absolve import UsageError
from absolve.core import linear_patterns
from absolve.core.linear_patterns import Automaton, Substitution, is_plain

PLAIN = [
    "",
    "abc",
    r"http://o/(\d+)/(\d+)",
    r"http://o/blog/(\d+)/(?P<month>\d+)",
    r"http://o/(.*)",
    r"http://o/([^/]+)/([^/]+)/([^?]+)\?(.*)",
    r"^http://o/(.*)\.html$",
    r"http://o/(.*?)\.php",
    r"[a-z]{3}x*",
    r"(a|b)",
]
AUTOMATA = [
    r"http://o/(.*)/(.*)",
    r"http://o/(\d+)(\d+)",
    r"(ab|b)",
    r".*[ab]{65}x",
    r"(?i)http://O/.*",
    r"(?:(a)|b)*",
    r".*a{0}.*a{0}.*b",
    r"[a-z]*1{0}[a-z]*",
    r"\bx\b",
    r"(?:ab)+",
]


def automaton(pattern: str) -> Automaton:
    return Automaton(linear_patterns._parser.parse(pattern))


@pytest.mark.parametrize("pattern", PLAIN)
def test_an_unambiguous_pattern_uses_the_matcher_of_python(pattern: str) -> None:
    assert is_plain(linear_patterns._parser.parse(pattern))


@pytest.mark.parametrize("pattern", AUTOMATA)
def test_an_ambiguous_pattern_becomes_an_automaton(pattern: str) -> None:
    assert not is_plain(linear_patterns._parser.parse(pattern))


def groups(pattern: str, text: str) -> tuple[str | None, ...] | None:
    match = re.fullmatch(pattern, text)
    return None if match is None else (match[0], *match.groups())


@pytest.mark.parametrize(
    ("pattern", "texts"),
    [
        (
            r"http://o/(.*)/(.*)\.html",
            ["http://o/a/b/c.html", "http://o//.html", "http://o/a.html", "http://o/a/b.htm"],
        ),
        (r"(a+)(a*)(a?)b", ["aaab", "ab", "b", "aaa"]),
        (r"(a+?)(a*?)(a??)b", ["aaab", "ab", "b"]),
        (r"(?:(a)|(b))*c", ["abc", "bac", "c", "abca"]),
        (r"(a|ab)(c|bcd)(d*)", ["abcd", "acd", "abc"]),
        (r"(?i)HTTP://(\w+)/É", ["http://x/é", "HTTP://é/É", "http://-/é"]),
        (r"(x{2,4})(x{2,4}?)(x*)", ["x" * number for number in range(12)]),
        (r"^(a*)$", ["aa", "", "aa\n", "b"]),
        (r"(?s)(.*)x(.*)$\n?", ["axb\n", "x", "\nx\n"]),
        (r"(?m)(?:^a+$\n?)*", ["a\naa\n", "a\nb", ""]),
        (r"\b(\w+)\b.*\b(\w+)\b", ["ab cd", "ab", "a b c", "é ü"]),
        (r"\B.\B", ["a", "-", ""]),
        (r"(?a)(\w+)|(\W+)", ["é", "e", "ée"]),
        (r"([^/]+/)*([^/]+)", ["a/b/c", "a", "a//b", "/"]),
        (r"((?P<one>a)|(?P<two>b))+", ["ab", "ba", ""]),
        (r"(?:a(?i:b)c)+|(d)?", ["aBcabc", "ABC", "d", ""]),
        (r"[\]\-^a-c\d]+|[^\w]", ["]-^b5", "é", "!", "\udcff"]),
    ],
)
def test_an_automaton_finds_the_groups_that_python_finds(pattern: str, texts: list[str]) -> None:
    ours = automaton(pattern)
    assert [ours.fullmatch(text) for text in texts] == [groups(pattern, text) for text in texts]


ATOMS = st.sampled_from(["a", "b", ".", "[ab]", "[^a]", r"\w", "ab", r"\b", "^", "$"])


def grown(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    repeats = st.sampled_from(["*", "+", "?", "*?", "+?", "??", "{2}", "{1,3}", "{0,2}?", "{2,}"])
    return st.one_of(
        st.tuples(inner, inner).map("".join),
        inner.map("({})".format),
        st.tuples(inner, inner).map(lambda two: f"({two[0]}|{two[1]})"),
        st.tuples(inner.map("({})".format), repeats).map("".join),
    )


@given(st.recursive(ATOMS, grown, max_leaves=8), st.lists(st.text("ab-\n", max_size=7), min_size=1, max_size=8))
@example("(a|ab)(bc|c)?", ["abc"])
@example("((a)|b)+", ["ab"])
def test_any_pattern_matches_as_in_python(pattern: str, texts: list[str]) -> None:
    try:
        rule = Substitution(pattern, r"[\g<0>]")
        ours = automaton(pattern)
    except UsageError as error:
        assert "may be empty" in str(error)  # noqa: PT017 - or it is none
        return
    for text in texts:
        expected = groups(pattern, text)
        assert ours.fullmatch(text) == expected
        assert rule(text) == (None if expected is None else f"[{text}]")


@pytest.mark.parametrize(
    ("template", "new"),
    [
        (r"http://n/\1-\g<two>\3", "http://n/a-b"),
        (r"\g<0>", "a/b"),
        (r"\\1\n\x", None),
        (r"\\1\n", "\\1\n"),
        (r"\g<1>0\101", "a0A"),
        ("", ""),
    ],
)
@pytest.mark.parametrize("pattern", [r"(\w)/(?P<two>\w)(x*)", r"(\w)/(?P<two>.*.*)(x)?"], ids=["plain", "automaton"])
def test_a_replacement_template_expands_as_in_python(pattern: str, template: str, new: str | None) -> None:
    if new is None:
        with pytest.raises(UsageError):
            Substitution(pattern, template)
        return
    assert Substitution(pattern, template)("a/b") == new
    match = re.fullmatch(pattern, "a/b")
    assert match is not None
    assert match.expand(template) == new


def test_a_rule_can_be_pickled() -> None:
    rule = pickle.loads(pickle.dumps(Substitution("(.*)/(.*)", r"\2/\1")))  # noqa: S301 - our own
    assert rule("a/b") == "b/a"


@pytest.mark.parametrize(
    ("pattern", "why"),
    [
        (r"(a)\1", "a back-reference"),
        (r"(?=a).*", "look-ahead"),
        (r"(?<!a)b", "look-behind"),
        (r"(?>a*)b|c", "atomic"),
        (r"(?:a|b)*+", "possessive"),
        (r"(a)?(?(1)b|c)", "a condition"),
        (r"(a*)*", "may be empty"),
        (r"(?:a?){20}", "may be empty"),
        (r"(?:(?:a{99}){99}){99}|b", "too large"),
        (r"(?:a|bc){99999999}", "too large"),
        ("(" * 5000 + ")" * 5000, "deep"),
        (r"a{99999999999999999999}", "repetition"),
        (r"(?!)", "FAILURE|look-ahead"),
        ("(", "unterminated"),
    ],
    ids=lambda value: str(value)[:20],
)
def test_a_pattern_that_cannot_be_linear_is_rejected_with_the_reason(pattern: str, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        Substitution(pattern, "x")


@pytest.mark.parametrize(
    ("pattern", "unit"),
    [
        (r"(a|a)*b", "a"),
        (r"(a+)+b", "a"),
        (r"(?:a|aa)+b", "a"),
        (r".*a.*a.*a.*a.*a.*b", "a"),
        (r"(.*)/(.*)/(.*)/(.*)/(.*)x", "/"),
        (r"(?:\w+\s?)+!", "ab "),
        (r"([^/]+/)*([^/]+/)*([^/]+/)*$x", "a/"),
        (r"(?i)(A|a|[aA])+b", "aA"),
        (r"(?:a{1,20}){1,20}b", "a"),
        (r"\b(?:\w+\b-?)+!", "a-"),
    ],
)
def test_an_automaton_reads_each_character_once(pattern: str, unit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Count steps with an empty cache; Python's matcher would take exponential time."""
    steps = 0
    step = Automaton._step

    def counted(ours: Automaton, *key: int | str) -> int:
        nonlocal steps
        steps += 1
        try:
            return step(ours, *key)  # type: ignore[arg-type]
        finally:
            ours._known.entries.clear()

    monkeypatch.setattr(Automaton, "_step", counted)
    rule = Substitution(pattern, "x")
    for size in (200, 400, 800):
        for text in (
            unit * size,
            unit * size + "!",
            "!" + unit * size + "b",
            "!" + unit * size + "x",
            unit * size + "b",
        ):
            steps = 0
            rule(text)
            assert steps <= len(text)


def test_the_cache_of_an_automaton_is_bounded() -> None:
    ours = automaton("(.|..)*")
    for number in range(0x4E00, 0x4E00 + 10_000):
        ours.fullmatch(chr(number))
    assert len(ours._known.entries) <= 4096


@pytest.mark.parametrize("pattern", PLAIN)
def test_an_unambiguous_pattern_takes_linear_time(pattern: str) -> None:
    """Double the text repeatedly: a quadratic matcher would take 65,536 times as long for the last text."""
    for unit in ("http://o/", "1", "1/", "a", "/", ".html", "x"):
        for text in ("http://o/" + unit * 250_000, "http://o/blog/1/" + unit * 250_000 + "!", "abc" + unit * 250_000):
            Substitution(pattern, "x")(text)
