"""HTTP messages: unchanged messages, fields with links, bodies in every coding, and unreadable messages."""

import gzip
import zlib
from collections.abc import Callable
from itertools import product
from typing import Any

import brotli
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

import absolve
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


def reported(data: bytes) -> list[tuple[str, bool]]:
    return [(found.code, found.failed) for found in walk(Document(data, media_type="message/http", url=URL), Settings()).diagnostics]


def test_thousands_of_links_in_a_field_get_the_base_of_a_later_field() -> None:
    value = ", ".join(f"<{number}>; rel=x" for number in range(3000))
    data = message(f"Link: {value}", "Content-Base: /o/", "Location: y", body=b"<a href=x>")
    rows = list(absolve.links(data, media_type="message/http", url=URL))
    assert [row.target for row in rows[:3000]] == [f"http://h.example/o/{number}" for number in range(3000)]
    assert [row.target for row in rows[3000:]] == [f"http://h.example/o/{path}" for path in ("", "y", "x")]
    fields = (f"Link: {value.replace('<', '<http://h.example/o/')}", "Content-Base: http://h.example/o/", "Location: http://h.example/o/y")
    assert rewritten(data) == message(*fields, body=b"<a href=http://h.example/o/x>")


def test_too_many_redirects_are_an_error_and_a_length_of_too_many_digits_counts_for_nothing() -> None:
    assert rewritten(message(f"Content-Length: {'1' * 5000}")) == message(f"Content-Length: {'1' * 5000}", body=ABSOLUTE)
    data = message("Location: x/", body=b"", status="HTTP/1.1 301 Moved") * 51
    with pytest.raises(absolve.AbsolveError, match="too-many-redirects"):
        rewritten(data + message())
    assert rewritten(data[: 50 * len(data) // 51] + message()).endswith(b"/d/%bx" % (b"x/" * 50) + PAGE[10:])


# --- codings ----------------------------------------------------------------------------------------------------------


def chunked(*chunks: bytes) -> bytes:
    return b"".join(b"%x\r\n%b\r\n" % (len(chunk), chunk) for chunk in (*chunks, b""))


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
    "gzip": (gzip.compress, gzip.decompress), "deflate": (zlib.compress, zlib.decompress), "br": (brotli.compress, brotli.decompress),
    "zstd": (zstandard.compress, zstandard.decompress),
}


def test_a_compressed_body_is_decompressed_and_compressed_again() -> None:
    for name, (encode, decode) in CODED.items():
        raw = encode(PAGE)
        head, _, new = rewritten(message(f"Content-Encoding: {name}", f"Content-Length: {len(raw)}", body=raw)).partition(b"\r\n\r\n")
        assert (decode(new), head.endswith(b"Content-Length: %d" % len(new))) == (ABSOLUTE, True)
        in_chunks = message(f"Content-Encoding: {name}", "Transfer-Encoding: chunked", body=chunked(raw[:10], raw[10:]))
        assert decode(unchunked(rewritten(in_chunks).partition(b"\r\n\r\n")[2])) == ABSOLUTE
    same = message("Content-Encoding: gzip", body=gzip.compress(b"<p>", 1))
    assert rewritten(same) is same


def test_several_content_codings_are_removed_in_reverse_order() -> None:
    data = message("Content-Encoding: deflate, gzip", body=gzip.compress(zlib.compress(PAGE)))
    new = rewritten(data).partition(b"\r\n\r\n")[2]
    assert zlib.decompress(gzip.decompress(new)) == ABSOLUTE
    data = message("Transfer-Encoding: gzip, chunked", body=chunked(gzip.compress(PAGE)))
    assert gzip.decompress(unchunked(rewritten(data).partition(b"\r\n\r\n")[2])) == ABSOLUTE


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


def test_the_payload_is_the_body_after_a_header_of_any_length() -> None:
    sizes = (10, (1 << 16) - 39, (1 << 16) - 38, (1 << 16) - 37, 1 << 17)
    for size, end, kind in product(sizes, (b"\r\n\r\n", b"\r\n"), (bytes, memoryview)):
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


def test_an_unreadable_body_stays_with_a_diagnostic_and_the_header_is_rewritten() -> None:
    for code, data in BROKEN.values():
        assert rewritten(data) is rewritten(data, policy=lambda _: "http://h.example/other") is data
        assert reported(data) == [(code, True)]
        old, new = (data.replace(b"\r\n\r\n", b"\r\nLink: <%bx>\r\n\r\n" % base, 1) for base in (b"", b"http://h.example/d/"))
        assert rewritten(old) == new


CUT = {
    "gzip": message("Content-Encoding: gzip", body=gzip.compress(PAGE * 9)[:-9]),
    "a second gzip member": message("Content-Encoding: gzip", body=gzip.compress(PAGE) + gzip.compress(PAGE)[:-9]),
    "gzip with a wrong checksum": message("Content-Encoding: gzip", body=gzip.compress(PAGE)[:-8] + bytes(8)),
    "deflate": message("Content-Encoding: deflate", body=zlib.compress(PAGE)[:-4]),
    "br": message("Content-Encoding: br", body=brotli.compress(PAGE)[:-1]),
    "chunks": message("Transfer-Encoding: chunked", body=b"11\r\n" + PAGE + b"\r\n"),
    "a chunk": message("Transfer-Encoding: chunked", body=b"ff\r\n" + PAGE),
    "gzip in chunks": message("Transfer-Encoding: chunked", "Content-Encoding: gzip", body=b"ff\r\n" + gzip.compress(PAGE)[:-8]),
}


def test_what_decodes_of_a_damaged_body_is_listed_and_stays() -> None:
    for name, data in CUT.items():
        rows = list(absolve.links(data, media_type="message/http", url=URL, on_diagnostic=lambda _: None))
        assert {row.target for row in rows} == {"http://h.example/d/x"}, name
        assert rewritten(data, policy=lambda _: "http://h.example/other") is data
        assert any(failed for _, failed in reported(data))
