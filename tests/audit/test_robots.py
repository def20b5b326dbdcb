"""What robots.txt and files with header fields shut out of the index."""

import tracemalloc
from pathlib import Path

import pytest
from audited import NEW, audited, written

from absolve.audit import robots
from absolve.cli import main
from absolve.urls.access import Rules, of_robots


@pytest.mark.parametrize(("text", "path", "line"), [
    ("", "/a", None), ("User-agent: *\nDisallow:\n", "/a", None), ("User-agent: *\nDisallow: /\n", "/a", 2),
    ("\ufeffuser-agent : *\r\nDISALLOW : /a # why\r\n", "/ab", 2), ("User-agent: *\nDisallow: /a\n", "/b", None),
    ("User-agent: other\nDisallow: /\n", "/a", None), ("User-agent: *\nDisallow: /\nUser-agent: Googlebot\nDisallow: /x\n", "/a", None),
    ("User-agent: a\nUser-agent: *\nDisallow: /\n", "/a", 3), ("User-agent: *\nDisallow: /\nAllow: /a\n", "/a/b", None),
    ("User-agent: *\nDisallow: /a\nAllow: /a\n", "/a", None), ("User-agent: *\nDisallow: /*.pdf$\n", "/x/y.pdf", 2),
    ("User-agent: *\nDisallow: /*.pdf$\n", "/x/y.pdf?z", None), ("User-agent: *\nDisallow: /a*b\n", "/axxbx", 2),
    ("User-agent: *\nDisallow: /a$\n", "/a", 2), ("User-agent: *\nDisallow: /a$\n", "/ab", None),
    ("User-agent: *\nDisallow: /caf%C3%A9\n", "/café", 2), ("Sitemap: http://h/s.xml\nDisallow: /\n", "/a", None),
])
def test_the_longest_rule_of_the_group_shuts_a_path_out(text: str, path: str, line: int | None) -> None:
    rule = Rules(of_robots(text.encode(), "googlebot").rules)(path)
    assert (rule.line if rule is not None else None) == line


def test_rules_of_a_group_with_many_names_take_linear_memory() -> None:
    data = b"User-agent: *\nUser-agent: a\n" * 1000 + b"Disallow: /x\n" * 1000
    tracemalloc.start()
    of_robots(data, "googlebot")
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 4_000_000


@pytest.mark.parametrize(("text", "path", "line"), [
    *((f"{lines}Header set X-Robots-Tag {value}", "/a", line) for lines, value, line in (
        ("", '"noindex, nofollow"', 1), ("<IfModule mod_headers.c>\n", "none", 2), ("", "noindex env=STAGING", None),
        ("", "all", None), ("Header always set X-Robots-Tag noindex\n", "all", None),
        ('<FilesMatch "\\.pdf$">\n', "noindex", None), ("Header set X-Frame-Options DENY\n", "noindex", 2),
    )),
    *((f'{{"headers": [{{{more}"source": "{source}",\n"headers": [{{"key": "X-Robots-Tag", "value": "noindex"}}]}}]}}', path, line)
      for source, more, path, line in (
        ("/(.*)", "", "/a/b", 2), ("/blog/:path*", "", "/blog/a", 2), ("/blog/:path*", "", "/a", None),
        ("/(a|b)", "", "/a", None), ("/(.*)", '"has": [{"type": "host", "value": "p.example"}], ', "/a", None),
    )),
    ('[[headers]]\nfor = "/a/*"\n[headers.values]\nX-Robots-Tag = "noindex"\n', "/a/b", 4),
    ('[[headers]]\nfor = "/a/*"\n[headers.values]\nX-Robots-Tag = "noindex"\n', "/b", None),
    ("[[headers", "/b", None),
    pytest.param("#" * 600_000 + "\nHeader set X-Robots-Tag noindex", "/a", 2, id="a long file"),
    ("/*\n  X-Robots-Tag: noindex\n", "/a/b", 2),
    ("/a/*\n\tx-robots-tag: none\n/b\n  X-Frame-Options: DENY\n", "/b", None),
    ("/*\n  X-Robots-Tag: nofollow\n", "/a", None),
    ("/:year/x\n  X-Robots-Tag: noindex, nofollow\n", "/2020/x", 2),
    ("https://:project.pages.dev/*\n  X-Robots-Tag: noindex\n", "/a", None),
    ("https://h.example/*\n  X-Robots-Tag: noindex\n", "/a", 2),
])
def test_a_field_that_a_file_of_the_host_sets_shuts_a_path_out(text: str, path: str, line: int | None) -> None:
    name = {"{": "vercel.json", "[": "netlify.toml", "/": "_headers", "h": "_headers"}.get(text[0], ".htaccess")
    found = robots.FILES[name](text.encode(), f"h.example/{name}")
    rule = Rules((pattern, rule) for pattern, rule in found if pattern is not None)(path)
    assert (rule.line if rule is not None else None) == line


WORDS = {
    "noindex": True, "NOINDEX,nofollow": True, "nofollow, none": True, "googlebot: noindex": True,
    "otherbot: noindex": False, "nofollow": False, "unavailable_after: 2030-01-01, noarchive": False,
    "noindexing": False,
}


def test_the_words_of_a_robots_tag() -> None:
    assert {value: robots.is_shut(value) for value in WORDS} == WORDS


@pytest.mark.parametrize(("server", "is_found"), [("apache,case=ignore", True), ("nginx", False)])
def test_a_file_of_another_server_shuts_nothing_out(tmp_path: Path, server: str, *, is_found: bool) -> None:
    files = {"index.html": "<p>", ".htaccess": 'Header set X-Robots-Tag "noindex"\n'}
    assert audited(tmp_path, files, "--server", server).pages == ({("noindex", "")} if is_found else set())


def test_a_robots_file_in_the_folder_of_a_site_is_none_of_its_host(tmp_path: Path) -> None:
    files = {"index.html": "<p>", "robots.txt": "User-agent: *\nDisallow: /\n"}
    assert audited(tmp_path, files, url=f"{NEW}docs/").pages == set()


HTACCESS, NOINDEX = ".htaccess", "Header set X-Robots-Tag noindex"


@pytest.mark.parametrize(("root", "folder", "pages"), [
    ("", NOINDEX, {("noindex", "a/")}),
    (NOINDEX, "Header unset X-Robots-Tag", {("noindex", "")}),
    (NOINDEX, "", {("noindex", "")}),  # one finding for the site
])
def test_a_file_in_a_folder_is_for_that_folder(tmp_path: Path, root: str, folder: str, pages: set[tuple[str, str]]) -> None:
    files = {"index.html": "<a href=a/>", "a/index.html": "<a href=../>", HTACCESS: root, "a/.htaccess": folder}
    assert audited(tmp_path, files, old={"index.html": "<a href=a/>", "a/index.html": "<a href=../>"}).pages == pages


def test_a_condition_that_is_not_judged_is_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = {
        HTACCESS: f'\n{NOINDEX} env=STAGING\n<FilesMatch "\\.html$">\n{NOINDEX}\n</FilesMatch>',
        "vercel.json": '{"headers": [{"source": "/((?!x).*)",\n"headers": [{"key": "X-Robots-Tag", "value": "noindex"}]}]}',
    }
    root = written(tmp_path, {"index.html": "<p>", **files})
    main(["audit", str(root), "--url", NEW])
    err = capsys.readouterr().err
    assert [f"{root / name}:{line}: noindex: " in err for name, line in ((HTACCESS, 2), (HTACCESS, 4), ("vercel.json", 2))] == [True] * 3
