"""How a reference is written in CSS: in an unquoted `url()`, in a string with either quote (css-syntax-3)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from absolve.encodings.offset_map import Decoded

if TYPE_CHECKING:
    from absolve.core.protocols import Coding, Offsets

_REPLACEMENT = "\N{REPLACEMENT CHARACTER}".encode()
# 4.3.7, consume an escaped code point; an escaped newline (4.3.5); 3.3, NUL is U+FFFD.
_ESCAPE = re.compile(
    rb"\\(?:([0-9A-Fa-f]{1,6})(?:\r\n|[ \t\n\r\f])?|(?:\r\n|[\n\r\f])([\x80-\xbf]?)|(\0)|(.)|\Z)|\0", re.DOTALL
)
_NO_ASCII, _LEADS = 0x80, 0xC0  # RFC 3629 3: the bytes between are never the first ones of a character
_MAKE_AN_END = frozenset((b"--", b"->", b"-!", b"]]", b"]>"))  # where they meet: of a comment, of a CDATA section
_SWALLOWED = b"0123456789abcdefABCDEF \t\n\r\f"  # what a hex escape would take in, were it to follow


class CSSCoding:
    """How a reference is written in one of CSS's three places; a `Coding` (absolve.core.protocols).

    No raw bytes decode to NUL: encode passes it on, and it reads as U+FFFD.
    """

    __slots__ = ("_last", "_must")
    slot: tuple[int, int] | None = None

    def __init__(self, must: bytes, last: bytes) -> None:
        # `<` and `>` may be markup around a style sheet, and shift and escape characters can switch the charset,
        # whatever CSS makes of them.
        self._must = re.compile(must + rb"|[<>\x0e\x0f\x1b]")
        self._last = last  # what a backslash before the end of the file stands for

    def _value(self, escape: re.Match[bytes]) -> bytes:
        digits, behind_newline, _, character = escape.groups()
        if digits:
            code = int(digits, 16)
            if code == 0 or code > 0x10FFFF or 0xD800 <= code <= 0xDFFF:
                return _REPLACEMENT
            return chr(code).encode()
        if behind_newline is not None:
            return bytes(behind_newline)
        if character:
            return bytes(character)
        return self._last if escape[0] == b"\\" else _REPLACEMENT

    def decode(self, raw: bytes) -> bytes:
        """Read the value, in UTF-8; bytes that are no UTF-8 come through."""
        return self.decode_mapped(raw)[0] if 0x5C in raw or 0 in raw else raw

    def decode_mapped(self, raw: bytes) -> tuple[bytes, Offsets]:
        """Read the value, with a unit for each escape; that of an escaped newline is empty on the value's side.

        A byte that is no character does not become one by what is before the escape: it becomes U+FFFD (3.2, decode).
        """
        made = Decoded(raw)
        end = last = 0  # the last byte of the value
        for escape in _ESCAPE.finditer(raw):
            start = escape.start()
            if start > end:
                last = raw[start - 1]
            end = escape.end()
            value = self._value(escape)
            if value:
                if last >= _NO_ASCII and _NO_ASCII <= value[0] < _LEADS:
                    value = _REPLACEMENT
                last = value[-1]
            made.unit(start, end, value)
        return made.whole()

    def encode(self, value: bytes, after: bytes = b"", before: bytes = b"") -> bytes:  # noqa: ARG002 - escapes are closed
        """Write the value with escapes where it needs them, and white space after those of them that need it."""
        last = value[-1:] if value[-1:] + after[:1] in _MAKE_AN_END else b""
        value = value[: len(value) - len(last)]
        context = value + (b"\\" if last else after[:3])
        made = Decoded(value, False)
        for found in self._must.finditer(context):
            start, end = found.span()
            if start >= len(value):
                break
            character = found[0]
            if character in b" \"'()\\":
                made.unit(start, end, b"\\" + character)
                continue
            escaped = end < len(value) and self._must.match(context, end)
            swallows = context[end : end + 1] and context[end] in _SWALLOWED and not escaped
            made.unit(start, end, b"\\%x%b" % (character[0], b" " if swallows else b""))
        raw: bytes = made.whole()[0]
        return raw + b"\\%x " % last[0] if last else raw


# 4.3.6: white space, quotes, parentheses, the backslash and what is not printable. NUL is U+FFFD by then.
UNQUOTED: Coding = CSSCoding(rb"[\x01-\x20\"'()\\\x7f]", _REPLACEMENT)
# 4.3.5: the quote that ends it, the backslash, newlines.
DOUBLE_QUOTED: Coding = CSSCoding(rb'["\\\n\r\f]', b"")
SINGLE_QUOTED: Coding = CSSCoding(rb"['\\\n\r\f]", b"")
