"""Detection of formats: by name, by content, and names of unsupported formats."""

import gzip
import re
import time

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from absolve.formats import registry, sniffing

DETECTED: dict[str | None, list[tuple[bytes, str | None]]] = {  # by the name, by the beginning, or by a tag without a known name
    registry.HTML: [
        (b"plain text", None), (b"", "notes.txt"), (b"plain text", "page.html"), (b"plain text", "page.HTM"),
        (b"a fragment <a href=x>", "-"), (b"a fragment <a href=x>", "page.php"), (b"a fragment <a href=x>", "index.html@id=3"),
        ("<p>".encode("utf-16"), "-"), (b" \n<!DOCTYPE html>", "notes.txt"), (b"<a href=x>", "old.js"),
        (b"<?xml version='1.0'?><html xmlns='http://www.w3.org/1999/xhtml'>", "a.html"), (b"<p>", "a.php"),
        (b"<?xml version='1.0'?><html>", None), (b"<?xml version='1.0'?>\n<!DOCTYPE html PUBLIC '' ''><html>", None),
        (b"<article>", None), (b"text", None), (b"From: a\nTo: b\n", "x.html"), (b"From: the text begins\nand goes on", None),
        (b"{{ x }} <p>", "-"), (b"{% x %} <p>", "x.j2"), (b"[% x %] <p>", "x.tt"), (b"no tag", "x.html.erb"), (b"<?php x ?> <p>", "x.php"),
        (b"[[x]] <p>", None), (b"<p>", "x.sql"), (b"x <p>", "example.org"), (b"x <p>", "api.rest"),
        (b"Note: this\nWell: that\n", None), (b"<p>\nFrom: a\nTo: b\n", None),
    ],
    None: [
        (b"plain text", "-"), (b"plain text", "README"), (b"plain text", "page.php"), (b"a fragment <a href=x>", "notes.txt"),
        (b"if (a<b) document.write('<p>')", "x.js"), (b"print('<p>')", "x.py"), (b"a = '<svg><path/></svg>'", "x.js"), (b"{}", "x.json"), (b"\0\1", "x"), (b"\0\1", "x.html"),
        (gzip.compress(b"<p>"), "x.gz"), (gzip.compress(b"From: a\nTo: b\n\n")[:9], "x.mbox.gz"),
        (b'{"manifest_version": 3, "icons": {}}', "manifest.json"), (b"[]", "manifest.json"),
        (b'{"a": "<p>"}', "data"), (b' [{"a": "<p>"}]', None), (b'["<p>"]', "-"),
        (b"INSERT '<p>'", "x.sql"), (b"a: <p>", "x.yml"), (b"'<p>'", "x.ts"), (b"<%= x %> <p>", "x.conf.erb"), (b"<% %> '<p>'", "x.js.erb"),
        (b"x:<p>", "x.ics"), (b"x:<p>", "x.vcf"), (b"x <p>", "x.rtf"), (b"BEGIN:VCALENDAR\r\nX:<p>", "-"), (b"begin:vcard\nX:<p>", None),
        (b"\xef\xbb\xbfBEGIN:VCARD\nX:<p>", "x"), (b"{\\rtf1 <p>}", None),
        (b"<?php x ?> <p>", "x.xml.php"), (b"http://h/\nb\n", "sitemap.txt"), (b"http://h/", "urls.txt"), (gzip.compress(b"{}"), "x.gz"),
    ],
    registry.CSS: [(b"a{b:url(<%= x %>)}", "x.css.erb"), *((b"a{b:url(x)}", f"x.css{query}") for query in ("?ver=4.9", "%3Fver=a", "@ver=4.9"))],
    registry.MARKDOWN: [
        (b"# x\n<p>", "x.md"), (b"<h1>x</h1>\n\n    <p>", "README.MD"), (b"<p>", "x.md.erb"),
        (b"no tag", "x.md"), (b"# x", "x.md.txt"), (b"# x", "dir/llms.txt"), (b"# x", "llms-full.txt"),
    ],
    registry.ROBOTS: [(b"", "robots.txt"), (b"<p>", "dir/Robots.txt")],
    registry.SITEMAP: [
        (b"http://h/\r\n\nhttps://h/a b\n", "sitemap.txt"), (b"\xef\xbb\xbfhttp://h/", "my-sitemap-2.txt"), (b"http://h/\n" * 999, "urllist.txt"),
    ],
    registry.COMPRESSED: [
        (gzip.compress(b"<urlset/>"), "sitemap.xml.gz"), (gzip.compress(b"<svg/>"), "x.svgz"), (gzip.compress(b"http://h/\n"), "sitemap.txt.gz"),
    ],
    registry.XML: [
        (b"", "a.svg"), (b"<html>", "a.XML"), (b"<html>", "a.xhtml"), (b"<?xml version='1.0'?><rss>", "a.php"),
        (b"<?xml version='1.0'?>\n<!-- <a> --><x:y/>", None), (b"\xef\xbb\xbf<?xml version='1.0'?><x/>", None),
        (b"<rss version='2.0'>", None), (b"<!DOCTYPE rss [<!ENTITY a '>'>]><rss>", None), (b"<!-- x --><rdf:RDF>", None),
        ("<?xml version='1.0'?><rss/>".encode("utf-16"), None), ("<?xml version='1.0'?><rss/>".encode("utf-16-be"), None),
    ],
    registry.ZIP: [(b"PK\x03\x04\x00", "a.xml")],
    registry.MESSAGE: [
        (b"x", "x.EML"), (b"\0", "x.mht"), (b"<p>", "x.mhtml"), (b"X-A: b\r\n c\r\nReceived: d\r\n e\r\n\r\n", None),
        (b"X-A: b\rFrom: d\r e\r\r", "mail"),
    ],
    registry.MAILBOX: [
        (b"", "x.mbox"), (b"From - Mon Jan  6 10:00:00 2020\rFrom: a\rTo: b\r", "mail"), (b"From - Mon Jan  6 10:00:00 2020\nFrom: a\nTo: b\n", "mail"),
    ],
    registry.COMPRESSED_MAIL: [
        (gzip.compress(b"From a  Mon Jan  6 10:00:00 2020\nFrom: a\nTo: b\n"), "2020-January.txt.gz"),
        (gzip.compress(b"From: a\nTo: b\n\n"), "x.eml.gz"), (gzip.compress(b"From: a\rTo: b\r\r" + bytes(9999)), None),
    ],
    registry.EMLX: [(b"x", "4711.partial.emlx"), (b"99        \nFrom: a\nTo: b\n", "4711")],
    "application/manifest+json": [(b"{}", "x.webmanifest"), (b'{"name": "x", "icons": []}', "dir/manifest.json")],
    "application/ld+json": [(b"{}", "a.jsonld")],
    "application/importmap+json": [(b'{"imports": {}}', "importmap.json"), (b"{}", "x.importmap")],
}


