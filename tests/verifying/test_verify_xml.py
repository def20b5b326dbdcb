"""`absolve.verify` for XML: lxml checks the result without using the walker."""

from typing import Any

import pytest

import absolve
from absolve import verifying
from absolve.core.model import Document
from absolve.document.walk import Settings, walk
from absolve.rewriting.policy import absolute
from absolve.verifying.expected import Expected

URL = "http://h/d/p.xml"
TYPE = "application/xml"
ATOM = 'xmlns="http://www.w3.org/2005/Atom"'
XHTML = 'xmlns="http://www.w3.org/1999/xhtml"'


def rewritten(text: str, **options: Any) -> str:
    once: str = absolve.rewrite(text, media_type=TYPE, url=URL, **options)
    return once


def found(before: Any, after: Any, **options: Any) -> list[tuple[str, int | None]]:
    """Return the code of every difference, and its line in the original."""
    return [(diagnostic.code, diagnostic.line) for diagnostic in absolve.verify(before, after, media_type=TYPE, url=URL, **options)]


def judged(before: str, after: str) -> list[tuple[str, int | None]]:
    """Return the differences that lxml alone finds."""
    entities = [walk(Document(text, media_type=TYPE, url=URL), Settings()) for text in (before, after)]
    faults = verifying.faults(entities[0], entities[1], Expected(entities[0], absolute))
    return [(fault.code, fault.before.line if fault.before else None) for fault in faults]


HONEST = [
    "<x/>",
    f"<feed {ATOM}><link href='a&amp;b'/><icon> c </icon><logo><![CDATA[d&e]]></logo></feed>",
    f"<feed {ATOM} xml:base='b/'><entry xml:base='c/'><link href='a'/></entry><entry xml:base='/'><link href='a'/></entry></feed>",
    f"<feed {ATOM}><content type='html' xml:base='k/'>&lt;a href=x>&lt;p style='b:url(c)'></content></feed>",
    f"<feed {ATOM}><content type='html'><![CDATA[<base href=/b/>]]><!-- c -->&lt;img srcset='x, y 2x'></content></feed>",
    f"<?xml-stylesheet href='a'?><!-- c --><feed {ATOM} xml:base='/x/'/><!-- d --><?e f?>",
    "<?xml-stylesheet href='htt&amp;p://&#x61;/?b&amp;c'?><x/>",
    "<?xml-stylesheet href='a&b' title='&none;'?><x/>",
    "<?xml-stylesheet href='?&gt;x'?><?xml-stylesheet href='a\tb'?><?xml-stylesheet href='&#xf;&#xD800;&#99999999999;&#0;'?><x/>",
    '<?xml-model href="?><x a="b"/>',
    "<?xml-model href='?><?xml-model href='?><x a='b'/>",
    f"<html {XHTML}><head><base href='/b/'/><meta http-equiv='refresh' content='1; x'/><meta name='a' content='b'/></head><a href='c'/></html>",
    f"<html {XHTML}><object codebase='k/' data='d' archive='e f'/><form action=''/><a href='#f'/><p style='a:url(b)'/></html>",
    f"<html {XHTML}><style>/*<![CDATA[*/a>b{{c:url(d)}}/*]]>*/</style><iframe srcdoc='&lt;a href=x>'/><template><base href='/t/'/></template></html>",
    "<rss><channel><guid isPermaLink='true'>a</guid><guid>17</guid><link>b</link></channel></rss>",
    "<!DOCTYPE rss [<!ENTITY a 'b/'><!ENTITY m '<x/>'>]><rss><link>&a;c</link><x>&m;</x></rss>",
    "<svg xmlns='http://www.w3.org/2000/svg' xmlns:l='http://www.w3.org/1999/xlink'><use l:href='#a' fill='url(#b)'/><image l:href='c'/></svg>",
    "<r:RDF xmlns:r='http://www.w3.org/1999/02/22-rdf-syntax-ns#'><r:Description r:about=''/><r:Description r:about='a'/></r:RDF>",
]


@pytest.mark.parametrize("text", HONEST)
@pytest.mark.parametrize("profile", ["rfc1808", "rfc3986", "whatwg"])
def test_verify_accepts_a_correct_rewrite(text: str, profile: str) -> None:
    assert found(text, rewritten(text, profile=profile), profile=profile) == []
    assert found(text, rewritten(text, base="empty", fragments="absolute"), base="empty", fragments="absolute") == []


@pytest.mark.parametrize("encoding", ["utf-16", "windows-1251", "IBM855"])
def test_verify_accepts_a_correct_rewrite_in_any_charset(encoding: str) -> None:
    text = f"<?xml version='1.0' encoding='{encoding}'?><rss><title>\u0434</title><link>\u0434</link></rss>"
    data = text.encode(encoding)
    assert found(data, absolve.rewrite(data, media_type=TYPE, url=URL)) == []


