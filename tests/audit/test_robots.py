"""What robots.txt and `_headers` shut out of the index."""

import tracemalloc

import pytest

from absolve.audit import robots


@pytest.mark.parametrize(
    ("text", "path", "line"),
    [
        ("", "/a", None),
        ("User-agent: *\nDisallow:\n", "/a", None),
        ("User-agent: *\nDisallow: /\n", "/a", 2),
        ("\ufeffuser-agent : *\r\nDISALLOW : /a # why\r\n", "/ab", 2),
        ("User-agent: *\nDisallow: /a\n", "/b", None),
        ("User-agent: other\nDisallow: /\n", "/a", None),
        ("User-agent: *\nDisallow: /\nUser-agent: Googlebot\nDisallow: /x\n", "/a", None),
        ("User-agent: a\nUser-agent: *\nDisallow: /\n", "/a", 3),
        ("User-agent: *\nDisallow: /\nAllow: /a\n", "/a/b", None),
        ("User-agent: *\nDisallow: /a\nAllow: /a\n", "/a", None),
        ("User-agent: *\nDisallow: /*.pdf$\n", "/x/y.pdf", 2),
        ("User-agent: *\nDisallow: /*.pdf$\n", "/x/y.pdf?z", None),
        ("User-agent: *\nDisallow: /a*b\n", "/axxbx", 2),
        ("User-agent: *\nDisallow: /a$\n", "/a", 2),
        ("User-agent: *\nDisallow: /a$\n", "/ab", None),
        ("User-agent: *\nDisallow: /caf%C3%A9\n", "/café", 2),
        ("Sitemap: http://h/s.xml\nDisallow: /\n", "/a", None),
    ],
)  # fmt: skip
def test_the_longest_rule_of_the_group_shuts_a_path_out(text: str, path: str, line: int | None) -> None:
    rule = robots.of_robots(text.encode())(path)
    assert (rule.line if rule is not None else None) == line


def test_rules_of_a_group_with_many_names_take_linear_memory() -> None:
    data = b"User-agent: *\nUser-agent: a\n" * 1000 + b"Disallow: /x\n" * 1000
    tracemalloc.start()
    robots.of_robots(data)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 4_000_000


@pytest.mark.parametrize(
    ("text", "path", "line"),
    [
        ("/*\n  X-Robots-Tag: noindex\n", "/a/b", 2),
        ("/a/*\n\tx-robots-tag: none\n/b\n  X-Frame-Options: DENY\n", "/b", None),
        ("/*\n  X-Robots-Tag: nofollow\n", "/a", None),
        ("/:year/x\n  X-Robots-Tag: noindex, nofollow\n", "/2020/x", 2),
        ("https://:project.pages.dev/*\n  X-Robots-Tag: noindex\n", "/a", None),
        ("https://h.example/*\n  X-Robots-Tag: noindex\n", "/a", 2),
    ],
)
def test_a_field_of_the_headers_file_shuts_a_path_out(text: str, path: str, line: int | None) -> None:
    rule = robots.of_headers(text.encode(), "h.example")(path)
    assert (rule.line if rule is not None else None) == line


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("noindex", True),
        ("NOINDEX,nofollow", True),
        ("nofollow, none", True),
        ("googlebot: noindex", True),
        ("otherbot: noindex", False),
        ("nofollow", False),
        ("unavailable_after: 2030-01-01, noarchive", False),
        ("noindexing", False),
    ],
)
def test_the_words_of_a_robots_tag(value: str, *, expected: bool) -> None:
    assert robots.is_shut(value) == expected
