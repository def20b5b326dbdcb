"""Messages: which bodies are read, with which base, and that nothing else changes."""

import gzip
import time
from typing import Any

import pytest

import absolve
from absolve.core.model import Document
from absolve.document.entity import Entity
from absolve.document.walk import Settings, walk
from absolve.inventory.columns import Row

URL = "http://h.example/d/p"
LINK = b'<a href="x">x</a>'
DONE = b'<a href="http://h.example/d/x">x</a>'


def walked(data: bytes, media_type: str = "message/rfc822", **settings: Any) -> Entity:
    return walk(Document(data, media_type=media_type, url=URL), Settings(**settings))


def rewritten(data: bytes, media_type: str = "message/rfc822", **options: Any) -> bytes:
    done = absolve.rewrite(data, media_type=media_type, url=URL, **options)
    assert absolve.rewrite(done, media_type=media_type, url=URL, **options) is done
    return done


def rows(data: bytes, media_type: str = "message/rfc822", url: str | None = URL) -> list[Row]:
    return list(absolve.links(data, media_type=media_type, url=url))


def codes(data: bytes, media_type: str = "message/rfc822", **settings: Any) -> list[tuple[str, int | None, bool]]:
    return [(diagnostic.code, diagnostic.line, diagnostic.failed) for diagnostic in walked(data, media_type, **settings).diagnostics]


def html(body: bytes = LINK, header: bytes = b"") -> bytes:
    return b"Content-Type: text/html\n" + header + b"\n" + body


def multipart(*parts: bytes, header: bytes = b"", kind: bytes = b"mixed", end: bytes = b"\n--B--\n") -> bytes:
    head = header + b"Content-Type: multipart/" + kind + b"; boundary=B\n"
    return head + b"".join(b"\n--B\n" + part for part in parts) + end


NOTHING = [
    b"",
    b"Subject: none\n\n" + LINK,
    b"Subject: none\n",
    b"Content-Type: text/plain\n\n" + LINK,
    b"Content-Type: image/png\n\n" + LINK,
    b"Content-Type: nonsense\n\n" + LINK,
    b"Content-Type: html-like\n\n" + LINK,
    b"Content-Type: html/plain\n\n" + LINK,
    b"Content-Type: text/plain\n\nbegin 644 a.gif\nM/&$@:\n",
    b"Content-Type: application/octet-stream; name=a.gif\n\n" + LINK,
    html(b'<a href="http://other.example/">'),
    multipart(b"\n" + LINK),
    b"Location: San Francisco, CA\n\n",
    b"Content-Location: " + URL.encode() + b"\n\n",
]


@pytest.mark.parametrize("data", NOTHING)
def test_an_unchanged_message_is_returned_as_the_same_object(data: bytes) -> None:
    assert absolve.rewrite(data, media_type="message/rfc822", url=URL) is data
    assert codes(data) == []


@pytest.mark.parametrize("media_type", ["message/rfc822", "multipart/related; boundary=x", "application/x-mimearchive"])
@pytest.mark.parametrize("before", [b"", b"From me@h.example\n", b">From x\n", b"\xef\xbb\xbf"])
def test_a_message_is_read_after_an_mbox_line_or_a_byte_order_mark(media_type: str, before: bytes) -> None:
    assert rewritten(before + html(), media_type) == before + html(DONE)


# Messages that stay as they are, and what is reported of them
REPORTED: dict[str, tuple[bytes, list[tuple[str, int | None, bool]]]] = {
    "parts in formats that are not read": (
        multipart(b"Content-Type: application/pkcs7-mime; smime-type=enveloped-data\n\n" + LINK, b"Content-Type: text/rtf\n\n"),
        [("unread-part", 6, False), ("unread-part", 10, False)],
    ),
    "encrypted": (multipart(b"\n", kind=b"encrypted"), [("unread-part", 3, False)]),
    "an opaque signature": (b"Content-Type: application/pkcs7-mime; smime-type=signed-data\n\nMII=\n", [("signed", 3, False)]),
    "no boundary": (b"Content-Type: multipart/mixed\n\n--B\n--B\n" + html() + b"\n--B--\n", [("no-boundary", 3, True)]),
    "another boundary": (b"Content-Type: multipart/x; boundary=C\n\n--B\n" + html() + b"\n--B--\n", [("no-boundary", 3, True)]),
    "a boundary that only begins lines": (
        b'Content-Type: multipart/mixed; boundary="a  b"\n\n--a \tb\n\n--a c\n', [("no-boundary", 3, True)]
    ),
    "UTF-7": (b"Content-Type: text/html; charset=unicode-1-1-utf-7\n\n+ADw-a href=x+AD4-", [("unknown-charset", 3, True)]),
    "no header": (b"no header\n", [("no-header", 1, False)]),
    **{
        f"base64 {raw!r}": (html(raw, b"Content-Transfer-Encoding: base64\n"), [("broken-base64", 4, True)])
        for raw in (b"PGE", b"PGE!", b"PGEg=aHJlZj14Pg==", b"PGEgaHJlZj14Pg==\n-- \na list of mail", b"PGEgaHJlZj14Pg==PGEg")
    },
}


