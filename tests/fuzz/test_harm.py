"""No rewrite turns text into markup or code, in 5,000 executions; and the detection finds every kind of harm."""

import os
from collections.abc import Callable
from typing import Any

import fuzz_harm
import harm_messages
import pytest
from fuzz_harm import fresh
from harm_charsets import NAMES
from harm_documents import CONTEXTS
from harm_judge import RUNS, HarmError, Judge
from harm_trees import LEXBOR
from harmful_pages import HARMFUL, PAGES, rewritten
from hypothesis import given, settings
from hypothesis import strategies as st

AT_ONCE = 250
MADE = int(os.environ.get("ABSOLVE_HARM", "20")) * AT_ONCE  # inputs, of which the default run has the first 1,000
BATCHES = [pytest.param(first, marks=[pytest.mark.slow] * (1000 <= first < 5000)) for first in range(0, MADE, AT_ONCE)]


@pytest.mark.parametrize("first", BATCHES)
def test_no_rewrite_turns_text_into_markup_or_code(first: int) -> None:
    fuzz_harm.seen.clear()
    for number in range(first, first + AT_ONCE):
        fuzz_harm.check(fresh(number))
    assert fuzz_harm.seen["judged"] > AT_ONCE / 2
    assert fuzz_harm.seen["refused"] + fuzz_harm.seen["unjudged"] < AT_ONCE / 5


def test_every_context_is_made_with_every_charset() -> None:
    made = {(data[0] % len(CONTEXTS), data[1] % len(NAMES)) for data in map(fresh, range(MADE))}
    assert len(made) == len(CONTEXTS) * len(NAMES)


@settings(max_examples=100)
@given(st.binary(min_size=2, max_size=24))
def test_no_rewrite_of_hypothesis_inputs_turns_text_into_markup_or_code(data: bytes) -> None:
    fuzz_harm.check(data)


# --- detection of harm ------------------------------------------------------------------------------------------------

WAYS = (False, True) if LEXBOR is not None else (True,)
SAME = [
    ("<a href=x>", "<a href=http://h/x>"),
    ("<a href=x title=t>x &lt; y</a>", "<a href='http://h/&lt;x' title=t>x &lt; y</a>"),
    ("<noscript><img src=a></noscript>b", "<noscript><img src='http://h/&lt;a'></noscript>b"),
    ("<img srcset='a 1x, b 2x'>", "<img srcset='http://h/a 1x, http://h/b 2x'>"),
    ("<meta http-equiv=refresh content='0;url=a'>", "<meta http-equiv=refresh content='0;url=http://h/a'>"),
    ("<a ping='a b'>", "<a ping='http://h/a http://h/b'>"), ("<p style='a:url(b)'>", "<p style='a:url(http://h/b)'>"),
    ("<style>@import 'a';b{c:url(d)}</style>", "<style>@import 'http://h/a';b{c:url(http://h/\\3c d)}</style>"),
    ("<iframe srcdoc='<a href=x>'>", "<iframe srcdoc='<a href=http://h/x>'>"),
    ('<script type=importmap>{"imports":{"a":"./b"}}</script>', '<script type=importmap>{"imports":{"a":"http://h/b"}}</script>'),
    ("<a href='javascript:x'>", "<a href='javascript:y'>"),
    ("<svg><a xlink:href=x /></svg>", "<svg><a xlink:href=http://h/x /></svg>"),
]  # fmt: skip
HARM = [
    ("tree", "<a href=x>y</a>", "<a href=x><b>y</b></a>"), ("tree", "<a href=x>y</a>", "<a href='http://h/'><svg>x'>y</a>"),
    ("tree", "<noscript><img src=a></noscript>", "<noscript><img src='</noscript><svg/onload=alert`1`>/b'></noscript>"),
    ("tree", "<head><noscript><link href=a></noscript>", "<head><noscript><link href='</noscript><svg>'></noscript>"),
    ("text", "<noscript><a b='</noscript>'href=c>", "<noscript><a b='</noscript>'href=http://h/c>"),
    ("tree", "<template><a href=x></template>", "<template><a href=x><b></template>"),
    ("text", "<p>x</p><a href=y>", "<p>z</p><a href=y>"), ("text", "<noscript>x</noscript>", "<noscript>y</noscript>"),
    ("text", "<noembed>x</noembed>", "<noembed>y</noembed>"), ("comment", "<!-- x --><a href=y>", "<!-- z --><a href=y>"),
    ("attributes", "<a href=x title=t>", "<a href=x onload=t>"), ("attributes", "<a href=x>", "<a href=x title>"),
    ("attribute", "<a href=x title=t>", "<a href=x title=u>"), ("attribute", "<a href=x onclick=t>", "<a href=x onclick=u>"),
    ("list", "<img srcset='a 1x'>", "<img srcset='a 1x, b 2x'>"), ("list", "<a ping=a>", "<a ping='a b'>"),
    ("refresh", "<meta http-equiv=refresh content='0;url=a'>", "<meta http-equiv=refresh content='1;url=a'>"),
    ("css", "<p style='a:url(b)'>", "<p style='a:url(b);c:d'>"), ("css", "<style>a{b:url(c)}</style>", "<style>a{b:url(c\\)}</style>"),
    ("css", "<style>a{b:url(c)}</style>", "<style>a{b:url(</style>)}</style>"),
    ("css", "<svg><style><![CDATA[@import 'a']]></style></svg>", "<svg><style><![CDATA[@import 'http://h/]]>/a']]></style></svg>"),
    ("tree", "<iframe srcdoc='<a href=x>'>", "<iframe srcdoc='<a href=x><b>'>"),
    ("tree", "<iframe srcdoc='<noscript><a href=x></noscript>'>", "<iframe srcdoc='<noscript><a href=\"</noscript><svg>\"></noscript>'>"),
    ("json", '<script type=importmap>{"imports":{"a":"./b"}}</script>', '<script type=importmap>{"imports":{"a":"</script><svg>"}}</script>'),
    ("json", '<script type=importmap>{"imports":{"a":"./b"}}</script>', '<script type=importmap>{"imports":{"a":"./b","c":"d"}}</script>'),
    ("scheme", "<a href=x>", "<a href='javascript:x'>"), ("scheme", "<a href=x>", "<a href='java\nscript:x'>"),
    ("scheme", "<a href=x>", "<a href='&#1; vbscript://x/'>"),
    ("scheme", "<style>@import 'x'</style>", "<style>@import 'data:text/css,x'</style>"),
    ("scheme", "<img srcset='a 1x'>", "<img srcset='JaVaScRiPt:a 1x'>"),
    ("comment", "<!--[if IE]><a href=x><![endif]-->", "<!--[if IE]><a href=http://h/--!>/x><![endif]-->"),
    ("#doctype", "<!doctype html><a href=x>", "<!doctype svg><a href=x>"),
]  # fmt: skip


