"""Facts about XML documents for the table of documents."""

import pytest

import absolve

SVG = b"<svg xmlns='http://www.w3.org/2000/svg' %b>%b</svg>"
XHTML = b"<html xmlns='http://www.w3.org/1999/xhtml' %b>%b</html>"


def facts(data: bytes) -> absolve.DocumentRow:
    return next(absolve.documents(data, media_type="application/xml", url="http://h/d/"))


@pytest.mark.parametrize(("data", "title"), [
    (SVG % (b"", b""), None),
    (SVG % (b"", b"<g><title>no</title></g><title> a <!-- x -->&amp;<![CDATA[<b>]]></title><title>c</title>"), "a &<b>"),
    (SVG % (b"", b"<title/>"), ""),
    (XHTML % (b"", b"<svg xmlns='http://www.w3.org/2000/svg'><title>no</title></svg><title>a&#x62;</title>"), "ab"),
    (XHTML % (b"", b"<template><title>no</title></template><title>a</title><title>b</title>"), "a"),
    (b"<rss><channel><title>no</title></channel></rss>", None),
    (b"<!DOCTYPE svg [<!ENTITY e 'text'>]>" + SVG % (b"", b"<title>a &e;</title>"), "a &e;"),
])
def test_the_title_is_that_of_a_browser(data: bytes, title: str | None) -> None:
    assert facts(data).title == title


def test_anchors_language_robots_and_canonical_url() -> None:
    row = facts(XHTML % (b"lang='de' xml:lang='de-AT' id='r'", b"<a id='x' name='y&amp;'/><p name='z' xml:id='w' id=''/><template id='t'><p id='no'/></template><x:y xmlns:x='u' id='q' x:id='v'/><link rel='canonical' href='/c'/><meta name='robots' content='none'/><meta name='googlebot' content='all'/>"))
    assert (row.lang, row.anchors, row.canonical, row.robots) == ("de-AT", ["r", "x", "y&", "t", "q"], "http://h/c", "none, googlebot: all")


def test_anchors_of_expanded_entities_are_bounded() -> None:
    entity = b"x" * 10_000
    ids = b"".join(b"<g id='&e;%d'/>" % number for number in range(500))  # expat allows 8 MB in all
    row = facts(b"<!DOCTYPE svg [<!ENTITY e '%b'>]>" % entity + SVG % (b"", ids))
    assert sum(map(len, row.anchors)) < 2_000_000
    assert row.problems == ["too-many-anchors"]
