"""Maps that would take for ever, or all memory, if they were matched rule by rule."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from moving import NEW, lead, problems, rules

from absolve.audit.maps import patterns


class Steps:
    """Counts the lines of Python that run: a measure of time that does not depend on the machine."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, _frame: object, event: str, _argument: object) -> Steps:
        self.count += event == "line"
        return self


def steps_of(call: object) -> int:
    import sys

    steps = Steps()
    before = sys.gettrace()
    sys.settrace(steps)
    try:
        call()  # type: ignore[operator]  # a callable
    finally:
        sys.settrace(before)
    return steps.count


def test_a_chain_of_a_thousand_hops_is_followed_to_its_end() -> None:
    text = "".join(f"/h{number},/h{number + 1}\n" for number in range(5000))
    made = rules(text, "map.csv")
    found = made.chain(NEW + "h0")
    assert (found.hops, found.final) == (5000, NEW + "h5000")
    assert len(found.rules) == 8
    assert [made.chain(f"{NEW}h{number}").hops for number in range(5000)] == list(range(5000, 0, -1))


def test_every_url_of_a_long_circle_knows_its_length() -> None:
    text = "".join(f"/h{number},/h{(number + 1) % 2000}\n" for number in range(2000))
    made = rules(text, "map.csv")
    assert {made.chain(f"{NEW}h{number}").hops for number in range(2000)} == {2000}


@pytest.mark.parametrize("name", ["map.csv", ".htaccess", "site.conf"])
def test_a_catastrophic_regular_expression_is_matched_in_linear_time(name: str) -> None:
    text = {
        "map.csv": r"/(a+)+b,/c,regex",
        ".htaccess": "RewriteRule ^(a+)+b$ /c [R]\nRedirectMatch ^/(a|aa)+b$ /d",
        "site.conf": "rewrite ^/(a+)+b$ /c permanent;\nlocation ~ ^/(a|a)*b$ { return 301 /d; }",
    }[name]
    made = rules(text, name)
    assert not problems(made)
    assert lead(made, f"/{'a' * 20_000}") is None
    assert lead(made, "/aab") == "/c"


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("map.csv", "/r{}/x,/s{},prefix\n"),
        ("map.csv", "/r{}/x,/s{}\n"),
        ("_redirects", "/r{}/* /s{}/:splat\n"),
        ("_redirects", "/r{}/:a/x /s{}/:a\n"),
        (".htaccess", "Redirect /r{}/x /s{}\n"),
        (".htaccess", "RewriteRule ^r{}/(.*)$ /s{}/$1 [R]\n"),
        ("site.conf", "location /r{}/ {{ return 301 /s{}; }}\n"),
        ("site.conf", "location = /r{}/x {{ return 301 /s{}; }}\n"),
        ("site.conf", "rewrite ^/r{}/(.*)$ /s{}/$1 permanent;\n"),
        ("site.conf", "if ($request_uri = /r{}/x) {{ return 301 /s{}; }}\n"),
        ("moved.map", "/r{}/x /s{};\n"),
    ],
)
def test_the_time_of_a_url_does_not_grow_with_the_number_of_rules(name: str, line: str) -> None:
    def steps(count: int) -> int:
        made = rules("".join(line.format(number, number) for number in range(count)), name)
        made.chain(NEW + "r5/x")  # compiles what is compiled on first use
        return steps_of(lambda: [made.chain(f"{NEW}r{number}/{end}") for number in (7, 10**9) for end in ("x", "y/x")])

    assert steps(2000) <= 2 * steps(100)


@pytest.mark.parametrize("name", ["map.csv", "site.conf"])
def test_prefixes_are_found_in_time_linear_in_the_length_of_a_path(name: str) -> None:
    line = {"map.csv": "{},/x,prefix\n", "site.conf": "location {} {{ return 301 /x; }}\n"}[name]
    made = rules("".join(line.format("/a" * number) for number in range(1, 400)), name)
    made.chain(NEW)

    def steps(length: int) -> int:
        return steps_of(lambda: made.chain(f"{NEW[:-1]}{'/a' * length}b"))

    assert steps(4000) <= 6 * steps(1000)


def test_a_million_rules_are_read_and_the_last_one_applies() -> None:
    text = "".join(f"/r{number},/s{number}\n" for number in range(200_000))
    made = rules(text, "map.csv")
    assert lead(made, "/r199999") == "/s199999"


def test_many_rules_for_one_path_are_told_apart_by_their_parameters() -> None:
    made = rules("".join(f"/p id={number} /s{number}\n" for number in range(3000)), "_redirects")
    assert lead(made, "/p?x=1&id=2999") == "/s2999?x=1"
    assert steps_of(lambda: made.chain(NEW + "p?id=1500")) < 2000


@pytest.mark.parametrize("name", ["map.csv", "_redirects", ".htaccess", "site.conf", "moved.txt"])
@settings(max_examples=60)
@given(data=st.binary(max_size=200) | st.text(alphabet="/ab*:,;{}()[]<>\"'\\$%~^=! \n#", max_size=120).map(str.encode))
def test_any_bytes_are_a_map_with_unread_rules_at_worst(name: str, data: bytes) -> None:
    made = rules(data, name)
    lead(made, "/a/b?a=b")
    for found in made.sets:
        assert all(rule.line >= 1 for rule in found.rules)


WITHOUT_RE2 = [
    (r"^/(a+)+b$", "/aaab", ("/aaab", "aaa")),
    (r"b", "abc", ("b",)),
    (r"^/(?<year>\d+)/", "/20/x", ("/20/", "20")),
    (r"x", "abc", None),
]


@pytest.mark.parametrize(("pattern", "text", "groups"), WITHOUT_RE2)
def test_without_re2_patterns_match_in_the_same_way(monkeypatch: pytest.MonkeyPatch, pattern: str, text: str, groups: tuple[str, ...] | None) -> None:
    found = [patterns.matcher(pattern)(text)]
    names = [patterns.names(pattern)]
    monkeypatch.setattr(patterns, "_library", lambda: None)
    found.append(patterns.matcher(pattern)(text))
    names.append(patterns.names(pattern))
    assert found == [groups, groups]
    assert names[0] == names[1]
    assert patterns.groups(pattern) == pattern.count("(")
    assert patterns.PatternSet([(pattern, False)] * 5).candidates(text) == [0, 1, 2, 3, 4]
