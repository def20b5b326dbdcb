"""HTTP messages: unchanged messages, fields with links, bodies in every coding, and unreadable messages."""

import gzip
import zlib
from collections.abc import Callable
from typing import Any

import brotli
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

import absolve
from absolve.core.errors import Diagnostic
from absolve.core.model import Document
from absolve.document.walk import Settings, walk
from absolve.formats.http import Chunked, payload

URL = "http://h.example/d/page.html"
PAGE = b'<a href="x">x</a>'
ABSOLUTE = b'<a href="http://h.example/d/x">x</a>'


def message(*fields: str, body: bytes = PAGE, status: str = "HTTP/1.1 200 OK", media_type: str = "text/html") -> bytes:
    lines = [status, *([f"Content-Type: {media_type}"] if media_type else []), *fields]
    return "".join(f"{line}\r\n" for line in lines).encode() + b"\r\n" + body


def rewritten(data: bytes, **options: Any) -> bytes:
    """Return the rewritten message; assert that a second rewrite changes nothing."""
    done = absolve.rewrite(data, media_type="message/http", url=URL, **options)
    assert absolve.rewrite(done, media_type="message/http", url=URL, **options) is done
    return done


def reported(data: bytes, **options: Any) -> list[tuple[str, bool]]:
    return [(found.code, found.failed) for found in diagnostics(data, **options)]


def diagnostics(data: bytes, **options: Any) -> list[Diagnostic]:
    return walk(Document(data, media_type="message/http", url=URL), Settings(**options)).diagnostics


STAYS = {
    "a request": b"GET /x HTTP/1.1\r\nHost: h.example\r\nReferer: x\r\n\r\n",
    "a request with a body": b"POST / HTTP/1.1\r\nContent-Type: text/html\r\nLocation: x\r\n\r\n" + PAGE,
    "an image": message(body=PAGE, media_type="image/png"),
    "no body": message("Content-Length: 1000", body=b""),
    "no content": message(status="HTTP/1.1 204 No Content"),
    "not modified": message(status="HTTP/1.1 304 Not Modified"),
    "text without a media type": message(media_type="", body=b"see <a href=x>"),
    "a script": message(media_type="text/javascript", body=b"location = 'x'"),
    "odd fields": message("X-Odd:  \tkept ", " folded", "no field", body=b""),
    "nothing changed in a coding": message("Content-Encoding: gzip", body=gzip.compress(b"<p>", 1)),
}


@pytest.mark.parametrize("data", STAYS.values(), ids=STAYS)
def test_unchanged_data_is_returned_as_the_same_object(data: bytes) -> None:
    assert rewritten(data) is data
    assert reported(data) == []


@pytest.mark.parametrize(
    "line", ["HTTP/1.1 200 OK", "HTTP/1.0 200", "HTTP/2 200 ", "HTTP/1.1 404 Not Found", "HTTP/1.1 200 Très bien"]
)
def test_every_status_line_is_read(line: str) -> None:
    assert rewritten(message(status=line)) == message(status=line, body=ABSOLUTE)


def test_a_page_begins_where_the_empty_line_before_it_is_missing() -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
    page = b"<!doctype html>\n<p>Note: a\n\n" + PAGE
    assert absolve.rewrite(head + page, url=URL, name="page.html") == head + page.replace(PAGE, ABSOLUTE)


def test_http_lines_may_end_without_a_carriage_return() -> None:
    data = message("Content-Length: 17").replace(b"\r", b"")
    assert rewritten(data) == message("Content-Length: 36", body=ABSOLUTE).replace(b"\r", b"")


