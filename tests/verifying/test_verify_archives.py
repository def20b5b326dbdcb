"""Verification of HTTP messages, WARC, ARC and property lists: accepted rewrites, and differences that are found."""

import base64
import gzip
import hashlib
import io
import plistlib
import tracemalloc
import zipfile
import zlib
from typing import Any

import brotli
import pytest
import zstandard

import absolve
from tests.shapes.captures import resource, web_archive

URL = "http://w.example/d/p.html"
PAGE, ABSOLUTE = b'<p>x</p><a href="y">z</a>', b'<p>x</p><a href="http://w.example/d/y">z</a>'
LOCATION = b"Location: z\r\n"


def http(body: bytes = PAGE, fields: bytes = b"", *, length: bool = True) -> bytes:
    length_field = b"Content-Length: %d\r\n" % len(body) if length else b""
    return b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n" + fields + length_field + b"\r\n" + body


def record(block: bytes, media_type: str = "application/http") -> bytes:
    digest = base64.b32encode(hashlib.sha1(block, usedforsecurity=False).digest()).decode()
    head = [
        "WARC/1.1",
        "WARC-Type: " + ("response" if "http" in media_type else "resource"),
        "WARC-Record-ID: <urn:uuid:00000000-0000-0000-0000-000000000025>", f"WARC-Target-URI: {URL}", f"WARC-Block-Digest: sha1:{digest}",
        f"Content-Type: {media_type}", f"Content-Length: {len(block)}",
    ]
    return "\r\n".join(head).encode() + b"\r\n\r\n" + block + b"\r\n\r\n"


def arc(block: bytes) -> bytes:
    return b"%b 127.0.0.1 20240101000000 text/html %d\n%b\n" % (URL.encode(), len(block), block)


_NAMES = b"1 0 t\nURL IP-address Archive-date Content-type Archive-length\n"
FILEDESC = b"filedesc://x.arc 0.0.0.0 20240101000000 text/plain %d\n%b\n" % (len(_NAMES), _NAMES)


def is_accepted(before: bytes, after: bytes, media_type: str) -> bool:
    url = None if "warc" in media_type else URL
    return not absolve.verify(before, after, media_type=media_type, url=url)


def proved(data: bytes, media_type: str, **options: Any) -> bytes:
    """Return the rewrite; assert that neither check finds a difference."""
    new = absolve.rewrite(data, media_type=media_type, **options)
    assert absolve.verify(data, new, media_type=media_type, **options) == []
    return new


CHUNKED = b"Transfer-Encoding: chunked\r\n"
BODIES = {
    "as it is": http(),
    "fields": http(fields=LOCATION + b'Link: <a>; rel="x", <b>; rel=y\r\nRefresh: 5; url=r\r\nContent-Location: c\r\n'),
    "a base": http(fields=b"Content-Base: http://b.example/\r\nLink: <a>\r\n"),
    "no length": http(length=False),
    "a wrong length": http(fields=b"Content-Length: 4\r\n", length=False),
    "line ends behind": http() + b"\r\n\r\n",
    "chunked": http(b'5\r\n<p>x<\r\n14;x=y\r\n/p><a href="y">z</a>\r\n0\r\nT: t\r\n\r\n', CHUNKED, length=False),
    "not chunked at all": http(fields=CHUNKED), "gzip": http(gzip.compress(PAGE), b"Content-Encoding: gzip\r\n"),
    "not gzip at all": http(fields=b"Content-Encoding: gzip\r\n"),
    "deflate": http(zlib.compress(PAGE), b"Content-Encoding: deflate\r\n"),
    "bare deflate": http(zlib.compress(PAGE, wbits=-15), b"Content-Encoding: deflate\r\n"),
    "br": http(brotli.compress(PAGE), b"Content-Encoding: br\r\n"),
    "zstd": http(zstandard.compress(PAGE), b"Content-Encoding: zstd\r\n"),
    "two codings": http(gzip.compress(zlib.compress(PAGE)), b"Content-Encoding: deflate, gzip\r\n"),
    "koi8-r": http('<a href="x">Я</a>'.encode("koi8-r")).replace(b"text/html", b"text/html; charset=koi8-r"),
    "UTF-16": http('<a href="x">Я</a>'.encode("utf-16le")).replace(b"text/html", b"text/html; charset=utf-16le"),
    "a style sheet": http(b"a { background: url(i.png) }").replace(b"text/html", b"text/css"),
    "XML": http(b"<rss><channel><link>x</link></channel></rss>").replace(b"text/html", b"application/rss+xml"),
    "several responses": b"HTTP/1.1 301 Moved\r\nLocation: /d/p.html\r\n\r\n" + http(),
}


@pytest.mark.parametrize("message", BODIES.values(), ids=BODIES)
def test_verify_accepts_a_correct_rewrite_of_an_http_message_alone_and_in_archives(message: bytes) -> None:
    proved(message, "message/http", url=URL)
    for data in (record(message), gzip.compress(record(message)) * 2, FILEDESC + arc(message), record(http()) + record(message)):
        proved(data, "application/warc")


