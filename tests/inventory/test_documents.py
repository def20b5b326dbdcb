"""The table of documents: which documents have a row, and the columns of each kind of container."""

import base64
import gzip
import hashlib
import json
from typing import Any

import pytest

import absolve
from absolve import api
from absolve.core.model import Document
from absolve.document.walk import Settings, walk
from absolve.inventory import link_rows
from absolve.inventory.columns import Columns
from absolve.inventory.documents import DOCUMENT_COLUMNS, Documents, in_iso
from tests.shapes.captures import zipped

PAGE = b"<title>t</title><a href=x id=a>x</a>"
PNG = b"\x89PNG\r\n\x1a\n\0"
REDIRECT = b"HTTP/1.1 301 Moved\r\nLocation: /y\r\nContent-Type: text/html\r\n\r\n"


def http(body: bytes, media_type: str = "text/html", *fields: str) -> bytes:
    head = ["HTTP/1.1 200 OK", "Date: Wed, 01 May 2024 10:00:00 GMT", f"Content-Type: {media_type}", *fields]
    return "\r\n".join(head).encode() + b"\r\n\r\n" + body


def record(block: bytes, kind: str = "response", media_type: str = "application/http", url: str = "http://h/d/p") -> bytes:
    head = f"WARC/1.1\r\nWARC-Type: {kind}\r\nWARC-Target-URI: {url}\r\nWARC-Date: 2024-05-02T00:00:00Z\r\n"
    return f"{head}Content-Type: {media_type}\r\nContent-Length: {len(block)}\r\n\r\n".encode() + block + b"\r\n\r\n"


def documents(data: bytes, **options: Any) -> list[absolve.DocumentRow]:
    return list(absolve.documents(data, **options))


def sha256(data: bytes) -> str:
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def test_the_columns_have_the_documented_names_and_order() -> None:
    assert (
        *("document", "entity", "url", "url_source", "status", "date", "media_type", "charset", "size", "digest", "title"),
        *("lang", "canonical", "robots", "base", "base_layer", "links", "problems", "anchors", "alternates"),
    ) == DOCUMENT_COLUMNS


def test_a_page_without_links_has_a_row_also_without_a_known_url() -> None:
    (row,) = documents(b"<base href=http://b/><p>")
    assert (row.url, row.url_source, row.base, row.base_layer) == (None, None, "http://b/", "embedded")
    (row,) = documents(b"<p>", name="p.html", url="http://h/p")
    assert row == (
        *("p.html", "", "http://h/p", "url=", None, None, "text/html", "utf-8", 3, sha256(b"<p>"), None),
        *(None, None, None, "http://h/p", "retrieval", 0, [], [], []),
    )


def test_srcdoc_documents_have_rows_and_style_sheets_of_a_page_have_none() -> None:
    page = b"<style>a{background:url(s)}</style><p style='background:url(t)'><iframe srcdoc='<p id=i><a href=u>'></iframe>"
    outer, inner = documents(page, url="http://h/p")
    assert (outer.entity, outer.links, outer.anchors) == ("", 2, [])
    assert (inner.entity, inner.links, inner.anchors, inner.url) == ("srcdoc[1]", 1, ["i"], None)
    assert (inner.base_layer, inner.size) == ("encapsulating", len("<p id=i><a href=u>"))


def test_a_warc_has_a_row_for_each_response_with_the_facts_of_the_record() -> None:
    archive = record(http(PAGE)) + record(REDIRECT) + record(http(PNG, "image/png"), url="http://h/i.png")
    page, redirect, image = documents(archive)
    assert page[1:7] == ("record[1]/body[1]", "http://h/d/p", "WARC-Target-URI", 200, "2024-05-02T00:00:00Z", "text/html")
    assert (page.title, page.links, page.anchors, page.digest) == ("t", 1, ["a"], sha256(PAGE))
    assert (redirect.entity, redirect.status, redirect.size, redirect.links) == ("record[2]", 301, 0, 1)
    assert image[1:3] == ("record[3]/body[1]", "http://h/i.png")
    assert (image.media_type, image.charset, image.size, image.digest) == ("image/png", None, len(PNG), sha256(PNG))