@pytest.mark.parametrize("media_type", DETECTED)
def test_a_format_is_detected_by_name_and_content(media_type: str | None) -> None:
    for data, name in DETECTED[media_type]:
        assert sniffing.sniff(data, name) == media_type, (data, name)


FEED = b'<?xml version="1.0"?>\n<rss version="2.0"><channel><link>x</link></channel></rss>\n'
SITEMAP = b"<urlset><url><loc>x</loc></url></urlset>\n"


@pytest.mark.parametrize(("head", "media_type"), [
    (b"HTTP/1.1 200 OK\r\nContent-Type: application/rss+xml\r\n\r\n", registry.HTTP),
    (b"HTTP/2 200 \r\ncontent-type: text/xml\r\n\r\n", registry.HTTP),
    (b"From: a\nContent-Type: text/xml\n\n", registry.MESSAGE),
    (b"\xef\xbb\xbfSubject: s\nContent-Type: text/xml\n\n", registry.MESSAGE),
    (b"From a 10:00\nFrom: a\nContent-Type: text/xml\n\n", registry.MAILBOX),
    (b"WARC/1.0\r\nWARC-Type: resource\r\nContent-Length: 80\r\n\r\n", registry.WARC),
    (b"http://h/feed 1.2.3.4 20100101000000 text/xml 80\n", registry.WARC),
    (b'{"log": {"entries": [{"response": {"content": {"text": "', registry.HAR),
    (b"PK\x03\x04", registry.ZIP), (b"a word of a server before it\n", registry.XML), (b"\xef\xbb\xbf \n", registry.XML),
])
def test_a_message_or_archive_with_xml_is_recognized_by_its_first_line(head: bytes, media_type: str) -> None:
    assert {sniffing.sniff(head + body, name) for body in (FEED, SITEMAP) for name in (None, "-", "saved")} == {media_type}


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
@settings(max_examples=150)
def test_a_page_is_recognized_by_its_beginning_as_by_all_signatures(data: bytes, name: str | None) -> None:
    found = sniffing.sniff(data, name)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sniffing, "_PAGE", re.compile(rb"(?!)"))
        assert sniffing.sniff(data, name) == found
    if sniffing.sniff_content(data) == registry.HTML:
        assert not sniffing.looks_binary(data)


def test_xml_is_recognized_behind_comments() -> None:
    for comment in ("<!---->", "<!-- a -- b --->", "<!-- <html> - -- > ->-->", "<!----><!-- -->", "<!--\n-->"):
        assert sniffing.sniff(f"{comment}\n<rss>".encode(), None) == registry.XML
        assert sniffing.sniff(f"{comment}\n<html>".encode(), None) == registry.HTML
        assert sniffing.sniff(f"{comment[:-1]}\n<rss>".encode(), None) == registry.HTML  # a comment without an end


@pytest.mark.parametrize(("data", "name", "other", "words"), [
    (b"x", "a.py", True, "text/x-python"), (b"\0", "a.png", True, "image/png"), (b"x", "-", True, "plain text"),
    (b"[{}]", "-", True, "JSON"), (b"BEGIN:VCALENDAR\r\n", "-", True, "text/calendar"), (b"x", "a.rtf", True, "application/rtf"),
    (b"\x1f\x8b\x08\0", "a.svgz", True, "image/svg+xml compressed by gzip"),
    (b"\x1f\x8b\x08\0", "a.html.gz", True, "text/html compressed by gzip"),
    (b"\x1f\x8b\x08\0", "a.gz", True, "binary data compressed by gzip"),
    (b"\0", "a", True, "binary data"),
    (b"\xd0\xcf\x11\xe0\0", "a.msg", True, "a message of Outlook or an old office document"),
    (b"\0", "a.html", False, "binary data"),  # it is broken, but not of another format
    (b"x", "a.html", False, "plain text"),
])
def test_an_unsupported_format_is_named_in_the_error(data: bytes, name: str, other: bool, words: str) -> None:
    assert sniffing.is_other(data, name) == other
    assert sniffing.in_words(data, name) == words


def test_parameters_of_a_media_type_take_linear_time() -> None:
    assert registry.essence_of('Text/HTML; a; Charset="K\\"8" ;=;b=;c=d=e; f') == ("text/html", {"charset": 'K"8', "b": "", "c": "d=e"})
    began = time.process_time()
    for unit in ("a", ";a", "a\t", ";a=b", ';a="\\"'):
        registry.essence_of("text/html;" + unit * 100_000)
    assert time.process_time() - began < 5  # a quadratic search takes minutes
