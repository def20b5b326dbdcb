"""WARC and ARC as a capture: which records are documents, which payload each has, and what is reported."""

from gzip import compress
from pathlib import Path

import pytest
from packed import mirrored

import absolve
from absolve.cli import main

URL = "http://h/p.html"
BODY = b"<meta charset=utf-8>"


def record(kind: str = "response", url: str = URL, body: bytes = BODY, *, http: str = "HTTP/1.1 200 OK", date: str = "2024-05-01T00:00:00Z", type_: str = "text/html", **fields: str) -> bytes:
    """Return a record; `fields` with a leading underscore are of the record, the others of the response."""
    lines = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in fields.items() if name[0] != "_")
    block = f"{http}\r\nContent-Type: {type_}\r\n{lines}\r\n".encode() + body if http else body
    more = "".join(f"{name[1:].replace('_', '-')}: {value}\r\n" for name, value in fields.items() if name[0] == "_")
    head = f"WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Date: {date}\r\nWARC-Target-URI: {url}\r\n{more}"
    return f"{head}Content-Length: {len(block)}\r\n\r\n".encode() + block + b"\r\n\r\n"


def body_of(tmp_path: Path, data: bytes, path: str = "h/p.html") -> bytes | None:
    return mirrored(tmp_path, "c.warc", data)[1].get(path)


def asked(method: str, url: str, *, first: bool = True) -> bytes:
    """Return a request and its answer, or the answer and its request."""
    target = url.removeprefix("http://h")
    pair = [
        record("request", http=f"{method} {target} HTTP/1.1", _WARC_Record_ID="<urn:b>", _WARC_Concurrent_To="<urn:a>"),
        record(url=url, _WARC_Record_ID="<urn:a>"),
    ]
    return b"".join(pair if first else pair[::-1])


NO_DOCUMENT = {
    **{kind: record(kind, "http://h/other") for kind in ("request", "metadata", "warcinfo", "conversion", "continuation")},
    **{url: record(url=url) for url in ("dns:h", "urn:uuid:1", "about:blank", "data:,x", "metadata://h/x", "whois:h", "file:///x")},
    "no HTTP": record(url="http://h/n", http="", body=b"gopher"),
    **{f"the answer to a {method} behind it": asked(method, "http://h/o") for method in ("POST", "PUT", "OPTIONS", "PROPFIND")},
    **{f"the answer to a {method} before it": asked(method, "http://h/o", first=False) for method in ("POST", "PROPFIND")},
}


@pytest.mark.parametrize("what", NO_DOCUMENT)
def test_other_records_are_no_documents(what: str) -> None:
    assert list(absolve.mirror_plan([record() + NO_DOCUMENT[what]])) == [URL]


@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_the_answer_to_a_get_is_a_document(method: str) -> None:
    assert list(absolve.mirror_plan([asked(method, URL, first=False)])) == [URL]


SEVERAL = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n" + BODY
FORBIDDING = b"""<meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="base-uri 'none'">"""
HELD: dict[str, tuple[bytes, str, bytes]] = {  # records -> a file and its bytes
    "as it is": (record(), "p.html", BODY),
    "compressed": (record(body=compress(BODY, mtime=0), Content_Encoding="gzip"), "p.html", BODY),
    "in chunks": (record(body=b"14\r\n" + BODY + b"\r\n0\r\n\r\n", Transfer_Encoding="chunked"), "p.html", BODY),
    "with line ends behind it": (record(body=BODY + b"\r\n\r\n", Content_Length=str(len(BODY))), "p.html", BODY),
    "whole where its length is wrong": (record(body=BODY + b"more", Content_Length="3"), "p.html", BODY + b"more"),
    "the last of several responses": (record(http="", body=SEVERAL), "p.html", BODY),
    "a resource by its own media type": (record("resource", "http://h/s", b"p{}", http="", _Content_Type="text/css"), "s.css", b"p{}"),
    "links by the base of the response": (
        record(body=BODY + b"<a href=q>", Content_Base="http://h/deep/") + record(url="http://h/deep/q"),
        *("p.html", BODY + b"<a href=deep/q.html>"),
    ),
    "a base that the header forbids": (
        record(body=BODY + b"<base href=/b/><img src=a.png>", Content_Security_Policy="base-uri 'none'")
        + record(url="http://h/a.png", type_="image/png"),
        *("p.html", FORBIDDING + BODY + b"<base href=/b/><img src=a.png>"),
    ),
}


@pytest.mark.parametrize("what", HELD)
def test_a_document_is_held(tmp_path: Path, what: str) -> None:
    data, name, expected = HELD[what]
    assert body_of(tmp_path, data, f"h/{name}") == expected