def test_a_file_around_a_message_or_a_mailbox_has_no_row() -> None:
    message = b"From: a\nLink: <l>\nDate: Thu, 2 Jul 2009 10:00:00 +0000\nContent-Type: text/html\n\n<a href=x>\n"
    box = b"From a@h 10:00\n" + message + b"\nFrom a@h 10:00\n" + message
    length = b"%d\n" % len(message)
    one = [(row.entity, row.date, row.links) for row in documents(message, media_type="message/rfc822")]
    for data, media_type in ((message.replace(b"\n", b"\r"), "message/rfc822"), (length + message, "message/x-emlx")):
        assert [(row.entity, row.date, row.links) for row in documents(data, media_type=media_type)] == one
    two = [(row.entity, row.date, row.links) for row in documents(box, media_type="application/mbox")]
    for data in (gzip.compress(box), gzip.compress(box.replace(b"\n", b"\r"))):
        assert [(row.entity, row.date, row.links) for row in documents(data, media_type="application/mbox+gzip")] == two
    assert [row[2] for row in (*one, *two)] == [2, 2, 2]


def test_a_record_of_a_type_without_a_walker_has_its_byte_offset_in_its_path() -> None:
    image = record(PNG, "resource", "image/png")
    first = record(http(PAGE))
    paths = [row.entity for row in documents(first + image + image + first)]
    at = len(first)
    assert paths[::3] == ["record[1]/body[1]", "record[2]/body[1]"]
    assert paths[1:3] == [f"record[@{at + image.index(PNG)}]", f"record[@{at + len(image) + image.index(PNG)}]"]
    zipped = [row.entity for row in documents(gzip.compress(first) + gzip.compress(image + image))]
    assert len({*zipped}) == 3
    assert all("+" in path for path in zipped[1:])


