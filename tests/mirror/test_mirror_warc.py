"""WARC, ARC and HAR as captures: which records and entries are documents, which payload each has, whole or in pieces."""

import re
import sqlite3
from contextlib import closing
from gzip import compress
from pathlib import Path
from typing import Any

import pytest
from packed import mirrored, tree

import absolve
from absolve.cli import main
from absolve.mirror.payloads import Captured, Piece, Pieces, Version, Where
from tests.shapes import captures
from tests.shapes.captures import DATE, block, entry, har, page, zipped

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
        + record(url="http://h/a.png", type_="image/png"), *("p.html", FORBIDDING + BODY + b"<base href=/b/><img src=a.png>"),
    ),
}


@pytest.mark.parametrize("what", HELD)
def test_a_document_is_held(tmp_path: Path, what: str) -> None:
    data, name, expected = HELD[what]
    assert body_of(tmp_path, data, f"h/{name}") == expected


@pytest.mark.parametrize(("bad", "code"), [
    (record(url="http://h/n", body=compress(BODY, mtime=0)[:12] + b"broken", Content_Encoding="gzip"), "at byte"),
    (record(url="http://h/n", _WARC_Segment_Number="1"), "segments"), (record(url="http://h/n", http="", body=b"HTTP/9 nonsense"), "HTTP"),
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
    {"_WARC_Refers_To_Target_URI": URL}, {"_WARC_Payload_Digest": "sha1:AAAA"},
])
@pytest.mark.parametrize("status", ["200 OK", "304 Not Modified"])
def test_a_revisit_has_the_payload_that_it_refers_to(tmp_path: Path, revisit: dict[str, str], status: str) -> None:
    data = record(_WARC_Payload_Digest="sha1:AAAA") + record("revisit", "http://h/again", b"", http=f"HTTP/1.1 {status}", **revisit)
    assert body_of(tmp_path, data, "h/again.html") == BODY


def test_two_contents_of_one_second_are_a_contradiction_and_the_later_counts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert mirrored(tmp_path, "c.warc", record() + record(body=BODY + b"later")) == (0, {"h/p.html": BODY + b"later"})
    assert main(["mirror", str(tmp_path / "c.warc"), "-o", str(tmp_path / "other")]) == 0
    assert "warning: http://h/p.html: contradiction: " in capsys.readouterr().err


@pytest.mark.parametrize(
    ("location", "fragment"),
    [("/p.html#there", b"there"), ("/p.html", b"mine"), ("/p.html#gone", b"gone"), ("/p.html#/route", b"/route"), ("/mid", b"there")],
)
def test_a_link_through_a_redirect_leads_to_the_place_that_the_redirect_names(tmp_path: Path, location: str, fragment: bytes) -> None:
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
    empty.write_bytes(b"")
    assert main(["mirror", str(good), str(empty), "-o", str(tmp_path / "m")]) == 3
    shown = capsys.readouterr().err
    assert f"error: {empty}: no-input: no document is in it" in shown
    assert "1 input failed" in shown


# --- HAR as a capture -------------------------------------------------------------------------------------------------

URL_HAR = "http://h/p.html"
PAGE = "<meta charset=utf-8><p>p"


IS_HELD: dict[bool, list[dict[str, Any]]] = {
    True: [{}, {"method": "HEAD"}, {"method": "get"}, {"content": None, "size": 0}],
    False: [
        {"method": "POST"}, {"method": "PROPFIND"}, {"status": 404}, {"status": 0}, {"status": None}, {"status": 206}, {"content": None, "size": 100},
    ],
}  # fmt: skip


@pytest.mark.parametrize("is_held", IS_HELD)
def test_only_a_saved_success_that_answers_a_get_is_held(is_held: bool) -> None:
    for more in IS_HELD[is_held]:
        assert (URL_HAR in absolve.mirror_plan([har(entry(URL_HAR, **{"content": PAGE, **more}))])) is is_held, more


def test_the_map_names_the_charset_of_the_file_where_the_text_does_not_fit_the_stated_one(tmp_path: Path) -> None:
    pages = (entry(URL_HAR, "<p>\u0416", "text/html; charset=iso-8859-1"), entry("http://h/q", "\xe9", "text/plain; charset=iso-8859-1"))
    mirrored(tmp_path, "c.har", har(*pages))
    with closing(sqlite3.connect(tmp_path / "m/mirror.sqlite")) as db:
        found = dict(db.execute("SELECT url, media_type FROM resources"))
    assert found == {URL_HAR: "text/html; charset=utf-8", "http://h/q": "text/plain; charset=iso-8859-1"}


