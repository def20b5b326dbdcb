"""Facts about pages for the table of documents: title, language, canonical URL, robots and anchors."""

from typing import Any

import html5lib_view
import pytest

import absolve
from absolve.document.walk import Settings, walk


def facts(page: bytes, **options: Any) -> absolve.DocumentRow:
    (row,) = absolve.documents(page, media_type="text/html", url="http://h/d/", **options)
    return row


PAGES = {
    "anchors": [
        b"<p>", b"<!-- <p id=a> --><p title='id=b'><p data-id=c><p idx=d><p xml:id=e>",
        b"<script>'<p id=a>'</script><style><p id=b></style><textarea><p id=c></textarea><title><p id=d></title>",
        b"<iframe><p id=a></iframe><noframes><p id=b></noframes><xmp><p id=c></xmp><plaintext><p id=d>",
        b"<template id=a><p id=b><template id=c><p id=d></template></template><p id=e>", b"<tr id=a><td id=b><p id=c>",
        b"<form id=a><form id=b><p id=c>", b"<head id=a></head><head id=b><p id=c>",
        b"<a name=a id=b><a name=c><img name=d><map name=e><p name=f>", b"<p id=a id=b><p ID=c Id=d><P iD='e'>",
        b"<p id=a><p id=a><a name=a>", b"<p id><p id=><p id=''><a name=''>",
        b"<p id = ' a&amp;b ' ><p id=\"c\nd\"><p id='&auml;'><p id=/e/>", b"<p id='a\r\nb\rc\0d'>",
        b"<html id=a><body id=b><html id=c><body id=d><p id=e>", b"<html><body><p id=a><html id=c><body id=d>",
        b"<svg id=a><a id=b name=c /><title id=d></title><foreignObject id=e><p id=f></foreignObject></svg>",
        b"<math id=a><mi id=b></math><noscript><p id=c></noscript>", b"<p id=a <p id=b", b"<p/id=a/><br id=b/>",
        b"<frameset id=a><frame id=b><p id=c></frameset>",
    ],
    "titles": [
        b"<p>", b"<title></title>", b"<title> a\n &amp; <b> \0</title>", b"<svg><title>no</title></svg><title>a</title><title>b</title>",
        b"<svg><foreignObject><title>a</title></foreignObject></svg>", b"<template><title>no</title></template><body><title>a</title>",
        b"<!--<title>no</title>--><script><title>no</title></script><title>a", b"<title>" + b"x" * 1000 + b"</title>",
    ],
}


@pytest.mark.parametrize("name", PAGES)
def test_html5lib_finds_the_same_title_language_and_anchors(name: str) -> None:
    for page in PAGES[name]:
        row = facts(page)
        assert (row.title, row.lang or "", {*row.anchors}) == html5lib_view.facts(page.decode()), page


def test_each_anchor_is_listed_once_in_the_order_of_the_page() -> None:
    assert facts(b"<a name=a id=b><a name=c><p id=a><p id=d>").anchors == ["b", "a", "c", "d"]


@pytest.mark.parametrize(("page", "lang", "canonical", "robots"), [
    (b"<p lang=de><link rel=alternate href=x><meta name=description content=x>", None, None, None),
    (b"<html lang=de-CH><html lang=fr>", "de-CH", None, None), (b"<html><p><html lang=fr>", "fr", None, None),
    (b"<html lang=''>", None, None, None),
    (b"<link rel='x CANONICAL' href=' a&amp;b '><link rel=canonical href=c>", None, "http://h/d/a&b", None),
    (b"<base href=/e/><link rel=canonical href=c>", None, "http://h/e/c", None),
    (b"<link rel=canonical><link rel=canonical href=''><link rel=canonical href='http://[x'>", None, None, None),
    (b"<template><link rel=canonical href=c><meta name=robots content=x></template>", None, None, None),
    (b"<meta name=Robots content=' no\nindex '><meta content=nofollow name=robots>", None, None, "no index, nofollow"),
    (b"<meta name=googlebot content=noindex><meta name=otherbot content=none>", None, None, "googlebot: noindex"),
])
def test_language_canonical_url_and_robots(page: bytes, lang: str | None, canonical: str | None, robots: str | None) -> None:
    row = facts(page)
    assert (row.lang, row.canonical, row.robots) == (lang, canonical, robots)


def test_facts_are_decoded_from_the_charset_of_the_page_and_bytes_that_are_no_characters_are_replaced() -> None:
    for charset in ("utf-8", "windows-1251", "utf-16le", "shift_jis", "iso-2022-jp"):
        row = facts("<html lang=ru><title>\u0411\u044d</title><p id=\u0411><a href=x>".encode(charset), charset=charset)
        assert (row.title, row.lang, row.anchors, row.charset, row.links) == ("\u0411\u044d", "ru", ["\u0411"], charset, 1)
    row = facts(b"<title>\xff</title><p id=\xff><html lang=\xff><meta name=robots content=\xff>", charset="utf-8")
    assert (row.title, row.lang, row.robots, row.anchors) == ("\ufffd", "\ufffd", "\ufffd", ["\ufffd"])


def test_anchors_beyond_the_limit_are_not_listed_and_the_row_has_a_problem() -> None:
    row = facts(b"".join(b"<p id=%d>" % number for number in range(20)), max_links=10)
    assert (len(row.anchors), row.problems) == (10, ["too-many-anchors"])
    row = facts(b"".join(b"<p id=%d>" % number for number in range(40_000)))  # in linear time
    assert row.anchors[-1] == "39999"


@pytest.mark.parametrize("page", [b"<p id=a>", b"<a href=x id=a><style>p{background:url(y)}</style>", b"<svg><math><style x=y>@import 'z'"])
def test_the_events_of_links_are_the_same_with_and_without_facts(page: bytes) -> None:
    document = absolve.Document(page, media_type="text/html", url="http://h/")
    events = [str(event) for event in walk(document, Settings()).events]
    assert [str(event) for event in walk(document, Settings(documents=True)).events][:-1] == events
