"""Links within a site in a form: the written reference leads to the same target in every profile, or stays absolute."""

import pytest

import absolve
from absolve.core.errors import UsageError
from absolve.rewriting.forms import Form
from absolve.rewriting.policy import absolute, unchanged
from absolve.urls import PROFILES, resolve, whatwg

PAGE = "http://h/a/b/p.html"


def written(page: bytes, form: str, *, url: str = PAGE, root: str = "", path: str | None = None, **more: object) -> bytes:
    policy = Form(absolute, form, root, path)
    again = made = page
    for _ in range(2):
        made, again = again, bytes(absolve.rewrite(again, url=url, policy=policy, on_diagnostic=print, **more))  # type: ignore[call-overload]
    assert again == made or path
    return made


# A link, and how it is written from the root, and from page to page.
LINKS = {
    "x": ("/a/b/x", "x"), "/x": ("/x", "../../x"), "../x?q#f": ("/a/x?q#f", "../x?q#f"), "http://h/z": ("/z", "../../z"),
    "http://H/a/b/p.html": ("/a/b/p.html", "p.html"), "//h/a/b/": ("/a/b/", "./"), "http://h": ("/", "../../"),
    "http://h?q": ("/?q", "../../?q"), "http://h/a/b/a:b": ("/a/b/a:b", "./a:b"), "http://h/a/b/;x": ("/a/b/;x", "./;x"),
    "?q": ("/a/b/p.html?q", "?q"), "http://h/a/b/p.html?q": ("/a/b/p.html?q", "p.html?q"), "": ("", ""), "#f": ("#f", "#f"),
    "http://h//d": ("http://h//d", "../..//d"), "http://h/a/../d": ("/a/../d", "../../d"),
    "https://h/x": ("https://h/x", "https://h/x"), "http://g/x": ("http://g/x", "http://g/x"), "//g/x": ("http://g/x", "http://g/x"),
    "http://u@h/x": ("http://u@h/x", "http://u@h/x"), "http://h:81/x": ("http://h:81/x", "http://h:81/x"), "http:x": ("http:x", "http:x"),
    "mailto:x": ("mailto:x", "mailto:x"), "http://h/\\x": ("http://h/\\x", "../../\\x"), "http://[h/": ("http://[h/", "http://[h/"),
}  # fmt: skip


@pytest.mark.parametrize("profile", PROFILES)
def test_each_form_leads_where_the_absolute_url_leads(profile: str) -> None:
    for link, forms in LINKS.items():
        page = f'<a href="{link}">'.encode()
        target = resolve(PAGE, link, profile)  # type: ignore[arg-type]  # a word
        for form, expected in zip(("root", "relative"), forms, strict=True):
            found = written(page, form, profile=profile).decode()[9:-2]
            if profile == "rfc1808":
                assert found == expected, (form, link)
            if target is not None and link:
                led = resolve(PAGE, found, profile)  # type: ignore[arg-type]
                assert led is not None
                assert whatwg.parse(led) == whatwg.parse(target), (form, link)


@pytest.mark.parametrize(("page", "root", "relative"), [
    ("<base href=/d/><a href=x><a href=/y>", "<base href=/d/><a href=/d/x><a href=/y>", "<base href=../../d/><a href=x><a href=../y>"),
    ("<base href=http://h/d/><a href=#f>", "<base href=/d/><a href=/d/#f>", "<base href=../../d/><a href=./#f>"),
    ("<base href=http://g/d/><a href=x><a href=http://h/y>", "<base href=http://g/d/><a href=http://g/d/x><a href=http://h/y>", None),
    ("<img srcset='x 1x, /y,z 2x'>", "<img srcset='/a/b/x 1x, /y,z 2x'>", "<img srcset='x 1x, ../../y,z 2x'>"),
    ("<p style='background: url(/y)'>", None, "<p style='background: url(../../y)'>"),
    ("<meta http-equiv=refresh content='0; url=/y'>", None, "<meta http-equiv=refresh content='0; url=../../y'>"),
    ("<iframe srcdoc='<a href=/y>'></iframe>", None, "<iframe srcdoc='<a href=../../y>'></iframe>"),
    ('<script type=importmap>{"imports":{"x":"/a/b/y.js"}}</script>', None, '<script type=importmap>{"imports":{"x":"./y.js"}}</script>'),
    ("<link rel=Canonical href=x>", "<link rel=Canonical href=http://h/a/b/x>", "<link rel=Canonical href=http://h/a/b/x>"),
    ("<link rel=alternate HREFLANG=de href=http://h/x>", None, None), ("<link rel=alternate href=/x>", None, "<link rel=alternate href=../../x>"),
    ("<meta property=og:image content=http://h/x>", None, None), ("<p itemid=http://h/x>", None, None),
])  # fmt: skip
def test_every_kind_of_link_has_the_form(page: str, root: str | None, relative: str | None) -> None:
    assert written(page.encode(), "root").decode() == (root or page)
    expected = page if relative is None and root is None else relative or root or page
    assert written(page.encode(), "relative").decode() == expected