@pytest.mark.parametrize("url", ["data:text/html,x", "about:blank", "blob:http://h/1", "chrome://x/", "http://[", ""])
def test_what_is_no_url_of_the_web_is_no_document(url: str) -> None:
    assert list(absolve.mirror_plan([har(entry(url, PAGE), entry(URL_HAR, PAGE))])) == [URL_HAR]


@pytest.mark.parametrize("key", ["redirectURL", "Location"])
def test_a_recorded_redirect_is_followed(tmp_path: Path, key: str) -> None:
    moved = entry("http://h/old", "", status=302, **({"location": "/p.html#x"} if key == "Location" else {}))
    if key == "redirectURL":
        moved["response"]["redirectURL"] = "/p.html#x"
    home = entry("http://h/", "<meta charset=utf-8><a href=/old>o</a>")
    found = mirrored(tmp_path, "c.har", har(moved, home, entry(URL_HAR, PAGE)))[1]
    assert found["h/index.html"] == b"<meta charset=utf-8><a href=p.html#x>o</a>"


@pytest.mark.parametrize(("media_type", "text", "data"), [
    ("application/octet-stream", bytes(range(256)), bytes(range(256))),
    ("text/html", "<p>\u044f", '<meta charset="utf-8"><p>\u044f'.encode()),
    ("text/html", "<meta charset=windows-1251>\u044f", b"<meta charset=windows-1251>\xff"),
    ("text/html; charset=windows-1251", "<meta charset=windows-1251>\u044f", b"<meta charset=windows-1251>\xff"),
    ("text/plain; charset=koi8-r", "\u044f", b"\xd1"),
    ("text/plain; charset=windows-1251", "\u4e2d", "\ufeff\u4e2d".encode()),
    ("text/plain; charset=none-such", "\u044f", "\ufeff\u044f".encode()), ("text/plain", "\u044f", "\ufeff\u044f".encode()),
])
def test_decoded_text_is_encoded_as_declared_where_nothing_is_lost(tmp_path: Path, media_type: str, text: str | bytes, data: bytes) -> None:
    name = {"text/html": "x.html", "text/plain": "x.txt"}.get(media_type.partition(";")[0], "x.bin")
    older = entry(f"http://h/{name}", "older", media_type, date="2021-01-01T00:00:00Z")
    newest = entry(f"http://h/{name}", text, media_type)
    assert mirrored(tmp_path, "c.har", har(newest, older))[1] == {f"h/{name}": data}


@pytest.mark.parametrize("broken", [
    1, {}, {"request": {"url": URL_HAR}}, {"request": [], "response": {}}, entry("http://h/n", PAGE, status="many"),
    {**entry("http://h/n", PAGE), "response": {"status": 200, "content": {"text": "A", "encoding": "base64"}}},
    {**entry("http://h/n", PAGE), "response": {"status": 200, "headers": [{}]}},
    {**entry("http://h/n", PAGE), "response": {"status": 200, "headers": [{"name": "Link", "comment": "x"}]}},
    {**entry("http://h/n", PAGE), "response": {"status": 200, "content": {"text": "x", "mimeType": "a"}, "headers": 5}},
])
def test_a_broken_entry_is_reported_by_its_number_and_the_others_are_held(tmp_path: Path, broken: object, capsys: pytest.CaptureFixture[str]) -> None:
    code, found = mirrored(tmp_path, "c.har", har(broken, entry(URL_HAR, PAGE)))
    assert (code, found) == (3, {"h/p.html": PAGE.encode()})
    assert "c.har: broken-entry: entry[1]" in capsys.readouterr().err.replace("\n", " ")


def test_a_broken_entry_has_its_number_in_the_array_of_the_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    encoded = {**entry("http://h/n", PAGE), "response": {"status": 200, "content": {"text": "A", "encoding": "base64"}}}
    mirrored(tmp_path, "c.har", har(None, entry(URL_HAR, PAGE), 5, {}, *[0] * 120, {"request": 5}, encoded))
    numbers = re.findall(r"entry\[(\d+)\]", capsys.readouterr().err)
    assert (numbers[:4], numbers[-2:]) == (["1", "3", "4", "5"], ["125", "126"])


