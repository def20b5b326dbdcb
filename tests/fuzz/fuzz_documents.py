"""Rewriting and listing of pages, style sheets, XML, messages, mailboxes and archives. For any document:

- nothing is raised but `AbsolveError`;
- with a policy that leaves every link the same object is returned;
- `verify` finds that only links and length fields changed, by other parsers' trees too, and that targets are the same;
- a second rewrite changes nothing;
- links of XML are inside the document, and decode to the same with and without offsets;
- if a WARC is valid, the lengths of its records are right, before and after;
- rows are inside the document, with a line and a column, and a target or a problem code that explains its absence;
- the time is linear.

The first three bytes of an input choose the format, the charset and the options.
"""

import base64
import gzip
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import fuzz_css
import fuzz_html
from linear import grows_linearly
from rewritten import goes_through, has_sound_rows, is_honest

import absolve
from absolve.core.model import Document, Link
from absolve.document.walk import Settings, walk

FIXTURES: Final = Path(__file__).parents[2] / "fixtures"
HTML, CSS, XML, MAIL, MAILBOX, HTTP, WARC, MULTIPART = range(8)
KINDS: Final = (
    *("text/html", "text/css", "application/xml", "message/rfc822", "application/mbox", "message/http", "application/warc", "multipart/related"),
)
CHARSETS: Final = (None, "utf-8", "windows-1252", "shift_jis", "gb18030", "utf-16le", "iso-2022-jp", "euc-kr", "iso-8859-1")
URLS: Final = ("http://h.example/d/page.html?q#f", None, "app://h/x", "mailto:a@b")
WITH_CHARSET: Final = (HTML, CSS, XML)
JUDGED: Final = (HTML, CSS)  # always by the second witness of verify, too

ROOTS: Final = (b"<?xml version='1.0'?>", b"<?xml version='1.0' encoding='iso-8859-1'?>", b"", b"\xef\xbb\xbf")
OF_XML: Final = (
    b"<feed xmlns='http://www.w3.org/2005/Atom' xml:base='a/'><link href='x'/><content type='html'>&lt;a href='y'></content></feed>",
    b"<rss><channel><link>x</link><description><![CDATA[<a href='y'>&amp;</a>]]></description></channel></rss>",
    b"<html xmlns='http://www.w3.org/1999/xhtml'><base href='b/'/><a href='x&amp;y'/><style>a{b:url(z)}</style></html>",
    b"<svg xmlns:xlink='http://www.w3.org/1999/xlink'><a xlink:href='x'/><g style='fill:url(y)' fill='url(#z)'/></svg>",
    b"<?xml-stylesheet href='x' type='text/css'?><!DOCTYPE a [<!ENTITY e 'v'>]><a xml:base='&e;/'/>",
    b"<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'><url><loc> x </loc></url></urlset>",
    b"<opml><body><outline xmlUrl='x' htmlUrl='y'/></body></opml>",
    b"<x xmlns:xi='http://www.w3.org/2001/XInclude'><xi:include href='x' xml:base='y'/></x>",
)
PAGE: Final = b"<base href='b/'><a href='x'>y</a><img src=cid:z>"
PART: Final = b"Content-Type: text/html\r\nContent-Location: http://h/a\r\n"
PICTURE: Final = b"Content-ID: <z>\r\nContent-Type: image/gif\r\n\r\nG"
OF_MAIL: Final = (
    b"From: a@b\r\nContent-Type: text/html\r\nContent-Base: http://h/\r\n\r\n" + PAGE,
    b"Subject: x\r\nBase: <URL:http://h/>\r\n%bContent-Transfer-Encoding: quoted-printable\r\n\r\n<a href=3D'x=\r\ny'>\r\n" % PART,
    b"From: a\n%bContent-Transfer-Encoding: base64\n\n%b" % (PART.replace(b"\r", b""), base64.encodebytes(PAGE)),
    b"From: a\r\nContent-Type: multipart/related; boundary=B\r\n\r\n--B\r\n%b\r\n%b\r\n--B\r\n%b\r\n--B--\r\n" % (PART, PAGE, PICTURE),
    b"Content-Type: message/rfc822\r\n\r\nFrom: b\r\nContent-Type: text/html\r\n\r\n<a href=x>",
)
CHUNKS: Final = b"a\r\n<a href=x>\r\n4;e=f\r\n</a>\r\n0\r\nT: u\r\n\r\n"
OF_HTTP: Final = (
    b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\nLink: <a.css>; rel=stylesheet\r\n\r\n%b" % (len(PAGE), PAGE),
    b"HTTP/1.1 200 OK\r\nBase: http://h/d/\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n%b" % CHUNKS,
    b"HTTP/1.0 301 Moved\nLocation: ../x\nRefresh: 0;url=y\n\n",
    b"HTTP/1.1 200 OK\r\nContent-Type: text/css\r\nContent-Encoding: gzip\r\n\r\n" + gzip.compress(b"a{b:url(x)}", mtime=0),
)
WORDS: Final = (
    *(word for word in fuzz_html.WORDS if b"=" in word or len(word) < 9), *(word for word in fuzz_css.WORDS if b"(" in word),
    *b"href=../x href='&quot;' src=//h/i srcset='a 1x, b' ping='x y' <base href= codebase=c/ xml:base=".split(b" "),
    *(b"<!-- saved from url=(0014)http://h/x -->", b"<meta charset=windows-1251>", b"\xef\xbb\xbf", b"\xff\xfe", b"\xff", b"\xe9"),
    *(b"\x1b$B", b"\x1b(B", b"\x83\x5c", b'<script type=importmap>{"imports":{"x":"/y"}}</script>', b"<link>", b"</link>", b"<link href='x'/>"),
    *(b" xml:base='b/'", b" type='html'", b" src='x'", b"<content type='xhtml'>", b"<div xmlns='http://www.w3.org/1999/xhtml'>", b"<![CDATA["),
    *(b"]]>", b"<!--", b"-->", b"<?x ?>", b"&lt;", b"&e;", b"&apos;", b"/>", b"xmlns=", b"xlink:href=", b"<!ENTITY", b"--B", b"--B--"),
    *(b"Content-Type: ", b"text/html", b"text/css", b"multipart/related; boundary=B", b"message/rfc822", b"charset=utf-16", b"multipart/signed;"),
    *(b"Content-Transfer-Encoding: ", b"quoted-printable", b"base64", b"Content-Encoding: gzip", b"Transfer-Encoding: chunked", b"=\r\n", b"=3D"),
    *(b"Content-Base: http://h/", b"Content-Location: x", b"Base: <URL:y>", b"Link: <x>", b"Refresh: 0;url=x", b"Location: x", b"0\r\n\r\n"),
    *(b"Content-Length: 10", b"WARC/1.0", b"WARC-Type: resource", b"WARC-Target-URI: http://h/x", b"\r\n\r\n", b"\n\n", b"\r\n", b"\nFrom "),
)


