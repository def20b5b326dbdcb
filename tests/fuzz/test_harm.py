"""No rewrite turns text into markup or code, in 5,000 executions; and the detection finds every kind of harm."""

from collections.abc import Callable
from typing import Any

import fuzz_harm
import harm_messages
import pytest
from fuzz_harm import CONTEXTS, fresh
from harm_charsets import NAMES
from harm_judge import RUNS, HarmError, Judge
from harm_trees import LEXBOR
from harmful_pages import HARMFUL, PAGES, rewritten
from hypothesis import given, settings
from hypothesis import strategies as st

MADE = 5000
AT_ONCE = 250


@pytest.mark.parametrize("first", range(0, MADE, AT_ONCE))
def test_no_rewrite_turns_text_into_markup_or_code(first: int) -> None:
    for number in range(first, first + AT_ONCE):
        fuzz_harm.check(fresh(number))


@settings(max_examples=100)
@given(st.binary(min_size=2, max_size=24))
def test_no_rewrite_of_hypothesis_inputs_turns_text_into_markup_or_code(data: bytes) -> None:
    fuzz_harm.check(data)


def test_generated_inputs_cover_every_context_with_every_charset() -> None:
    made = {(data[0] % len(CONTEXTS), data[1] % len(NAMES)) for data in map(fresh, range(MADE))}
    assert len(made) == len(CONTEXTS) * len(NAMES)


def test_most_generated_inputs_are_rewritten_and_checked() -> None:
    fuzz_harm.seen.clear()
    for number in range(0, 10_000, 25):
        fuzz_harm.check(fresh(number))
    assert fuzz_harm.seen["judged"] > 200
    assert fuzz_harm.seen["refused"] < 60
    assert fuzz_harm.seen["unjudged"] < 10


# --- detection of harm ------------------------------------------------------------------------------------------------

