"""`_redirects` files of Netlify and Cloudflare Pages."""

import pytest
from moving import OLD, lead, problems, rules


@pytest.mark.parametrize(("line", "urls"), [
    ("/a /b", {"/c": None, "/a": "/b", "/a/": "/b", "/a?x=1": "/b?x=1"}),
    ("/a/ /b", {"/a": "/b"}),
    ("/a /b # note", {"/a": "/b"}),
    ("/a /b?y=2", {"/a?x=1": "/b?y=2"}),
    ("/news/* /blog/:splat", {"/news/2024/x": "/blog/2024/x", "/news": "/blog/", "/newsletter": None}),
    ("/news/* /blog", {"/news/2024/x": "/blog"}),
    ("/new* /blog/:splat", {"/newsletter": "/blog/sletter"}),
    ("/news/:year/:slug /blog/:slug.html", {"/news/2024/x": "/blog/x.html", "/news/2024": None}),
    ("/news/:year/* /:year/:splat", {"/news/2024/x/y": "/2024/x/y", "/news/2024": "/2024/"}),
    ("/a /b/:other", {"/a": "/b/:other"}),
    ("/store id=:id /blog/:id 301", {"/store?id=7": "/blog/7", "/store?id=7&x=1": "/blog/7?x=1", "/store?x=7": None}),
    ("/store id=7 /seven", {"/store?id=7": "/seven", "/store?id=8": None}),
    ("/news/* id=:id /p/:id/:splat", {"/news/x?id=7": "/p/7/x"}),
    ("http://old.example/* https://new.example/x/:splat 301!", {OLD + "a/b": "/x/a/b", "/a/b": None}),
    ("/app/* /app.html 200", {"/app/any": "=/app.html"}),
    ("/d /404.html 404", {"/d": 404}),
    ("/d / 410", {"/d": 410}),
    ("/* /404.html 404", {"/d": None}),
    ("/caf%C3%A9 /b", {"/caf%C3%A9": "/b"}),
    ("/x/* /y/:splat", {"/x/a%3Fb": "/y/a%3Fb"}),
    ("/a%2Ab /b", {"/a*b": "/b", "/axb": None}),  # an escaped sign is no placeholder
])
def test_a_line_of_netlify_moves_a_url(line: str, urls: dict[str, str | int | None]) -> None:
    given = rules(line, "_redirects")
    assert not problems(given)
    assert {url: lead(given, url) for url in urls} == urls


@pytest.mark.parametrize(("line", "reason"), [
    ("/a", "it has no target"),
    ("/a /b Country=de", "it depends on the country of the visitor, which cannot be known"),
    ("/a /b 302 Language=de", "it depends on the language of the visitor, which cannot be known"),
    ("/a /b soon", "'soon' is neither a status nor a condition"),
    ("/a/*/b /c", "Netlify knows * only at the end of a path"),
    ("/a?x=1 /c", "it matches no query: write parameters behind the path"),
    ("a /c", "'a' is neither a URL nor a path that begins with /"),
    ("/a c", "the target 'c' is neither an http URL nor a path that begins with /"),
    ("/go/* :splat", "the old URL, not the rule, would choose the host of its target"),
])
def test_a_line_of_netlify_that_cannot_be_read_is_named(line: str, reason: str) -> None:
    given = rules(f"# rules\n{line}\n/z /w\n", "_redirects")
    assert problems(given) == [(2, reason)]
    assert lead(given, "/z") == "/w"


def test_the_first_line_that_matches_counts() -> None:
    given = rules("/a/b /one\n/a/* /two/:splat\n/a/c /three\n/*/z /four\n/:x/y /five\n", "_redirects")
    assert [lead(given, url) for url in ("/a/b", "/a/c", "/q/y")] == ["/one", "/two/c", "/five"]


def test_a_file_that_is_there_comes_before_a_line_without_an_exclamation_mark() -> None:
    text = "/here /x\n/there /y 301!\n/here /z 302!\n"
    assert lead(rules(text, "_redirects"), "/here") == "/x"
    assert lead(rules(text, "_redirects"), "/here", ["/here"]) == "/z"
    assert lead(rules(text, "_redirects"), "/there", ["/there"]) == "/y"
    for url in ("/here", f"{OLD}here"):
        assert lead(rules("/here /x", "_redirects"), url, ["/here"]) is None


@pytest.mark.parametrize(("line", "urls"), [
    ("/a /b", {"/a": "/b", "/a/": None}),
    ("/a/* /b/:splat", {"/a": None, "/a/x/y": "/b/x/y"}),
    ("/*/x /b/:splat", {"/q/r/x": "/b/q/r"}),
    ("/a/:n /b/:n 308", {"/a/x": "/b/x"}),
    ("/a /b 200", {"/a": "=/b"}),
])
def test_a_line_of_cloudflare_moves_a_url_even_where_a_file_is(line: str, urls: dict[str, str | None]) -> None:
    given = rules(line, "_redirects", form="cloudflare")
    assert not problems(given)
    assert {url: lead(given, url, ["/a", "/a/x"]) for url in urls} == urls


@pytest.mark.parametrize(("line", "reason"), [
    ("/a", "a rule has a source, a target, and perhaps a status"),
    ("/a /b 301 x", "a rule has a source, a target, and perhaps a status"),
    ("/a /b 410", "'410' is no status that Cloudflare knows"),
    ("/a /b 301!", "'301!' is no status that Cloudflare knows"),
    ("http://old.example/a /b", "Cloudflare has no rules for other hosts"),
    ("/a https://x.example/ 200", "Cloudflare sends other content only from the site itself"),
    ("/*/* /b", "it has more than one *"),
    ("/a?b=1 /b", "it matches no query"),
    (f"/{'a' * 1000} /b", "it has more than 1000 characters"),
])
def test_a_line_that_cloudflare_ignores_is_named(line: str, reason: str) -> None:
    assert problems(rules(line, "_redirects", form="cloudflare")) == [(1, reason)]


def test_cloudflare_applies_no_more_rules_than_its_limits() -> None:
    text = "".join(f"/s{number} /t\n" for number in range(2001)) + "".join(f"/d{number}/* /t\n" for number in range(101))
    given = rules(text, "_redirects", form="cloudflare")
    assert problems(given) == [
        (2001, "Cloudflare applies only the first 2000 rules of its kind"),
        (2102, "Cloudflare applies only the first 100 rules of its kind"),
    ]
    assert given.sets[0].rules[0].status == 302


@pytest.mark.parametrize("form", ["netlify", "cloudflare"])
def test_bytes_that_are_no_utf8_are_a_problem_of_their_line(form: str) -> None:
    given = rules(b"/a /b\n/caf\xe9 /c\n", "_redirects", form=form)
    assert problems(given) == [(2, "it is not UTF-8: save the file as UTF-8")]
