"""Race every profile on pages, and every format in the shapes in which it is found, beside the codec or parser alone.

In: saved pages, or generated ones. Out: results, ours first. A peer that only decodes is the limit of its row.
"""

from __future__ import annotations

import base64
import binascii
import email
import gzip
import io
import json
import zipfile
from email import policy
from typing import TYPE_CHECKING, Final

import brotli
import zstandard

import absolve
from absolve import arrow
from absolve.formats.registry import HTML
from absolve.urls import PROFILES
from benchmarks import corpus, peers
from benchmarks.archives import record
from benchmarks.corpus import Document
from benchmarks.measure import race

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from benchmarks.measure import Job, Result
    from benchmarks.peers import Work

BOUNDARY: Final = b"----MultipartBoundary--x"
CODECS: Final[Mapping[str, tuple[Callable[[bytes], bytes], Callable[[bytes], bytes]]]] = {
    "gzip": (lambda data: gzip.compress(data, 6), gzip.decompress),
    "br": (lambda data: brotli.compress(data, quality=5), brotli.decompress),
    "zstd": (zstandard.compress, zstandard.decompress),
    "identity": (bytes, bytes),
}
SIZES: Final = (100, 1_000, 10_000, 100_000)  # bytes of a document


def profiles(megabytes: float, runs: int) -> Iterator[Result]:
    """Yield the races of each profile: rewritten, listed as rows, and as Arrow."""
    for name, documents in {"pages": corpus.pages(megabytes), "a site": corpus.site(megabytes)}.items():
        for profile in PROFILES:
            rewriting = peers.works("absolve.rewrite", _rewritten(HTML, profile=profile), peers.ABSOLUTIZE[:1])
            yield _raced(f"{name}, {profile}", documents, rewriting, runs)
            for label, ours in {"links": _listed(HTML, profile=profile), "arrow.links": _arrow(HTML, profile)}.items():
                listing = peers.works(f"absolve.{label}", ours, peers.LIST[:1])
                yield _raced(f"{name}, {profile}", documents, listing, runs)


def formats(megabytes: float, runs: int) -> Iterator[Result]:
    """Yield the races of each format, as rewritten and as listed."""
    pages = [page for page in corpus.pages(megabytes / 2) if len(page.data) > 1000]
    for name, make in {"MHTML, quoted-printable": mhtml, "mail, base64": mail}.items():
        yield from _both(name, [make(page) for page in pages], "multipart/related", "email, reading", _email, runs)
    for coding, (encode, decode) in CODECS.items():
        for chunked in (False, True):
            documents = [archive(page, coding, encode(page.data), chunked=chunked) for page in pages]
            bodies = [encode(page.data) for page in pages]
            name = f"WARC, {coding}{', chunked' if chunked else ''}"
            alone = dict(zip((document.data for document in documents), bodies, strict=True))
            limit = _decoded(alone, decode)
            yield from _both(name, documents, "application/warc", "decoding alone", limit, runs)
    yield from _both("HAR", [har(pages)], "application/har+json", "json.loads", _json, runs)
    yield from _both("EPUB", [epub(pages)], "application/epub+zip", "zipfile, reading", _zip, runs)


