"""Header fields: spans of fields and values, the bases that they claim, and the links in them."""

import pytest

import absolve
from absolve.core.model import BaseClaim, Finding, Link
from absolve.encodings.offset_map import UnitOffsets
from absolve.formats import headers


def read(data: bytes, *, skip: bool = False) -> tuple[list[tuple[str, bytes]], bytes]:
    fields, body = headers.fields(data, skip=skip)
    return [(field.name, data[field.start : field.end]) for field in fields], data[body:]


@pytest.mark.parametrize("media_type", ["message/rfc822", "message/http"])
def test_the_number_of_header_fields_is_limited(media_type: str) -> None:
    begin = b"HTTP/1.1 200 OK\n" if media_type == "message/http" else b""
    data = begin + b"Content-Type: text/html\n" + b"A: b\n" * (headers.MOST_FIELDS - 1) + b"%s\n<a href=x>"
    url = "http://h.example/"
    assert [row.target for row in absolve.links(data % b"", media_type=media_type, url=url)] == ["http://h.example/x"]
    with pytest.raises(absolve.DocumentError) as raised:
        absolve.rewrite(data % b"B: c\n", media_type=media_type, url=url)
    diagnostic = raised.value.diagnostic
    assert (diagnostic.code, diagnostic.line) == ("too-many-fields", (data % b"").count(b"\n"))
    assert diagnostic.text == "a header of more than 10000 fields"


@pytest.mark.parametrize(("data", "fields", "body"), [
    (b"", [], b""), (b"\r\nbody", [], b"body"), (b"\n\nbody", [], b"\nbody"), (b"no field\r\nA: b\r\n", [], b"no field\r\nA: b\r\n"),
    (b" a: b\r\n", [], b" a: b\r\n"), (b"A: b", [("a", b"b")], b""),
    (b"A:b\r\nC: \t d \r\n\r\n\r\nbody", [("a", b"b"), ("c", b"d")], b"\r\nbody"),
    (b"A:b\nC:d\r\n\nbody", [("a", b"b"), ("c", b"d")], b"body"), (b"A :b\n\n", [("a", b"b")], b""),
    (b"A:\r\n\r\nbody", [("a", b"")], b"body"),
    (b"A: b\r\n c\r\n\td\r\ne\r\n", [("a", b"b\r\n c\r\n\td")], b"e\r\n"),
    (b"A:\r\n b\r\n\r\n", [("a", b"b")], b""),
    (b"A: b: c\nX\xe9: d\n", [("a", b"b: c")], b"X\xe9: d\n"),
])
def test_a_header_ends_at_an_empty_line_or_at_another_line(data: bytes, fields: list[tuple[str, bytes]], body: bytes) -> None:
    assert read(data) == (fields, body)


def test_a_header_value_is_unfolded_and_lines_that_are_no_fields_can_be_skipped() -> None:
    assert read(b"A: b\r\nno field\r\nC: d\r\n\r\nbody", skip=True) == ([("a", b"b"), ("c", b"d")], b"body")
    data = b"A: multipart/mixed;\r\n\tboundary=x\r\nB: caf\xc3\xa9 \xe9\r\n"
    fields, _ = headers.fields(data)
    assert headers.first(data, fields, "a") == "multipart/mixed;\tboundary=x"
    assert headers.first(data, fields, "b") == "café \udce9"
    assert headers.first(data, fields, "c") is None


def events(data: bytes) -> list[BaseClaim | Link | Finding]:
    return list(headers.links(data, headers.fields(data)[0], headers.OF_MAIL, tuple(headers.BASES)))


def links(data: bytes) -> list[tuple[str, str]]:
    return [(event.place.attribute, event.coding.decode(data[event.start : event.end]).decode()) for event in events(data) if isinstance(event, Link)]


