"""Detection of formats: by name, by content, and names of unsupported formats."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from absolve.formats import registry


@pytest.mark.parametrize(
    ("data", "name", "media_type"),
    [
        (b"plain text", None, "text/html"),
        (b"", "notes.txt", "text/html"),
        (b"plain text", "page.html", "text/html"),
        (b"plain text", "page.HTM", "text/html"),
        (b"a fragment <a href=x>", "-", "text/html"),
        (b"a fragment <a href=x>", "page.php", "text/html"),
        (b"a fragment <a href=x>", "index.html@id=3", "text/html"),
        ("<p>".encode("utf-16"), "-", "text/html"),
        (b" \n<!DOCTYPE html>", "notes.txt", "text/html"),
        (b"<a href=x>", "old.js", "text/html"),
        (b"plain text", "-", None),
        (b"plain text", "README", None),
        (b"plain text", "page.php", None),
        (b"a fragment <a href=x>", "notes.txt", None),
        (b"if (a<b) document.write('<p>')", "x.js", None),
        (b"print('<p>')", "x.py", None),
        (b"{}", "x.json", None),
        (b"\0\1", "x", None),
        (b"\0\1", "x.html", None),
    ],
)
def test_text_is_html_by_name_by_its_beginning_or_by_a_tag_without_a_known_name(
    data: bytes, name: str | None, media_type: str | None
) -> None:
    assert registry.sniff(data, name) == media_type


FEED = b'<?xml version="1.0"?>\n<rss version="2.0"><channel><link>x</link></channel></rss>\n'
SITEMAP = b"<urlset><url><loc>x</loc></url></urlset>\n"


@pytest.mark.parametrize("body", [FEED, SITEMAP], ids=["feed", "sitemap"])
@pytest.mark.parametrize("name", [None, "-", "saved"])
@pytest.mark.parametrize(
    ("head", "media_type"),
    [
        (b"HTTP/1.1 200 OK\r\nContent-Type: application/rss+xml\r\n\r\n", registry.HTTP),
        (b"HTTP/2 200 \r\ncontent-type: text/xml\r\n\r\n", registry.HTTP),
        (b"From: a\nContent-Type: text/xml\n\n", registry.MESSAGE),
        (b"\xef\xbb\xbfSubject: s\nContent-Type: text/xml\n\n", registry.MESSAGE),
        (b"From a 10:00\nFrom: a\nContent-Type: text/xml\n\n", registry.MAILBOX),
        (b"WARC/1.0\r\nWARC-Type: resource\r\nContent-Length: 80\r\n\r\n", registry.WARC),
        (b"http://h/feed 1.2.3.4 20100101000000 text/xml 80\n", registry.WARC),
        (b'{"log": {"entries": [{"response": {"content": {"text": "', registry.HAR),
        (b"PK\x03\x04", registry.ZIP),
        (b"a word of a server before it\n", registry.XML),
        (b"\xef\xbb\xbf \n", registry.XML),
    ],
)
def test_a_message_or_archive_with_xml_is_recognized_by_its_first_line(
    head: bytes, body: bytes, name: str | None, media_type: str
) -> None:
    assert registry.sniff(head + body, name) == media_type


BEGINNINGS = st.lists(
    st.sampled_from(
        b"\xef\xbb\xbf|\xff\xfe| |\n|\f|\0|<|>|[|]|!|:|<!doctype html|<!DOCTYPE html|<!DOCTYPE HTML|<!DOCTYPE Html|<!DOCTYPE svg"
        b'| PUBLIC "-//W3C//DTD"|<html|<HTML|<Html|<rss|<svg|<x:html|<?xml version="1.0"?>|<!--|-->|[<!ENTITY a "b">]|Subject: x\n|/>'.split(b"|")
    ),
    max_size=7,
).map(b"".join)


@given(BEGINNINGS, st.sampled_from([None, "-", "a.html", "a.xml", "a.eml"]))
@example(b"<!DOCTYPE html>\n<rss>", None)
@example(b"<!doctype html><rss>", None)
@example(b"<!DOCTYPE html [<!ENTITY a 'b'>]><html>", "-")
@example(b"<!DOCTYPE html><html:rss>", "-")
@example(b"<!DOCTYPE html [x]><html>", "-")
@settings(max_examples=500)
def test_a_page_is_recognized_by_its_beginning_as_by_all_signatures(data: bytes, name: str | None) -> None:
    found = registry.sniff(data, name)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(registry, "_PAGE", re.compile(rb"(?!)"))
        assert registry.sniff(data, name) == found
    if registry.sniff_content(data) == registry.HTML:
        assert not registry.looks_binary(data)


@pytest.mark.parametrize("comment", ["<!---->", "<!-- a -- b --->", "<!-- <html> - -- > ->-->", "<!----><!-- -->", "<!--\n-->"])
def test_xml_is_recognized_behind_comments(comment: str) -> None:
    assert registry.sniff(f"{comment}\n<rss>".encode(), None) == registry.XML
    assert registry.sniff(f"{comment}\n<html>".encode(), None) == registry.HTML
    assert registry.sniff(f"{comment[:-1]}\n<rss>".encode(), None) == registry.HTML  # a comment without an end


@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("charset", ["utf-8", "utf-16-le", "utf-16-be"])
def test_xml_is_recognized_in_every_charset_with_a_byte_order_mark(charset: str, mark: str) -> None:
    assert registry.sniff((mark + FEED.decode()).encode(charset), "-") == registry.XML


@pytest.mark.parametrize(
    ("data", "name", "other", "words"),
    [
        (b"x", "a.py", True, "text/x-python"),
        (b"\0", "a.png", True, "image/png"),
        (b"x", "-", True, "plain text"),
        (b"\0", "a", True, "binary data"),
        (b"\0", "a.html", False, "binary data"),  # it is broken, but not of another format
        (b"x", "a.html", False, "plain text"),
    ],
)
def test_an_unsupported_format_is_named_in_the_error(data: bytes, name: str, other: bool, words: str) -> None:
    assert registry.is_other(data, name) == other
    assert registry.in_words(data, name) == words


def test_parameters_of_a_media_type_take_linear_time() -> None:
    assert registry.essence_of('Text/HTML; a; Charset="K\\"8" ;=;b=;c=d=e; f') == ("text/html", {"charset": 'K"8', "b": "", "c": "d=e"})
    began = time.process_time()
    for unit in ("a", ";a", "a\t", ";a=b", ';a="\\"'):
        registry.essence_of("text/html;" + unit * 100_000)
    assert time.process_time() - began < 5  # a quadratic search takes minutes