@pytest.mark.parametrize(("bad", "code"), [
    (record(url="http://h/n", body=compress(BODY, mtime=0)[:12] + b"broken", Content_Encoding="gzip"), "at byte"),
    (record(url="http://h/n", _WARC_Segment_Number="1"), "segments"),
    (record(url="http://h/n", http="", body=b"HTTP/9 nonsense"), "HTTP"),
    (b"WARC/1.0\r\nWARC-Type: response\r\nContent-Length: many\r\n\r\n", "at byte"),
    (record("revisit", "http://h/again", b"", _WARC_Refers_To_Target_URI="http://h/none"), "no-payload"),
])
def test_a_broken_record_is_reported_with_its_byte_and_the_others_are_held(
    tmp_path: Path, bad: bytes, code: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert mirrored(tmp_path, "c.warc", record() + bad) == (3, {"h/p.html": BODY})
    error = capsys.readouterr().err.replace("\n", " ")
    assert code in error
    assert "c.warc" in error or code == "no-payload"


@pytest.mark.parametrize("revisit", [
    {"_WARC_Refers_To_Target_URI": URL, "_WARC_Refers_To_Date": "2024-05-01T00:00:00Z"},
    {"_WARC_Refers_To_Target_URI": URL},
    {"_WARC_Payload_Digest": "sha1:AAAA"},
])
@pytest.mark.parametrize("status", ["200 OK", "304 Not Modified"])
def test_a_revisit_has_the_payload_that_it_refers_to(
    tmp_path: Path, revisit: dict[str, str], status: str
) -> None:
    data = record(_WARC_Payload_Digest="sha1:AAAA") + record("revisit", "http://h/again", b"", http=f"HTTP/1.1 {status}", **revisit)
    assert body_of(tmp_path, data, "h/again.html") == BODY


def test_two_contents_of_one_second_are_a_contradiction_and_the_later_counts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert mirrored(tmp_path, "c.warc", record() + record(body=BODY + b"later")) == (0, {"h/p.html": BODY + b"later"})
    assert main(["mirror", str(tmp_path / "c.warc"), "-o", str(tmp_path / "other")]) == 0
    assert "warning: http://h/p.html: contradiction: " in capsys.readouterr().err


@pytest.mark.parametrize(
    ("location", "fragment"),
    [("/p.html#there", b"there"), ("/p.html", b"mine"), ("/p.html#gone", b"gone"), ("/p.html#/route", b"/route"), ("/mid", b"there")],
)
def test_a_link_through_a_redirect_leads_to_the_place_that_the_redirect_names(
    tmp_path: Path, location: str, fragment: bytes
) -> None:
    moved = record(url="http://h/old", http="HTTP/1.1 301 Moved", body=b"", Location=location)
    middle = record(url="http://h/mid", http="HTTP/1.1 302 Found", body=b"", Location="/p.html#there")
    home = record(url="http://h/", body=BODY + b"<a href=/old#mine>")
    page = record(body=BODY + b"<p id=there>")
    assert body_of(tmp_path, home + moved + middle + page, "h/index.html") == BODY + b"<a href=p.html#" + fragment + b">"


@pytest.mark.parametrize("profile", ["rfc1808", "whatwg"])
def test_what_stands_before_a_base_element_leads_to_the_one_of_two_urls_that_is_held(tmp_path: Path, profile: str) -> None:
    early = b'<link rel=stylesheet href=a.css><style>p{background:url(b.png)}</style><iframe srcdoc="<img src=b.png>"></iframe><script src=c.js></script>'
    page = record(url="http://h/d/p.html", body=b"<meta charset=utf-8>" + early + b"<base href=/b/><img src=b.png>")
    data = page + record(url="http://h/d/a.css", type_="text/css") + record(url="http://h/b/b.png", type_="image/png")
    written = mirrored(tmp_path, "c.warc", data, "--profile", profile)[1]["h/d/p.html"]
    folder = b"b" if profile == "rfc1808" else b"d"  # of what is not held
    expected = early.replace(b"b.png", b"../b/b.png").replace(b"c.js", b"http://h/%b/c.js" % folder)
    assert written == b"<meta charset=utf-8>" + expected + b'<base href=""><img src=../b/b.png>'


def test_an_arc_and_records_compressed_one_by_one_are_captures(tmp_path: Path) -> None:
    version = b"filedesc://x.arc 0.0.0.0 20240501000000 text/plain 73\n1 0 x\nURL IP-address Archive-date Content-type Archive-length\n"
    data = version.replace(b" 73", b" %d" % (len(version) - version.index(b"\n") - 1)) + b"\n"
    for date, text in (("20240502000000", b"new"), ("20240501000000", b"old")):
        block = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n" + BODY + text
        data += f"{URL} 127.0.0.1 {date} text/html {len(block)}\n".encode() + block + b"\n"
    assert mirrored(tmp_path, "c.arc", data) == (0, {"h/p.html": BODY + b"new"})
    data = compress(record()) + compress(record(url="http://h/q"))
    assert set(mirrored(tmp_path, "c.warc.gz", data)[1]) == {"h/p.html", "h/q.html"}


def test_an_archive_without_documents_beside_others_has_failed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    good, empty = tmp_path / "good.warc", tmp_path / "empty.warc"
    good.write_bytes(record())
    for one in (empty, tmp_path / "empty.mhtml"):
        one.write_bytes(b"")
        assert main(["mirror", str(good), str(one), "-o", str(tmp_path / "m")]) == 3
        shown = capsys.readouterr().err
        assert f"error: {one}: no-input: no document is in it" in shown
        assert "1 input failed" in shown


def test_what_markdown_leads_to_is_missing_as_for_a_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "site").mkdir()
    (tmp_path / "site/README.md").write_text("[l](lost.md) [n](notes.md) <http://h.example/notes.md>\n")
    (tmp_path / "site/notes.md").write_text("# Notes\n")
    for url, missing in (([], "1 linked page not captured"), (["--url", "http://h.example/"], "1 linked page not captured")):
        out = str(tmp_path / f"m{len(url)}")
        assert main(["mirror", str(tmp_path / "site"), "-o", out, *url]) == 0
        assert missing in capsys.readouterr().err
        main(["mirror", "--check", out])
        assert ": web: " not in "".join(capsys.readouterr())
