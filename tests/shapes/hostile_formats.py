"""Hostile documents of other formats than HTML and CSS: XML, JSON-LD, HTTP, HAR, mail, archives; and URLs as long as their document."""

import base64
import binascii
import hashlib
import io
import json
import zipfile
from collections.abc import Callable
from gzip import compress
from typing import Final

from tests.shapes.makers import Shape, nested, numbered, repeated

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


_ARCHIVES_SHAPES: Final[dict[str, Shape]] = {
    "ZIP, members": Shape(zipped("%d.html"), _ZIP), "ZIP, members backwards": Shape(backwards(zipped("%d.html")), _ZIP),
    "ZIP, deflated members": Shape(zipped("%d.html", method=zipfile.ZIP_DEFLATED), _ZIP),
    "ZIP, long names": Shape(zipped("a/" * 1000 + "%d.html"), _ZIP),
    "ZIP, members that are no documents": Shape(zipped("%d.png", b""), _ZIP),
    "ZIP, one page of links": Shape(one_page, _ZIP), "ZIP, book of items": Shape(book, _ZIP), "WARC, records": Shape(repeated(record(_PAGE)), _WARC),
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


# --- hostile HTTP messages and archives of them -----------------------------------------------------------------------

_HEADER: Final = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
_CHUNKED: Final = _HEADER + b"Transfer-Encoding: chunked\r\n\r\n"
_OF_HAR: Final = b'{"log":{"entries":[{"request":{"url":"http://a/"},"response":{"headers":['
_CONTENT: Final = b'{}],"content":{"mimeType":"text/html","text":"<a href=x>"}}}]}}'
_DOCUMENT: Final = (b'{"request":{"url":"http://a/"},"response":{"content":{"mimeType":"text/html","text":"<a href=x>"}}}')


def _with_length(size: int) -> bytes:
    body = b"<a href=x>" * (size // 10)
    return _HEADER + b"Content-Length: %d\r\n\r\n" % len(body) + body


_HTTP_SHAPES: Final[dict[str, Shape]] = {
    "HTTP, links behind a length": Shape(_with_length, "message/http"),
    "HTTP, chunks": Shape(repeated(b"1\r\n<\r\n", _CHUNKED, b"0\r\n\r\n"), "message/http"),
    "HTTP, links in chunks": Shape(repeated(b"a\r\n<a href=x>\r\n", _CHUNKED, b"0\r\n\r\n"), "message/http"),
    "HTTP, links in a field": Shape(repeated(b"<a>;rel=x,", _HEADER + b"Link: ", b"<b>\r\n\r\n"), "message/http"),
    "HTTP, too many fields": Shape(repeated(b"a:b\r\n", _HEADER, b"\r\n<a href=x>"), "message/http"),
    "HAR, fields": Shape(repeated(b'{"name":"a","value":"b"},', _OF_HAR, _CONTENT), "application/har+json"),
    "HAR, entries": Shape(repeated(b'{"request":{"url":"a"}},', b'{"log":{"entries":[', b"{}]}}"), "application/har+json"),
    "HAR, links in a field": Shape(repeated(b"<a>,", _OF_HAR + b'{"name":"Link","value":"', b'<b>"},' + _CONTENT), "application/har+json"),
    "HAR, documents": Shape(repeated(_DOCUMENT + b",", b'{"log":{"entries":[', b"{}]}}"), "application/har+json"),
    "HAR, too many links in fields": Shape(repeated(b'{"name":"Link","value":"<b>"},', _OF_HAR, _CONTENT), "application/har+json"),
}


# --- hostile JSON-LD --------------------------------------------------------------------------------------------------

_MAKERS: Final = {
    "strings": repeated(b'"a",', b'{"url":[', b'"a"]}'), "numbers": repeated(b"1,", b'{"url":[', b'"a"]}'),
    "names": numbered(b"{", b'"t%d":"a",', b'"url":"a"}'), "nodes": repeated(b'{"url":"a"},', b'{"@graph":[', b"{}]}"),
    "contexts": repeated(b'{"@context":{"@base":"b"},"url":"a"},', b'{"@graph":[', b"{}]}"),
    "contexts at the end": repeated(b'{"a":{"@context":{"@base":"b"},"url":"a"},"@context":{}},', b'{"@graph":[', b"{}]}"),
    "prefixes": numbered(b'{"@context":{', b'"t%d":"http://e.example/",', b'"a":"b"},"@id":"x"}'),
    "too many terms": numbered(b'{"@context":{', b'"t%d":{"@id":"x"},', b'"a":"b"},"url":"a"}'),
    "terms again and again": repeated(b'{"@context":{"t":"x","u":{"@type":"@id"}},"u":"a"},', b'{"@graph":[', b"{}]}"),
}
_JSON_SHAPES: Final = {f"JSON-LD, {name}": Shape(make, "application/ld+json") for name, make in _MAKERS.items()}


# --- hostile mail, MHTML and mailboxes --------------------------------------------------------------------------------

_MAIL: Final = "message/rfc822"
_MAILBOX: Final = "application/mbox"
_PARTS: Final = b"Content-Type: multipart/related; boundary=B\n\n"
_HTML: Final = b"Content-Type: text/html\n"


def _parts(unit: bytes) -> Shape:
    return Shape(repeated(unit, _PARTS, b"--B--\n"), _MAIL)


def _numbered_parts(unit: bytes) -> Shape:
    return Shape(numbered(_PARTS, unit, b"--B--\n"), _MAIL)


def _body(unit: str, encoding: str, charset: str = "utf-8") -> Shape:
    """Return a page of repeated units, encoded."""
    encode, growth = _ENCODINGS[encoding]
    named = encoding.partition(",")[0]
    header = f"Content-Type: text/html; charset={charset}\nContent-Transfer-Encoding: {named}\n\n".encode()
    raw = unit.encode(charset)

    def make(size: int) -> bytes:
        return header + encode(raw * int((size - len(header)) / growth / len(raw)))

    return Shape(make, _MAIL)


_ENCODINGS: Final[dict[str, tuple[Callable[[bytes], bytes], float]]] = {  # and by how much each lengthens its contents
    "base64": (base64.encodebytes, 77 / 57),
    "base64, in one line": (base64.b64encode, 4 / 3),
    "quoted-printable, all escaped": (lambda raw: b"=" + binascii.hexlify(raw, "=").upper(), 3),
    "quoted-printable, half of it escaped": (lambda raw: b"".join(b"=%02X" % raw[at] + raw[at + 1 : at + 2].replace(b"=", b"=3D") for at in range(0, len(raw), 2)), 2),
    "quoted-printable, soft breaks everywhere": (lambda raw: b"=\n".join(raw[at : at + 1].replace(b"=", b"=3D") for at in range(len(raw))), 3),
}
_LINK: Final = "<a href=x>y</a>"

_MAIL_SHAPES: Final[dict[str, Shape]] = {
    "mail, too many fields": Shape(repeated(b"a:b\n", b"", b"\n<a href=x>"), _MAIL),
    "mail, links in a field": Shape(repeated(b"<a>;rel=x,", b"Link: ", b"<b>\n\n"), _MAIL),
    "mail, links in a folded field": Shape(repeated(b"<a>;\n rel=x,", b"Link: ", b"<b>\n\n"), _MAIL),
    "mail, a folded base": Shape(repeated(b"\n a", b"Content-Base: <http://h/", b">\n" + _HTML + b"\n<a href=x>"), _MAIL),
    "mail, a location of encoded words": Shape(repeated(b"=?utf-8?Q?a?= ", b"Content-Location: ", b"\n" + _HTML + b"\n<a href=x>"), _MAIL),
    "mail, a Content-Type of parameters": Shape(repeated(b";\n a=b", b"Content-Type: text/html", b"\n\n<a href=x>"), _MAIL),
    "mail, a folded field": Shape(repeated(b"\n b", b"A:", b"\n" + _HTML + b"\n<a href=x>"), _MAIL),
    "mail, one long field name": Shape(repeated(b"A", b"", b": b\n" + _HTML + b"\n<a href=x>"), _MAIL),
    "mail, encoded words begun": Shape(repeated(b"=?a?q?", b"Content-Location: ", b"\n" + _HTML + b"\n<a href=x>"), _MAIL),
    "mail, brackets in a field": Shape(repeated(b"<", b"Link: ", b"\n" + _HTML + b"\n<a href=x>"), _MAIL),
    "mail, a long boundary": Shape(repeated(b"B", b"Content-Type: multipart/mixed; boundary*0=", b"\n\n<a href=x>"), _MAIL),
    "mail, From lines before it": Shape(repeated(b">From a 0:00\n", b"", _HTML + b"\n<a href=x>"), _MAIL),
    **{
        f"mail, {levels} deep": Shape(repeated(b"<a href=x>y</a>\n", b"Content-Type: message/rfc822\nLink: <a>\n\n" * levels + _HTML + b"\n"), _MAIL)
        for levels in (8, 30)
    },
    "multipart, boundaries": _parts(b"--B\n"), "multipart, boundaries in one line": _parts(b"--B"), "multipart, almost boundaries": _parts(b"--Bx\n"),
    "multipart, dashes": Shape(repeated(b"-" * 62, b"Content-Type: multipart/mixed; boundary=" + b"-" * 60 + b"\n\n"), _MAIL),
    "multipart, empty parts": _parts(b"--B\n\n\n"), "multipart, pages": _parts(b"--B\n" + _HTML + b"\n<a href=x>\n"),
    "multipart, pages in base64": _parts(b"--B\n" + _HTML + b"Content-Transfer-Encoding: base64\n\nPGEgaHJlZj14Pg==\n"),
    "multipart, pages that link to parts": _numbered_parts(
        b"--B\nContent-ID: <x%d>\nContent-Location: y\n" + _HTML + b"\n<a href=cid:x7><a href=y>\n"
    ),
    "multipart, locations": _numbered_parts(b"--B\nContent-Location: x%d\n\n\n"),
    "multipart, encodings unknown": _parts(b"--B\n" + _HTML + b"Content-Transfer-Encoding: x\n\nx\n"),
    "multipart, multiparts": _parts(b"--B\nContent-Type: multipart/mixed; boundary=C\n\n--C\n" + _HTML + b"\n<a href=x>\n--C--\n"),
    "mailbox, empty messages": Shape(repeated(b"From a 0:00\n\n"), _MAILBOX),
    "mailbox, pages": Shape(repeated(b"From a 0:00\n" + _HTML + b"\n<a href=x>\n\n"), _MAILBOX),
    "mailbox, multiparts": Shape(
        repeated(b"From a 0:00\nContent-Type: multipart/mixed; boundary=B\n\n--B\n" + _HTML + b"\n<a href=x>\n--B--\n\n"),
        _MAILBOX,
    ),
    "mailbox, times in one line": Shape(repeated(b" 10:00", b"From a 0:00\n\nFrom ", b"\n"), _MAILBOX),
    "mailbox, From lines": Shape(repeated(b"\nFrom a\n", b"From a 0:00\n"), _MAILBOX),
    **{f"{encoding}, links": _body(_LINK, encoding) for encoding in _ENCODINGS},
    **{f"{encoding}, letters": _body("x", encoding) for encoding in _ENCODINGS},
    **{f"{encoding}, lines of links": _body("<a href=x>\n", encoding) for encoding in _ENCODINGS},
    **{f"{encoding}, style attributes": _body("<p style=a:url(x)>", encoding) for encoding in _ENCODINGS},
    **{f"{encoding}, references": _body("<a href=&amp;>", encoding) for encoding in _ENCODINGS},
    **{f"{encoding}, one-byte charset": _body("<a href=\xe9>", encoding, "windows-1252") for encoding in _ENCODINGS},
    **{f"{encoding}, UTF-16": _body(_LINK, encoding, "utf-16") for encoding in _ENCODINGS},
    **{f"{encoding}, shift sequences": _body("<a href=x>\u30bd</a>", encoding, "iso-2022-jp") for encoding in _ENCODINGS},
}


# --- URLs as long as their document -----------------------------------------------------------------------------------

_AFTER: Final = b'">x</a><a href=y>'
# One of each kind that has its own steps in a profile.
_LINKS: Final = b'<a href=x><a href=../y><a href="?q"><a href="#f"><a href="//k/z"><a href=""><a href="z;p"><a href=" v\n w">'


def _reference(unit: bytes, before: bytes = b"", after: bytes = b"") -> Shape:
    return Shape(repeated(unit, b'<a href="' + before, after + _AFTER))


def _base(unit: bytes, before: bytes = b"http://h/", after: bytes = b"/d/") -> Shape:
    """Return a page with a base half as long as itself, which appears in the row of each link."""
    make: Callable[[int], bytes] = repeated(unit, b'<base href="' + before, after + b'">' + _LINKS)
    return Shape(lambda size: make(size // 2) + b" " * (size // 2))


_URLS_SHAPES: Final = {
    "URL of parent directories": _reference(b"../", b"http://g/", b"x"),
    "URL of directories and parents": _reference(b"a/../", b"http://g/", b"x"),
    "URL of full stops": _reference(b"./", b"foo://g/", b"x"),
    "URL without a host, of parent directories": _reference(b"../", b"foo:", b"x"),
    "URL without a host, of other characters": _reference("€".encode(), b"foo:", b"x"),
    "URL without a host, of quotes": _reference(b"'", b"foo:", b"x"), "URL of backslashes": _reference(b"\\", b"http://g/", b"x"),
    "URL of line ends": _reference(b"a\n", b"http://g/", b"x"), "URL of blanks": _reference(b"a ", b"http://g/", b"x"),
    "parents with params": _reference(b"..;/", b"", b"x"), "at signs behind slashes": _reference(b"@", b"//", b"/x"),
    "user information of brackets": _reference(b"[]", b"http://", b"@g/x"),
    "user information of other characters": _reference("€".encode(), b"http://", b"@g/x"),
    "user information of other characters, a host too": _reference("€".encode(), b"http://", "@é/x".encode()),
    "query of quotes behind a colon": _reference(b"'", b"a/b:c?"),
    "fragment of other characters behind a colon": _reference("€".encode(), b"a/b:c#"),
    "base of semicolons": _base(b";"), "base of parent directories": _base(b"../"), "base of directories and parents": _base(b"a/../"),
    "base of parents with params": _base(b"..;/"), "base of backslashes": _base(b"\\"), "base of tabs": _base(b"a\t"), "base of blanks": _base(b"a "),
    "base of percent signs": _base(b"%2e%2E/"), "base of other characters": _base("😀".encode()),
    "base of a query": _base(b";'", b"http://h/b;?", b"/"), "base of a fragment": _base("€".encode(), b"http://h/b;#"),
    "base of user information": _base("€".encode(), b"http://", b"@h/b;/c"),
    "base of a host": _base(b"a,", b"//", b"/d/"),
    "base that is climbed": Shape(
        lambda size: (b'<base href="http://h/' + b"d/" * (size // 4) + b'"><a href="' + b"../" * (size // 6) + b'..">x</a><a href=y>')
    ),
}


# --- hostile XML ------------------------------------------------------------------------------------------------------

_ATOM: Final = b"<feed xmlns='http://www.w3.org/2005/Atom'>"
_XLINK: Final = b"<x xmlns:l='http://www.w3.org/1999/xlink'>"


def _deep(size: int) -> bytes:
    """Return elements nested to the allowed depth, repeatedly."""
    levels = b"<x>" * 4_998 + b"<y l:href='a'/>" + b"</x>" * 4_998
    return _XLINK + levels * max(size // len(levels), 1) + b"</x>"


def _with_attributes(unit: bytes) -> Callable[[int], bytes]:
    """Return elements with as many attributes as allowed."""
    element = b"<y l:href='a'" + b"".join(unit % number for number in range(9_999)) + b"/>"
    return lambda size: _XLINK + element * max(size // len(element), 1) + b"</x>"


def _with_names(unit: bytes) -> Callable[[int], bytes]:
    """Return elements with nearly as many different names as allowed, repeatedly."""
    elements = b"".join(unit % number for number in range(40_000))
    return lambda size: _XLINK + elements * max(size // len(elements), 1) + b"</x>"


def _with_defaults(unit: bytes) -> Callable[[int], bytes]:
    """Return elements with as many default attributes as allowed."""
    declared = b"".join(unit % number for number in range(64))
    return repeated(b"<x/>", b"<!DOCTYPE r [<!ATTLIST x" + declared + b">]><r>", b"</r>")


def _xml(make: Callable[[int], bytes]) -> Shape:
    return Shape(make, "application/xml")


_XML_SHAPES: Final[dict[str, Shape]] = {
    f"XML, {name}": _xml(make)
    for name, make in {
        "nested elements": _deep,
        "elements nested too deep": nested(b"<x>", b"</x>", _XLINK + b"<y l:href='a'/></x>"),
        "links": repeated(b"<link href='a'/>", _ATOM, b"</feed>"),
        "links of references": repeated(b"<y l:href='&#32;a&amp;b'/>", _XLINK, b"</x>"),
        "one link of references": repeated(b"&amp;", _ATOM + b"<link href='a", b"'/></feed>"),
        "attributes": _with_attributes(b" a%d='b'"), "attributes in many elements": _with_names(b"<y a%d='b'/>"),
        "too many attributes": numbered(_XLINK + b"<y l:href='a'", b" a%d='b'", b"/></x>"),
        "default attributes": _with_defaults(b" a%d CDATA 'b'"), "namespaces": _with_attributes(b" xmlns:a%d='b'"),
        "namespaces in many elements": _with_names(b"<y xmlns:a%d='b'/>"), "too many namespaces": numbered(b"<x", b" xmlns:a%d='b'", b"/>"),
        "default namespaces": _with_defaults(b" xmlns:a%d CDATA 'b'"), "names": _with_names(b"<n%d l:href='a'/>"),
        "too many names": numbered(_XLINK, b"<n%d l:href='a'/>", b"</x>"),
        "too many names of attributes": numbered(_XLINK, b"<y a%d='b'/>", b"</x>"),
        "namespaces that differ": numbered(_XLINK, b"<y xmlns='%d'/>", b"</x>"),
        "xml:base again and again": repeated(b"<entry xml:base='b/'><link href='a'/></entry>", _ATOM, b"</feed>"),
        "CDATA sections and text": repeated(b"<![CDATA[<a href=x>]]>&lt;a href=y>", b"<rss><description>", b"</description></rss>"),
        "empty CDATA sections": repeated(b"<![CDATA[]]>", b"<rss><link>a", b"</link></rss>"),
        "brackets in CDATA": repeated(b"]", b"<rss><link><![CDATA[a", b"]]></link></rss>"),
        "escaped HTML": repeated(b"&lt;a href=x&gt;&amp;", b"<rss><description>", b"</description></rss>"),
        "descriptions": repeated(b"<description>&lt;a href=x></description>", b"<rss>", b"</rss>"),
        "comments": repeated(b"<!--saved-->", b"<x>", b"</x>"),
        "instructions": repeated(b"<?xml-stylesheet href='a'?>", b"", b"<x/>"),
        "pseudo-attributes": repeated(b" href='a'", b"<?xml-stylesheet", b"?><x/>"),
        "too many entities": numbered(b"<!DOCTYPE x [", b"<!ENTITY e%d 'v'>", b"]><x/>"),
        "too many declared attributes": numbered(b"<!DOCTYPE x [", b"<!ATTLIST e%d a CDATA 'v'>", b"]><x/>"),
        "too many default attributes": numbered(b"<!DOCTYPE x [<!ATTLIST x", b" a%d CDATA '" + b"v" * 60 + b"'", b">]><x/>"),
        "long entities": repeated(b"<link href='&e;'/>", b"<!DOCTYPE feed [<!ENTITY e '" + b"v" * 400 + b"'>]>" + _ATOM, b"</feed>"),
        "entities too long": repeated(b"&e;", b"<!DOCTYPE rss [<!ENTITY e '" + b"v" * 60 + b"'>]><rss><link>", b"</link></rss>"),
        "entity references": repeated(b"&e;", b"<!DOCTYPE rss [<!ENTITY e 'v'>]><rss><link>", b"</link></rss>"),
    }.items()
}

SHAPES: Final = _URLS_SHAPES | _ARCHIVES_SHAPES | _HTTP_SHAPES | _JSON_SHAPES | _MAIL_SHAPES | _XML_SHAPES
