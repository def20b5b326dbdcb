"""The codings of references in CSS: in an unquoted `url()`, in a string with double or single quotes.

In: the raw bytes of a URL token or string (UTF-8). Out: the reference with escapes decoded, or the escaped bytes to
write. Section numbers are those of css-syntax-3.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from absolve.core.lazy_regex import pattern
from absolve.encodings.offset_map import Decoded

if TYPE_CHECKING:
    from absolve.core.protocols import Coding, Offsets

_REPLACEMENT = "\N{REPLACEMENT CHARACTER}".encode()
# 4.3.7, consume an escaped code point; an escaped newline (4.3.5); 3.3, NUL is U+FFFD.
_ESCAPE = pattern(
    rb"\\(?:([0-9A-Fa-f]{1,6})(?:\r\n|[ \t\n\r\f])?|(?:\r\n|[\n\r\f])([\x80-\xbf]?)|(\0)|(.)|\Z)|\0", re.DOTALL
)
_NO_ASCII, _LEADS = 0x80, 0xC0  # RFC 3629 3: bytes in this range only continue a character
_MAKE_AN_END = frozenset((b"--", b"->", b"-!", b"]]", b"]>"))  # could end a comment or CDATA section around the sheet
_SWALLOWED = b"0123456789abcdefABCDEF \t\n\r\f"  # bytes that would become part of a hex escape before them


class CSSCoding:
    """The `Coding` (absolve.core.protocols) of a reference in CSS: one instance each for unquoted and both quotes.

    No raw bytes decode to NUL: `encode` leaves NUL unchanged, and it decodes to U+FFFD.
    """

    __slots__ = ("_last", "_must")
    slot: tuple[int, int] | None = None

    def __init__(self, must: bytes, last: bytes) -> None:
        # Always escaped: `<` and `>`, which may be markup around the sheet; shift and escape characters, which can
        # switch the charset.
        self._must = pattern(must + rb"|[<>\x0e\x0f\x1b]")
        self._last = last  # the value of a backslash at the end of the file

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
        """Return the value in UTF-8; bytes that are not UTF-8 are unchanged."""
        return self.decode_mapped(raw)[0] if 0x5C in raw or 0 in raw else raw

    def decode_mapped(self, raw: bytes) -> tuple[bytes, Offsets]:
        """Return the value and its offsets, with a unit for each escape; an escaped newline decodes to nothing.

        A continuation byte behind an escaped newline does not complete a character that begins before it: it becomes
        U+FFFD (3.2, decode).
        """
        made = Decoded(raw)
        end = last = 0  # last: the last byte of the value
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
        """Return the value with escapes, and a space behind a hex escape that the next byte would extend.

        A hyphen or bracket at the end is escaped where it would end a comment or CDATA section with `after`.
        """
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


# 4.3.6: white space, quotes, parentheses, the backslash and non-printable code points; NUL is U+FFFD already.
UNQUOTED: Coding = CSSCoding(rb"[\x01-\x20\"'()\\\x7f]", _REPLACEMENT)
# 4.3.5: the ending quote, the backslash, newlines.
DOUBLE_QUOTED: Coding = CSSCoding(rb'["\\\n\r\f]', b"")
SINGLE_QUOTED: Coding = CSSCoding(rb"['\\\n\r\f]", b"")
