"""`headers=`: the header of the HTTP response in which a document came gives its type, URL, bases and links."""

import gzip
from email.message import Message
from typing import Any

import pytest

import absolve
from absolve import Document, Layer, arrow

URL = "http://h/d/p"
PAGE = b"<a href=x>"


@pytest.mark.parametrize(
    "headers",
    [None, {}, [], "", b"", {"Server": "x"}, {"Content-Location": "http://o/"}, {"Location": "http://o/"}, {"Content-Type": ""}],
    ids=repr,
)
def test_a_header_that_states_nothing_changes_nothing(headers: Any) -> None:
    assert absolve.rewrite(PAGE, url=URL, headers=headers) == absolve.rewrite(PAGE, url=URL)
    assert absolve.base(PAGE, url=URL, headers=headers).layer is Layer.RETRIEVAL


def message() -> Message:
    found = Message()
    found["Content-Base"] = "http://b/"
    return found


@pytest.mark.parametrize("headers", [
    {"Content-Base": "http://b/"}, {"CONTENT-BASE": '"http://b/"'}, {b"content-base": [b"http://b/"]},
    [("Content-Base", "http://b/"), ("Content-Base", "http://c/")],
    ((name, value) for name, value in [(b"Content-Base", b"http://b/")]),
    "Content-Base: http://b/",
    b"HTTP/1.1 200 OK\r\nServer: x\r\nContent-Base:\r\n http://b/\r\n\r\n",
    "\r\nHTTP/2 200\nBase: <URL:http://b/>\nContent-Base: http://c/\n\n",
    message(),
], ids=lambda value: type(value).__name__)
def test_a_header_is_read_in_every_form(headers: Any) -> None:
    found = absolve.base(PAGE, url=URL, headers=headers)
    assert (found.url, found.layer) == ("http://b/", Layer.ENCAPSULATING)
    assert [outcome.verdict for outcome in found.chain if outcome.base.layer is Layer.RETRIEVAL] == ["overruled"]


@pytest.mark.parametrize(("headers", "reference"), [
    ({"Content-Type": "text/html; charset=koi8-r"}, "п"),
    ("Content-Type: text/html; charset=koi8-r\nContent-Type: text/html", "п"),
    ({"Content-Type": "text/html"}, "Ð"),
])
def test_the_content_type_gives_media_type_and_charset(headers: Any, reference: str) -> None:
    row = absolve.links("<a href=п>".encode("koi8-r"), headers=headers, url=URL)[0]
    assert row.reference == reference
    sheet = absolve.rewrite(b"a{b:url(x)}", headers={"Content-Type": "text/css"}, url=URL)
    assert sheet == b"a{b:url(http://h/d/x)}"


def test_what_the_caller_states_comes_first() -> None:
    headers = {"Content-Type": "text/css; charset=koi8-r"}
    assert absolve.rewrite(PAGE, media_type="text/html", url=URL, headers=headers) == b"<a href=http://h/d/x>"
    (row,) = list(absolve.links("<a href=é>", media_type="text/html", url=URL, headers=headers))
    assert row.reference == "é"


REDIRECTED = "HTTP/1.1 301 Moved\r\nLocation: {}\r\n\r\nHTTP/1.1 307 X\r\nLocation: b/c\r\n\r\nHTTP/1.1 200 OK\r\n\r\n"


@pytest.mark.parametrize(("url", "location", "expected"), [
    ("http://h/old", "/new/", "http://h/new/b/c"), ("http://h/old", "https://o/n", "https://o/b/c"), (None, "https://o/n", "https://o/b/c"),
    (None, "/new/", ""),
])
def test_the_redirects_lead_to_the_retrieval_url(url: str | None, location: str, expected: str) -> None:
    found = absolve.base(PAGE, url=url, headers=REDIRECTED.format(location))
    assert found.url == expected
    assert found.source == ("Location header" if expected else "")


def test_a_location_of_no_redirect_is_no_url() -> None:
    created = "HTTP/1.1 201 Created\r\nLocation: /new\r\n\r\nHTTP/1.1 200 OK\r\nLocation: /other\r\n\r\n"
    assert absolve.base(PAGE, url=URL, headers=created).url == URL


def test_links_in_header_fields_are_rows_of_their_own() -> None:
    headers = [("Link", "<a.css>; rel=preload, <b>; rel=next"), ("Refresh", "3; url=r"), ("Content-Base", "/b/")]
    rows = list(absolve.links(PAGE, url=URL, headers=headers, name="p.html"))
    assert [(row.document, row.entity, row.attribute, row.reference, row.target) for row in rows] == [
        ("p.html", "header", "link", "a.css", "http://h/b/a.css"), ("p.html", "header", "link", "b", "http://h/b/b"),
        ("p.html", "header", "refresh", "r", "http://h/b/r"), ("p.html", "header", "content-base", "/b/", "http://h/b/"),
        ("p.html", "", "href", "x", "http://h/b/x"),
    ]
    assert [row.base_layer for row in rows] == [*["embedded"] * 3, "retrieval", "encapsulating"]