REPEATED = record(http()).replace(b"\r\n\r\nHTTP", b"\r\n%b\r\n\r\nHTTP")
LEFT = b"WARC/1.1\r\nContent-Length: %d\r\n\r\n%b\r\n\r\n" % (len(PAGE), PAGE)  # has the same block as a changed record
ARCHIVES = [
    gzip.compress(record(http()) * 3), zstandard.compress(record(http())) * 2, record(PAGE, "text/html"), LEFT + record(PAGE, "text/html"),
    *(REPEATED.replace(b"%b", length) for length in (b"Content-Length: %d" % len(http()), b"Content-Length:")),
    record(http()) + record(http()).replace(b"/http\r\nContent-Length: ", b"/http\r\nContent-Length: 1"),  # a broken record
]


def test_verify_accepts_a_correct_rewrite_of_an_archive() -> None:
    assert [data for data in ARCHIVES if proved(data, "application/warc") == data] == []
    assert proved(ARCHIVES[3], "application/warc").startswith(LEFT)


# --- differences ------------------------------------------------------------------------------------------------------

GZIPPED = http(gzip.compress(PAGE), b"Content-Encoding: gzip\r\n")
CHEATS: dict[str, tuple[bytes, bytes]] = {
    "another status": (http(), http(ABSOLUTE).replace(b"200 OK", b"201 OK")),
    "another field": (http(fields=b"X: y\r\n"), http(ABSOLUTE, b"X: z\r\n")),
    "a field more": (http(), http(ABSOLUTE, b"X: z\r\n")),
    "another link in a field": (http(fields=LOCATION), http(ABSOLUTE, b"Location: http://evil/\r\n")),
    "the length is left": (http(), http().replace(PAGE, ABSOLUTE)),
    "a wrong length": (http(), http(ABSOLUTE, b"Content-Length: 4\r\n", length=False)),
    "another text": (http(), http(ABSOLUTE.replace(b">x<", b">y<"))),
    "another link in the body": (http(), http(ABSOLUTE.replace(b"/d/", b"/e/"))),
    "another text in gzip": (GZIPPED, http(gzip.compress(ABSOLUTE + b"<i>"), b"Content-Encoding: gzip\r\n")),
    "an image": (http(b"\x89PNG").replace(b"text/html", b"image/png"), http(b"\x89PNH").replace(b"text/html", b"image/png")),
}


def test_verify_finds_other_changes_in_an_http_message_alone_and_in_archives() -> None:
    for name, (before, after) in CHEATS.items():
        assert not is_accepted(before, after, "message/http"), name
        assert not is_accepted(record(http()) + record(before), record(http(ABSOLUTE)) + record(after), "application/warc"), name
        assert not is_accepted(FILEDESC + arc(before), FILEDESC + arc(after), "application/warc"), name


def twice(data: bytes, block: bytes) -> bytes:
    """Return the record with the length of this block repeated."""
    return data.replace(b"\r\n\r\nHTTP", b"\r\nContent-Length: %d\r\n\r\nHTTP" % len(block))


OLD, NEW = record(http()), record(http(ABSOLUTE))
RECORDS: dict[str, tuple[bytes, bytes]] = {
    "another identity": (OLD, NEW.replace(b"25>", b"26>")),
    "another identity of what did not change": (OLD + NEW, NEW + NEW.replace(b"25>", b"26>")),
    "a record more": (OLD, NEW + NEW),
    "a record less": (OLD + OLD, NEW),
    "the digest is left": (OLD, NEW.replace(NEW.split(b"sha1:")[1][:32], OLD.split(b"sha1:")[1][:32])),
    "the second length is left": (twice(OLD, http()), twice(NEW, http())),
    "another block": (record(b"x", "image/png"), record(b"y", "image/png")),
}


def test_verify_finds_other_changes_in_records() -> None:
    assert is_accepted(OLD, NEW, "application/warc")
    assert [name for name, (before, after) in RECORDS.items() if is_accepted(before, after, "application/warc")] == []


@pytest.mark.parametrize(("path", "new"), [
    (("WebMainResource", "WebResourceURL"), "http://w.example/d/q"),
    (("WebMainResource", "WebResourceData"), ABSOLUTE.replace(b">x<", b">z<")),
    (("WebMainResource", "WebResourceData"), ABSOLUTE.replace(b"/d/", b"/e/")),
    (("WebSubresources",), []),
])
def test_verify_finds_what_changed_in_a_web_archive(path: tuple[str, ...], new: Any) -> None:
    before = plistlib.dumps(web_archive(resource(URL, PAGE), resource("http://w.example/i.png", b"i", "image/png")))
    after: Any = plistlib.loads(proved(before, "application/x-webarchive"))
    inside = after[path[0]] if path[1:] else after
    inside[path[-1]] = new
    assert not is_accepted(before, plistlib.dumps(after), "application/x-webarchive")


def test_a_member_that_stays_is_not_decompressed() -> None:
    """A check that reads a bomb would take the memory that the limits of the walk spare."""

    def package(link: str, last: bytes) -> bytes:
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as made:
            made.writestr(zipfile.ZipInfo("a.html"), f"<a href={link}>")
            made.writestr(zipfile.ZipInfo("bomb.bin"), bytes(64 << 20) + last, zipfile.ZIP_DEFLATED)
        return file.getvalue()

    before, after, other = package("x", b""), package("http://h/x", b""), package("http://h/x", b"1")
    how: dict[str, Any] = {"url": "http://h/", "media_type": "application/zip", "max_decompressed": 1 << 20}
    tracemalloc.start()
    assert absolve.verify(before, after, **how) == []
    assert [one.code for one in absolve.verify(before, other, **how)] == ["bytes"]
    assert tracemalloc.get_traced_memory()[1] < 16 << 20
    tracemalloc.stop()
