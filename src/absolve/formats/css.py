"""Find the references in CSS, with their byte spans, by the tokens of css-syntax-3; the codings of these references.

In: the bytes of a style sheet or of a declaration list (style attribute), in UTF-8; other bytes count as letters.
Out: links in document order. Section numbers refer to css-syntax-3.

Most bytes of most sheets belong to no link, so the scanner builds no token stream: it skips to the next byte that can
change the state (a quote, a backslash, `/`, `@`, `(`) and reads a function's name backwards from its parenthesis. It
tracks blocks only inside `@font-face` and `image-set()`, where the kind of link depends on them.
"""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, Any

from absolve.core import byte_scan
from absolve.core.lazy_regex import pattern
from absolve.core.model import Link, LinkSite
from absolve.encodings.offset_map import Decoded
from absolve.formats.events import EventList
from absolve.formats.sniffing import NAMES_MAP, SCRIPT_END
from absolve.formats.text_files import IN_SHEET, in_comment

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import cython

    from absolve.core.model import Event
    from absolve.core.protocols import Coding, Offsets
    from absolve.encodings.charsets import Charset
    from absolve.formats import WalkOptions
else:
    from absolve.core import _cython as cython


# --- the codings of references ----------------------------------------------------------------------------------------

_REPLACEMENT = "\N{REPLACEMENT CHARACTER}".encode()
# 4.3.7, consume an escaped code point; an escaped newline (4.3.5); 3.3, NUL is U+FFFD.
_ESCAPE = pattern(
    rb"\\(?:([0-9A-Fa-f]{1,6})(?:\r\n|[ \t\n\r\f])?|(?:\r\n|[\n\r\f])([\x80-\xbf]?)|(\0)|(.)|\Z)|\0", re.DOTALL
)
_NO_ASCII, _LEADS = 0x80, 0xC0  # RFC 3629 3: bytes in this range only continue a character
_MAKE_AN_END = frozenset((b"--", b"->", b"-!", b"]]", b"]>"))  # could end a comment or CDATA section around the sheet
_SWALLOWED = b"0123456789abcdefABCDEF \t\n\r\f"  # bytes that would become part of a hex escape before them