def test_verify_accepts_a_correct_rewrite_by_a_policy() -> None:
    def policy(_resolved: object) -> str:
        return "http://n/?\u20ac\u00e9&"

    for text in HONEST[1:3]:
        data = f"<?xml version='1.0' encoding='windows-1251'?>{text}".encode()
        assert found(data, absolve.rewrite(data, media_type=TYPE, policy=policy), policy=policy) == []


PAGE = f"""<?xml-stylesheet href="s" type="text/css"?>
<feed {ATOM} a="1" xml:base="b/">
 <link href="x?a&amp;b" rel="r"/> <icon>i</icon>
 <content type="html">&lt;a href=y>&amp;amp;&lt;/a></content>
 <!-- c --><?p q?>
</feed>
"""


@pytest.mark.parametrize(("old", "new", "differences"), [
    ('a="1"', 'a="2"', [("attribute", 2)]),
    ('a="1" ', "", [("attribute", 2)]),
    ('rel="r"', 'rel="R"', [("attribute", 3)]),
    ("\n <link", "\n  <link", [("tree", 2)]),
    ("/> <icon", "/><icon", [("tree", 3)]),
    ("<icon>http://h/d/b/i</icon>", "", [("tree", 3), ("tree", 3)]),
    ("<icon", f"<icon xmlns:e='e' {ATOM}", [("attribute", 3)]),
    ("http://h/d/b/x", "http://h/d/x", [("target", 3)]),
    ("http://h/d/b/x", "x", []),  # the target is the same
    ("http://h/d/b/i", "http://h/d/b/j", [("target", 3)]),
    ("http://h/d/b/i", " http://h/d/b/i", [("tree", 3)]),
    ('http://h/d/b/"', 'http://h/d/c/"', [("target", 2)]),
    ("http://h/d/b/y", "http://h/d/b/z", [("target", 4)]),
    ("&amp;amp;", "&amp;lt;", [("tree", 4)]),
    ("<!-- c", "<!-- d", [("tree", 5)]),
    ("?p q", "?p r", [("tree", 5)]),
    ("?p q", "?r q", [("tree", 5)]),
    ("http://h/d/s", "http://h/d/t", [("target", 1)]),
    ("text/css", "text/xsl", [("attribute", 1)]),
    ("<?xml-", "<!DOCTYPE feed><?xml-", [("tree", 1)]),
])
def test_lxml_alone_finds_other_changes(old: str, new: str, differences: list[tuple[str, int | None]]) -> None:
    after = rewritten(PAGE)
    assert old in after
    assert judged(PAGE, after.replace(old, new, 1)) == differences


def test_verify_finds_a_changed_base_of_links_that_stay() -> None:
    before = f"<html {XHTML}><p xml:base='/a/'><a href='x'/></p></html>"
    after = before.replace("/a/", "http://h/b/")
    assert judged(before, after) == [("target", 1), ("target", 1)]


def test_verify_finds_xml_that_is_no_longer_well_formed() -> None:
    assert found("<x/>", "<x>") == [("unreadable", None)]


def test_xml_that_lxml_cannot_read_is_reported_as_unproved() -> None:
    deep = "<x>" * 4_000 + f"<link {ATOM} href='a'/>" + "</x>" * 4_000
    assert found(deep, rewritten(deep)) == [("unjudged", None)]


@pytest.mark.parametrize("charset", [None, "shift_jis"])
def test_a_reference_with_a_byte_that_is_no_character_is_the_same_for_both_readers(charset: str | None) -> None:
    page = b"<html xmlns='http://www.w3.org/1999/xhtml'><a href='x\xa0\xe0'/><p>\xff & b</p></html>"
    options: Any = {"media_type": "application/xml", "charset": charset, "url": "http://h/"}
    with pytest.warns(absolve.DiagnosticWarning, match="not well-formed"):
        after = absolve.rewrite(page, **options)
    assert after == page.replace(b"'x\xa0", b"'http://h/x\xa0")
    assert absolve.verify(page, after, **options) == []
    assert absolve.verify(page, after.replace(b"/h/", b"/i/"), **options) != []


def test_verify_finds_what_became_ill_formed_or_lost_in_recovered_xml() -> None:
    assert found("<rss><link>http://h/</link></rss>", "<rss><link>http://h/&</link></rss>", policy=lambda _: "http://h/&") != []
    before = "<rss>&<title>\x0b</title><link>http://h/</link></rss>"
    assert found(before, before.replace("\x0b", "")) != []
    assert found(before, before.replace("&", "&amp;")) != []
