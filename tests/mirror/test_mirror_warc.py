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


@pytest.mark.parametrize("kind", ["request", "metadata", "warcinfo", "conversion", "continuation"])
def test_records_of_other_types_are_no_documents(kind: str) -> None:
    assert list(absolve.mirror_plan([record() + record(kind, "http://h/other")])) == [URL]


@pytest.mark.parametrize("url", ["dns:h", "urn:uuid:1", "about:blank", "data:,x", "metadata://h/x", "whois:h", "file:///etc/x"])
def test_records_of_other_schemes_are_no_documents(url: str) -> None:
    assert list(absolve.mirror_plan([record() + record(url=url)])) == [URL]


def test_a_response_that_is_not_http_is_no_document() -> None:
    assert list(absolve.mirror_plan([record() + record(url="http://h/n", http="", body=b"gopher")])) == [URL]


def test_a_resource_has_its_own_media_type(tmp_path: Path) -> None:
    data = record("resource", "http://h/s", b"p{}", http="", _Content_Type="text/css")
    assert body_of(tmp_path, data, "h/s.css") == b"p{}"


@pytest.mark.parametrize("method", ["POST", "PUT", "OPTIONS", "PROPFIND"])
@pytest.mark.parametrize("first", ["request", "response"])
def test_the_answer_to_another_method_is_nobodys_document(method: str, first: str) -> None:
    answer = record(_WARC_Record_ID="<urn:a>")
    asked = record("request", http=f"{method} /p.html HTTP/1.1", _WARC_Record_ID="<urn:b>", _WARC_Concurrent_To="<urn:a>")
    other = record(url="http://h/o", _WARC_Record_ID="<urn:c>")
    pair = [asked, answer] if first == "request" else [answer, asked]
    assert list(absolve.mirror_plan([b"".join(pair) + other])) == ["http://h/o"]


@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_the_answer_to_a_get_is_a_document(method: str) -> None:
    asked = record("request", http=f"{method} /p.html HTTP/1.1", _WARC_Concurrent_To="<urn:a>")
    assert list(absolve.mirror_plan([record(_WARC_Record_ID="<urn:a>") + asked])) == [URL]


@pytest.mark.parametrize(
    ("fields", "body"),
    [
        ({}, BODY),
        ({"Content_Encoding": "gzip"}, compress(BODY, mtime=0)),
        ({"Transfer_Encoding": "chunked"}, b"14\r\n" + BODY + b"\r\n0\r\n\r\n"),
        ({"Content_Length": str(len(BODY))}, BODY + b"\r\n\r\n"),
    ],
)
def test_codings_are_taken_off_and_line_ends_after_the_body(tmp_path: Path, fields: dict[str, str], body: bytes) -> None:
    assert body_of(tmp_path, record(body=body, **fields)) == BODY


def test_the_body_is_whole_where_its_length_is_wrong(tmp_path: Path) -> None:
    assert body_of(tmp_path, record(body=BODY + b"more", Content_Length="3")) == BODY + b"more"


def test_of_several_responses_in_a_record_the_last_counts(tmp_path: Path) -> None:
    block = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n" + BODY
    assert body_of(tmp_path, record(http="", body=block)) == BODY


def test_a_base_of_the_response_is_that_of_its_links(tmp_path: Path) -> None:
    data = record(body=BODY + b"<a href=q>", Content_Base="http://h/deep/") + record(url="http://h/deep/q")
    assert body_of(tmp_path, data) == BODY + b"<a href=deep/q.html>"


@pytest.mark.parametrize(
    ("bad", "code"),
    [
        (record(url="http://h/n", body=compress(BODY, mtime=0)[:12] + b"broken", Content_Encoding="gzip"), "at byte"),
        (record(url="http://h/n", _WARC_Segment_Number="1"), "segments"),
        (record(url="http://h/n", http="", body=b"HTTP/9 nonsense"), "HTTP"),
        (b"WARC/1.0\r\nWARC-Type: response\r\nContent-Length: many\r\n\r\n", "at byte"),
    ],
)
def test_a_broken_record_is_reported_with_its_byte_and_the_others_are_held(
    tmp_path: Path, bad: bytes, code: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert mirrored(tmp_path, "c.warc", record() + bad) == (3, {"h/p.html": BODY})
    error = capsys.readouterr().err.replace("\n", " ")
    assert code in error
    assert "c.warc" in error


@pytest.mark.parametrize(
    "revisit",
    [
        {"_WARC_Refers_To_Target_URI": URL, "_WARC_Refers_To_Date": "2024-05-01T00:00:00Z"},
        {"_WARC_Refers_To_Target_URI": URL},
        {"_WARC_Payload_Digest": "sha1:AAAA"},
    ],
)
@pytest.mark.parametrize("status", ["200 OK", "304 Not Modified"])
@pytest.mark.parametrize("few", [0, 8 << 20])
def test_a_revisit_has_the_payload_that_it_refers_to(
    tmp_path: Path, revisit: dict[str, str], status: str, few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("absolve.mirror.survey._FEW", few)  # captures in memory, or read once more
    data = record(_WARC_Payload_Digest="sha1:AAAA") + record("revisit", "http://h/again", b"", http=f"HTTP/1.1 {status}", **revisit)
    assert body_of(tmp_path, data, "h/again.html") == BODY


def test_a_revisit_without_its_payload_is_reported_and_not_held(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = record() + record("revisit", "http://h/again", b"", _WARC_Refers_To_Target_URI="http://h/none")
    assert mirrored(tmp_path, "c.warc", data) == (3, {"h/p.html": BODY})
    assert "no-payload" in capsys.readouterr().err


def test_two_contents_of_one_second_are_a_contradiction_and_the_later_counts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert mirrored(tmp_path, "c.warc", record() + record(body=BODY + b"later")) == (0, {"h/p.html": BODY + b"later"})
    assert main(["mirror", str(tmp_path / "c.warc"), "-o", str(tmp_path / "other")]) == 0
    assert "warning: http://h/p.html: contradiction: " in capsys.readouterr().err


def test_an_arc_is_a_capture_with_the_dates_of_its_headers(tmp_path: Path) -> None:
    version = b"filedesc://x.arc 0.0.0.0 20240501000000 text/plain 73\n1 0 x\nURL IP-address Archive-date Content-type Archive-length\n"
    data = version.replace(b" 73", b" %d" % (len(version) - version.index(b"\n") - 1)) + b"\n"
    for date, text in (("20240502000000", b"new"), ("20240501000000", b"old")):
        block = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n" + BODY + text
        data += f"{URL} 127.0.0.1 {date} text/html {len(block)}\n".encode() + block + b"\n"
    assert mirrored(tmp_path, "c.arc", data) == (0, {"h/p.html": BODY + b"new"})


def test_records_compressed_one_by_one_are_read(tmp_path: Path) -> None:
    data = compress(record()) + compress(record(url="http://h/q"))
    assert set(mirrored(tmp_path, "c.warc.gz", data)[1]) == {"h/p.html", "h/q.html"}


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


def test_a_base_that_the_header_forbids_does_not_apply(tmp_path: Path) -> None:
    page = record(url="http://h/d/p.html", body=BODY + b"<base href=/b/><img src=a.png>", Content_Security_Policy="base-uri 'none'")
    written = mirrored(tmp_path, "c.warc", page + record(url="http://h/d/a.png", type_="image/png"))[1]["h/d/p.html"]
    assert written.endswith(b"<base href=/b/><img src=a.png>")