@pytest.mark.parametrize("name", REPORTED)
def test_what_cannot_be_read_stays_and_is_reported(name: str) -> None:
    data, reported = REPORTED[name]
    assert rewritten(data) is data
    assert codes(data) == reported


UNREAD = [
    b"message/external-body; access-type=URL; URL=x\n\n",
    b"message/partial; number=1; total=2\n\n",
    b"application/ms-tnef; name=winmail.dat\n\n",
    b"application/octet-stream\nContent-Disposition: attachment; filename*=utf-8''a.htm; size=1\n\n",
    b'application/octet-stream; name="a.eml"\n\n',
    b"text/plain\n\nbegin 644 a.gif\nM/&$@:\n`\nend\n\nbegin 600 winmail.dat\r\nM/&$@:\n",
    b"text/plain\n\nfollows:\nbegin 644 a b.HTML\nM/&$@:\n",
    b"text/html\nX-Apple-Content-Length: 99\n\n\n",
]


@pytest.mark.parametrize("data", UNREAD)
def test_what_may_have_links_and_is_not_read_is_reported(data: bytes) -> None:
    assert [code for code, _, _ in codes(b"Content-Type: " + data)] == ["unread-part"]


# The value of Content-Type and what follows it up to the next field
AS_WRITTEN = [
    b"text / html",
    b'(a) text/(b (c\\) "))html (d) ; (e) charset=utf-8',
    b'text/html charset="utf-8"',
    b"text/html, charset=utf-8",
    b'"text/html"; charset=utf-8',
    b"text/html: charset: utf-8",
    b"text/html;;charset=utf-8;",
    b'text/html; charset="utf-8',
    b'text/html; charset = "utf-8" Content-Transfer-Encoding: 8bit',
    b"text/html; charset=unknown-8bit",
    b"\nContent-Type: text/html",
    b"nonsense\nContent-Type: text/html\nContent-Type: text/plain",
    b"html",
    b' "HTML"; charset=utf-8',
    b"text/x-amp-html",
    b"text/watch-html; charset=utf-8",
    *(b"text/html\nContent-Transfer-Encoding: " + name for name in (b"7-bit", b"8bits", b'8bit"', b"7 bit (x)", b"8bit(x)", b"UTF-8", b"binary;")),
]


@pytest.mark.parametrize("value", AS_WRITTEN)
def test_a_content_type_and_an_encoding_are_read_as_mail_programs_write_them(value: bytes) -> None:
    assert rewritten(html().replace(b"text/html", value, 1)) == html(DONE).replace(b"text/html", value, 1)


@pytest.mark.parametrize("charset", [b'=iso-8859-1 format="flowed"', b': "iso-8859-1', b" = ISO-8859-1 (x)", b"*=us-ascii'en'iso-8859-1"])
def test_the_charset_is_read_as_mail_programs_write_it(charset: bytes) -> None:
    data = b"Content-Type: text/html; charset" + charset + b"\n\n<a href=\xe9>"
    assert [row.reference for row in rows(data)] == ["é"]


@pytest.mark.parametrize("value", [
    b" / mixed ; boundary = B", b"/mixed boundary=B", b'/mixed; charset="UTF-8" boundary="B',
    b"/mixed; boundary: B (x)", b"/mixed; boundary=B\n \n", b"/mixed; boundary=B\n and no empty line behind the header",
    b"/alternative; boundary=nowhere\nContent-Type: multipart/mixed; boundary=B",
    b"/mixed; boundary=B\nContent-Type: multipart/mixed; boundary=nowhere",
    b"/mixed; boundary=B\nContent-Transfer-Encoding: base64",
])
def test_a_multipart_is_read_as_mail_programs_write_it(value: bytes) -> None:
    old, new = (multipart(html(link)).replace(b"/mixed; boundary=B", value, 1) for link in (LINK, DONE))
    assert rewritten(old) == new


def test_a_boundary_may_be_folded() -> None:
    for written, boundary in ((b'"a\n b"', b"ab"), (b'"a\n b"', b"a b"), (b'"a=b c=d"', b"a=b c=d")):
        old, new = (multipart(html(link)).replace(b"B", boundary) for link in (LINK, DONE))
        assert rewritten(old.replace(boundary, written, 1)) == new.replace(boundary, written, 1)


def test_a_boundary_may_have_parentheses_without_quotes() -> None:
    assert rewritten(multipart(html()).replace(b"B", b"B(1)")) == multipart(html(DONE)).replace(b"B", b"B(1)")


# What is between two fields of a header, and the line that is reported
ODD_LINES: list[tuple[bytes, int]] = [
    (b">From - Mon Jan 26 17:20:56 2009\nX-Mozilla-Status: 0001\n", 0),
    (b"From a@h Mon Jan 26 17:20:56 2009\n", 0),
    (b"X-SDOC 287079 export set 2\n", 2),
    (b"no field\nnone\n\tnor here\nX-A: b\nno field\n", 2),
]


