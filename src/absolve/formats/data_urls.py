"""Documents in `data:` URLs: find them in links, decode and encode them.

In: a link and the bytes of its document. Out: the `Part` of the document in its `data:` URL, if that may have links:
for example, `<a href=x>` in the link `data:text/html,<a href=x>`.
The URL is read as browsers do it (Fetch Standard, "data: URL processor"; URL Standard 4.4): tabs and newlines in it do
not count, and `#` ends the document. No relative reference resolves in such a document: its own URL is opaque.
"""

from __future__ import annotations

import binascii
import re
from itertools import pairwise
from typing import TYPE_CHECKING, Final
from urllib.parse import quote, unquote_to_bytes

from absolve.core.errors import CodingError
from absolve.core.lazy_regex import pattern
from absolve.core.model import DATA, Part
from absolve.encodings.offset_map import IDENTITY_OFFSETS, Composed, Decoded
from absolve.formats import registry
from absolve.formats.html import link_tables, rules

if TYPE_CHECKING:
    from absolve.core.model import Link
    from absolve.core.protocols import Coding, Offsets

_KINDS: Final = frozenset({registry.HTML, registry.XML, registry.CSS})
_HEAD: Final = pattern(rb"data:([^,#]*),", re.IGNORECASE)
_PLAIN_HEAD: Final = pattern(rb"data:([^,;&\\%\t\n\r]*)[,;]", re.IGNORECASE)
_LONGEST_TYPE: Final = 100  # bytes
_IN_BASE64: Final = pattern(rb"; *base64\Z", re.IGNORECASE)
_IGNORED: Final = b"\t\n\r"  # URL Standard 4.4, step 3
_WHITE_SPACE: Final = b"\t\n\f\r "
_ESCAPE: Final = pattern(rb"%[\t\n\r]*([0-9A-Fa-f])[\t\n\r]*([0-9A-Fa-f])|[\t\n\r]")


_SAFE: Final = ":,/"  # no place needs quotes for these; not the semicolon, which separates the values of an animation


class PercentEncoded:
    """The `Coding` of a percent-encoded document in a URL, whose own coding is `outer`: `a%20b` decodes to `a b`."""

    slot: tuple[int, int] | None = None

    def __init__(self, outer: Coding) -> None:
        self._outer = outer

    def encode(self, value: bytes, after: bytes = b"", before: bytes = b"") -> bytes:
        written = quote(value, safe=_SAFE).encode()
        if b"%" in before[-2:] and value:  # a lone percent sign, which two hexadecimal digits would complete
            written = b"%%%02X" % value[0] + quote(value[1:], safe=_SAFE).encode()
        return self._outer.encode(written, after, before)

    def decode(self, raw: bytes) -> bytes:
        return _unescaped(self._outer.decode(raw))

    def decode_mapped(self, raw: bytes) -> tuple[bytes, Offsets | None]:
        url, outer = self._outer.decode_mapped(raw)
        decoded = Decoded(url)
        for found in _ESCAPE.finditer(url):
            decoded.unit(*found.span(), bytes.fromhex((found[1] + found[2]).decode()) if found[1] else b"")
        value, inner = decoded.whole()
        return value, inner if outer is IDENTITY_OFFSETS or outer is None else Composed(outer, inner)


class InBase64:
    """The `Coding` of a base64 document in a URL: for example, `YWI=` is decoded to `ab`. It maps no offsets."""

    slot: tuple[int, int] | None = None

    def __init__(self, outer: Coding) -> None:
        self._outer = outer

    def encode(self, value: bytes, after: bytes = b"", before: bytes = b"") -> bytes:
        """Return base64 without padding: `=` would need quotes, and the decoder needs none."""
        return self._outer.encode(binascii.b2a_base64(value, newline=False).rstrip(b"="), after, before)

    def decode(self, raw: bytes) -> bytes:
        return _from_base64(self._outer.decode(raw))

    def decode_mapped(self, raw: bytes) -> tuple[bytes, None]:
        return self.decode(raw), None


def _unescaped(url: bytes) -> bytes:
    """Return a URL, or its end, without percent-encoding, tabs and newlines."""
    url = url.translate(None, _IGNORED)
    try:  # as escapes of Python, which are decoded in C: icons have hundreds
        return url.replace(b"\\", rb"\\").replace(b"%", rb"\x").decode("unicode_escape").encode("latin-1")
    except UnicodeDecodeError:  # a lone percent sign
        return unquote_to_bytes(url)