def small(runs: int) -> Iterator[Result]:
    """Yield the races of documents of each size."""
    for size in SIZES:
        count = max(1, min(2_000, 2_000_000 // size))
        page = b"<p><a href='p.html'>page</a> <img src=i.png> and some text in it.</p>\n"
        rewriting = peers.works("absolve.rewrite", peers.rewrite, peers.ABSOLUTIZE[:2])
        yield _raced(f"a page of {size} bytes", [_filled(page, b"", b"", size)] * count, rewriting, runs)
        entry = b'<entry><title>x</title><link href="x.html"/><content type="html">&lt;a href="y"&gt;</content></entry>\n'
        drawing = b'<use xlink:href="#x"/><image href="i.png" width="5"/><path d="M 1 2 L 3 4"/>\n'
        atom = b'<feed xmlns="http://www.w3.org/2005/Atom">', b"</feed>"
        svg = b'<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink">', b"</svg>"
        for name, unit, (head, tail) in (("a feed", entry, atom), ("a drawing", drawing, svg)):
            works = peers.works("absolve.rewrite", peers.rewrite_xml, peers.XML_ABSOLUTIZE)
            yield _raced(f"{name} of {size} bytes", [_filled(unit, head, tail, size)] * count, works, runs)


# --- documents --------------------------------------------------------------------------------------------------------


def mhtml(page: Document) -> Document:
    """Return a page as Chromium saves it: quoted-printable in lines of at most 76 characters."""
    body = binascii.b2a_qp(page.data.replace(b"\r\n", b"\n")).replace(b"\n", b"\r\n")
    return _message(page, b"quoted-printable", body)


def mail(page: Document) -> Document:
    """Return a page as a part in base64."""
    return _message(page, b"base64", base64.encodebytes(page.data).replace(b"\n", b"\r\n"))


def _message(page: Document, coding: bytes, body: bytes) -> Document:
    head = b'MIME-Version: 1.0\r\nContent-Type: multipart/related; type="text/html"; boundary="%b"\r\n\r\n' % BOUNDARY
    fields = b"Content-Type: text/html\r\nContent-Transfer-Encoding: %b\r\nContent-Location: %b\r\n\r\n"
    part = fields % (coding, page.url.encode("ascii", "replace")) + body
    return Document(head + b"--%b\r\n%b\r\n--%b--\r\n" % (BOUNDARY, part, BOUNDARY), page.url)


def archive(page: Document, coding: str, body: bytes, *, chunked: bool) -> Document:
    """Return a page as a WARC record whose HTTP body has a content coding, and the chunked transfer coding if asked."""
    fields = "" if coding == "identity" else f"Content-Encoding: {coding}\r\n"
    if chunked:
        fields += "Transfer-Encoding: chunked\r\n"
        pieces = [body[at : at + 8192] for at in range(0, len(body), 8192)]
        body = b"".join(b"%x\r\n%b\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\n\r\n"
    return Document(record(body, page.url, fields), page.url)


def har(pages: Sequence[Document]) -> Document:
    """Return pages as the entries of a HAR file."""
    entries = [
        {
            "request": {"method": "GET", "url": page.url},
            "response": {"content": {"mimeType": "text/html", "text": page.data.decode("utf-8", "replace")}},
        }
        for page in pages
    ]
    return Document(json.dumps({"log": {"version": "1.2", "entries": entries}}).encode())


def epub(pages: Sequence[Document]) -> Document:
    """Return pages as the members of an EPUB."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as package:
        package.writestr("mimetype", "application/epub+zip")
        for number, page in enumerate(pages):
            package.writestr(f"p{number}.html", page.data, zipfile.ZIP_DEFLATED)
    return Document(file.getvalue())


def _filled(unit: bytes, head: bytes, tail: bytes, size: int) -> Document:
    return Document(head + unit * max(1, (size - len(head) - len(tail)) // len(unit)) + tail)


# --- works ------------------------------------------------------------------------------------------------------------


def _rewritten(media_type: str, **options: str) -> Work:
    return lambda document: absolve.rewrite(document.data, media_type=media_type, url=document.url, **options)


def _listed(media_type: str, **options: str) -> Work:
    return lambda document: list(absolve.links(document.data, media_type=media_type, url=document.url, **options))


def _arrow(media_type: str, profile: str) -> Work:
    return lambda document: arrow.links(document.data, media_type=media_type, url=document.url, profile=profile)


def _email(document: Document) -> object:
    message = email.message_from_bytes(document.data, policy=policy.compat32)
    return [part.get_payload(decode=True) for part in message.walk() if not part.is_multipart()]


def _decoded(bodies: Mapping[bytes, bytes], decode: Callable[[bytes], bytes]) -> Work:
    return lambda document: decode(bodies[document.data])


def _json(document: Document) -> object:
    return json.loads(document.data)


def _zip(document: Document) -> object:
    with zipfile.ZipFile(io.BytesIO(document.data)) as package:
        return [package.read(name) for name in package.namelist()]


def _both(
    name: str, documents: Sequence[Document], media_type: str, label: str, limit: Work, runs: int
) -> Iterator[Result]:
    for ours, work in {"absolve.rewrite": _rewritten(media_type), "absolve.links": _listed(media_type)}.items():
        yield _raced(name, documents, {ours: work, label: limit}, runs)


def _raced(name: str, documents: Sequence[Document], works: Mapping[str, Work], runs: int) -> Result:
    documents = peers.able(works, documents)
    jobs: dict[str, Job] = peers.jobs(works, documents)
    return race(name, corpus.size(documents), jobs, runs)
