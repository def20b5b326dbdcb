"""Remapping of old URLs to new ones: rules apply to whole parts of URLs only."""

import pickle

import pytest
from linear import measure

import absolve
from absolve.core.errors import UsageError
from absolve.rewriting.remap import Change, Remapping, parse

SITE = Change("http://old.example", "https://new.example")
DOCS = Change("http://old.example/docs", "https://docs.example/v2")


LOOK_ALIKES = """http://notold.example/ http://old.example.org/ http://www.old.example/ https://old.example/ http://old.example:8080/
http://old.example@evil.example/ http://user@old.example/ http://evil.example/http://old.example/ http://evil.example/?u=http://old.example
mailto:x@old.example old.example/docs /docs"""
MAPPED: list[tuple[list[Change], dict[str, str | None]]] = [
    ([SITE, DOCS], {
        **dict.fromkeys(["", *LOOK_ALIKES.split()]), "http://old.example": "https://new.example/", "http://old.example/": "https://new.example/",
        "http://OLD.Example:80/A/b?c#d": "https://new.example/A/b?c#d", "HTTP://old.example/a": "https://new.example/a",
        "http://old.example?q": "https://new.example/?q", "http://old.example#f": "https://new.example/#f",
        "http://old.example/docs": "https://docs.example/v2", "http://old.example/docs/": "https://docs.example/v2/",
        "http://old.example/docs?q": "https://docs.example/v2?q", "http://old.example/docs#f": "https://docs.example/v2#f",
        "http://old.example/docs/a/b": "https://docs.example/v2/a/b", "http://old.example/docsy": "https://new.example/docsy",
        "http://old.example/Docs": "https://new.example/Docs",
    }),
    ([Change("http://o/d/", "http://n/e")], {"http://o/d/x": "http://n/e/x"}), ([Change("http://o/d", "http://n/e/")], {"http://o/d/x": "http://n/e/x"}),
    ([Change("http://o/d/", "http://n/e/")], {"http://o/d": None}),
    ([Change("http://o/p?id=1", "http://n/1")], {"http://o/p?id=1&x": "http://n/1&x", "http://o/p?id=12": None}),
    ([Change("http://o:8080", "http://n")], {"http://o:8080/x": "http://n/x"}), ([Change("http://o:80", "http://n")], {"http://o/x": "http://n/x"}),
    ([Change("http://u@o", "http://n")], {"http://u@o/x": "http://n/x", "http://o/x": None}),
    ([Change("//o", "//n")], {"http://o/x": "http://n/x", "https://o/x": "https://n/x", "ftp://o/x": None}),
    ([Change("//o", "https://n")], {"http://o/x": "https://n/x"}), ([Change("http://o", "//n")], {"http://o/x": "http://n/x"}),
    ([Change("http://\u00f6.example", "http://n")], {"http://xn--nda.example/x": "http://n/x"}),
    ([Change("http://o/a", "http://n/b", "exact"), Change("http://o/a#g", "http://n/G", "exact")], {  # one URL, whose fragment is kept
        "http://o/a": "http://n/b", "http://O/a": "http://n/b", "http://o/a#f": "http://n/b#f", "http://o/a#g": "http://n/G", "http://o/a/": None,
        "http://o/a?q": None, "http://o/A": None,
    }),
    ([Change(r"http://o/blog/(\d+)/(?P<month>\d+)", r"http://n/\1-\g<month>", "regex")], {  # it matches the whole URL
        "http://o/blog/2009/07": "http://n/2009-07", "HTTP://O/blog/2009/07": "http://n/2009-07", "http://o/blog/2009/07/x": None,
        "x http://o/blog/2009/07": None,
    }),
    ([Change("http://o/(.*)", r"\1", "regex")], {"http://o/x": None}),  # which is no URL
]


@pytest.mark.parametrize(("rules", "urls"), MAPPED, ids=lambda value: value[0].old if isinstance(value, list) else "")
def test_the_longest_prefix_of_whole_url_parts_or_the_rule_for_a_whole_url_applies(rules: list[Change], urls: dict[str, str | None]) -> None:
    for url, new in urls.items():
        assert Remapping(rules)(url) == Remapping(rules[::-1])(url) == new, url