@pytest.mark.parametrize("thorough", WAYS)
def test_changed_values_of_links_are_no_harm_and_any_other_change_of_a_page_is(thorough: bool) -> None:
    for old, new in SAME:
        Judge(thorough=thorough).html(old, new)
    for kind, old, new in HARM:
        with pytest.raises(HarmError) as raised:
            Judge(thorough=thorough).html(old, new)
        assert str(raised.value).startswith(kind), old


def looked_at(judge: Judge, name: str, after: bytes) -> None:
    judge.file(PAGES[name].data, after, "text/html", PAGES[name].options.get("charset", "utf-8"))


@pytest.mark.parametrize("name", PAGES)
def test_a_page_whose_rewrite_was_harmful_is_rewritten_without_harm(name: str) -> None:
    allowed = RUNS if PAGES[name].policy is not None else frozenset[str]()
    for thorough in WAYS:
        looked_at(Judge(allowed=allowed, thorough=thorough), name, rewritten(name))


def test_former_rewrites_of_these_pages_are_harm() -> None:
    for name, data in HARMFUL.items():
        with pytest.raises(HarmError):
            looked_at(Judge(thorough=True), name, data)


FEED = "<?xml version='1.0'?><rss><channel><link>{}</link><item><description>{}</description></item></channel></rss>"
MAIL = b"From: a\r\nContent-Location: %b\r\nContent-Type: multipart/related; boundary=B\r\n\r\n--B\r\nContent-Type: text/html\r\n\r\n%b\r\n--B--\r\n"
HTTP = b"HTTP/1.1 200 OK\r\nLocation: %b\r\nSet-Cookie: a\r\n\r\n%b"


def record(block: bytes) -> bytes:
    return b"WARC/1.1\r\nWARC-Type: resource\r\nContent-Length: %d\r\n\r\n%b\r\n\r\n" % (len(block), block)


OTHERS: list[tuple[Callable[[Judge, Any, Any], None], Any, Any, list[Any]]] = [  # what compares, a document, a change of links, and harm
    (Judge.xml, FEED.format("x", "&lt;a href=y>"), FEED.format("http://h/x", "&lt;a href=http://h/y>"),
     [FEED.format("x", "z"), FEED.format("x", "&lt;a href=y>&lt;b>"), FEED.format("<y/>", "&lt;a href=y>"), FEED.format("javascript:y", "&lt;a href=y>")]),
    (Judge.xml, FEED.format("<![CDATA[x]]>", ""), FEED.format("<![CDATA[y]]>", ""), [FEED.format("<![CDATA[]]>x]]>", "")]),
    (Judge.xml, "<?xml-stylesheet href='a'?><a/>", "<?xml-stylesheet href='b'?><a/>", ["<?xml-stylesheet href='b' type='c'?><a/>"]),
    (Judge.xml, "<a xml:base='a'/>", "<a xml:base='b'/>", ["<a xml:base='b' c='d'/>"]),
    (Judge.css, "a{b:url(c) src('c')}", "a{b:url(d) src('d')}", ["a{b:url(d) src('d')}e{}", "a{b:url(c) src('c' 'e')}"]),
    (Judge.json, '{"a": "x"}', '{"a": "y"}', ['{"a": ["y"]}']),
    (harm_messages.mail, MAIL % (b"x", b"<a href=x>"), MAIL % (b"y", b"<a href=y>"),
     [MAIL % (b"y\r\nX: z", b"<a href=x>"), MAIL % (b"x", b"<a href=x><b>"), MAIL % (b"x", b"<a href=x>\r\n--B\r\n\r\n")]),
    (harm_messages.http, HTTP % (b"x", b"<a href=x>"), HTTP % (b"y", b"<a href=y>"),
     [HTTP % (b"y\rX: z", b"<a href=x>"), HTTP % (b"y\x1b$B", b"<a href=x>"), HTTP % (b"y", b"<b>")]),
    (harm_messages.warc, record(b"<a href=x>"), record(b"<a href=yy>"), [record(b"<a href=x>") * 2, record(b"<b>")]),
]  # fmt: skip


def test_any_other_change_in_other_formats_is_harm() -> None:
    for compare, old, same, harms in OTHERS:
        compare(Judge(), old, same)
        for harm in harms:
            with pytest.raises(HarmError):
                compare(Judge(), old, harm)