def test_claims_and_links_of_fields_and_of_those_of_mailing_lists_have_the_order_of_the_fields() -> None:
    names = [b"Help", b"Unsubscribe", b"Subscribe", b"Post", b"Owner", b"Archive"]
    lines = [b"List-%b: <u/\n v>,\n (or) <mailto:a@h>\n" % name for name in names]
    lists = [(f"list-{name.decode().lower()}", url) for name in names for url in ("u/v", "mailto:a@h")]
    assert links(b"".join(lines) + b"Archived-At: <u/\n\tv>\n") == [*lists, ("archived-at", "u/v")]
    assert links(b"List-Id: A list <a.h.example>\nList-Post: NO\n") == []
    (encoded,) = events(b"List-Archive: =?us-ascii?Q?=3Chttp=3A//h/=3E?=\n")
    assert isinstance(encoded, Finding)
    assert events(b"Subject: http://h/\nLocation: San Francisco, CA, USA\nRefresh: 5\n") == events(b"") == []
    data = b"Content-Location: c\nContent-Base: b\nBase: a\nLink: <d>; rel=x, <e>\nLocation: /f\nRefresh: 0;url=g\n"
    claims = [(event.reference, event.source) for event in events(data) if isinstance(event, BaseClaim)]
    assert claims == [("a", "Base header"), ("b", "Content-Base header"), ("c", "Content-Location header")]
    assert [reference for _, reference in links(data)] == ["c", "b", "a", "d", "e", "/f", "g"]


@pytest.mark.parametrize(("value", "reference"), [
    (b"http://h/", "http://h/"), (b"<URL:http://h/>", "http://h/"), (b"<url: http://h/a\r\n\t  b /c >", "http://h/ab/c"),
    (b"<http://h/>", "http://h/"), (b"<URL:http://h/", "http://h/"), (b"<URL:http://h/> (a comment)", "http://h/"),
    (b'"http://h/"', "http://h/"), (b'" http://h/a\r\n b "', "http://h/ab"), (b"http://h/a/ \r\n  b/c", "http://h/a/b/c"),
    (b"file:///C:/My Documents/x", "file:///C:/My Documents/x"), (b"sub/", "sub/"), (b"", ""),
])
def test_a_header_base_may_be_bracketed_quoted_or_bare(value: bytes, reference: str) -> None:
    for name in ("Base", "CONTENT-BASE", "content-location"):
        data = name.encode() + b": " + value + b"\r\n"
        claim, link = events(data)
        assert isinstance(claim, BaseClaim)
        assert isinstance(link, Link)
        assert (claim.reference, claim.position, link.claim) == (reference, link.start, claim)
        assert links(data) == [(name.lower(), reference)]


@pytest.mark.parametrize(("raw", "reference"), [
    (b"=?utf-8?Q?http://h/=C3=A9_x?=", "http://h/é x"),
    (b"=?UTF-8*en?q?http://h/?=\r\n =?utf-8?B?YQ==?= =?us-ascii?q?b?=", "http://h/ab"),
    (b"=?koi8-r?B?0A==?=", "п"), (b"=?utf-8?B?Y?=", "=?utf-8?B?Y?="), (b"http://h/?a=?x?=", "http://h/?a=?x?="),
])
def test_encoded_words_are_decoded_in_content_location(raw: bytes, reference: str) -> None:
    assert links(b"Content-Location: " + raw + b"\r\n") == [("content-location", reference)]
    assert links(b"Content-Base: " + raw + b"\r\n") != [("content-base", reference)] or raw.endswith(reference.encode())


def test_encoded_header_values_have_no_character_that_ends_them_and_a_prefix_of_an_encoded_word_is_one_too() -> None:
    data = b"Content-Location: =?utf-8?Q?x?=\n"
    (_, plain), (_, link) = events(b"Content-Location: x\n"), events(data)
    assert isinstance(plain, Link)
    assert isinstance(link, Link)
    assert plain.coding.encode('http://h/é >"'.encode()) == b"http://h/%C3%A9%20%3E%22"
    written = link.coding.encode(b"http://h/d=1/", data[link.start : link.end])
    assert links(data[: link.start] + written + data[link.start :]) == [("content-location", "http://h/d=1/x")]
    _, folded = events(b"Base: ab \r\n  cd")
    assert isinstance(folded, Link)
    value, offsets = folded.coding.decode_mapped(b"ab \r\n  cd")
    assert isinstance(offsets, UnitOffsets)
    assert (value, [(offsets.start(at), offsets.end(at)) for at in range(5)]) == (b"abcd", [(0, 0), (1, 1), (7, 2), (8, 8), (9, 9)])
