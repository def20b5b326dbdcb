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
from functools import partial
from typing import TYPE_CHECKING, Any, Final

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
CODECS: Final[Mapping[str, tuple[Callable[[bytes], bytes], Callable[[bytes], object]]]] = {
    "gzip": (lambda data: gzip.compress(data, 6), gzip.decompress),
    "br": (lambda data: brotli.compress(data, quality=5), brotli.decompress),
    "zstd": (zstandard.compress, zstandard.decompress),
    "identity": (bytes, lambda data: data.count(b"<")),  # a bare scan
}
SIZES: Final = (100, 1_000, 10_000, 100_000)  # bytes of a document


def profiles(megabytes: float, runs: int) -> Iterator[Result]:
    """Yield the races of each profile: rewritten, listed as rows, as Arrow and into Parquet."""
    for name, documents in {"pages": corpus.pages(megabytes), "a site": corpus.site(megabytes)}.items():
        for profile in PROFILES:
            rewriting = peers.works("absolve.rewrite", _rewritten(HTML, profile=profile), peers.ABSOLUTIZE[:1])
            yield _raced(f"{name}, {profile}", documents, rewriting, runs)
            for label, ours in {"links": _listed(HTML, profile=profile), "arrow.links": _arrow(HTML, profile)}.items():
                listing = peers.works(f"absolve.{label}", ours, peers.LIST[:1])
                yield _raced(f"{name}, {profile}", documents, listing, runs)
            yield _to_parquet(f"{name}, {profile}", documents, profile, runs)


def formats(megabytes: float, runs: int) -> Iterator[Result]:
    """Yield the races of each format, as rewritten and as listed."""
    pages = [page for page in corpus.pages(megabytes / 2) if len(page.data) > 1000]
    for name, (make, decode) in MESSAGES.items():
        messages = [make(page) for page in pages]
        alone = {message.data: message.data.split(b"\r\n\r\n", 2)[2] for message in messages}
        works = {"email, reading": _email, "decoding alone": _decoded(alone, decode)}
        yield from _both(name, messages, "message/rfc822", works, runs)
    for coding, (encode, decode) in CODECS.items():
        for chunked in (False, True):
            documents = [archive(page, coding, encode(page.data), chunked=chunked) for page in pages]
            bodies = [encode(page.data) for page in pages]
            name = f"WARC, {coding}{', chunked' if chunked else ''}"
            alone = dict(zip((document.data for document in documents), bodies, strict=True))
            readers = peers.WARC_READ if coding in {"gzip", "identity"} else peers.WARC_READ[:1]
            works = peers.works("decoding alone", _decoded(alone, decode), readers)
            yield from _both(name, documents, "application/warc", works, runs)
    yield from _both("HAR", [har(pages)], "application/har+json", {"json.loads": _json}, runs)
    yield from _both("EPUB", [epub(pages)], "application/epub+zip", {"zipfile, reading": _zip}, runs)


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
        place = b"<url><loc>/pages/index.html</loc><priority>0.5</priority></url>\n"
        sitemap = b'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">', b"</urlset>"
        kinds = (("a feed", entry, atom), ("a drawing", drawing, svg), ("a sitemap", place, sitemap))
        for name, unit, (head, tail) in kinds:
            works = peers.works("absolve.rewrite", peers.rewrite_xml, [*peers.XML_ABSOLUTIZE, *peers.XML_COPY])
            yield _raced(f"{name} of {size} bytes", [_filled(unit, head, tail, size)] * count, works, runs)


# --- documents --------------------------------------------------------------------------------------------------------


def chromium(page: Document) -> Document:
    """Return a page as Chromium saves it: quoted-printable in lines of at most 76 characters."""
    return _message(page, b"related", b"quoted-printable", _quoted_printable(page.data))


def explorer(page: Document) -> Document:
    """Return a page as Internet Explorer saves it: quoted-printable in the page's own one-byte charset."""
    data = page.data.decode("utf-8", "replace").encode("cp1252", "xmlcharrefreplace")
    return _message(page, b"related", b"quoted-printable", _quoted_printable(data), b'; charset="windows-1252"')