class CSSCoding:
    r"""The `Coding` (absolve.core.protocols) of a reference in CSS: one instance each for unquoted and both quotes.

    For example, `a\62 c` decodes to `abc`, and `a(b` is encoded as `a\(b` without quotes. No raw bytes decode to
    NUL: `encode` leaves NUL unchanged, and it decodes to U+FFFD.
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


# --- the scanner ------------------------------------------------------------------------------------------------------

# `url(#id)` points into the document that uses the sheet, so it is never rewritten.
URL = LinkSite("css", "url", kind="image", stays="fragment")
FONT = LinkSite("css", "url", kind="font", stays="fragment")
IMPORT = LinkSite("css", "import", kind="stylesheet", stays="fragment")
IMAGE_SET = LinkSite("css", "image-set", kind="image", stays="fragment")

_TAB, _LINE_FEED, _FORM_FEED, _RETURN, _SPACE = b"\t\n\f\r "
_QUOTE, _APOSTROPHE, _HASH, _SEMICOLON, _AT, _SLASH, _STAR, _BACKSLASH = b"\"'#;@/*\\"
_LEFT, _RIGHT, _LEFT_BRACKET, _RIGHT_BRACKET, _LEFT_BRACE, _RIGHT_BRACE = b"()[]{}"
_U, _R, _L, _C = b"urlc"
# Flag of a closing byte on the stack: it closes an image-set function or a font-face block.
_OURS = 0x80

# Roles of a skip, one bit each: the sets of bytes that it stops at.
_PLAIN, _TRACKED, _BARE, _DOUBLE, _SINGLE, _REMNANTS, _NOT_NAME, _NOT_BLANK = (1 << bit for bit in range(8))
_NAME = re.compile(rb"[-A-Za-z0-9_\x80-\xff\0]")  # 4.2, name code point; NUL is U+FFFD (3.3)
_STOPS = {
    _PLAIN: b"\"'\\@(/",
    _TRACKED: b"\"'\\@(/)[]{};",
    _BARE: b" \t\n\r\f\"'()\\" + bytes(range(1, 9)) + b"\x0b" + bytes(range(0x0E, 0x20)) + b"\x7f",
    _DOUBLE: b'"\\\n\r\f',
    _SINGLE: b"'\\\n\r\f",
    _REMNANTS: b")\\",
    _NOT_NAME: bytes(byte for byte in range(256) if not _NAME.match(bytes((byte,)))),
    _NOT_BLANK: bytes(byte for byte in range(256) if byte not in b" \t\n\r\f"),
}
_CLASS_TABLE = bytes(sum(role for role, stops in _STOPS.items() if byte in stops) for byte in range(256))
_CLASSES = _CLASS_TABLE  # a C pointer when compiled
_SEARCHES = {role: re.compile(b"[%b]" % re.escape(stops)).search for role, stops in _STOPS.items()}

_URL_FUNCTION, _SRC_FUNCTION, _IMAGE_SET_FUNCTION = 1, 2, 3
_FUNCTIONS = {
    b"url": _URL_FUNCTION,
    b"src": _SRC_FUNCTION,
    b"image-set": _IMAGE_SET_FUNCTION,
    b"-webkit-image-set": _IMAGE_SET_FUNCTION,
}
_LENGTHS = sum(1 << length for length in {len(name) for name in _FUNCTIONS})
_LAST_LETTERS = b"".join(name[-1:] + name[-1:].upper() for name in _FUNCTIONS)
_LONGEST = max(map(len, _FUNCTIONS)) + len(b"--")  # the end of a CDO token may precede it
_NAMESPACE_RULE, _FONT_FACE_RULE, _IMPORT_RULE = 1, 2, 3
_RULES = {b"namespace": _NAMESPACE_RULE, b"font-face": _FONT_FACE_RULE, b"import": _IMPORT_RULE}
_FIRST_LETTERS = b"".join(name[:1] + name[:1].upper() for name in _RULES) + b"\\"


def walk(data: bytes, *, style_attribute: bool = False, max_links: int = sys.maxsize) -> Iterator[Link]:
    """Yield the links of a style sheet or, with `style_attribute`, of a declaration list, in their order.

    For example, `a{b:url("x")}` has the link `x`. Links are the references of `url()`, `src()`, `@import` and the
    strings directly inside `image-set()`, except in the prelude of `@namespace`. References that a browser does not
    fetch because of their context (an `@import` after a rule, an unknown declaration, `url()` in `@supports`) are
    included: making them absolute is harmless, and they may be of interest in a list. A style attribute has no
    `@import`. A bad url token (4.3.6) and a bad string (4.3.5) are not links; the end of the file closes open
    constructs. Stop after `max_links` + 1 links.
    """
    return iter(_walked(data, max_links, style_attribute))


def _walked(data: bytes, max_links: cython.Py_ssize_t, style_attribute: cython.bint) -> Iterable[Any]:
    """Return the links as a list or an EventList."""
    p: cython.p_const_uchar = data
    size: cython.Py_ssize_t = len(data)
    if byte_scan.find(p, _LEFT, 0, size) < 0 and (
        style_attribute or (byte_scan.find(p, _AT, 0, size) < 0 and data.rfind(NAMES_MAP, -SCRIPT_END) < 0)
    ):
        return []
    return _Scanner(data, style_attribute, max_links).scan()


def _skip(
    p: cython.p_const_uchar, size: cython.Py_ssize_t, pos: cython.Py_ssize_t, role: cython.int
) -> cython.Py_ssize_t:
    """Return the offset of the next byte that stops a skip of this role, or `size`."""
    if cython.compiled:
        while pos + 4 <= size and not (
            (_CLASSES[p[pos]] | _CLASSES[p[pos + 1]] | _CLASSES[p[pos + 2]] | _CLASSES[p[pos + 3]]) & role
        ):
            pos += 4
        while pos < size and not _CLASSES[p[pos]] & role:
            pos += 1
        return pos
    found = _SEARCHES[role](p, pos)
    return found.start() if found else size


_SHORT = 4096  # bytes of a style attribute; below, a list uses less memory


class _Scanner:
    """One pass over one sheet. Methods take and return byte offsets; look-behind is at most one function name."""

    __slots__ = (
        "data",
        "floor",
        "fonts",
        "images",
        "import_at",
        "links",
        "map",
        "map_end",
        "most",
        "p",
        "pending",
        "size",
        "stack",
        "style_attribute",
    )

    def __init__(self, data: bytes, style_attribute: cython.bint, most: cython.Py_ssize_t) -> None:
        self.data = data
        self.p: cython.p_const_uchar = data
        self.size = len(data)
        self.style_attribute = style_attribute
        self.most = most
        self.links: list[Link] | EventList = [] if style_attribute and len(data) < _SHORT else EventList()
        self.floor = 0  # lower bound of names that are read backwards: the end of the last escape or at-keyword
        self.import_at = -1  # the offset at which the last @import has its reference, if it has one
        self.pending = 0  # the @namespace or @font-face rule whose prelude is open, or 0
        self.stack = bytearray()  # closing bytes of the open blocks, from the outermost with _OURS
        self.map: Link | None = None  # in the last comment that names a source map, and where this ends
        self.map_end = 0
        self.images = self.fonts = 0  # the number of image-set functions and font-face blocks among them

    def scan(self) -> list[Link] | EventList:
        p: cython.p_const_uchar = self.p
        size: cython.Py_ssize_t = self.size
        pos: cython.Py_ssize_t = 0
        byte: cython.int
        while len(self.links) <= self.most:
            pos = _skip(p, size, pos, _TRACKED if self.pending or len(self.stack) else _PLAIN)
            if pos >= size:
                break
            byte = p[pos]
            if byte == _LEFT:
                pos = self.parenthesis(pos)
            elif byte in (_QUOTE, _APOSTROPHE):
                pos = self.string(pos, self.string_place(pos))
            elif byte == _SLASH:
                pos = self.comment(pos) if self.byte(pos + 1) == _STAR else pos + 1
            elif byte == _AT:
                pos = self.at_keyword(pos)
            elif byte == _BACKSLASH:
                pos = self.escaped_name(pos)
            else:
                pos = self.bracket(pos, byte)
        if self.map is not None and pos >= size and self.gap(self.map_end) >= size:  # no code follows it
            self.links.append(self.map)
        return self.links

    def byte(self, pos: cython.Py_ssize_t) -> cython.int:
        return self.p[pos] if pos < self.size else -1

    def blank(self, pos: cython.Py_ssize_t) -> cython.bint:
        return pos < self.size and not _CLASSES[self.p[pos]] & _NOT_BLANK

    def comment(self, pos: cython.Py_ssize_t) -> cython.Py_ssize_t:
        # 4.3.2
        end: cython.Py_ssize_t = byte_scan.find(self.p, _STAR, pos + 2, self.size)
        while end >= 0 and self.byte(end + 1) != _SLASH:
            end = byte_scan.find(self.p, _STAR, end + 1, self.size)
        if end < 0:
            return self.size
        if self.p[pos + 2] in (_HASH, _AT) and not self.style_attribute:
            self.map = in_comment(self.data, pos + 2, end, IN_SHEET) or self.map
            self.map_end = end + 2
        return end + 2

    def gap(self, pos: cython.Py_ssize_t) -> cython.Py_ssize_t:
        while True:
            pos = _skip(self.p, self.size, pos, _NOT_BLANK)
            if self.byte(pos) != _SLASH or self.byte(pos + 1) != _STAR:
                return pos
            pos = self.comment(pos)

    def escapes(self, pos: cython.Py_ssize_t) -> cython.bint:
        # 4.3.8: the backslash at `pos` starts a valid escape
        return self.byte(pos + 1) not in (_LINE_FEED, _RETURN, _FORM_FEED)

    def escape(self, pos: cython.Py_ssize_t) -> cython.Py_ssize_t:
        # 4.3.7, and an escaped newline in a string (4.3.5); CR LF is one code point (3.3)
        first: cython.Py_ssize_t = pos + 1
        end: cython.Py_ssize_t = first
        byte: cython.int = self.byte(end)
        while end < first + 6 and (48 <= byte <= 57 or 97 <= byte | 0x20 <= 102):
            end += 1
            byte = self.byte(end)
        if end > first and not self.blank(end):
            return end
        return end + (2 if byte == _RETURN and self.byte(end + 1) == _LINE_FEED else 1)

    def name_end(self, pos: cython.Py_ssize_t) -> cython.Py_ssize_t:
        # 4.3.11, consume a name
        while True:
            pos = _skip(self.p, self.size, pos, _NOT_NAME)
            if self.byte(pos) != _BACKSLASH or not self.escapes(pos):
                return pos
            pos = self.escape(pos)

    def name_start(self, pos: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Return the start of the name that continues at `pos`; -1 for the name of a hash token.

        A run of name code points that equals a name in _FUNCTIONS is a whole token, unless `#` precedes it or the run
        begins with the end of a CDO token: were it the unit of a number, the run would begin with the number, and names
        behind `@` are read forwards.
        """
        start: cython.Py_ssize_t = pos
        floor: cython.Py_ssize_t = max(self.floor, pos - _LONGEST)
        while start > floor and not _CLASSES[self.p[start - 1]] & _NOT_NAME:
            start -= 1
        if start >= self.floor + 2 and self.data.startswith(b"<!--", start - 2):
            return start + 2
        return -1 if start > self.floor and self.p[start - 1] == _HASH else start

    def escaped_name(self, pos: cython.Py_ssize_t) -> cython.Py_ssize_t:
        if not self.escapes(pos):
            return pos + 1
        start: cython.Py_ssize_t = self.name_start(pos)
        end: cython.Py_ssize_t = self.name_end(pos)
        self.floor = end
        return self.function(start, end) if self.byte(end) == _LEFT else end

    def parenthesis(self, pos: cython.Py_ssize_t) -> cython.Py_ssize_t:
        # The last letter or the length rules out most functions that are not in _FUNCTIONS.
        if pos > self.floor and self.p[pos - 1] in _LAST_LETTERS:
            start: cython.Py_ssize_t = self.name_start(pos)
            if start >= 0 and _LENGTHS >> (pos - start) & 1:
                return self.function(start, pos)
        return self.open(pos, _RIGHT)

    def function(self, start: cython.Py_ssize_t, pos: cython.Py_ssize_t) -> cython.Py_ssize_t:
        # 4.3.4, consume an ident-like token: the name is the span from `start` to the parenthesis at `pos`
        kind: cython.int = self.function_kind(start, pos)
        first: cython.Py_ssize_t
        if kind == _IMAGE_SET_FUNCTION:
            self.images += 1
            self.stack.append(_RIGHT | _OURS)
            return pos + 1
        if kind == _URL_FUNCTION:
            first = _skip(self.p, self.size, pos + 1, _NOT_BLANK)
            if self.byte(first) not in (_QUOTE, _APOSTROPHE):
                return self.bare(first, self.place(start))
        elif kind == _SRC_FUNCTION:
            first = self.gap(pos + 1)
        else:
            return self.open(pos, _RIGHT)
        self.open(pos, _RIGHT)
        return self.string(first, self.place(start)) if self.byte(first) in (_QUOTE, _APOSTROPHE) else first

    def function_kind(self, start: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.int:
        p: cython.p_const_uchar = self.p
        if start < 0:
            return 0
        if end - start == 3 and p[start + 2] | 32 != _C:  # three bytes with an escape are fewer than three characters
            return _URL_FUNCTION if p[start] | 32 == _U and p[start + 1] | 32 == _R and p[start + 2] | 32 == _L else 0
        kind: cython.int = _FUNCTIONS.get(UNQUOTED.decode(self.data[start:end]).lower(), 0)
        return kind

    def place(self, start: cython.Py_ssize_t) -> LinkSite | None:
        if self.pending == _NAMESPACE_RULE:
            return None
        if start == self.import_at:
            return None if self.style_attribute else IMPORT
        if self.images:
            return IMAGE_SET
        return FONT if self.fonts else URL

    def string_place(self, pos: cython.Py_ssize_t) -> LinkSite | None:
        if self.pending == _NAMESPACE_RULE:
            return None
        if pos == self.import_at:
            return None if self.style_attribute else IMPORT
        directly = len(self.stack) and self.stack[len(self.stack) - 1] == _RIGHT | _OURS
        return IMAGE_SET if directly else None

    def bare(self, start: cython.Py_ssize_t, place: LinkSite | None) -> cython.Py_ssize_t:
        # 4.3.6, consume a url token, after the white space
        end: cython.Py_ssize_t = start
        closing: cython.Py_ssize_t
        while True:
            end = _skip(self.p, self.size, end, _BARE)
            if self.byte(end) != _BACKSLASH or not self.escapes(end):
                break
            end = self.escape(end)
        closing = _skip(self.p, self.size, end, _NOT_BLANK)
        if closing < self.size and self.p[closing] != _RIGHT:
            return self.remnants(end)
        if place is not None:
            self.links.append(Link(place, start, min(end, self.size), UNQUOTED))
        return closing + 1

    def remnants(self, pos: cython.Py_ssize_t) -> cython.Py_ssize_t:
        # 4.3.14, consume the remnants of a bad url
        while True:
            pos = _skip(self.p, self.size, pos, _REMNANTS)
            if self.byte(pos) != _BACKSLASH:
                return pos + 1
            pos = self.escape(pos) if self.escapes(pos) else pos + 1

    def string(self, pos: cython.Py_ssize_t, place: LinkSite | None) -> cython.Py_ssize_t:
        # 4.3.5, consume a string token; `pos` is the offset of its quote
        quote: cython.int = self.p[pos]
        role: cython.int = _DOUBLE if quote == _QUOTE else _SINGLE
        start: cython.Py_ssize_t = pos + 1
        end: cython.Py_ssize_t = start
        escaped: cython.Py_ssize_t = start  # white space before here belongs to an escape
        while True:
            end = _skip(self.p, self.size, end, role)
            if self.byte(end) != _BACKSLASH:
                break
            escaped = end = min(self.escape(end), self.size)
        if end < self.size and self.p[end] != quote:
            return end
        if place is None:
            return end + 1
        pos = end + 1
        while start < end and self.blank(start):
            start += 1
        while end > start and end > escaped and self.blank(end - 1):
            end -= 1
        self.links.append(Link(place, start, end, DOUBLE_QUOTED if quote == _QUOTE else SINGLE_QUOTED))
        return pos

    def at_keyword(self, pos: cython.Py_ssize_t) -> cython.Py_ssize_t:
        # 4.3.1, U+0040; without a name this consumes one byte; a number and its unit are no function name
        end: cython.Py_ssize_t = self.name_end(pos + 1)
        self.floor = end
        if end == pos + 1 or self.p[pos + 1] not in _FIRST_LETTERS:
            return end
        rule: cython.int = _RULES.get(UNQUOTED.decode(self.data[pos + 1 : end]).lower(), 0)
        if rule == _IMPORT_RULE:
            self.import_at = end = self.gap(end)
        elif rule:
            self.pending = rule
        return end

    def open(self, pos: cython.Py_ssize_t, closing: cython.int) -> cython.Py_ssize_t:
        if len(self.stack):
            self.stack.append(closing)
        return pos + 1

    def bracket(self, pos: cython.Py_ssize_t, byte: cython.int) -> cython.Py_ssize_t:
        # 5.4.7 to 5.4.9: a block ends at its own closing byte; other closing bytes inside it are ignored
        if byte == _LEFT_BRACKET:
            return self.open(pos, _RIGHT_BRACKET)
        if byte == _LEFT_BRACE and self.pending == _FONT_FACE_RULE:
            self.fonts += 1
            self.stack.append(_RIGHT_BRACE | _OURS)
        elif byte == _LEFT_BRACE:
            self.open(pos, _RIGHT_BRACE)
        elif len(self.stack) and self.stack[len(self.stack) - 1] == byte:
            self.stack.pop()
        elif len(self.stack) and self.stack[len(self.stack) - 1] == byte | _OURS:
            self.stack.pop()
            self.images -= byte == _RIGHT
            self.fonts -= byte == _RIGHT_BRACE
        if byte not in (_RIGHT, _RIGHT_BRACKET):
            self.pending = 0
        return pos + 1


def walk_sheet(data: bytes, _charset: Charset, options: WalkOptions) -> Iterable[Event]:
    """Return the links of a text/css document (a `Walker`)."""
    return _walked(data, options.max_links, False)


def walk_declarations(data: bytes, _charset: Charset, options: WalkOptions) -> Iterable[Event]:
    """Return the links of a style attribute's value (a `Walker`)."""
    return _walked(data, options.max_links, True)
