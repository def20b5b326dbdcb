"""Messages, mailboxes, HTTP, WARC and ARC; the first two bytes choose the format and the options. For any contents:

- nothing is raised but `AbsolveError`;
- with a policy that leaves every link the same object is returned;
- `verify` finds that only links and length fields changed, and a second rewrite changes nothing;
- if a WARC is valid, the lengths of its records are right, before and after;
- rows have a target or a problem code that explains its absence;
- the time is linear.
"""

import base64
import gzip
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from linear import grows_linearly
from rewritten import goes_through, has_sound_rows, is_honest

import absolve

KINDS: Final = (
    *("message/rfc822", "application/mbox", "message/http", "application/warc"),
    *("multipart/related", "message/rfc822", "message/http", "application/warc"),
)
PAGE: Final = b"<base href='b/'><a href='x'>y</a><img src=cid:z>"
PART: Final = b"Content-Type: text/html\r\nContent-Location: http://h/a\r\n"
MAIL: Final = (
    b"From: a@b\r\nContent-Type: text/html\r\nContent-Base: http://h/\r\n\r\n" + PAGE,
    b"Subject: x\r\nBase: <URL:http://h/>\r\n"
    + PART
    + b"Content-Transfer-Encoding: quoted-printable\r\n\r\n<a href=3D'x=\r\ny'>\r\n",
    b"From: a\n" + PART.replace(b"\r", b"") + b"Content-Transfer-Encoding: base64\n\n" + base64.encodebytes(PAGE),
    b"From: a\r\nContent-Type: multipart/related; boundary=B\r\n\r\n--B\r\n"
    + PART
    + b"\r\n"
    + PAGE
    + b"\r\n--B\r\nContent-ID: <z>\r\nContent-Type: image/gif\r\n\r\nG\r\n--B--\r\n",
    b"Content-Type: message/rfc822\r\n\r\nFrom: b\r\nContent-Type: text/html\r\n\r\n<a href=x>",
)
CHUNKS: Final = b"a\r\n<a href=x>\r\n4;e=f\r\n</a>\r\n0\r\nT: u\r\n\r\n"
HTTP: Final = (
    b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\nLink: <a.css>; rel=stylesheet\r\n\r\n%b" % (len(PAGE), PAGE),
    b"HTTP/1.1 200 OK\r\nBase: http://h/d/\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n%b" % CHUNKS,
    b"HTTP/1.0 301 Moved\nLocation: ../x\nRefresh: 0;url=y\n\n",
    b"HTTP/1.1 200 OK\r\nContent-Type: text/css\r\nContent-Encoding: gzip\r\n\r\n" + gzip.compress(b"a{b:url(x)}", mtime=0),
)
WORDS: Final = (
    *(b"Content-Type: ", b"text/html", b"text/css", b"multipart/related; boundary=B", b"message/rfc822", b"--B", b"--B--"),
    *(b"Content-Transfer-Encoding: ", b"quoted-printable", b"base64", b"Content-Encoding: gzip", b"Transfer-Encoding: chunked"),
    *(b"Content-Base: http://h/", b"Content-Location: x", b"Base: <URL:y>", b"Link: <x>", b"Refresh: 0;url=x", b"Location: x"),
    *(b"Content-Length: 10", b"WARC/1.0", b"WARC-Type: resource", b"WARC-Target-URI: http://h/x", b"\r\n\r\n", b"\n\n", b"\r\n", b"\nFrom "),
    *(b"<a href=x>", b"<a href=3D'x'>", b"=\r\n", b"=3D", b"a{b:url(x)}", b"0\r\n\r\n", b"charset=utf-16", b"multipart/signed;"),
)


def record(kind: bytes, media_type: bytes, body: bytes) -> bytes:
    """Return a record of a WARC file."""
    head = b"WARC/1.0\r\nWARC-Type: %b\r\nWARC-Target-URI: http://h/d/\r\nContent-Type: %b\r\nContent-Length: %d\r\n\r\n"
    return head % (kind, media_type, len(body)) + body + b"\r\n\r\n"


def seeds(shared: Path | None) -> Iterator[bytes]:
    """Return a few documents of each format, and small real messages if they exist."""
    for mail in MAIL:
        yield b"\0\0" + mail
        yield b"\1\0From a@b Thu Jan  1 00:00:00 1970\n" + mail.replace(b"\r", b"") + b"\n"
    for response in HTTP:
        yield b"\2\0" + response
        yield b"\3\0" + record(b"response", b"application/http; msgtype=response", response)
    yield b"\3\0" + record(b"resource", b"text/html", PAGE) * 2
    yield b"\3\0" + gzip.compress(record(b"resource", b"text/html", PAGE), mtime=0)
    yield b"\3\0http://h/x 1.2.3.4 20260101000000 text/html %d\n%b\n" % (len(HTTP[0]), HTTP[0])
    if shared is not None:
        files = [path for path in sorted((shared / "mime").rglob("*.*")) if path.is_file() and path.stat().st_size < 1000]
        yield from (b"\0\0" + path.read_bytes() for path in files[::4])


def options(data: bytes) -> tuple[bytes, dict[str, Any]]:
    """Return the document of an input, and the options that its first two bytes choose."""
    one, other = data[:2].ljust(2, b"\0")
    kind = KINDS[one & 7]
    return data[2:], {
        "media_type": kind,
        "profile": ("rfc1808", "whatwg")[other & 1],
        "max_depth": 2 if other & 4 else 32,
        "url": (None, "http://h.example/d/a")[other >> 3 & 1],
    }


def check(data: bytes) -> None:
    document, chosen = options(data)
    is_honest(document, judged=False, **chosen)
    if chosen["media_type"] == "application/warc" and are_whole(document):
        assert are_whole(absolve.rewrite(document, **chosen))
    has_sound_rows(document, **chosen)
    grows_linearly(lambda repeated: goes_through(repeated, **chosen), document)


HEAD: Final = re.compile(rb"WARC/1\.[01]\r\n(?:[!-9;-~]+:[^\r\n]*\r\n)*?Content-Length: ([0-9]{1,9})\r\n(?:[!-9;-~]+:[^\r\n]*\r\n)*\r\n")


def are_whole(data: bytes) -> bool:
    """Return whether these are only WARC records, each with the right length."""
    position = 0
    while position < len(data) and (head := HEAD.match(data, position)) is not None:
        if head[0].lower().count(b"\ncontent-length") != 1:
            return False
        position = head.end() + int(head[1])
        if data[position : position + 4] != b"\r\n\r\n":
            return False
        position += 4
    return position == len(data) > 0
