"""Where URLs lead by all maps: chains, circles, several maps, recorded redirects."""

from pathlib import Path
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st
from moving import NEW, OLD, lead, rules

from absolve.core.errors import UsageError
from absolve.rules import entries, forms
from absolve.rules.model import Outcome, encoded
from absolve.rules.outcomes import Rules
from absolve.urls.identity import decoded


def test_a_url_without_a_rule_stays_as_it_is() -> None:
    given = rules("/a,/b", "map.csv")
    assert given.chain("https://other.example/a#x") == Outcome(0, "https://other.example/a#x")
    assert given.chain("mailto:a@b") == Outcome(0, "mailto:a@b")
    assert given.move("mailto:a@b") is None
    assert not given.used


def test_hops_are_counted_and_the_rules_of_a_chain_are_named() -> None:
    given = rules("/r1,/r2\n/r2,/r3\n/r3,/z\n", "map.csv")
    found = given.chain(NEW + "r1#x")
    assert (found.hops, found.final, found.loop, [rule.line for rule in found.rules]) == (3, NEW + "z#x", False, [1, 2, 3])
    assert given.chain(NEW + "r2").hops == 2
    assert given.used == {("map.csv", 1): 1, ("map.csv", 2): 1, ("map.csv", 3): 1}


def test_a_fragment_of_a_later_rule_counts_and_one_of_an_earlier_goes_along() -> None:
    given = rules("/a,/b#one\n/b,/c\n/d,/e#two\n/c,/f#three\n", "map.csv")
    assert given.chain(NEW + "a#mine").final == NEW + "f#three"
    assert given.chain(NEW + "d#mine").final == NEW + "e#two"
    assert rules("/a,/b#one\n/b,/c\n", "map.csv").chain(NEW + "a#mine").final == NEW + "c#one"


@pytest.mark.parametrize(("text", "url", "hops", "lines"), [
    ("/self,/self", "self", 1, [1]), ("/l1,/l2\n/l2,/l1", "l1", 2, [1, 2]), ("/l1,/l2\n/l2,/l1", "l2", 2, [2, 1]),
    ("/in,/l1\n/l1,/l2\n/l2,/l1", "in", 3, [1, 2, 3]),
])
def test_a_circle_is_a_loop_with_its_steps(text: str, url: str, hops: int, lines: list[int]) -> None:
    assert lead(rules(r"/(.*),/x/\1,regex", "map.csv"), "/a") == "loop", "a target that grows without end"
    assert lead(rules("Redirect 301 / /docs/\n", ".htaccess"), "/y") == "loop", "a rule for all URLs"
    found = rules(text, "map.csv").chain(NEW + url)
    assert (found.loop, found.final, found.hops, [rule.line for rule in found.rules]) == (True, None, hops, lines)


def test_a_chain_that_ends_in_a_circle_or_a_status_or_other_content_says_so() -> None:
    given = rules("/a /b\n/b / 410\n/c /d\n/d /e 200\n", "_redirects")
    assert given.chain(NEW + "a") == given.chain(NEW + "a")._replace(hops=1, gone=True, final=None)
    found = given.chain(NEW + "c")
    assert (found.hops, found.final, found.served) == (1, NEW + "d", NEW + "e")


def test_a_file_that_is_there_ends_a_chain() -> None:
    given = rules("/* / 301\n", "_redirects")
    assert lead(given, OLD + "x", ["/"]) == "/"
    assert lead(given, "/y", ["/"]) == "/"


def test_the_first_map_with_a_rule_counts() -> None:
    given = rules("/a,/one\n", "map.csv", ("/a /two\n/b /three\n", "_redirects"))
    assert (lead(given, "/a"), lead(given, "/b")) == ("/one", "/three")


def test_a_target_that_is_no_url_leads_nowhere() -> None:
    given = rules("RedirectMatch ^/(.*)$ https://x$1.example/", ".htaccess")
    assert lead(given, "/y") == "https://xy.example/"
    found = given.chain(NEW + "%20")
    assert (found.final, found.hops, found.status) == (None, 0, 302)