@pytest.mark.parametrize("data", [
    b'<?xml version="1.0"?><!-- x --><rss version="2.0"><channel><link>%x</link><item><description>&lt;a href="%y"&gt;</description></item></channel></rss>',
    b'<feed xmlns="http://www.w3.org/2005/Atom"><link href="%x"/><content type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml"><a href="%y"/></div></content></feed>',
    b'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>%x</loc></url></urlset>',
    b"Content-Type: text/html\r\nContent-Location: http://h/a/b/p.html\r\n\r\n<a href=%x>",
    b"HTTP/1.1 302 Found\r\nLocation: %x\r\n\r\n",
], ids=lambda data: str(data[:30]))
def test_what_is_read_apart_from_its_site_stays_absolute(data: bytes) -> None:
    for form in ("root", "relative"):
        assert written(data.replace(b"%", b""), form) == data.replace(b"%", b"http://h/a/b/").replace(b"//h/a/b/p", b"//h/a/b/p")


def test_an_error_page_is_shown_anywhere_and_keeps_links_that_lead_there_from_everywhere() -> None:
    page = b"<a href=x>x</a><style>a{background:url(/y)}</style>"
    for name in ("404.html", "404.htm?x"):
        assert written(page, "relative", url=f"http://h/de/{name}").count(b"http://h/") == 2
        assert b"href=/de/x" in written(page, "root", url=f"http://h/de/{name}")
    assert b"http:" not in written(page, "relative", url="http://h/404/p.html")


def test_a_folder_of_a_host_is_a_site_and_its_root_gets_another_path() -> None:
    page = b"<base target=_top><a href=/~joe/x><a href=/other><a href=../y><a href=../../z>"
    made = written(page, "root", url="http://h/~joe/d/p", root="http://h/~joe", path="/proj")
    assert made == b"<base target=_top><a href=/proj/x><a href=http://h/other><a href=/proj/y><a href=http://h/z>"
    made = written(page, "relative", url="http://h/~joe/d/p", root="http://h/~joe/", path="/")
    assert made == b"<base target=_top><a href=../x><a href=http://h/other><a href=../y><a href=http://h/z>"
    policy = Form(unchanged, "keep", "http://h/~joe/", "/")
    page = b"<base href=/~joe/><a href=/~joe/x><a href=y><a href=//g/x>"
    made = absolve.rewrite(page, url="http://h/~joe/d/p", policy=policy)
    assert made == b"<base href=/><a href=/x><a href=y><a href=//g/x>"


def test_an_emptied_base_leaves_links_relative_to_the_page() -> None:
    page = b"<base href=http://g/d/><a href=x><a href=http://h/y><a href=#f>"
    made = written(page, "relative", base="empty")
    assert made == b'<base href=""><a href=http://g/d/x><a href=../../y><a href=http://g/d/#f>'


@pytest.mark.parametrize("path", ["proj", "", "//h", "/a/../b", "/a?b", "/a b", "/a#", "/<b", "/\\x", "http://h/"])
def test_a_base_path_is_the_path_of_a_folder(path: str) -> None:
    with pytest.raises(UsageError, match="--base-path needs the path of a folder"):
        Form(absolute, "root", "", path)


def test_texts_that_are_read_with_their_site_get_the_form_and_others_stay_absolute() -> None:
    page = b"[a](/x) <http://h/a/y> http://h/a/z"
    assert written(page, "relative", name="p.md") == page.replace(b"(/x)", b"(../../x)")
    page = b'{"cells": [{"cell_type": "markdown", "source": ["[a](/x)"]}]}'
    assert written(page, "relative", name="p.ipynb") == page.replace(b"(/x)", b"(../../x)")
    page = b'{"version": "https://jsonfeed.org/version/1", "items": [{"url": "/x", "content_html": "<a href=/x>"}]}'
    assert written(page, "relative") == page.replace(b"/x", b"http://h/x")
    assert written(b"Sitemap: /x\n", "relative", name="robots.txt") == b"Sitemap: http://h/x\n"
