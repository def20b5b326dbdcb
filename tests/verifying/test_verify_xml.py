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


def test_verify_accepts_a_correct_rewrite_in_any_charset_and_by_a_policy() -> None:
    for encoding in ("utf-16", "windows-1251", "IBM855"):
        data = f"<?xml version='1.0' encoding='{encoding}'?><rss><title>\u0434</title><link>\u0434</link></rss>".encode(encoding)
        assert found(data, absolve.rewrite(data, media_type=TYPE, url=URL)) == []
    data = f"<?xml version='1.0' encoding='windows-1251'?><feed {ATOM} xml:base='b/'><icon> c </icon><logo><![CDATA[d&e]]></logo></feed>".encode()
    after = absolve.rewrite(data, media_type=TYPE, policy=lambda _: "http://n/?\u20ac\u00e9&")
    assert found(data, after, policy=lambda _: "http://n/?\u20ac\u00e9&") == []


PAGE = f"""<?xml-stylesheet href="s" type="text/css"?>
<feed {ATOM} a="1" xml:base="b/">
 <link href="x?a&amp;b" rel="r"/> <icon>i</icon>
 <content type="html">&lt;a href=y>&amp;amp;&lt;/a></content>
 <!-- c --><?p q?>
</feed>
"""


@pytest.mark.parametrize(("old", "new", "differences"), [
    ('a="1"', 'a="2"', [("attribute", 2)]), ('a="1" ', "", [("attribute", 2)]), ('rel="r"', 'rel="R"', [("attribute", 3)]),
    ("\n <link", "\n  <link", [("tree", 2)]), ("/> <icon", "/><icon", [("tree", 3)]),
    ("<icon>http://h/d/b/i</icon>", "", [("tree", 3), ("tree", 3)]), ("<icon", f"<icon xmlns:e='e' {ATOM}", [("attribute", 3)]),
    ("http://h/d/b/x", "http://h/d/x", [("target", 3)]),
    ("http://h/d/b/x", "x", []),  # the target is the same
    ("http://h/d/b/i", "http://h/d/b/j", [("target", 3)]), ("http://h/d/b/i", " http://h/d/b/i", [("tree", 3)]),
    ('http://h/d/b/"', 'http://h/d/c/"', [("target", 2)]), ("http://h/d/b/y", "http://h/d/b/z", [("target", 4)]),
    ("&amp;amp;", "&amp;lt;", [("tree", 4)]), ("<!-- c", "<!-- d", [("tree", 5)]), ("?p q", "?p r", [("tree", 5)]),
    ("?p q", "?r q", [("tree", 5)]), ("http://h/d/s", "http://h/d/t", [("target", 1)]), ("text/css", "text/xsl", [("attribute", 1)]),
    ("<?xml-", "<!DOCTYPE feed><?xml-", [("tree", 1)]),
])
def test_lxml_alone_finds_other_changes(old: str, new: str, differences: list[tuple[str, int | None]]) -> None:
    after = rewritten(PAGE)
    assert old in after
    assert judged(PAGE, after.replace(old, new, 1)) == differences


def test_verify_finds_a_changed_base_of_links_that_stay_and_xml_that_it_cannot_read() -> None:
    before = f"<html {XHTML}><p xml:base='/a/'><a href='x'/></p></html>"
    assert judged(before, before.replace("/a/", "http://h/b/")) == [("target", 1), ("target", 1)]
    assert found("<x/>", "<x>") == [("unreadable", None)]
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