WAYS = (False, True) if LEXBOR is not None else (True,)
SAME = [
    ("<a href=x>", "<a href=http://h/x>"),
    ("<a href=x title=t>x &lt; y</a>", "<a href='http://h/&lt;x' title=t>x &lt; y</a>"),
    ("<noscript><img src=a></noscript>b", "<noscript><img src='http://h/&lt;a'></noscript>b"),
    ("<img srcset='a 1x, b 2x'>", "<img srcset='http://h/a 1x, http://h/b 2x'>"),
    ("<meta http-equiv=refresh content='0;url=a'>", "<meta http-equiv=refresh content='0;url=http://h/a'>"),
    ("<a ping='a b'>", "<a ping='http://h/a http://h/b'>"),
    ("<p style='a:url(b)'>", "<p style='a:url(http://h/b)'>"),
    ("<style>@import 'a';b{c:url(d)}</style>", "<style>@import 'http://h/a';b{c:url(http://h/\\3c d)}</style>"),
    ("<iframe srcdoc='<a href=x>'>", "<iframe srcdoc='<a href=http://h/x>'>"),
    ('<script type=importmap>{"imports":{"a":"./b"}}</script>', '<script type=importmap>{"imports":{"a":"http://h/b"}}</script>'),
    ("<a href='javascript:x'>", "<a href='javascript:y'>"),
    ("<svg><a xlink:href=x /></svg>", "<svg><a xlink:href=http://h/x /></svg>"),
]  # fmt: skip
HARM = [
    ("tree", "<a href=x>y</a>", "<a href=x><b>y</b></a>"),
    ("tree", "<a href=x>y</a>", "<a href='http://h/'><svg>x'>y</a>"),
    ("tree", "<noscript><img src=a></noscript>", "<noscript><img src='</noscript><svg/onload=alert`1`>/b'></noscript>"),
    ("tree", "<head><noscript><link href=a></noscript>", "<head><noscript><link href='</noscript><svg>'></noscript>"),
    ("text", "<noscript><a b='</noscript>'href=c>", "<noscript><a b='</noscript>'href=http://h/c>"),
    ("tree", "<template><a href=x></template>", "<template><a href=x><b></template>"),
    ("text", "<p>x</p><a href=y>", "<p>z</p><a href=y>"),
    ("text", "<noscript>x</noscript>", "<noscript>y</noscript>"),
    ("text", "<noembed>x</noembed>", "<noembed>y</noembed>"),
    ("comment", "<!-- x --><a href=y>", "<!-- z --><a href=y>"),
    ("attributes", "<a href=x title=t>", "<a href=x onload=t>"),
    ("attributes", "<a href=x>", "<a href=x title>"),
    ("attribute", "<a href=x title=t>", "<a href=x title=u>"),
    ("attribute", "<a href=x onclick=t>", "<a href=x onclick=u>"),
    ("list", "<img srcset='a 1x'>", "<img srcset='a 1x, b 2x'>"),
    ("list", "<a ping=a>", "<a ping='a b'>"),
    ("refresh", "<meta http-equiv=refresh content='0;url=a'>", "<meta http-equiv=refresh content='1;url=a'>"),
    ("css", "<p style='a:url(b)'>", "<p style='a:url(b);c:d'>"),
    ("css", "<style>a{b:url(c)}</style>", "<style>a{b:url(c\\)}</style>"),
    ("css", "<style>a{b:url(c)}</style>", "<style>a{b:url(</style>)}</style>"),
    ("css", "<svg><style><![CDATA[@import 'a']]></style></svg>", "<svg><style><![CDATA[@import 'http://h/]]>/a']]></style></svg>"),
    ("tree", "<iframe srcdoc='<a href=x>'>", "<iframe srcdoc='<a href=x><b>'>"),
    ("tree", "<iframe srcdoc='<noscript><a href=x></noscript>'>", "<iframe srcdoc='<noscript><a href=\"</noscript><svg>\"></noscript>'>"),
    ("json", '<script type=importmap>{"imports":{"a":"./b"}}</script>', '<script type=importmap>{"imports":{"a":"</script><svg>"}}</script>'),
    ("json", '<script type=importmap>{"imports":{"a":"./b"}}</script>', '<script type=importmap>{"imports":{"a":"./b","c":"d"}}</script>'),
    ("scheme", "<a href=x>", "<a href='javascript:x'>"),
    ("scheme", "<a href=x>", "<a href='java\nscript:x'>"),
    ("scheme", "<a href=x>", "<a href='&#1; vbscript://x/'>"),
    ("scheme", "<style>@import 'x'</style>", "<style>@import 'data:text/css,x'</style>"),
    ("scheme", "<img srcset='a 1x'>", "<img srcset='JaVaScRiPt:a 1x'>"),
    ("comment", "<!--[if IE]><a href=x><![endif]-->", "<!--[if IE]><a href=http://h/--!>/x><![endif]-->"),
    ("#doctype", "<!doctype html><a href=x>", "<!doctype svg><a href=x>"),
]  # fmt: skip


@pytest.mark.parametrize("thorough", WAYS)
@pytest.mark.parametrize(("old", "new"), SAME)
def test_changed_values_of_links_are_no_harm(old: str, new: str, thorough: bool) -> None:
    Judge(thorough=thorough).html(old, new)


@pytest.mark.parametrize("thorough", WAYS)
@pytest.mark.parametrize(("kind", "old", "new"), HARM)
def test_any_other_change_of_a_page_is_harm(kind: str, old: str, new: str, thorough: bool) -> None:
    with pytest.raises(HarmError) as raised:
        Judge(thorough=thorough).html(old, new)
    assert str(raised.value).startswith(kind)


def looked_at(judge: Judge, name: str, after: bytes) -> None:
    judge.file(PAGES[name].data, after, "text/html", PAGES[name].options.get("charset", "utf-8"))


@pytest.mark.parametrize("name", PAGES)
def test_a_page_whose_rewrite_was_harmful_is_rewritten_without_harm(name: str) -> None:
    allowed = RUNS if PAGES[name].policy is not None else frozenset[str]()
    for thorough in WAYS:
        looked_at(Judge(allowed=allowed, thorough=thorough), name, rewritten(name))


@pytest.mark.parametrize("name", HARMFUL)
def test_former_rewrites_of_these_pages_are_harm(name: str) -> None:
    with pytest.raises(HarmError):
        looked_at(Judge(thorough=True), name, HARMFUL[name])