def test_the_first_of_many_regular_expressions_applies_and_its_result_is_mapped_again() -> None:
    rules = [Change(rf"http://o/{number}(/.*)?", rf"http://o/x{number}\1", "regex") for number in range(300)]
    rules += [Change(r"http://o/7/(.*)", r"http://late/\1", "regex"), Change(r"http://o/(?:x7/|~)(.*)", r"http://n/\1", "regex")]
    for made in (Remapping(rules), pickle.loads(pickle.dumps(Remapping(rules)))):  # noqa: S301 - our own
        assert [made("http://o/7/a"), made("HTTP://O/7/%61")] == ["http://n/a", "http://n/%61"]
        assert [made("http://o/8/b"), made("http://o/%7eq")] == ["http://o/x8/b", "http://n/q"]
        assert made("http://o/y") is made("http://o/\ud800") is None
        assert pickle.loads(pickle.dumps(made))("http://o/7/a") == "http://n/a"  # noqa: S301 - our own


def test_the_time_of_a_url_does_not_grow_with_the_number_of_regular_expressions() -> None:
    def work(data: bytes) -> None:
        made = Remapping([Change(rf"http://o/{number}/(.*)", r"http://n/\1", "regex") for number in range(len(data))])
        for number in range(len(data)):
            made(f"http://p/{number}/x")

    measure(work, bytes(1000))


def test_exact_rules_precede_prefixes_and_these_regular_expressions() -> None:
    rules = [Change(r"http://o/.*", "http://regex/", "regex"), Change("http://o/a", "http://prefix/")]
    assert Remapping(rules)("http://o/a") == "http://prefix/"
    assert Remapping(rules)("http://o/b") == "http://regex/"
    assert Remapping([*rules, Change("http://o/a", "http://exact/", "exact")])("http://o/a") == "http://exact/"


@pytest.mark.parametrize("change", [
    Change("old.example", "http://n/"), Change("http://o/", "n"), Change("http://o/", ""), Change("http://[o/", "http://n/"),
    Change("http://o/", "http://n/", "suffix"), Change("(", "http://n/", "regex"), Change("(x)", r"http://n/\2", "regex"),
    Change("(x)", r"http://n/\g<y>", "regex"),
])
def test_an_invalid_remap_rule_is_rejected(change: Change) -> None:
    with pytest.raises(UsageError):
        Remapping([change])


def test_the_two_urls_of_a_rule_are_separated_by_the_equals_sign_before_a_url() -> None:
    assert parse("http://o=http://n") == Change("http://o", "http://n")
    assert parse("//o=//n") == Change("//o", "//n")
    assert parse("http://o/?a=b=https://n/?a=b") == Change("http://o/?a=b", "https://n/?a=b")
    for text in ("http://o", "http://o=n", "http://o/?u=http://p=http://n"):
        with pytest.raises(UsageError, match="--remap"):
            parse(text)


A, B, C = "http://o/a", "http://o/b", "http://n/c"


@pytest.mark.parametrize(("rules", "url", "new"), [
    ([(A, B), (B, C)], "http://o/a/x?q#f", "http://n/c/x?q#f"),
    ([(B, C), (A, B)], "http://o/a", C),
    ([(A, B, "exact"), ("http://o/(.).*", r"http://n/\1", "regex")], A, "http://n/b"),
    ([("http://o", "https://o"), ("//o/a", "https://n/a")], "http://o/b", "https://o/b"),
    ([("//o", "https://o")], "https://o/b", "https://o/b"),
    ([("http://o", "http://o/old"), ("http://o/old/x", "http://o/y", "exact")], "http://o/x", "http://o/y"),
    ([("http://o", "http://o/old")], "http://o/x", "http://o/old/x"),
    ([("http://o/(.*)", r"http://o/old/\1", "regex")], "http://o/x", "http://o/old/x"),
    ([(A, B), ("http://o/b/x", "http://o/a/y", "exact")], "http://o/a/x", "http://o/b/y"),
    ([(A, B), (B, A)], "http://o/a/x", None),
    ([(A, B), (B, A), ("http://o/c", "http://o/a/x")], "http://o/c", None),
    ([(A, "http://o/b/a"), (B, A)], "http://o/a/x", None),
    ([("http://o/a(.*)", r"http://o/b\1\1", "regex"), ("http://o/b(.*)", r"http://o/a\1", "regex")], "http://o/a/x", None),
])  # fmt: skip
def test_rules_chain_to_their_end_and_a_circle_maps_nothing(rules: list[tuple[str, ...]], url: str, new: str | None) -> None:
    remapping = Remapping(rules)
    assert remapping(url) == new
    assert remapping.met
    assert bool(remapping.in_circles()) == (new is None)