def mail_quoted_printable(page: Document) -> Document:
    """Return a page as the HTML of a mail."""
    return _message(page, b"alternative", b"quoted-printable", _quoted_printable(page.data))


def mail_base64(page: Document) -> Document:
    """Return a page as the HTML of a mail, in base64."""
    return _message(page, b"alternative", b"base64", base64.encodebytes(page.data).replace(b"\n", b"\r\n"))


def _quoted_printable(data: bytes) -> bytes:
    return binascii.b2a_qp(data.replace(b"\r\n", b"\n")).replace(b"\n", b"\r\n")


def _message(page: Document, kind: bytes, coding: bytes, body: bytes, charset: bytes = b"") -> Document:
    head = b'MIME-Version: 1.0\r\nContent-Type: multipart/%b; type="text/html"; boundary="%b"\r\n\r\n' % (kind, BOUNDARY)
    location = b"Content-Location: %b\r\n" % page.url.encode("ascii", "replace") if kind == b"related" else b""
    fields = b"Content-Type: text/html%b\r\nContent-Transfer-Encoding: %b\r\n%b\r\n" % (charset, coding, location)
    return Document(head + b"--%b\r\n%b%b\r\n--%b--\r\n" % (BOUNDARY, fields, body, BOUNDARY), page.url)


MESSAGES: Final[Mapping[str, tuple[Callable[[Document], Document], Callable[[bytes], object]]]] = {
    "MHTML of Chromium": (chromium, binascii.a2b_qp),
    "MHTML of Internet Explorer": (explorer, binascii.a2b_qp),
    "mail, quoted-printable": (mail_quoted_printable, binascii.a2b_qp),
    "mail, base64": (mail_base64, binascii.a2b_base64),
}


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


def _rewritten(media_type: str, **options: Any) -> Work:
    return lambda document: absolve.rewrite(document.data, media_type=media_type, url=document.url, **options)


def _listed(media_type: str, **options: Any) -> Work:
    return lambda document: list(absolve.links(document.data, media_type=media_type, url=document.url, **options))


def _arrow(media_type: str, profile: Any) -> Work:
    return lambda document: arrow.links(document.data, media_type=media_type, url=document.url, profile=profile)


def _email(document: Document) -> object:
    message = email.message_from_bytes(document.data, policy=policy.compat32)
    return [part.get_payload(decode=True) for part in message.walk() if not part.is_multipart()]


def _decoded(bodies: Mapping[bytes, bytes], decode: Callable[[bytes], object]) -> Work:
    return lambda document: decode(bodies[document.data])


def _json(document: Document) -> object:
    return json.loads(document.data)


def _zip(document: Document) -> object:
    with zipfile.ZipFile(io.BytesIO(document.data)) as package:
        return [package.read(name) for name in package.namelist()]


def _both(
    name: str, documents: Sequence[Document], media_type: str, others: Mapping[str, Work], runs: int
) -> Iterator[Result]:
    for ours, work in {"absolve.rewrite": _rewritten(media_type), "absolve.links": _listed(media_type)}.items():
        yield _raced(name, documents, {ours: work, **others}, runs)


def _to_parquet(name: str, documents: Sequence[Document], profile: Any, runs: int) -> Result:
    """Race writing the rows of all documents into one file, against listing each document."""
    works = peers.works("absolve.links", peers.links, peers.LIST[:1])
    documents = peers.able(works, documents)
    works.pop("absolve.links")
    jobs: dict[str, Job] = {"absolve.tables.parquet": partial(peers.parquet, documents, profile)}
    return race(name, corpus.size(documents), jobs | peers.jobs(works, documents), runs)


def _raced(name: str, documents: Sequence[Document], works: Mapping[str, Work], runs: int) -> Result:
    documents = peers.able(works, documents)
    jobs: dict[str, Job] = peers.jobs(works, documents)
    return race(name, corpus.size(documents), jobs, runs)