def _from_base64(url: bytes) -> bytes:
    """Return the bytes of a document (Infra Standard, forgiving-base64 decode); raise CodingError if invalid."""
    text = _unescaped(url).translate(None, _WHITE_SPACE)
    if len(text) % 4 == 0:
        text = text.removesuffix(b"=").removesuffix(b"=")
    try:
        return binascii.a2b_base64(text + b"=" * (-len(text) % 4), strict_mode=True)
    except binascii.Error as error:
        raise CodingError("broken-base64", f"the data: URL is no base64: {error}") from error


def part_of(data: bytes, link: Link) -> Part | None:
    """Return the document in a `data:` URL; None for any other link, and for a document that can have no links."""
    plain = _PLAIN_HEAD.match(data[link.start : min(link.end, link.start + _LONGEST_TYPE)])
    if link.claim is not None or (plain is not None and _kind(plain[1]) not in _KINDS):
        return None  # an image in most cases, which is not decoded
    url = link.coding.decode(data[link.start : link.end])
    head = _HEAD.match(url)
    if head is None:
        return None
    media_type = head[1].translate(None, _IGNORED).strip(_WHITE_SPACE)
    in_base64 = _IN_BASE64.search(media_type)
    media_type = media_type[: in_base64.start()] if in_base64 else media_type
    kind = _kind(media_type)
    document = url[head.end() :].partition(b"#")[0]
    if kind not in _KINDS or not document:
        return None
    try:
        decoded = _from_base64(document) if in_base64 else _unescaped(document)
    except CodingError:  # as a browser shows nothing
        return None
    if not _may_have_links(kind, media_type, decoded):
        return None
    offsets = link.coding.decode_mapped(data[link.start : link.end])[1]
    if offsets is None:
        return None
    coding = InBase64(link.coding) if in_base64 else PercentEncoded(link.coding)
    start, last = (link.start + place for place in (offsets.start(head.end()), offsets.end(head.end() + len(document))))
    return Part(media_type.decode("latin-1"), start, last, coding, DATA, own_charset=True, encloses=False)


def _kind(media_type: bytes) -> str:
    return registry.kind_of(media_type.decode("latin-1"))


def _may_have_links(kind: str, media_type: bytes, value: bytes) -> bool:
    """Return whether a document may have a link to another document."""
    if kind == registry.CSS:
        return b"(" in value or b"@" in value or b"\0" in value
    if media_type[:9].lower() != b"image/svg":
        return True
    text = value.lower()
    if any(word in text for word in _WORDS):
        return True
    if b"url(" in text and _URL.search(text) is not None:
        return True
    style = text.find(b"style")
    if style >= 0 and any(text.find(mark, style) >= 0 for mark in _MARKUP):
        return True
    return any(_leads_out(*pair) for pair in pairwise(text.split(b"=")))


def _leads_out(before: bytes, after: bytes) -> bool:
    """Return whether the text around an equals sign is an attribute that may lead out of the drawing, or a handler."""
    name = b"".join(before.rsplit(None, 1)[-1:]).rpartition(b":")[2]
    return name.startswith(b"on") or (name in _NAMES and not after.lstrip(_QUOTED).startswith(b"#"))


# Links that may lead out of a drawing: the attributes of links in SVG and in the HTML in it, CSS with links, and text
# that may hide such links (declarations, escapes). Most drawings refer to their own parts only.
_NAMES: Final = {
    place.attribute.rpartition(":")[2].encode()
    for place in (*rules.html_rows(), *link_tables.SVG, *link_tables.ANIMATED)
    if place.syntax != "css"
}
_WORDS: Final = (
    *(b"@import", b"-set(", b"src(", b"http-equiv", b"script", b"xml-stylesheet", b"xml:base", b"<!doctype"),
    *(b"\\", b"&", b"\0"),
)
_MARKUP: Final = (b"<!", b"<?")  # in a style sheet, inside of the words
_URL: Final = pattern(rb"""url\([\t\n\r ]*(?:["'][\t\n\r ]*)?[^#"'\t\n\r ]""")
_QUOTED: Final = b"\t\n\r \"'"