def test_arrow_has_the_same_rows() -> None:
    document = Document(PAGE, url=URL, headers={"Link": "<a.css>; rel=preload"})
    expected = [row._asdict() for row in absolve.links(document)]
    assert arrow.links(document).to_pylist() == expected
    assert [row for batch in arrow.batches([document, document]) for row in batch.to_pylist()] == expected * 2


def test_a_document_carries_its_header() -> None:
    document = Document(PAGE, url=URL, headers={"Content-Base": "http://b/"})
    assert absolve.rewrite(document) == b"<a href=http://b/x>"
    assert absolve.rewrite(document, headers={"Content-Base": "http://c/"}) == b"<a href=http://c/x>"
    assert absolve.verify(document, absolve.rewrite(document)) == []


def test_a_value_adds_no_field() -> None:
    for value in ("x\r\nContent-Base: http://evil/", "x\nContent-Base: http://evil/", "x\r\n\r\nHTTP/1.1 301 X\r\nLocation: http://evil/"):
        assert absolve.base(PAGE, url=URL, headers={"Server": value}).url == URL
        assert absolve.base(PAGE, url=URL, headers=[(value, "x")]).url == URL


def test_another_type_is_a_type_error_that_names_the_right_ones() -> None:
    for headers in (3, [3], [("a",)], {"a": 3}, ["Content-Base: http://b/"], [("a", "b", "c")]):
        with pytest.raises(TypeError, match="headers takes a mapping, pairs of name and value, or the text of a header"):
            absolve.base(PAGE, url=URL, headers=headers)  # type: ignore[arg-type]


def test_the_row_of_a_document_has_what_its_response_states() -> None:
    fields = [("X-Robots-Tag", "noindex"), ("Date", "Wed, 01 Jan 2020 00:00:00 GMT")]
    text = "".join(f"{name}: {value}\r\n" for name, value in fields)
    for headers, status in ((fields, None), (dict(fields), None), (text, None), (f"HTTP/2 404\r\n{text}\r\n", 404)):
        row = next(absolve.documents(PAGE, url=URL, headers=headers))
        assert (row.status, row.robots, row.date) == (status, "noindex", "2020-01-01T00:00:00Z")


def test_a_body_that_is_still_compressed_is_read_or_an_error() -> None:
    for options in ({"headers": {"Content-Encoding": "gzip", "Content-Type": "text/html"}}, {"media_type": "text/html"}):
        page = Document(gzip.compress(PAGE), url=URL, **options)
        assert [row.target for row in absolve.links(page)] == ["http://h/d/x"]
        assert gzip.decompress(absolve.rewrite(page)) == b"<a href=http://h/d/x>"
        assert absolve.rewrite(PAGE, url=URL, **options) == b"<a href=http://h/d/x>"  # most packages decode it
    for data, coding in ((gzip.compress(b"a{b:url(c)}"), "gzip"), (b"\x0b\x01\x80\x03", "br")):
        with pytest.raises(absolve.DocumentError, match="unread-compressed: it is still compressed"):
            absolve.links(data, headers={"Content-Encoding": coding, "Content-Type": "text/css"})


def test_any_text_may_be_in_a_header() -> None:
    for text in ("\ud800", "\udcff", "é", "\0"):
        for headers in ({"Link": f"<{text}>", text: text}, f"Link: <{text}>\n{text}: {text}\n"):
            assert [row.reference for row in absolve.links(PAGE, url=URL, headers=headers)][-1] == "x"


@pytest.mark.parametrize("reference", ["javascript:x()", "data:x", "http://[x"])
def test_a_base_that_is_none_is_reported_and_ignored(reference: str) -> None:
    reported: list[absolve.Diagnostic] = []
    found = absolve.rewrite(PAGE, url=URL, headers={"Content-Base": reference}, on_diagnostic=reported.append)
    assert found == b"<a href=http://h/d/x>"
    assert [one.code for one in reported] == ["unsuitable-base"]


@pytest.mark.parametrize(("stated", "name", "data", "found"), [
    ("text/plain; charset=utf-8", "https://h/llms.txt?x", b"[a](b)", ["b"]),
    ("text/plain", "https://h/robots.txt", b"Sitemap: /s.xml", ["/s.xml"]),
    ("application/json", "https://h/feed", b'{"version": "https://jsonfeed.org/version/1", "feed_url": "b"}', ["b"]),
    ("application/x-gzip", "https://h/sitemap.xml.gz", gzip.compress(b"<urlset><url><loc>b</loc></url></urlset>", mtime=0), ["b"]),
    ("text/html", "https://h/sitemap", b"<?xml version='1.0'?><urlset><url><loc>b</loc></url></urlset>", ["b"]),
    ("text/plain", "https://h/a.html", b"<a href=b>", None),
    ("application/json", "https://h/a", b'"<a href=b>"', None),
])
def test_a_type_that_says_little_gives_way_to_the_name(stated: str, name: str, data: bytes, found: list[str] | None) -> None:
    page = absolve.Document(data, name=name, url="https://h/", headers={"Content-Type": stated})
    if found is None:
        with pytest.raises(absolve.DocumentError, match="does not read"):
            list(absolve.links(page))
    else:
        assert [row.reference for row in absolve.links(page)] == found