@pytest.mark.parametrize(("lines", "line"), ODD_LINES)
def test_a_header_goes_on_behind_lines_that_are_no_fields(lines: bytes, line: int) -> None:
    data = b"Subject: x\n" + lines + html()
    assert rewritten(data) == data.replace(LINK, DONE)
    assert codes(data) == ([("malformed-header", line, False)] if line else [])


def test_a_header_ends_at_a_boundary_and_at_text_without_a_usual_field() -> None:
    glued = multipart(html()).replace(b"\n\n--B", b"\n--B", 1)
    assert rewritten(glued) == glued.replace(LINK, DONE)
    text = b"Content-Type: text/html\n<a href=x>\nNote: from: to:\n\n"
    assert rewritten(text) == text.replace(b"=x", b"=http://h.example/d/x")


@pytest.mark.parametrize("before", [b"\n", b"\r\n\r\n", b"From a@h 10:00\n\n"])
def test_empty_lines_before_a_header_are_ignored(before: bytes) -> None:
    assert rewritten(before + html()) == before + html(DONE)
    assert rows(before + b"Content-X: text/html\n\n" + LINK) == []


@pytest.mark.parametrize("end", [b"\r\n", b"\n"])
def test_preamble_boundaries_and_epilogue_of_a_multipart_stay(end: bytes) -> None:
    lines = [
        b"Content-Type: multipart/mixed;",
        b'\tboundary="a b(c"',
        b"",
        b"preamble " + LINK,
        b"--a b(c \t",
        b"content-type:TEXT/HTML",
        b"",
        b"%b",
        b"--a b(cd",
        b"--a b(",
        b" --a b(c",
        b"--a b(c",
        b"--a b(c",
        b"",
        LINK,
        b"--a b(c--\t",
        LINK,
        b"--a b(c",
        b"Content-Type: text/html",
        b"",
        LINK,
    ]
    data = end.join(lines)
    assert rewritten(data % LINK) == data % DONE


@pytest.mark.parametrize(("outer", "inner"), [("B", "B1"), ("B1", "B"), ("a b", "a"), ("a", "a b"), ("-", "--")])
def test_boundaries_that_are_prefixes_of_each_other_are_distinguished(outer: str, inner: str) -> None:
    within = f'Content-Type: multipart/mixed; boundary="{inner}"\n\n--{inner}\n'.encode() + html()
    within += f"\n--{inner}--\n".encode()
    data = f'Content-Type: multipart/mixed; boundary="{outer}"\n\n--{outer} \n'.encode() + within
    data += f"\n--{outer}\n".encode() + html() + f"\n--{outer}--".encode()
    assert rewritten(data) == data.replace(LINK, DONE)
    assert codes(data) == []
    assert [row.entity for row in rows(data)] == ["part[1]/part[1]/body[1]", "part[2]/body[1]"]