def test_a_revisit_has_a_row_without_size_and_digest_and_requests_and_metadata_have_none() -> None:
    assert documents(b"".join(record(b"a: b", kind, "text/plain") for kind in ("request", "metadata", "warcinfo"))) == []
    for block in (b"", b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"):
        (row,) = documents(record(block, "revisit"))
        assert (row.url, row.size, row.digest) == ("http://h/d/p", None, None)


def test_the_size_and_digest_are_those_of_the_decoded_body() -> None:
    body = gzip.compress(PAGE)
    chunked = b"%x\r\n%b\r\n0\r\n\r\n" % (len(body), body)
    for media_type, title in (("text/html", "t"), ("image/png", None)):
        response = http(chunked, media_type, "Content-Encoding: gzip", "Transfer-Encoding: chunked")
        (row,) = documents(response, media_type="message/http")
        assert (row.size, row.digest, row.title, row.status) == (len(PAGE), sha256(PAGE), title, 200)
        assert row.date == "2024-05-01T10:00:00Z"


@pytest.mark.parametrize(("response", "problem"), [
    (http(b"\x1f\x8bx", "image/png", "Content-Encoding: gzip"), "truncated"),
    (http(b"\x1f\x8bx", "text/html", "Content-Encoding: gzip"), "truncated"),
    (http(b"\0x", "image/png", "Content-Encoding: x"), "unknown-coding"),
    (http(PAGE).replace(b"200", b"206"), "partial"),
    (http(b"<a><b></a>", "application/xml"), "not-well-formed"),
])
def test_a_body_that_cannot_be_read_has_a_row_with_its_problem(response: bytes, problem: str) -> None:
    (row,) = documents(record(response))
    assert (row.url, row.title, problem in row.problems) == ("http://h/d/p", None, True)


def test_a_har_entry_is_a_document() -> None:
    def entry(media_type: str, content: dict[str, Any], status: int = 200) -> dict[str, Any]:
        response = {"status": status, "headers": [], "content": {"mimeType": media_type, **content}}
        return {"startedDateTime": "2024-05-01T10:00:00.000Z", "request": {"method": "GET", "url": "http://h/x"}, "response": response}

    entries = [
        entry("text/html; charset=utf-8", {"text": PAGE.decode()}),
        entry("image/png", {"text": base64.b64encode(PNG).decode(), "encoding": "base64"}),
        entry("text/html", {"size": 0}, 302),
        entry("image/svg+xml", {"text": "<svg xmlns='http://www.w3.org/2000/svg' id='s'/>"}),
    ]
    page, image, redirect, svg = documents(json.dumps({"log": {"entries": entries}}).encode(), name="x.har")
    assert page[1:7] == ("entry[1]/body[1]", "http://h/x", "HAR entry's request URL", 200, "2024-05-01T10:00:00.000Z", "text/html")
    assert (page.links, page.size, image.entity, image.digest) == (1, len(PAGE), "entry[2]/body[1]", sha256(PNG))
    assert (redirect.entity, redirect.status, redirect.size) == ("entry[3]", 302, 0)
    assert (svg.media_type, svg.anchors) == ("image/svg+xml", ["s"])


MHTML = b"""\
Date: Wed, 1 May 2024 12:00:00 +0200
Content-Type: multipart/related; boundary=b

--b
Content-Type: text/html
Content-Location: http://h/p

<a href=x><img src=i.png>
--b
Content-Type: image/png
Content-Transfer-Encoding: base64
Content-ID: <i@h>

iVBORw==
--b--
"""


def test_a_message_of_several_parts_and_each_part_have_a_row() -> None:
    message, page, image = documents(MHTML, name="x.mht")
    assert (message.entity, message.media_type, message.links, message.size) == ("", "multipart/related", 0, len(MHTML))
    assert page[1:6] == ("part[1]/body[1]", "http://h/p", "Content-Location header", None, "2024-05-01T12:00:00+02:00")
    assert page.links == 3  # with that of its header
    assert image[1:4] == ("part[2]/body[1]", "cid:i@h", "Content-ID header")
    assert (image.digest, image.date) == (sha256(b"\x89PNG"), page.date)


def test_a_message_with_one_body_is_one_document() -> None:
    (row,) = documents(b"From: a\nDate: Wed, 1 May 2024 12:00:00 -0000\nContent-Type: text/html\n\n<a href=x>", name="x.eml")
    assert (row.entity, row.media_type, row.date, row.links) == ("body[1]", "text/html", "2024-05-01T12:00:00Z", 1)


def test_each_member_of_a_package_has_a_row_and_one_that_would_be_too_large_no_digest() -> None:
    (row,) = documents(zipped({"i.png": bytes(10_000)}), name="x.zip", max_decompressed=1000)
    assert (row.size, row.digest, row.problems) == (None, None, ["too-large"])
    package = zipped({"d/": b"", "d/i.png": PNG, "d/p.html": PAGE, "x": b"\0", "q.html": PAGE})
    rows = documents(package, name="x.zip", url="http://h/")
    image, page, other, last = rows
    assert (page.entity, page.url, last.entity) == ("d/p.html[1]", "http://h/d/p.html", "q.html[2]")
    assert image.entity.startswith("d/i.png[@")
    assert (image.url, image.media_type, image.digest) == ("http://h/d/i.png", "image/png", sha256(PNG))
    assert (other.media_type, other.size) == ("application/octet-stream", 1)
    assert [row.entity for row in absolve.links(package, name="x.zip")] == [page.entity, last.entity]


def test_a_feed_entry_with_html_is_a_document() -> None:
    feed = b"<rss><channel><item><description>&lt;p id=a>&lt;a href=x></description></item></channel></rss>"
    outer, inner = documents(feed, url="http://h/f")
    assert (outer.media_type, outer.links, inner.entity, inner.anchors) == ("application/xml", 0, "description[1]", ["a"])


@pytest.mark.parametrize(("page", "problems"), [
    (b"<base href=b/>", ["relative-base"]), (b"<base href=mailto:x>", ["unsuitable-base"]),
    (b"<base href=javascript:x>", ["unsuitable-base"]), (b"<base href=http://a/><base href=http://b/>", ["ignored-base"]),
    (b"a\0<p>", ["nul-byte"]),
])
def test_problems_are_those_of_the_base_and_of_findings(page: bytes, problems: list[str]) -> None:
    (row,) = documents(page, media_type="text/html", url="http://h/")
    assert row.problems == problems


ALL = {
    "page": PAGE + b"<style>@import 's'</style><iframe srcdoc='<a href=y><iframe srcdoc=z></iframe>'></iframe>",
    "UTF-16": ("\ufeff" + PAGE.decode() + "<iframe srcdoc='<a href=y>'></iframe>").encode("utf-16-le"),
    "WARC": record(http(PAGE)) + record(REDIRECT) + record(PNG, "resource", "image/png") + gzip.compress(record(http(PAGE))),
    "MHTML": MHTML,
    "WARC in a record": record(record(http(PAGE)), media_type="application/warc"),
}


@pytest.mark.parametrize("name", ALL)
def test_one_pass_gives_the_rows_of_both_tables(name: str) -> None:
    assert sum(row.links for row in documents(ALL[name])) == len(list(absolve.links(ALL[name]))) > 0
    entity = walk(Document(ALL[name], url="http://h/"), Settings(documents=True))
    listing = Documents("<bytes>")
    links = Columns()
    assert list(link_rows.fill(links, entity, documents=listing)) == []
    assert listing.taken() == documents(ALL[name], url="http://h/")
    assert list(links) == list(absolve.links(ALL[name], url="http://h/"))


def test_many_documents_are_yielded_in_batches() -> None:
    entity = walk(Document(b"<iframe srcdoc='<p>'></iframe>" * 10_000), Settings(documents=True))
    listing = Documents("")
    sizes = [len(listing.taken()) for _ in link_rows.fill(Columns(), entity, documents=listing)]
    assert sum(sizes) + len(listing.taken()) == 10_001
    assert 0 < max(sizes) < 5000


def test_the_bytes_and_the_entity_of_each_document_are_available() -> None:
    page, image = api.captured(record(http(PAGE)) + record(http(PNG, "image/png")))
    assert (page.data, page.entity is not None, page.capture.kind) == (PAGE, True, "response")
    assert (image.data, image.entity) == (PNG, None)


DATES = [
    ("", None), ("yesterday", None), ("2024", None), ("2024-05-01", "2024-05-01"),
    ("2024-05-01T10:00:00.123456789Z", "2024-05-01T10:00:00.123456789Z"),
    ("20240501100000", "2024-05-01T10:00:00Z"), ("Wed, 01 May 2024 10:00:00 GMT", "2024-05-01T10:00:00Z"),
    ("Wednesday, 01-May-24 10:00:00 GMT", "2024-05-01T10:00:00Z"), ("1 May 2024 10:00:00 -0730", "2024-05-01T10:00:00-07:30"),
    ("1 May 99999 10:00:00 GMT", None), ("1" * 1000, None),
]


def test_dates_are_in_iso_8601() -> None:
    assert [(date, in_iso(date)) for date, _ in DATES] == DATES


def test_a_header_that_is_given_states_what_one_in_a_message_states() -> None:
    fields = {"Content-Type": "text/html", "Link": '<http://h.example/c>; rel="canonical"'}
    (row,) = absolve.documents("<p>", url="http://h.example/", headers=fields)
    assert row.canonical == "http://h.example/c"