def test_all_rules_of_a_chain_are_met_and_named() -> None:
    remapping = Remapping([(A, B), (B, C)])
    remapping(A)
    assert (remapping.met, remapping.matched) == ({0, 1}, f"{A}={B}, {B}={C}")
    remapping = Remapping([(C, A), (A, B), (B, A)])
    remapping(C)
    assert remapping.met == {0, 1, 2}


@pytest.mark.parametrize(("old", "url", "new"), [
    ("http://o/%7Ejoe", "http://o/~joe/a%7Eb?c%7E", "http://n/a%7Eb?c%7E"),
    ("http://o/~joe/", "http://o/%7ejoe/a%2Fb/%C3%A9", "http://n/a%2Fb/%C3%A9"),
    ("http://o/~joe", "http://o/%7Ejoe#%7e", "http://n/#%7e"), ("http://o/%C3%BC%20b", "http://o/\u00fc b/%7E", "http://n/%7E"),
    ("http://o/a&", "http://o/a%26/%7E", "http://n/%7E"), ("http://o/a/", "http://o/a%2F%7E", None),
    ("http://o/a%23b", "http://o/a#b", None), ("http://o/a", "http://o/%61&%7E", None), ("http://o/%257E", "http://o/~", None),
    ("http://o/?q=~", "http://o/?q=%7E", None),
])
def test_paths_of_rules_match_in_every_spelling_and_the_rest_keeps_its_own(old: str, url: str, new: str | None) -> None:
    assert Remapping([(old, "http://n/")])(url) == new
    if new is not None and "/~joe" in url and "#" not in url:
        assert Remapping([("http://o/~(.*)", r"http://n/\1", "regex")])(url) is not None


def test_rules_that_never_apply_or_go_in_a_circle_are_found_with_both_lines() -> None:
    rules = [(A, B), ("//o/a", B), ("http://o/%61", C), (B, A), ("x(.*)", "http://n/", "regex"), ("x(.*)", C, "regex"), (C, A, "exact")]
    lines = {number: ("r.csv", number + 2) for number in range(len(rules))}
    remapping = Remapping(rules, lines=lines)
    assert [(found.line, found.code, "r.csv:" + found.text.partition("r.csv:")[2][:1]) for found in remapping.findings()] == [
        (4, "rule-contradicts", "r.csv:2"), (7, "rule-contradicts", "r.csv:6"), (2, "rule-loop", "r.csv:5"),
    ]
    assert (remapping.met, remapping.in_circles()) == (set(), "")


def test_a_rule_that_repeats_another_names_it() -> None:
    (found,) = Remapping([(A, B), (A, B)]).findings()
    assert str(found) == f"--remap {A}={B}: rule-repeats: this rule repeats {A}={B}"


@pytest.mark.parametrize(("rules", "hosts"), [
    ([(A, B)], ()), ([(A, C), ("http://n/x", "http://m/")], ("o",)), ([("//o", "https://n"), ("//n", "https://m")], ("o", "n")),
    ([("//o", "https://web.example/{date}/{target}"), ("http://p:80/x", "http://q/", "exact")], ("p",)),
])
def test_old_hosts_are_those_to_which_no_rule_leads(rules: list[tuple[str, ...]], hosts: tuple[str, ...]) -> None:
    assert Remapping(rules).old_hosts == hosts


def test_the_public_policy_leaves_other_links_as_they_are() -> None:
    policy = absolve.remap({"//old.example": "https://new.example"}, only_mapped=True)
    page = b"<a href=x><a href=//old.example/y>"
    assert absolve.rewrite(page, url="http://h/", policy=policy) == b"<a href=x><a href=https://new.example/y>"