FEED = "<?xml version='1.0'?><rss><channel><link>{}</link><item><description>{}</description></item></channel></rss>"
MAIL = b"From: a\r\nContent-Location: %b\r\nContent-Type: multipart/related; boundary=B\r\n\r\n--B\r\nContent-Type: text/html\r\n\r\n%b\r\n--B--\r\n"
HTTP = b"HTTP/1.1 200 OK\r\nLocation: %b\r\nSet-Cookie: a\r\n\r\n%b"


def xml(old: str, new: str) -> None:
    Judge().xml(old, new)


def css(old: str, new: str) -> None:
    Judge().css(old, new)


def json(old: str, new: str) -> None:
    Judge().json(old, new)


def of_bytes(reader: Callable[[Judge, bytes, bytes], None]) -> Callable[[bytes, bytes], None]:
    return lambda old, new: reader(Judge(), old, new)


def record(block: bytes) -> bytes:
    return b"WARC/1.1\r\nWARC-Type: resource\r\nContent-Length: %d\r\n\r\n%b\r\n\r\n" % (len(block), block)


@pytest.mark.parametrize(("judge", "old", "same", "harm"), [
    (xml, FEED.format("x", "y"), FEED.format("http://h/x", "y"), FEED.format("x", "z")),
    (xml, FEED.format("x", "&lt;a href=y>"), FEED.format("x", "&lt;a href=http://h/y>"), FEED.format("x", "&lt;a href=y>&lt;b>")),
    (xml, FEED.format("x", ""), FEED.format("y", ""), FEED.format("<y/>", "")),
    (xml, FEED.format("x", ""), FEED.format("y", ""), FEED.format("javascript:y", "")),
    (xml, FEED.format("<![CDATA[x]]>", ""), FEED.format("<![CDATA[y]]>", ""), FEED.format("<![CDATA[]]>x]]>", "")),
    (xml, "<?xml-stylesheet href='a'?><a/>", "<?xml-stylesheet href='b'?><a/>", "<?xml-stylesheet href='b' type='c'?><a/>"),
    (xml, "<a xml:base='a'/>", "<a xml:base='b'/>", "<a xml:base='b' c='d'/>"),
    (css, "a{b:url(c)}", "a{b:url(d)}", "a{b:url(d)}e{}"),
    (css, "a{b:src('c')}", "a{b:src('d')}", "a{b:src('d' 'e')}"),
    (json, '{"a": "x"}', '{"a": "y"}', '{"a": ["y"]}'),
    (of_bytes(harm_messages.mail), MAIL % (b"x", b"<a href=x>"), MAIL % (b"y", b"<a href=y>"), MAIL % (b"y\r\nX: z", b"<a href=x>")),
    (of_bytes(harm_messages.mail), MAIL % (b"x", b"<a href=x>"), MAIL % (b"y", b"<a href=y>"), MAIL % (b"x", b"<a href=x><b>")),
    (of_bytes(harm_messages.mail), MAIL % (b"x", b"<a href=x>"), MAIL % (b"y", b"<a href=y>"), MAIL % (b"x", b"<a href=x>\r\n--B\r\n\r\n")),
    (of_bytes(harm_messages.http), HTTP % (b"x", b""), HTTP % (b"y", b""), HTTP % (b"y\rX: z", b"")),
    (of_bytes(harm_messages.http), HTTP % (b"x", b""), HTTP % (b"y", b""), HTTP % (b"y\x1b$B", b"")),
    (of_bytes(harm_messages.http), HTTP % (b"x", b"<a href=x>"), HTTP % (b"y", b"<a href=y>"), HTTP % (b"y", b"<b>")),
    (of_bytes(harm_messages.warc), record(b"<a href=x>"), record(b"<a href=yy>"), record(b"<a href=x>") * 2),
    (of_bytes(harm_messages.warc), record(b"<a href=x>"), record(b"<a href=yy>"), record(b"<b>")),
])  # fmt: skip
def test_any_other_change_in_other_formats_is_harm(judge: Callable[[Any, Any], None], old: Any, same: Any, harm: Any) -> None:
    judge(old, same)
    with pytest.raises(HarmError):
        judge(old, harm)