@pytest.mark.parametrize(("field", "new"), [
    ("Location: x", "Location: http://h.example/d/x"),
    ("location:/x", "location:http://h.example/x"),
    ("Content-Location: x", "Content-Location: http://h.example/d/x"),
    ("Refresh: 5; url=x", "Refresh: 5; url=http://h.example/d/x"),
    ("Refresh: 5", "Refresh: 5"),
    ("SourceMap: x.map", "SourceMap: http://h.example/d/x.map"),
    ("X-SourceMap: x.map", "X-SourceMap: http://h.example/d/x.map"),
    ("Link: <x>; rel=next", "Link: <http://h.example/d/x>; rel=next"),
    (
        'Link: <a,b;c>; title="x, <y>", </p>;rel=x',
        'Link: <http://h.example/d/a,b;c>; title="x, <y>", <http://h.example/p>;rel=x',
    ),
    ("Base: <URL:x/>", "Base: <URL:http://h.example/d/x/>"),
])
def test_links_in_http_fields_are_found(field: str, new: str) -> None:
    assert rewritten(message(field, body=b"")) == message(new, body=b"")


@pytest.mark.parametrize(("fields", "base", "layer"), [
    ((), URL, "retrieval"),
    (("Content-Location: http://c.example/",), URL, "retrieval"),
    (("Content-Base: http://c.example/",), "http://c.example/", "encapsulating"),
    (("Content-Base: http://c.example/", "Base: <URL:http://b.example/>"), "http://b.example/", "encapsulating"),
    (("Content-Base: sub/",), "http://h.example/d/sub/", "encapsulating"),
])
def test_http_bodies_have_the_expected_base(fields: tuple[str, ...], base: str, layer: str) -> None:
    row = list(absolve.links(message(*fields), media_type="message/http", url=URL))[-1]
    assert (row.base, row.base_layer, row.entity) == (base, layer, "body[1]")


def test_thousands_of_links_in_a_field_get_the_base_of_a_later_field() -> None:
    value = ", ".join(f"<{number}>; rel=x" for number in range(3000))
    data = message(f"Link: {value}", "Content-Base: /o/", "Location: y", body=b"<a href=x>")
    rows = list(absolve.links(data, media_type="message/http", url=URL))
    assert [row.target for row in rows[:3000]] == [f"http://h.example/o/{number}" for number in range(3000)]
    assert [row.target for row in rows[3000:]] == [f"http://h.example/o/{path}" for path in ("", "y", "x")]
    new = message(
        f"Link: {value.replace('<', '<http://h.example/o/')}",
        "Content-Base: http://h.example/o/",
        "Location: http://h.example/o/y",
        body=b"<a href=http://h.example/o/x>",
    )
    assert rewritten(data) == new


def test_of_several_responses_the_last_one_has_the_body() -> None:
    first = message("Location: x", body=b"", status="HTTP/1.1 301 Moved")
    new = message("Location: http://h.example/d/x", body=b"", status="HTTP/1.1 301 Moved")
    continued = b"HTTP/1.1 100 Continue\r\n\r\n"
    assert rewritten(continued + first + message()) == continued + new + message(body=ABSOLUTE)


REDIRECTS = {
    "curl -iL": (
        (
            b"HTTP/1.1 301 Moved\r\nLocation: /e/\r\n\r\nHTTP/2 302 \r\nlocation: f/g\r\nlink: <x>\r\n\r\nHTTP/2 200 \r\n"
            b"content-type: text/html\r\ncontent-length: 17\r\n\r\n"
        ),
        ["http://h.example/e/", "http://h.example/e/f/g", "http://h.example/e/x"],
        "http://h.example/e/f/g",
    ),
    "a proxy": (
        (
            b"HTTP/1.1 200 Connection established\r\n\r\nHTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 308 \r\nLocation: ?q\r\n\r\n"
            b"HTTP/1.1 200 OK\r\n\r\n"
        ),
        ["http://h.example/d/page.html?q"],
        "http://h.example/d/page.html?q",
    ),
    "bodies of redirects": (
        (
            b"HTTP/1.1 302 FOUND\r\nContent-Type: text/html\r\nContent-Length: 13\r\nLocation: //o.example/\r\n\r\n"
            b"<a href=y>y\n\n\n\nHTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"
        ),
        ["http://o.example/", "http://h.example/d/y"],
        "http://o.example/",
    ),
    "no URL": (
        b"HTTP/1.1 303 See Other\r\nLocation: javascript:x\r\n\r\nHTTP/1.1 200 OK\r\n\r\n",
        ["javascript:x"],
        "http://h.example/d/page.html",
    ),
}


