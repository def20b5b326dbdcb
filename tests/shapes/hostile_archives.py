"""Hostile archives: as many members or records as possible, long names, and compressed contents."""

import base64
import hashlib
import io
import json
import zipfile
from collections.abc import Callable
from gzip import compress
from typing import Final

from tests.shapes.makers import Shape, repeated

_WARC: Final = "application/warc"
_ZIP: Final = "application/zip"
_WACZ: Final = "application/wacz"
_PAGE: Final = b"<a href=x>"
_ENTRY: Final = 46  # bytes of an entry of the central directory without its name, and of the end record
_END: Final = 22
_ENTRY_OF_INDEX: Final = 150  # bytes, about
_HEADERS: Final = 30 + _ENTRY + _END  # of a member's two headers, and of the end record


def zipped(name: str, content: bytes = _PAGE, method: int = zipfile.ZIP_STORED) -> Callable[[int], bytes]:
    """Return a maker of packages whose members have this content, and names with a number for their `%d`."""

    def make(size: int) -> bytes:
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w", method) as archive:
            for number in range(max(1, size // (_HEADERS + 2 * len(name) + len(content)))):
                archive.writestr(zipfile.ZipInfo(name % number), content, method)
        return file.getvalue()

    return make


def backwards(make: Callable[[int], bytes]) -> Callable[[int], bytes]:
    """Return a maker of a ZIP file whose central directory lists the members in reverse order."""

    def made(size: int) -> bytes:
        data = make(size)
        end = len(data) - _END
        position = start = int.from_bytes(data[end + 16 : end + 20], "little")
        entries: list[bytes] = []
        while position < end:
            more = (int.from_bytes(data[at : at + 2], "little") for at in range(position + 28, position + 34, 2))
            entries.append(data[position : position + _ENTRY + sum(more)])
            position += len(entries[-1])
        return b"".join([data[:start], *reversed(entries), data[end:]])

    return made


def one_page(size: int) -> bytes:
    return zipped("%d.html", _PAGE * (size // len(_PAGE)))(size)


def book(size: int) -> bytes:
    """Return a package of one document that declares as many files as possible."""
    rootfile = b'<rootfile full-path="p.opf" media-type="application/oebps-package+xml"/>'
    container = b'<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container">%b</container>' % rootfile
    items = b"".join(b'<item href="%d" media-type="text/html"/>' % number for number in range(size // 45))
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr(zipfile.ZipInfo("META-INF/container.xml"), container)
        archive.writestr(zipfile.ZipInfo("p.opf"), b'<package xmlns="http://www.idpf.org/2007/opf">%b</package>' % items)
    return file.getvalue()


def record(body: bytes, header: bytes = b"Content-Type: text/html\r\n", *, digests: bool = False) -> bytes:
    """Return the record of a response with this body."""
    message = b"HTTP/1.1 200 OK\r\n" + header + b"\r\n" + body
    fields = b"WARC-Type: response\r\nWARC-Target-URI: http://a/\r\nContent-Type: application/http\r\n"
    if digests:
        fields += _digest(b"Block", message) + _digest(b"Payload", body)
    return b"WARC/1.0\r\n%bContent-Length: %d\r\n\r\n%b\r\n\r\n" % (fields, len(message), message)


def _digest(name: bytes, content: bytes) -> bytes:
    return b"WARC-%b-Digest: sha1:%b\r\n" % (name, base64.b32encode(hashlib.sha1(content, usedforsecurity=False).digest()))


def one_record(size: int) -> bytes:
    return record(_PAGE * (size // len(_PAGE)))


def record_that_says_all(size: int) -> bytes:
    """Return a record with a length in both headers, and both digests, as in most archives."""
    body = _PAGE * (size // len(_PAGE))
    return record(body, b"Content-Type: text/html\r\nContent-Length: %d\r\n" % len(body), digests=True)


def record_in_chunks(size: int) -> bytes:
    body = b"fff0\r\n" + _PAGE * (0xFFF0 // len(_PAGE)) + b"\r\n"
    header = b"Content-Type: text/html\r\nTransfer-Encoding: chunked\r\n"
    return record(body * (size // len(body)) + b"0\r\n\r\n", header)


def compressed_record(size: int) -> bytes:
    """Return a compressed record whose body is not compressible, unlike other shapes."""
    names = hashlib.shake_128(b"").hexdigest(size // 2)
    return compress(record(b"".join(b"<a href=%b>" % names[at : at + 32].encode() for at in range(0, size, 32))), mtime=0)


def packed(make: Callable[[int], bytes]) -> Callable[[int], bytes]:
    """Return a gzip body that decompresses to the whole size, most of it text."""
    header = b"Content-Type: text/html\r\nContent-Encoding: gzip\r\n"
    return lambda size: record(compress(make(size), mtime=0), header)


def wacz(records: list[bytes]) -> bytes:
    """Return a WACZ of these records, with an index of their offsets and digests, and a description."""
    offset = 0
    lines: list[bytes] = []
    for one in records:
        digest = hashlib.sha256(one).hexdigest().encode()
        entry = b'{"offset": %d, "length": %d, "recordDigest": "sha256:%b", "filename": "d.warc"}' % (offset, len(one), digest)
        lines.append(b"a 20251123000000 " + entry + b"\n")
        offset += len(one)
    members = {"archive/d.warc": b"".join(records), "indexes/index.cdx": b"".join(lines)}
    about = [{"path": name, "hash": f"sha256:{hashlib.sha256(data).hexdigest()}", "bytes": len(data)} for name, data in members.items()]
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, data in members.items():
            archive.writestr(zipfile.ZipInfo(name), data)
        archive.writestr(zipfile.ZipInfo("datapackage.json"), json.dumps({"resources": about}))
    return file.getvalue()


def wacz_of_records(size: int) -> bytes:
    one = record(_PAGE, digests=True)
    return wacz([one] * max(1, size // (len(one) + _ENTRY_OF_INDEX)))


SHAPES: Final[dict[str, Shape]] = {
    "ZIP, members": Shape(zipped("%d.html"), _ZIP),
    "ZIP, members backwards": Shape(backwards(zipped("%d.html")), _ZIP),
    "ZIP, deflated members": Shape(zipped("%d.html", method=zipfile.ZIP_DEFLATED), _ZIP),
    "ZIP, long names": Shape(zipped("a/" * 1000 + "%d.html"), _ZIP),
    "ZIP, members that are no documents": Shape(zipped("%d.png", b""), _ZIP),
    "ZIP, one page of links": Shape(one_page, _ZIP),
    "ZIP, book of items": Shape(book, _ZIP),
    "WARC, records": Shape(repeated(record(_PAGE)), _WARC),
    "WARC, records without a body": Shape(repeated(record(b"")), _WARC),
    "WARC, compressed records": Shape(repeated(compress(record(_PAGE), mtime=0)), _WARC),
    "WARC, one record of links": Shape(one_record, _WARC),
    "WARC, one record that says all of its links": Shape(record_that_says_all, _WARC),
    "WARC, one record of links in chunks": Shape(record_in_chunks, _WARC),
    "WARC, one compressed record of links": Shape(compressed_record, _WARC),
    "WARC, compressed body": Shape(packed(repeated(b"text ", _PAGE)), _WARC),
    "WACZ, records": Shape(wacz_of_records, _WACZ),
    "WACZ, one record of links": Shape(lambda size: wacz([record_that_says_all(size)]), _WACZ),
}
