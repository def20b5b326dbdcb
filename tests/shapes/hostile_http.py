"""Hostile HTTP messages and archives of them: headers and codings before the document."""

from typing import Final

from tests.shapes.makers import Shape, repeated

_HEADER: Final = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
_CHUNKED: Final = _HEADER + b"Transfer-Encoding: chunked\r\n\r\n"
_ENTRY: Final = b'{"log":{"entries":[{"request":{"url":"http://a/"},"response":{"headers":['
_CONTENT: Final = b'{}],"content":{"mimeType":"text/html","text":"<a href=x>"}}}]}}'
_DOCUMENT: Final = (b'{"request":{"url":"http://a/"},"response":{"content":{"mimeType":"text/html","text":"<a href=x>"}}}')


def _with_length(size: int) -> bytes:
    body = b"<a href=x>" * (size // 10)
    return _HEADER + b"Content-Length: %d\r\n\r\n" % len(body) + body


SHAPES: Final[dict[str, Shape]] = {
    "HTTP, links behind a length": Shape(_with_length, "message/http"),
    "HTTP, chunks": Shape(repeated(b"1\r\n<\r\n", _CHUNKED, b"0\r\n\r\n"), "message/http"),
    "HTTP, links in chunks": Shape(repeated(b"a\r\n<a href=x>\r\n", _CHUNKED, b"0\r\n\r\n"), "message/http"),
    "HTTP, links in a field": Shape(repeated(b"<a>;rel=x,", _HEADER + b"Link: ", b"<b>\r\n\r\n"), "message/http"),
    "HTTP, too many fields": Shape(repeated(b"a:b\r\n", _HEADER, b"\r\n<a href=x>"), "message/http"),
    "HAR, fields": Shape(repeated(b'{"name":"a","value":"b"},', _ENTRY, _CONTENT), "application/har+json"),
    "HAR, entries": Shape(repeated(b'{"request":{"url":"a"}},', b'{"log":{"entries":[', b"{}]}}"), "application/har+json"),
    "HAR, links in a field": Shape(repeated(b"<a>,", _ENTRY + b'{"name":"Link","value":"', b'<b>"},' + _CONTENT), "application/har+json"),
    "HAR, documents": Shape(repeated(_DOCUMENT + b",", b'{"log":{"entries":[', b"{}]}}"), "application/har+json"),
    "HAR, too many links in fields": Shape(repeated(b'{"name":"Link","value":"<b>"},', _ENTRY, _CONTENT), "application/har+json"),
}