def record(kind: bytes, media_type: bytes, body: bytes) -> bytes:
    """Return a record of a WARC file."""
    head = b"WARC/1.0\r\nWARC-Type: %b\r\nWARC-Target-URI: http://h/d/\r\nContent-Type: %b\r\nContent-Length: %d\r\n\r\n"
    return head % (kind, media_type, len(body)) + body + b"\r\n\r\n"


def documents() -> Iterator[tuple[int, bytes]]:
    """Yield a few documents of each format."""
    yield from ((HTML, path.read_bytes()) for path in sorted(FIXTURES.glob("*.html")))
    for number, document in enumerate(OF_XML):
        yield from ((XML, document), (XML, ROOTS[number % 4] + document))
    for mail in OF_MAIL:
        yield from ((MAIL, mail), (MAILBOX, b"From a@b Thu Jan  1 00:00:00 1970\n" + mail.replace(b"\r", b"") + b"\n"))
    for response in OF_HTTP:
        yield from ((HTTP, response), (WARC, record(b"response", b"application/http; msgtype=response", response)))
    page = record(b"resource", b"text/html", PAGE)
    yield from ((WARC, page * 2), (WARC, gzip.compress(page, mtime=0)))
    yield WARC, b"http://h/x 1.2.3.4 20260101000000 text/html %d\n%b\n" % (len(OF_HTTP[0]), OF_HTTP[0])


def files(shared: Path) -> Iterator[tuple[int, bytes]]:
    """Yield excerpts from the middle of real pages, and small real files."""
    for path in sorted((shared / "pages").rglob("*.html"))[::10]:
        data = path.read_bytes()
        yield HTML, data[:400] + data[len(data) // 2 :][:400]
    for kind, folder, every in ((XML, "xml", 8), (MAIL, "mime", 4)):
        small = [path for path in sorted((shared / folder).rglob("*.*")) if path.is_file() and path.stat().st_size < 900]
        yield from ((kind, path.read_bytes()) for path in small[::every])


def seeds(shared: Path | None) -> Iterator[bytes]:
    for number, (kind, data) in enumerate((*documents(), *(files(shared) if shared is not None else ()))):
        yield bytes((kind, number % len(CHARSETS) if number % 4 == 3 else 0, number % 256 if number % 4 else 0)) + data


def options(data: bytes) -> tuple[int, bytes, dict[str, Any]]:
    """Return the format and the document of an input, and the options that its first bytes choose."""
    kind, charset, other = data[:3].ljust(3, b"\0")
    kind %= len(KINDS)
    return kind, data[3:], {
        "media_type": KINDS[kind],
        "charset": CHARSETS[charset % len(CHARSETS)] if kind in WITH_CHARSET else None,
        "profile": ("rfc1808", "rfc3986", "whatwg", "rfc1808")[other & 3], "fragments": "absolute" if other & 4 else "keep",
        "base": "empty" if other & 8 else "keep", "url": URLS[other >> 4 & 3], "max_depth": 2 if other & 0x40 else 32,
    }  # fmt: skip


def check(data: bytes) -> None:
    kind, document, chosen = options(data)
    if kind == XML:
        read_alike(document, chosen)
    is_honest(document, judged=kind in JUDGED, **chosen)
    if kind == WARC and are_whole(document):
        assert are_whole(absolve.rewrite(document, **chosen))
    has_sound_rows(document, **chosen)
    around = (b"<x>", b"</x>") if kind == XML else (b"", b"")
    grows_linearly(lambda repeated: goes_through(around[0] + repeated + around[1], **chosen), document)


def read_alike(document: bytes, chosen: dict[str, Any]) -> None:
    for event in walk(Document(document, media_type=chosen["media_type"], charset=chosen["charset"]), Settings()).events:
        if type(event) is Link:
            assert 0 <= event.start <= event.end <= len(document)
            raw = document[event.start : event.end]
            assert event.coding.decode_mapped(raw)[0] == event.coding.decode(raw)


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
