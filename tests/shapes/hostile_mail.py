"""Hostile mail, MHTML and mailboxes: many parts and messages, and bodies whose encoded links change."""

import base64
import binascii
from collections.abc import Callable
from typing import Final

from tests.shapes.makers import Shape, numbered, repeated

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


def _escaped(raw: bytes) -> bytes:
    return b"=" + binascii.hexlify(raw, "=").upper()


def _half_escaped(raw: bytes) -> bytes:
    return b"".join(b"=%02X" % raw[at] + raw[at + 1 : at + 2].replace(b"=", b"=3D") for at in range(0, len(raw), 2))


def _softly_broken(raw: bytes) -> bytes:
    return b"=\n".join(raw[at : at + 1].replace(b"=", b"=3D") for at in range(len(raw)))


_ENCODINGS: Final[dict[str, tuple[Callable[[bytes], bytes], float]]] = {  # and by how much each lengthens its contents
    "base64": (base64.encodebytes, 77 / 57),
    "base64, in one line": (base64.b64encode, 4 / 3),
    "quoted-printable, all escaped": (_escaped, 3),
    "quoted-printable, half of it escaped": (_half_escaped, 2),
    "quoted-printable, soft breaks everywhere": (_softly_broken, 3),
}
_LINK: Final = "<a href=x>y</a>"

SHAPES: Final[dict[str, Shape]] = {
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
        f"mail, {levels} deep": Shape(
            repeated(b"<a href=x>y</a>\n", b"Content-Type: message/rfc822\nLink: <a>\n\n" * levels + _HTML + b"\n"), _MAIL
        )
        for levels in (8, 30)
    },
    "multipart, boundaries": _parts(b"--B\n"),
    "multipart, boundaries in one line": _parts(b"--B"),
    "multipart, almost boundaries": _parts(b"--Bx\n"),
    "multipart, dashes": Shape(repeated(b"-" * 62, b"Content-Type: multipart/mixed; boundary=" + b"-" * 60 + b"\n\n"), _MAIL),
    "multipart, empty parts": _parts(b"--B\n\n\n"),
    "multipart, pages": _parts(b"--B\n" + _HTML + b"\n<a href=x>\n"),
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