@pytest.mark.parametrize("text", ["null", '"log"', "[]", '{"log": 1}', '{"log": {}}', '{"log": {"entries": {"a": 1}}}', '{"log"', "[" * 100_000, "\x00", '{"log": {"entries": {}}}'])
def test_json_that_is_no_archive_is_reported(text: str) -> None:
    document = absolve.Document(text.encode(), name="c.har", media_type="application/har+json")
    plan = absolve.mirror_plan([document, har(entry(URL_HAR, PAGE))])
    assert list(plan) == [URL_HAR]
    is_empty = text == '{"log": {"entries": {}}}'
    assert is_empty or next(one.code for one in plan.diagnostics) in {"no-har", "malformed-json", "too-deep"}


# --- documents that were captured in pieces (206), cut off, or not at all ---------------------------------------------

URL_RANGES = "http://h/m.mp4"
ALL = b"0123456789"
LATER = "2025-01-01T00:00:00Z"
WHOLE = page(URL_RANGES, ALL, "video/mp4")
MODIFIED = "Wed, 01 May 2024 00:00:00 GMT"


def piece(start: int, last: int, total: int = 10, body: bytes | None = None, *, date: str = DATE, **fields: str) -> bytes:
    """Return a record of a response 206; without `fields` it has an ETag."""
    fields = fields or {"ETag": '"x"'}
    data = ALL[start : last + 1] if body is None else body
    return page(URL_RANGES, data, "video/mp4", status=206, date=date, Content_Range=f"bytes {start}-{last}/{total}", **fields)


JOINED = {
    "two": piece(0, 4) + piece(5, 9), "in another order": piece(5, 9) + piece(0, 4), "that overlap": piece(2, 5) + piece(3, 9) + piece(0, 6),
    "of one modification": piece(0, 4, Last_Modified=MODIFIED) + piece(5, 9, Last_Modified=MODIFIED),
    "one that is all": piece(0, 9, X="x"), "one that was cut off": piece(0, 9, body=b"012") + piece(3, 9),
    "in chunks": piece(0, 4, body=b"5\r\n01234\r\n0\r\n\r\n", ETag='"x"', Transfer_Encoding="chunked") + piece(5, 9),
    "newer than a whole one": page(URL_RANGES, b"old", date="2020-01-01T00:00:00Z") + piece(0, 4) + piece(5, 9),
    "of a newer version, too": piece(0, 4) + piece(5, 9) + piece(0, 4, date=LATER, ETag='"y"'),
}
APART = {
    "one": piece(8, 9), "with a gap": piece(0, 4) + piece(6, 9), "without a version": piece(0, 4, X="x") + piece(5, 9, X="x"),
    "of two versions": piece(0, 4) + piece(5, 9, ETag='"y"'),
    "with a weak ETag": piece(0, 4, ETag='W/"x"') + piece(5, 9, ETag='W/"x"'),
    "of two sizes": piece(0, 4) + piece(5, 9) + piece(0, 4, 11),
    "of two modifications": piece(0, 4, ETag='"x"', Last_Modified=MODIFIED) + piece(5, 9, ETag='"x"', Last_Modified="x"),
    "compressed": piece(0, 4, ETag='"x"', Content_Encoding="gzip", body=b"\x1f\x8b\x08\0\0") + piece(5, 9),
    "without a range": page(URL_RANGES, ALL, status=206),
    "of an unknown size": page(URL_RANGES, ALL, status=206, Content_Range="bytes 0-9/*", ETag='"x"'),
    "several in one body": page(URL_RANGES, ALL, "multipart/byteranges; boundary=b", status=206),
    "of a huge document": piece(0, 9, 10**18),
    "with an endless number": page(URL_RANGES, ALL, status=206, Content_Range=f"bytes 0-9/{'9' * 5000}"),
    "longer than its range": piece(0, 4, body=b"01234xxx") + piece(5, 9),
    "and a revisit of one": piece(0, 4) + captures.record("revisit", URL_RANGES, block(b"", None, 206, Content_Range="bytes 0-4/10"), LATER),
}


@pytest.mark.parametrize("data", JOINED.values(), ids=JOINED)
def test_pieces_of_one_version_that_cover_it_are_joined(tmp_path: Path, data: bytes) -> None:
    assert mirrored(tmp_path, "c.warc", data) == (0, {"h/m.mp4": ALL})