@pytest.mark.parametrize(("head", "targets", "url"), REDIRECTS.values(), ids=REDIRECTS)
def test_after_redirects_the_last_location_is_the_retrieval_url(head: bytes, targets: list[str], url: str) -> None:
    data = head + PAGE
    *before, row = absolve.links(data, media_type="message/http", url=URL)
    assert [one.target for one in before] == targets
    source = "--url" if url == URL else "Location header"
    assert (row.base, row.base_layer, row.base_source.partition(",")[0]) == (url, "retrieval", source)
    new = rewritten(data)
    assert new.endswith(f'"{row.target}">x</a>'.encode())
    assert absolve.verify(data, new, media_type="message/http", url=URL) == []


def test_too_many_redirects_are_an_error() -> None:
    data = message("Location: x/", body=b"", status="HTTP/1.1 301 Moved") * 51
    with pytest.raises(absolve.AbsolveError, match="too-many-redirects"):
        rewritten(data + message())
    assert rewritten(data[: 50 * len(data) // 51] + message()).endswith(b"/d/%bx" % (b"x/" * 50) + PAGE[10:])


@pytest.mark.parametrize("name", ["page.html", "style.css", "answer.http", "answer"])
def test_a_saved_header_in_front_of_a_file_of_any_name_is_read(name: str) -> None:
    assert absolve.rewrite(message(), name=name, url=URL) == message(body=ABSOLUTE)
    body = gzip.compress(PAGE)
    (row,) = absolve.links(message("Content-Encoding: gzip", body=body), name=name, url=URL)
    assert row.target == "http://h.example/d/x"


@pytest.mark.parametrize("body", [PAGE, b"<!doctype html>" + PAGE, b"\n <HTML>" + PAGE])
def test_the_format_of_a_body_without_media_type_is_detected(body: bytes) -> None:
    assert rewritten(message(media_type="", body=body)).endswith(ABSOLUTE)
    assert b"http" not in rewritten(message(media_type="", body=b"\x89PNG" + PAGE))[20:]


# --- codings ----------------------------------------------------------------------------------------------------------


def chunked(*chunks: bytes, extension: bytes = b"", trailer: bytes = b"") -> bytes:
    return b"".join(b"%x%b\r\n%b\r\n" % (len(chunk), extension, chunk) for chunk in (*chunks, b""))[:-2] + trailer + b"\r\n"


def unchunked(raw: bytes) -> bytes:
    data = b""
    while raw:
        size, raw = raw.split(b"\r\n", 1)
        length = int(size.partition(b";")[0], 16)
        if not length:
            break
        data, raw = data + raw[:length], raw[length + 2 :]
    return data


CODED: dict[str, tuple[Callable[[bytes], bytes], Callable[[bytes], bytes]]] = {
    "gzip": (gzip.compress, gzip.decompress),
    "deflate": (zlib.compress, zlib.decompress),
    "br": (brotli.compress, brotli.decompress),
    "zstd": (zstandard.compress, zstandard.decompress),
}


@pytest.mark.parametrize("name", CODED)
@pytest.mark.parametrize("in_chunks", [False, True])
def test_a_compressed_body_is_decompressed_and_compressed_again(name: str, in_chunks: bool) -> None:
    encode, decode = CODED[name]
    raw = encode(PAGE)
    field = "Transfer-Encoding: chunked" if in_chunks else f"Content-Length: {len(raw)}"
    body = chunked(raw[:10], raw[10:]) if in_chunks else raw
    head, _, new = rewritten(message(f"Content-Encoding: {name}", field, body=body)).partition(b"\r\n\r\n")
    assert decode(unchunked(new) if in_chunks else new) == ABSOLUTE
    assert in_chunks or head.endswith(b"Content-Length: %d" % len(new))


def test_several_content_codings_are_removed_in_reverse_order() -> None:
    data = message("Content-Encoding: deflate, gzip", body=gzip.compress(zlib.compress(PAGE)))
    new = rewritten(data).partition(b"\r\n\r\n")[2]
    assert zlib.decompress(gzip.decompress(new)) == ABSOLUTE
    data = message("Transfer-Encoding: gzip, chunked", body=chunked(gzip.compress(PAGE)))
    assert gzip.decompress(unchunked(rewritten(data).partition(b"\r\n\r\n")[2])) == ABSOLUTE


def test_chunks_keep_their_sizes_extensions_and_trailers() -> None:
    fields = ("Transfer-Encoding: chunked",)
    body = b'005;x=y\r\n<a hr\r\nC\r\nef="x">x</a>\r\n0;last\r\nX-T: 1\r\n\r\n'
    new = b'005;x=y\r\n<a hr\r\n1f\r\nef="http://h.example/d/x">x</a>\r\n0;last\r\nX-T: 1\r\n\r\n'
    assert rewritten(message(*fields, body=body)) == message(*fields, body=new)


DATA = st.tuples(st.binary(min_size=1, max_size=40), st.sampled_from([b"\r\n", b" \r\n", b"\n", b";x=\xff\n", b" ;a\r\n"]))


@given(st.lists(DATA), st.sampled_from([b"0\r\n\r\n", b"00;l\r\nT: 1\r\n\r\n", b"0\n"]), st.binary(max_size=90))
def test_a_changed_body_keeps_its_chunks(chunks: list[tuple[bytes, bytes]], last: bytes, other: bytes) -> None:
    raw = b"".join(b"%03x" % len(data) + end + data + b"\r\n" for data, end in chunks) + last
    coding = Chunked()
    value = coding.decode(raw)
    assert value == b"".join(data for data, _ in chunks)
    assert coding.encode(value) == raw
    if chunks:
        assert Chunked().decode(coding.encode(other)) == other
    assert coding.encode(other).endswith(last)


@pytest.mark.parametrize("size", [10, (1 << 16) - 39, (1 << 16) - 38, (1 << 16) - 37, 1 << 17])
@pytest.mark.parametrize("kind", [bytes, memoryview])
def test_the_payload_is_the_body_after_a_header_of_any_length(size: int, kind: Callable[[bytes], bytes]) -> None:
    for end in (b"\r\n\r\n", b"\r\n"):
        found = message("X: " + "x" * size)[: -len(PAGE) - 4] + end + (PAGE if len(end) == 4 else b"")
        body = found.partition(b"\r\n\r\n")[2]
        assert bytes(payload(kind(found), options=Settings(), count=0)) == body
        assert bytes(payload(kind(found), options=Settings(), count=None)) == body


# --- unreadable data --------------------------------------------------------------------------------------------------

BROKEN = {
    "a wrong chunk size": ("wrong-chunk", message("Transfer-Encoding: chunked", body=b"4\r\n<a href='x'>\r\n0\r\n\r\n")),
    "no last chunk": ("wrong-chunk", message("Transfer-Encoding: chunked", body=b"11\r\n" + PAGE + b"\r\n")),
    "a truncated chunk": ("wrong-chunk", message("Transfer-Encoding: chunked", body=b"ff\r\n" + PAGE)),
    "truncated gzip": ("truncated", message("Content-Encoding: gzip", body=gzip.compress(PAGE)[:-9])),
    "broken gzip": ("broken", message("Content-Encoding: gzip", body=gzip.compress(PAGE)[:10] + b"\xff" * 30)),
    "more than 16 codings": ("unknown-coding", message(f"Content-Encoding: {'gzip,' * 17}", body=gzip.compress(PAGE))),
    "an unknown coding": ("unknown-coding", message("Content-Encoding: sdch", body=b"\xd6\xc3\xc4\0" + PAGE)),
}


@pytest.mark.parametrize(("code", "data"), BROKEN.values(), ids=BROKEN)
def test_an_unreadable_body_stays_with_a_diagnostic(code: str, data: bytes) -> None:
    assert rewritten(data) is data
    assert rewritten(data, policy=lambda _: "http://h.example/other") is data
    assert reported(data) == [(code, True)]


def test_a_link_in_the_header_of_a_broken_body_is_rewritten() -> None:
    body = gzip.compress(PAGE)[:-9]
    data = message("Content-Encoding: gzip", "Link: <x>", body=body)
    assert rewritten(data) == message("Content-Encoding: gzip", "Link: <http://h.example/d/x>", body=body)


CUT = {
    "gzip": message("Content-Encoding: gzip", body=gzip.compress(PAGE * 9)[:-9]),
    "a second gzip member": message("Content-Encoding: gzip", body=gzip.compress(PAGE) + gzip.compress(PAGE)[:-9]),
    "gzip with a wrong checksum": message("Content-Encoding: gzip", body=gzip.compress(PAGE)[:-8] + bytes(8)),
    "deflate": message("Content-Encoding: deflate", body=zlib.compress(PAGE)[:-4]),
    "br": message("Content-Encoding: br", body=brotli.compress(PAGE)[:-1]),
    "chunks": message("Transfer-Encoding: chunked", body=b"11\r\n" + PAGE + b"\r\n"),
    "a chunk": message("Transfer-Encoding: chunked", body=b"ff\r\n" + PAGE),
    "gzip in chunks": message(
        "Transfer-Encoding: chunked", "Content-Encoding: gzip", body=b"ff\r\n" + gzip.compress(PAGE)[:-8]
    ),
}


@pytest.mark.parametrize("data", CUT.values(), ids=CUT)
def test_what_decodes_of_a_damaged_body_is_listed_and_stays(data: bytes) -> None:
    rows = list(absolve.links(data, media_type="message/http", url=URL, on_diagnostic=lambda _: None))
    assert {row.target for row in rows} == {"http://h.example/d/x"}
    assert rewritten(data, policy=lambda _: "http://h.example/other") is data
    assert any(failed for _, failed in reported(data))


LIES = {
    "a length that is too large": (["wrong-length"], message("Content-Length: 18")),
    "a length that is too small": (["wrong-length"], message("Content-Length: 16")),
    "a length of too many digits": ([], message(f"Content-Length: {'1' * 5000}")),
    "the length of an encoded body": (["not-encoded", "wrong-length"], message("Content-Encoding: gzip", "Content-Length: 9")),
    "no chunks": (["not-encoded"], message("Transfer-Encoding: chunked")),
    "no brotli": (["not-encoded"], message("Content-Encoding: br")),
    "no deflate": (["not-encoded"], message("Content-Encoding: deflate")),
    "16 codings": (["not-encoded"] * 16, message(f"Content-Encoding: {', '.join(['br', 'gzip'] * 8)}")),
    "a charset as coding": (["not-encoded"], message("Content-Encoding: UTF-8")),
}


@pytest.mark.parametrize(("codes", "data"), LIES.values(), ids=LIES)
def test_a_body_is_read_whatever_the_header_says_wrongly_of_it(codes: list[str], data: bytes) -> None:
    new = data.replace(PAGE, ABSOLUTE)
    assert rewritten(data) == new
    assert absolve.verify(data, new, media_type="message/http", url=URL, on_diagnostic=lambda _: None) == []
    assert reported(data) == [(code, False) for code in codes]


def test_chunks_of_a_decoded_body_are_read() -> None:
    fields = ("Transfer-Encoding: chunked", "Content-Encoding: gzip")
    assert rewritten(message(*fields, body=chunked(PAGE))) == message(*fields, body=chunked(ABSOLUTE))
    assert reported(message(*fields, body=chunked(PAGE))) == [("not-encoded", False)]


def test_a_partial_response_stays() -> None:
    data = message("Content-Range: bytes 100-116/1000", status="HTTP/1.1 206 Partial Content")
    assert rewritten(data) is data
    assert reported(data) == [("partial", False)]


def test_blank_lines_after_the_body_stay() -> None:
    assert rewritten(message("Content-Length: 17") + b"\r\n\r\n") == message("Content-Length: 36", body=ABSOLUTE) + b"\r\n\r\n"


def test_data_that_is_no_http_message_is_an_error() -> None:
    with pytest.raises(absolve.AbsolveError, match="no-http"):
        rewritten(b"<html>" + PAGE)