@pytest.mark.parametrize(("name", "text", "end"), [
    (".htaccess", "Redirect 301 / https://new.example/\n", "/x"),
    (".htaccess", "Redirect 301 / https://new.example/docs/\n", "/docs/x"),
    (".htaccess", "RewriteRule ^(.*)$ https://new.example/$1 [R=301,L]\n", "/x"),
    (".htaccess", "RewriteRule ^ https://new.example%{REQUEST_URI} [R=301,L]\n", "/x"),
    ("x.conf", "return 301 https://new.example$request_uri;\n", "/x"),
    ("x.conf", "rewrite ^(.*)$ https://new.example/a$1 permanent;\n", "/a/x"),
    ("_redirects", "/* https://new.example/:splat 301!\n", "/x"),
    ("map.csv", "/,https://new.example/,301!,prefix\n", "/x"),
])
def test_a_rule_for_all_urls_to_the_new_host_is_one_of_the_old_host(name: str, text: str, end: str) -> None:
    given = rules(text, name)
    found = given.chain(OLD + "x")
    assert (found.final, found.hops, found.loop) == (NEW[:-1] + end, 1, False)
    assert lead(given, "/y") is None
    assert Rules(given.sets, NEW, NEW).chain(NEW + "y").loop


@pytest.mark.parametrize(("old", "new", "url", "counterpart"), [
    (OLD, NEW, OLD + "a?b", NEW + "a?b"), (OLD, NEW, NEW + "a", NEW + "a"), (OLD, NEW, "https://other.example/a", "https://other.example/a"),
    (OLD, NEW, "mailto:x", "mailto:x"), (OLD + "docs/", NEW + "manual/", OLD + "docs/a", NEW + "manual/a"),
    (OLD + "docs/", NEW + "manual/", OLD + "a", NEW + "a"), (None, NEW, OLD + "a", OLD + "a"),
])
def test_the_counterpart_of_an_old_url_has_the_same_path_below_the_new_one(old: str | None, new: str, url: str, counterpart: str) -> None:
    assert Rules([], old, new).counterpart(url) == counterpart


def test_recorded_redirects_apply_to_their_own_url_only() -> None:
    rows = [
        (OLD + "a", NEW + "b", 301, "x.warc", 0), (OLD + "a?x", NEW + "c", 302, "x.warc", 0), (OLD + "a", NEW + "late", 301, "x.warc", 0),
        ("mailto:x", NEW, 301, "x.warc", 0), (NEW + "r", "/b#z", 302, "r.html", 3),
    ]
    given = Rules([entries.recorded(rows)], OLD, NEW)
    assert [lead(given, url) for url in (OLD + "a", OLD + "a?x", OLD + "a?y", "/a", "/r#q")] == ["/b", "/c", None, None, "/b#z"]
    assert given.chain(NEW + "r").rules[0].place == "r.html:3"
    assert lead(Rules([entries.recorded(rows)], OLD, NEW), OLD + "a", ["/a"]) is None


@given(st.text())
def test_decoded_text_survives_its_encoding(text: str) -> None:
    path = decoded("/" + quote(text))
    assert decoded(encoded(path)) == path


FORMATS = {
    "csv": [
        ("map.csv", "/a /b"), ("map.tsv", "/a\t/b"), ("x.txt", "/a,/b"), ("x.txt", "/a, /b"), ("x.txt", ""),
        ("x.txt", "# nothing"),
    ],
    "netlify": [
        ("_redirects", "/a,/b"), ("site_redirects", "/a /b"), ("x.txt", "/a /b 301"), ("x.txt", "/a/* /b/:splat"),
    ],
    "apache": [
        (".htaccess", ""), ("old.htaccess.txt", ""), ("x.conf", "Redirect /a /b"),
        ("x.conf", "<VirtualHost *>\nRedirect /a /b\n</VirtualHost>"),
    ],
    "nginx": [
        ("x.conf", "location = /a { return 301 /b; }"), ("x.conf", "server {\n listen 80;\n}"),
        ("x.conf", "rewrite ^/a$ /b permanent;"), ("x.map", "/a /b;"),
    ],
    "rewritemap": [("x.map", "/a /b"), ("x.txt", "/a /b")],
}


@pytest.mark.parametrize("form", FORMATS)
def test_the_format_of_a_map_is_recognised(form: str) -> None:
    for name, text in FORMATS[form]:
        assert forms.read(Path(name), text.encode()).format == form, (name, text)
    with pytest.raises(UsageError, match="the format of a map is one of apache, azure, caddy"):
        forms.read(Path("x"), b"", format="yaml")