@pytest.mark.parametrize("data", APART.values(), ids=APART)
def test_what_pieces_do_not_cover_is_missing_with_a_note(tmp_path: Path, data: bytes, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "c.warc").write_bytes(page("http://h/", b"<meta charset=utf-8><video src=/m.mp4>") + data)
    assert main(["mirror", str(tmp_path / "c.warc"), "-o", str(tmp_path / "m")]) == 0
    assert tree(tmp_path / "m") == {"h/index.html": b"<meta charset=utf-8><video src=http://h/m.mp4>"}
    assert f"{URL_RANGES}: partial: " in capsys.readouterr().err
    with closing(sqlite3.connect(tmp_path / "m/mirror.sqlite")) as db:
        assert db.execute("SELECT path, code FROM notes").fetchall() == [(None, "partial")]
        assert db.execute("SELECT url FROM missing").fetchall() == [(URL_RANGES,)]


@pytest.mark.parametrize(
    "newer",
    [
        piece(0, 4, date=LATER), page(URL_RANGES, b"gone", status=404, date=LATER), page(URL_RANGES, b"", status=304, date=LATER),
        page(URL_RANGES, b"012", date=LATER, Content_Length="10"), page(URL_RANGES, b"", date=LATER, Transfer_Encoding="chunked"),
        captures.record("response", URL_RANGES, block(b"", "video/mp4"), LATER, Truncated="length"),
        captures.record("resource", URL_RANGES, b"012", LATER, Truncated="time"),
    ],
    ids=["piece", "error", "not modified", "shorter", "no body", "truncated", "resource"],
)
def test_the_newest_whole_capture_counts(tmp_path: Path, newer: bytes) -> None:
    assert mirrored(tmp_path, "c.warc", WHOLE + newer) == (0, {"h/m.mp4": ALL})
    assert mirrored(tmp_path, "c.warc", newer + WHOLE) == (0, {"h/m.mp4": ALL})


def test_a_whole_capture_counts_where_a_newer_revisit_lacks_its_payload(tmp_path: Path) -> None:
    lost = captures.record("revisit", URL_RANGES, block(b"", "video/mp4"), LATER, Refers_To_Target_URI="http://h/none")
    assert mirrored(tmp_path, "c.warc", WHOLE + lost) == (3, {"h/m.mp4": ALL})


def test_what_was_cut_off_is_held_with_a_note_where_nothing_else_is(tmp_path: Path) -> None:
    assert mirrored(tmp_path, "c.warc", page(URL_RANGES, b"012", "video/mp4", Content_Length="10")) == (0, {"h/m.mp4": b"012"})


def test_pieces_are_joined_across_the_files_of_a_package(tmp_path: Path) -> None:
    files = {"datapackage.json": b"{}", "archive/a.warc": piece(5, 9), "archive/b.warc.gz": compress(piece(0, 4))}
    assert mirrored(tmp_path, "c.wacz", zipped(files, stored=True)) == (0, {"h/m.mp4": ALL})


def seen(start: int, last: int, **content: Any) -> dict[str, Any]:
    found = entry(URL_RANGES, ALL[start : last + 1], "video/mp4", status=206)
    headers = {"Content-Range": f"bytes {start}-{last}/10", "ETag": '"x"'}
    found["response"]["headers"] = [{"name": name, "value": value} for name, value in headers.items()]
    if content:
        found["response"]["content"] = content
    return found


@pytest.mark.parametrize(("entries", "held"), [
    ([seen(5, 9), seen(0, 4)], ALL), ([seen(0, 9)], ALL), ([seen(0, 4), seen(6, 9)], None), ([seen(0, 9, size=0, mimeType="video/mp4")], None),
    ([entry(URL_RANGES, ALL, "video/mp4"), seen(8, 9)], ALL),
])
def test_a_browser_saves_pieces_too(tmp_path: Path, entries: list[dict[str, Any]], held: bytes | None) -> None:
    home = entry("http://h/", "<meta charset=utf-8>")
    code, found = mirrored(tmp_path, "c.har", har(home, *entries))
    assert (code, found.get("h/m.mp4")) == (0, held)


def test_a_number_of_pieces_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("absolve.mirror.payloads._MOST", 3)
    pieces = Pieces()
    for number in range(4):
        pieces.add(Piece(Captured(URL_RANGES, 206, "", "", Where(0, number, 0)), number, number + 1, Version(4, '"x"', "")))
    assert not list(pieces.joined(set()))


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