BODIES: dict[str, tuple[bytes, list[tuple[str, int | None, bool]]]] = {
    "mixed line ends": (
        b"A: b\r\nContent-Type: multipart/mixed; boundary=B\n\r\n--B\nContent-Type: text/html\r\n\n%b\r\n--B--\n" % LINK, [],
    ),
    "an empty body part": (b"Content-Type: multipart/mixed; boundary=B\n\n--B\n--B\n" + html() + b"\n--B--", []),
    "a boundary split as in RFC 2231": (
        b"Content-Type: multipart/mixed; boundary*0=a; boundary*1=b\n\n--ab\n" + html() + b"\n--ab--", [],
    ),
    "no closing boundary": (multipart(html(), html(), end=b"\n"), [("no-closing-boundary", 11, False)]),
    "no inner closing boundary": (
        multipart(b"Content-Type: multipart/mixed; boundary=C\n\n--C\n" + html(), html()), [("no-closing-boundary", 9, False)],
    ),
    "the boundary of the parent": (
        multipart(b"Content-Type: multipart/mixed; boundary=B\n\n", html()), [("no-boundary", 6, True)],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", BODIES)
def test_every_body_that_is_html_is_rewritten(name: str) -> None:
    data, reported = BODIES[name]
    assert rewritten(data) == data.replace(LINK, DONE)
    assert codes(data) == reported


def test_a_multipart_without_a_header_is_detected_by_its_first_line() -> None:
    data = b"--B \r\nContent-Type: text/html\r\n\r\n%b\r\n--B--"
    assert rewritten(data % LINK, "multipart/related") == data % DONE


@pytest.mark.parametrize("begin", [b"text/html; a=", b"text/html;\r\n a=", b'text/html; a="'])
def test_the_length_of_a_content_type_is_limited(begin: bytes) -> None:
    most = begin + b"b" * (8_192 - len(begin.replace(b"\r\n", b"")))
    assert codes(b"Content-Type: " + most + b"\n\n" + LINK) == []
    header = b"Content-Location: y\nContent-Type: " + most + b"b\n\n"
    assert codes(header + LINK) == [("long-field", header.count(b"\n") + 1, True)]
    assert rewritten(header + LINK) == header.replace(b"y\n", b"http://h.example/d/y\n", 1) + LINK


def test_the_number_of_parameters_of_a_content_type_is_limited() -> None:
    most = b"Content-Type: text/html" + b";a=b" * 256
    assert codes(most + b"\n\n" + LINK) == []
    assert codes(most + b";\n\n" + LINK) == [("long-field", 3, True)]


def test_a_nested_message_has_its_own_base() -> None:
    inner = b"Content-Type: message/rfc822\n\nContent-Base: sub/\n" + html()
    digest = multipart(b"\nSubject: in a digest\n" + html(), kind=b"digest").replace(b"B", b"D")
    data = multipart(inner, digest, header=b"Base: <URL:http://b.example/b/c>\n")
    targets = [(row.entity, row.target, row.base_layer) for row in rows(data) if row.element == "a"]
    assert targets == [
        ("part[1]/message[1]/body[1]", "http://b.example/b/sub/x", "encapsulating"),
        ("part[2]/part[1]/message[1]/body[1]", "http://b.example/b/x", "encapsulating"),
    ]


@pytest.mark.parametrize(("encoding", "raw", "done"), [
    (b"7BIT", LINK, DONE),
    (b" quoted-printable ", b'<a href=3d"x">x</a>=20', b'<a href=3d"http://h.example/d/x">x</a>=20'),
    (b"base64", b"PGEgaHJl\nZj0ieCI+", b"PGEgaHJl\nZj0iaHR0\ncDovL2gu\nZXhhbXBs\nZS9kL3gi\nPg=="),
])
def test_bodies_are_read_through_their_content_transfer_encoding(encoding: bytes, raw: bytes, done: bytes) -> None:
    data = multipart(html(b"%b\n", b"Content-Transfer-Encoding:" + encoding + b"\n"))
    assert rewritten(data % raw) == data % done


def test_the_kept_end_of_a_reference_after_a_soft_line_break_stays() -> None:
    header = b"Content-Transfer-Encoding: quoted-printable\n"
    data = html(b'<a href=3D"%blong/=\nname.html">', header)
    assert rewritten(data % b"") == data % b"http://h.example/d/"


def test_undecodable_bodies_stay_and_the_rest_is_rewritten() -> None:
    broken = html(b"PGE!", b"Content-Transfer-Encoding: base64\n")
    unknown = html(LINK, b"Content-Transfer-Encoding: x-uuencode\n")
    data = multipart(broken, unknown, html())
    assert rewritten(data) == multipart(broken, unknown, html(DONE))
    assert codes(data) == [("broken-base64", 7, True), ("unknown-encoding", 12, True)]


@pytest.mark.parametrize(
    "charset", [b"", b"; charset=", b'; charset=""', b"; charset=x-unknown", b"; charset=us-ascii", b"; charset=utf-7"]
)
def test_bytes_in_an_undeclared_or_unknown_charset_stay(charset: bytes) -> None:
    data = b"Content-Type: text/html" + charset + b'\n\n\xff<a href="\xe9%b">\xe9</a>'
    assert rewritten(data % b"") == (data % b"").replace(b'"\xe9', b'"http://h.example/d/\xe9')
    assert codes(data % b"") == []


def test_the_charset_is_that_of_the_part_or_else_detected() -> None:
    page = '<a href="\u0451">'.encode("koi8-r")
    data = b"Content-Type: text/html; charset*=us-ascii'en'koi8-r\n\n" + page
    assert rows(data)[0].reference == "\u0451"
    assert rows(html('<a href="\u0451">'.encode()))[0].reference == "\u0451"
    assert rewritten(data) == data.replace(b'"', b'"http://h.example/d/', 1)


def test_header_bases_are_rows_and_made_absolute() -> None:
    data = b"Content-Base: ../b/\nContent-Location: c.html\nLink: <l>; rel=next\n" + html()
    assert [(row.attribute, row.target, row.base_layer, row.problems) for row in rows(data)] == [
        ("content-base", "http://h.example/b/", "retrieval", ["relative-base"]),
        ("content-location", "http://h.example/b/c.html", "embedded", ["ignored-base"]),
        ("link", "http://h.example/b/l", "embedded", []),
        ("href", "http://h.example/b/x", "encapsulating", []),
    ]
    assert rewritten(data).startswith(
        b"Content-Base: http://h.example/b/\nContent-Location: http://h.example/b/c.html\nLink: <http://h.example/b/l>;"
    )
    assert rewritten(data, base="empty").startswith(b"Content-Base: http://h.example/b/\n")


@pytest.mark.parametrize(("header", "problems"), [
    (b"Content-Base: javascript:x", ["unsuitable-base"]),
    (b"Base: sub/", ["unresolved", "unsuitable-base", "relative-base"]),
    (b"Content-Base: mailto:a@b", ["unsuitable-base"]),
    (b"Content-Location: http://[x", ["unsuitable-base", "malformed"]),
])
def test_problems_of_a_header_base_are_on_its_row(header: bytes, problems: list[str]) -> None:
    assert rows(header + b"\n\n", url=None)[0].problems == problems


def test_the_next_header_claim_applies_if_the_first_is_unusable() -> None:
    data = b"Content-Base: data:,\nContent-Location: c/d\n" + html()
    assert [row.target for row in rows(data)] == ["data:,", "http://h.example/d/c/d", "http://h.example/d/c/x"]


HELD = multipart(
    html(
        b'<img src="CID:a%40b"><img src="i.png"><img src="http://h.example/d/i.png#f"><a href="p.html"><a href="o.html">',
        b"Content-Location: http://h.example/d/p.html\n",
    ),
    b"Content-Type: image/png\nContent-ID: <A@b>\nContent-Location: i.png\n\n",
    kind=b"related",
)


def test_links_to_parts_of_the_same_message_are_internal_and_stay() -> None:
    scopes = [(row.element, row.scope) for row in rows(HELD)]
    assert scopes == [
        ("header", "internal"),
        *[("img", "internal")] * 3,
        ("a", "same-document"),
        ("a", "internal"),
        ("header", "internal"),
    ]
    assert rewritten(HELD) == HELD.replace(b'"o.html"', b'"http://h.example/d/o.html"')


def test_a_link_beyond_ascii_to_a_part_of_the_same_message_is_internal() -> None:
    image = b"Content-Type: image/png\nContent-Location: http://o.example/%C3%A9.png\n\n"
    data = multipart(html("<img src='http://o.example/\xe9.png'>".encode()), image, kind=b"related")
    assert [row.scope for row in absolve.links(data, media_type="message/rfc822", url=URL, profile="whatwg") if row.element == "img"] == ["internal"]


OWN = b"http://own.example/d/"
IN_MESSAGE = [  # header of the message, link, Content-Location, and both after a rewrite
    (b"", b"i.png", b"i.png", b"i.png", b"i.png"),
    (b"", b"./i.png#f", b"i.png", b"./i.png#f", b"i.png"),
    (b"", b"http://h.example/d/i.png", b"i.png", b"http://h.example/d/i.png", b"i.png"),
    (b"", b"i.png", b"http://h.example/d/i.png", b"i.png", b"http://h.example/d/i.png"),
    (b"", b"a%20b.png", b"=?utf-8?Q?a_b.png?=", b"a%20b.png", b"=?utf-8?Q?a_b.png?="),
    (b"Content-Base: " + OWN, b"i.png", b"i.png", OWN + b"i.png", OWN + b"i.png"),
    (b"Content-Location: " + OWN, b"./i.png#f", b"i.png", OWN + b"i.png#f", OWN + b"i.png"),
    (b"Content-Base: " + OWN, OWN + b"i.png", b"i.png", OWN + b"i.png", OWN + b"i.png"),
    (b"Content-Base: " + OWN, b"i.png", OWN + b"i.png", b"i.png", OWN + b"i.png"),
]


@pytest.mark.parametrize(("header", "link", "location", "done", "its"), IN_MESSAGE)
def test_a_link_and_the_location_of_its_part_change_together_or_stay(
    header: bytes, link: bytes, location: bytes, done: bytes, its: bytes
) -> None:
    def message(link: bytes, location: bytes) -> bytes:
        image = b"Content-Type: image/png\nContent-Location: " + location + b"\n\n"
        return multipart(html(b'<img src="%b">' % link), image, kind=b"related", header=header + b"\n" if header else b"")

    new = rewritten(message(link, location))
    assert new == message(done, its)
    assert rewritten(new) is new
    assert [row.scope for row in rows(new) if row.element == "img"] == ["internal"]


def test_a_link_to_a_part_of_a_message_without_a_base_is_internal() -> None:
    page = html(b'<img src="i.png"><a href="o.html">', b"Content-Location: sub/p.html\n")
    data = multipart(page, b"Content-Type: image/png\nContent-Location: sub/i.png\n\n", kind=b"related")
    found = [(row.target, row.scope, row.problems) for row in rows(data, url=None) if row.element != "header"]
    assert found == [("thismessage:/sub/i.png", "internal", []), (None, "other", ["unresolved"])]


def test_links_to_parts_of_another_message_are_not_internal() -> None:
    other = multipart(html(b'<img src="i.png">'), kind=b"related")
    data = b"From a\n" + HELD + b"\nFrom b\n" + other
    assert rewritten(data, "application/mbox").endswith(other.replace(b"i.png", b"http://h.example/d/i.png"))


def test_links_to_parts_become_absolute_when_the_base_is_emptied() -> None:
    page = html(b'<base href="http://b.example/"><img src="i.png">')
    image = b"Content-Type: image/png\nContent-Location: http://b.example/i.png\n\n"
    data = multipart(page, image)
    assert rewritten(data) == data
    done = data.replace(b'"http://b.example/"', b'""').replace(b'"i.png"', b'"http://b.example/i.png"')
    assert rewritten(data, base="empty") == done


SIGNED = [
    (multipart(html(), b"Content-Type: application/pgp-signature\n\n", kind=b"signed"), 4),
    (b"DKIM-Signature: v=1; h=Link\nLink: <x>\n" + html(), 5),
    (b"ARC-Message-Signature: i=1\n" + multipart(html()), 5),
]


@pytest.mark.parametrize(("data", "line"), SIGNED)
def test_signed_parts_stay_with_a_diagnostic(data: bytes, line: int) -> None:
    assert rewritten(data) is data
    assert {row.target for row in rows(data)} == {"http://h.example/d/x"}
    assert codes(data) == [("signed", line, False)]


def test_unchanged_signed_parts_cause_no_diagnostic() -> None:
    assert codes(b"DKIM-Signature: x\n" + html(b'<a href="http://other.example/#x">')) == []


MAILBOX = b"""From a@h.example Mon Jan  6 10:00:00 2020
Content-Base: http://one.example/
%b
>From here on

From here on nothing changes
From - Mon Jan  6 10:00:00 2020

From - Mon Jan  6 10:00:00 2020
X-Mozilla-Status: 0001
%b
"""


def test_each_message_of_a_mailbox_is_a_document() -> None:
    data = MAILBOX % (html(), html())
    found = rows(data, "application/mbox")
    assert [(row.entity, row.target, row.base_layer) for row in found] == [
        ("message[1]", "http://one.example/", "retrieval"),
        ("message[1]/body[1]", "http://one.example/x", "encapsulating"),
        ("message[2]/body[1]", "http://h.example/d/x", "encapsulating"),
    ]
    one = LINK.replace(b"x", b"http://one.example/x", 1)
    assert rewritten(data, "application/mbox") == MAILBOX % (html(one), html(DONE))


# What separates two messages, and what does not
SEPARATORS = [b"\nFrom a", b"\r\nFrom  10:00", b"From - Mon Jan  6 10:00:00 2020", b"From ", b"\nFrom b 10:00\nFrom c 10:00"]
NO_SEPARATORS = [b"From here on", b"> From a 10:00", b">From a 10:00", b"From a 10:00\n<p>", b" From a 10:00", b"\nFrom a\n<p>"]


@pytest.mark.parametrize(("line", "number"), [*((line, 2) for line in SEPARATORS), *((line, 1) for line in NO_SEPARATORS)])
def test_messages_of_a_mailbox_are_separated_with_and_without_an_empty_line(line: bytes, number: int) -> None:
    data = b"From a 10:00\n" + html() + b"\n" + line + b"\n" + html()
    assert len({row.entity for row in rows(data, "application/mbox")}) == number


@pytest.mark.parametrize(("before", "name"), [(b"\xef\xbb\xbf", None), *((one, "a.mbox") for one in (b"\xef\xbb\xbf\r\n", b"\n\n", html() + b"\n"))])
def test_every_message_of_a_mailbox_is_read_whatever_precedes_its_first_line(before: bytes, name: str | None) -> None:
    data = before + b"From a@h 10:00\n" + html() + b"\nFrom b@h 10:00\n" + html()
    assert absolve.rewrite(data, name=name, url=URL) == data.replace(LINK, DONE)
    assert list(absolve.verify(data, data.replace(LINK, DONE), name=name, url=URL)) == []


def test_text_before_the_first_message_of_a_mailbox_is_reported() -> None:
    assert codes(b"no header\n\nFrom a@h 10:00\n" + html(), "application/mbox") == [("no-header", 1, False)]


MAIL = html(b"<a href=3D%b=\n>x</a>", b"Content-Transfer-Encoding: quoted-printable\n")
OLD, NEW = (MAIL % link for link in (b'"x"', b'"http://h.example/d/x"'))
BOXES = [b"From a@h 10:00\n" + one + b"\nFrom b@h 10:00\n" + one for one in (OLD, NEW)]


@pytest.mark.parametrize(("old", "new"), [(OLD, NEW), BOXES])
def test_lines_that_end_in_cr_alone_stay(old: bytes, new: bytes) -> None:
    media_type = "application/mbox" if old.startswith(b"From") else "message/rfc822"
    old, new = (data.replace(b"\n", b"\r") for data in (old, new))
    assert rewritten(old, media_type) == new
    boxed = b"Content-Type: message/rfc822\r\n\r\n" + old
    assert media_type == "application/mbox" or rewritten(boxed) == boxed.replace(old, new)
    long = old.replace(b"=3D", b"=3D" + b"x" * 60)  # with soft line breaks
    assert b"\n" not in rewritten(long, media_type)


@pytest.mark.parametrize("name", ["", "x.gz"])
@pytest.mark.parametrize(("old", "new"), [(OLD, NEW), BOXES])
def test_mail_in_gzip_is_compressed_again(old: bytes, new: bytes, name: str) -> None:
    raw = gzip.compress(old[:20], mtime=7) + gzip.compress(old[20:])
    done = absolve.rewrite(raw, name=name or None, url=URL)
    assert gzip.decompress(done) == new
    assert done == absolve.rewrite(raw, name="y", url=URL)
    assert absolve.rewrite(done, url=URL) is done
    step = "" if old.startswith(b"From") else "message[1]/"
    assert [row.entity for row in absolve.links(raw, url=URL)] == [step + row.entity for row in absolve.links(old, url=URL)]


def test_gzip_that_is_too_large_or_broken_stays_and_is_an_error() -> None:
    raw = gzip.compress(BOXES[0])
    assert codes(raw, "application/mbox+gzip", max_decompressed=99) == [("too-large", 1, True)]
    assert codes(raw[:-9], "application/mbox+gzip") == [("truncated", 1, True)]
    with pytest.raises(absolve.DocumentError, match="message or mailbox in this gzip"):
        walked(gzip.compress(b"text"), "application/mbox+gzip")


LIST = b'<?xml version="1.0"?>\n<!DOCTYPE plist>\n<plist><a href="x"/></plist>\n'


@pytest.mark.parametrize("width", [0, 10])
def test_the_length_of_a_message_of_apple_mail_is_written_again(width: int) -> None:
    old, new = (str(len(one)).ljust(width).encode() + b"\n" + one + LIST for one in (OLD, NEW))
    assert rewritten(old, "message/x-emlx") == new
    assert [(row.entity, row.line) for row in rows(old, "message/x-emlx")] == [("body[1]", 1)]


def test_a_wrong_length_of_a_message_of_apple_mail_stays() -> None:
    assert rewritten(b"9999\n" + OLD + LIST, "message/x-emlx") == b"9999\n" + NEW + LIST
    assert codes(b"9999\n" + OLD + LIST, "message/x-emlx") == [("wrong-length", 1, False)]
    assert rewritten(OLD, "message/x-emlx") == NEW  # without a length it is a message


@pytest.mark.parametrize("behind", [b"\n", b"\r\n", b"\n\n"])
@pytest.mark.parametrize(("old", "new"), [(OLD, NEW), (multipart(OLD, OLD), multipart(NEW, NEW))])
def test_the_length_of_a_message_in_a_mailbox_is_written_again_if_it_was_right(old: bytes, new: bytes, behind: bytes) -> None:
    def mailbox(message: bytes, size: int) -> bytes:
        one = b"From a@h 10:00\nContent-Length:  %d \r\n" % size + message + behind
        return one + one

    sizes = [len(one.partition(b"\n\n")[2]) for one in (old, new)]
    data, done = mailbox(old, sizes[0]), mailbox(new, sizes[1])
    assert rewritten(data, "application/mbox") == done
    assert absolve.verify(data, done, media_type="application/mbox", url=URL) == []
    for wrong in (sizes[0] - 5, sizes[0] + 9, 10**20):
        assert rewritten(mailbox(old, wrong), "application/mbox") == mailbox(new, wrong)
    assert absolve.verify(data, mailbox(new, sizes[0]), media_type="application/mbox", url=URL)


@pytest.mark.parametrize(("fields", "right"), [
    (b"Content-Length: %(is)d\nContent-Length: %(is)d\n", b"Content-Length: %(now)d\nContent-Length: %(now)d\n"),
    (b"Content-Length: %(is)d\nContent-Length: 5\n", b"Content-Length: %(now)d\nContent-Length: 5\n"),
    (b"Content-Length: 5\nContent-Length: %(is)d\n", b"Content-Length: 5\nContent-Length: %(now)d\n"),
    (b"Content-Length:\n %(is)d\n", b"Content-Length:\n %(now)d\n"),
    (b"Content-Length: %(is)d\n \n", b"Content-Length: %(now)d\n \n"),
    (b"Content-Length: %(is)018d\n", b"Content-Length: %(now)d\n"),
    (b"Content-Length: %(is)d\n x\n", None),
    (b"Content-Length: %(is)d\x0b\n", None),
    (b"Content-Length: %(is)019d\n", None),
    (b"X: x\n Content-Length: %(is)d\n", None),
])
@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_each_right_length_of_a_message_is_written_again_whether_folded_or_not(fields: bytes, right: bytes | None, end: bytes) -> None:
    def mailbox(fields: bytes, message: bytes) -> bytes:
        return (b"From a@h 10:00\n" + fields % sizes + message).replace(b"\n", end)

    sizes = {name: len(one.partition(b"\n\n")[2].replace(b"\n", end)) for name, one in ((b"is", OLD), (b"now", NEW))}
    data = mailbox(fields, OLD)
    done = rewritten(data, "application/mbox")
    assert done == mailbox(fields if right is None else right, NEW)
    assert absolve.verify(data, done, media_type="application/mbox", url=URL) == []


def test_of_many_lengths_of_a_message_the_first_ones_are_written_again() -> None:
    size, new_size = (len(one.partition(b"\n\n")[2]) for one in (OLD, NEW))
    data = b"From a@h 10:00\n" + b"Content-Length: %d\n" % size * 20 + OLD
    done = rewritten(data, "application/mbox")
    assert (done.count(b"Length: %d\n" % size), done.count(b"Length: %d\n" % new_size)) == (12, 8)
    assert absolve.verify(data, done, media_type="application/mbox", url=URL) == []


@pytest.mark.parametrize("data", [b"", b"\n", b"\r\n", b"\r", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("name", ["Trash.mbox", "Out.mbx"])
def test_an_empty_file_is_a_mailbox_without_messages(data: bytes, name: str) -> None:
    assert absolve.rewrite(data, name=name, url=URL) is data
    assert codes(data, "application/mbox") == []
    assert absolve.verify(data, data, name=name) == []
    assert list(absolve.mirror_plan([Document(data, name=name)])) == []


def test_data_that_is_no_mailbox_is_an_error() -> None:
    with pytest.raises(absolve.AbsolveError, match="no-message"):
        absolve.rewrite(b"Subject: x\n\n", media_type="application/mbox")


@pytest.mark.parametrize("data", [b"\n", b"\r\n", b" \n\n"])
def test_a_blank_message_causes_no_diagnostic(data: bytes) -> None:
    assert codes(data) == codes(b"From a 10:00\n" + data + b"\nFrom b 11:00\n" + data, "application/mbox") == []


def test_a_hundred_thousand_parts_and_messages_are_counted() -> None:
    parts = multipart(*([html(b"")] * 100_000), html())
    assert [row.entity for row in rows(parts)] == ["part[100001]/body[1]"]
    messages = b"From a 10:00\n\n\n" * 100_000 + b"From a 10:00\n" + html()
    assert [row.entity for row in rows(messages, "application/mbox")] == ["message[100001]/body[1]"]
    with pytest.raises(absolve.DocumentError, match="more than 9 links"):
        walked(parts, max_links=9)


def test_multiparts_are_read_to_the_allowed_depth() -> None:
    heads = [b"Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n" % (depth, depth) for depth in range(10_000)]
    data = b"".join(heads) + html()
    began = time.process_time()
    assert rewritten(data) is data
    assert "too-deep" in {code for code, _, _ in codes(data)}
    assert time.process_time() - began < 10
    few = b"".join(heads[:20]) + html()
    assert rewritten(few) == few.replace(LINK, DONE)


@pytest.mark.parametrize("charset", ["shift_jis", "gbk", "utf-8", "iso-8859-1"])
@pytest.mark.parametrize("header", [b"Content-Base: http://b.example/\xe9a/", b"Base: <URL:http://b.example/\xe9a/>"])
def test_undecodable_bytes_of_a_header_base_are_percent_escaped_in_the_body(header: bytes, charset: str) -> None:
    head = header + b"\nContent-Type: text/html; charset=%b\n\n" % charset.encode()
    done = rewritten(head + LINK)
    assert done == head + b'<a href="http://b.example/%E9a/x">x</a>'
    assert absolve.verify(head + LINK, done, media_type="message/rfc822", url=URL) == []


def test_characters_of_a_header_are_written_in_the_charset_of_the_body() -> None:
    head = "Content-Base: http://b.example/é/\nContent-Type: text/html; charset=iso-8859-1\n\n".encode()
    assert rewritten(head + LINK) == head + b'<a href="http://b.example/\xe9/x">x</a>'


def test_chromiums_record_of_the_page_counts_for_parts_without_a_location() -> None:
    head = b"Snapshot-Content-Location: http://h.example/d/p.html\nMIME-Version: 1.0\nContent-Type: multipart/related; boundary=b\n\n"
    parts = [
        b"Content-Type: text/html\nContent-ID: <1@mhtml.blink>\n\n<iframe src=cid:2@mhtml.blink></iframe><a href=x>",
        b"Content-Type: text/html\nContent-ID: <2@mhtml.blink>\n\n<a href=y>",
        b"Content-Type: text/html\nContent-Location: http://o.example/\n\n<a href=z>",
    ]
    data = head + b"".join(b"--b\n" + part + b"\n" for part in parts) + b"--b--\n"
    rows = [(row.reference, row.target) for row in absolve.links(data, name="a.mhtml") if row.element != "header"]
    assert rows == [
        ("cid:2@mhtml.blink", "cid:2@mhtml.blink"),
        ("x", "http://h.example/d/x"),
        ("y", "http://h.example/d/y"),
        ("z", "http://o.example/z"),
    ]
    after = absolve.rewrite(data, name="a.mhtml")
    assert after == data.replace(b"=x>", b"=http://h.example/d/x>").replace(b"=y>", b"=http://h.example/d/y>").replace(b"=z>", b"=http://o.example/z>")
    assert absolve.verify(data, after, name="a.mhtml") == []
