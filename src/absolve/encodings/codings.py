"""Decode and encode references and inner documents in their context (text, quoted or unquoted attribute value).

In: raw bytes in the document's charset. Out: values in UTF-8 with their offsets, and raw bytes for new values. One
class per coding (`core.protocols.Coding`), for character references and quotes of HTML (HTML Standard 13.2.5.72 to .80,
13.1.2.3) and plain text. Bytes that are no character survive decoding and encoding: unchanged in a UTF-8 document, as
the UTF-8 form of a lone surrogate in others.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Final

from absolve.core import byte_scan
from absolve.encodings.charsets import UTF_8, Charset
from absolve.encodings.offset_map import (
    ASCII,
    IDENTITY_OFFSETS,
    SEQUENCES,
    CharacterOffsets,
    Composed,
    Decoded,
    Joined,
    States,
    Utf16Offsets,
    decode_shifted,
    reads_the_same,
    replaced,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    import cython

    from absolve.core.protocols import Coding, Offsets

    Piece = tuple[Coding, int, int]
    Slot = tuple[int, int]
    Read = tuple[int, bytes]  # the end offset of a reference, and its characters in UTF-8
else:
    from absolve.core import _cython as cython


_REPLACEMENT: Final = "\N{REPLACEMENT CHARACTER}".encode()
# Most bytes before and after a value that a coding reads; the longest named character reference has 33.
LOOK_AHEAD = 64


def to_utf8(charset: Charset, raw: bytes) -> bytes:
    """Decode raw bytes to UTF-8."""
    if charset.codec == "utf-8" or (charset.transparent and raw.isascii()):
        return raw
    if not charset.transparent and not charset.name.startswith("utf-16"):
        return to_utf8_mapped(charset, raw)[0]
    return charset.decode(raw).encode("utf-8", "surrogatepass")


def to_utf8_mapped(charset: Charset, raw: bytes) -> tuple[bytes, Offsets]:
    """Decode raw bytes to UTF-8; return the value and its offsets."""
    if charset.codec == "utf-8" or (charset.transparent and raw.isascii()):
        return raw, IDENTITY_OFFSETS
    if charset.name.startswith("utf-16"):
        value = to_utf8(charset, raw)
        return value, Utf16Offsets(value, len(raw))
    if not charset.transparent:
        return decode_shifted(raw)
    offsets = CharacterOffsets(charset, raw)
    return offsets.value, offsets


def from_utf8(charset: Charset, value: bytes, errors: str, after: bytes = b"") -> bytes:
    """Encode a UTF-8 value in a charset; `errors` is an error handler of charsets.py for characters that it lacks.

    `after` are the raw bytes that follow the value.
    """
    if charset is UTF_8 or (charset.transparent and value.isascii()):
        return value
    followed_by = after[:1].decode("ascii") if after[:1].isascii() else ""
    return charset.encode(value.decode("utf-8", "absolve.surrogates"), errors, followed_by)


@cython.no_gc
@cython.cclass
class Raw:
    """Text without escapes: a style sheet in a style element, JSON in a script element, a whole file in its charset."""

    def __init__(self, charset: Charset) -> None:
        self._charset = charset
        self.slot: tuple[int, int] | None = None

    def decode(self, raw: bytes) -> bytes:
        return to_utf8(self._charset, raw)

    def decode_mapped(self, raw: bytes) -> tuple[bytes, Offsets]:
        return to_utf8_mapped(self._charset, raw)

    def encode(self, value: bytes, after: bytes = b"", before: bytes = b"") -> bytes:  # noqa: ARG002 - nothing is escaped
        return from_utf8(self._charset, value, "absolve.percent", after)


class ShiftedText:
    """A whole file in ISO-2022-JP: each edit begins and ends in the decoder state of the bytes around it."""

    slot: tuple[int, int] | None = None

    def __init__(self, charset: Charset) -> None:
        self._charset = charset
        self._states = States()

    def decode(self, raw: bytes) -> bytes:
        return to_utf8(self._charset, raw)

    def decode_mapped(self, raw: bytes) -> tuple[bytes, Offsets]:
        self._states = States()
        return decode_shifted(raw, self._states)

    def encoder(self, start: int, end: int) -> Callable[[bytes, bytes, bytes], bytes]:
        """Return an encoder for text that replaces this span of the raw bytes of the last `decode_mapped`."""
        before, after = self._states.at(start), self._states.at(end)

        def encode(value: bytes, _after: bytes, _before: bytes) -> bytes:
            raw = self.encode(value)
            if before == after and reads_the_same(raw, before):
                return raw
            opening = SEQUENCES[ASCII] if before != ASCII else b""
            closing = SEQUENCES[after] if after != ASCII else b""
            return opening + raw + closing

        return encode

    def encode(self, value: bytes, after: bytes = b"", before: bytes = b"") -> bytes:  # noqa: ARG002 - `encoder` uses them
        """Encode a UTF-8 text, beginning and ending in the ASCII state."""
        return from_utf8(self._charset, value, "absolve.percent")


class Pieces:
    """Text in pieces, each with a coding of its own, and markup between them that is no part of the value.

    For example, `a<![CDATA[&]]><!-- -->b` in XML decodes to `a&b`. `split` returns the pieces of raw bytes: coding,
    start and end. Markup inside bytes that are replaced is written after the new ones.
    """

    slot: tuple[int, int] | None = None

    def __init__(self, split: Callable[[bytes], Iterable[Piece]]) -> None:
        self._split = split
        self._raw = b""
        self._codings: list[Coding] = []
        self._starts: list[int] = []
        self._ends: list[int] = []

    def decode(self, raw: bytes) -> bytes:
        return b"".join([coding.decode(raw[start:end]) for coding, start, end in self._split(raw)])

    def decode_mapped(self, raw: bytes) -> tuple[bytes, Offsets]:
        self._raw = raw
        self._codings, self._starts, self._ends = [], [], []
        joined = Joined()
        values: list[bytes] = []
        size = 0
        for coding, start, end in self._split(raw):
            value, offsets = coding.decode_mapped(raw[start:end])
            self._codings.append(coding)
            self._starts.append(start)
            self._ends.append(end)
            if value and offsets is not None:  # for mypy: text has offsets
                joined.add(size, start, offsets)
                values.append(value)
                size += len(value)
        return b"".join(values), joined

    def folds(self, raw: bytes) -> bool:
        """Return whether an entity expands to more than a character (`CharacterData.folds`)."""
        found = ((getattr(coding, "folds", None), start, end) for coding, start, end in self._split(raw))
        return any(folds(raw[start:end]) for folds, start, end in found if folds is not None)

    def encoder(self, start: int, end: int) -> Callable[[bytes, bytes, bytes], bytes]:
        """Return an encoder for text that replaces this span of the raw bytes of the last `decode_mapped`."""
        encode = self._codings[max(0, bisect_right(self._starts, start) - 1)].encode
        markup = self.markup(start, end)
        if not markup:
            return encode
        return lambda value, _, before: encode(value, markup[:LOOK_AHEAD], before) + markup

    def markup(self, start: int, end: int) -> bytes:
        """Return the markup between pieces in this span of the same raw bytes."""
        first = max(0, bisect_right(self._starts, start) - 1)
        last = max(first, bisect_left(self._starts, end) - 1)
        between = zip(self._ends[first:last], self._starts[first + 1 : last + 1], strict=True)
        return b"".join([self._raw[one:other] for one, other in between])

    def encode(self, value: bytes, after: bytes = b"", before: bytes = b"") -> bytes:
        return self._codings[0].encode(value, after, before)


IDENTITY: Final = Raw(UTF_8)  # values equal to their raw bytes, text or not

_SPECIAL: Final = re.compile(rb"[&\r\x00]")
# Characters to be written as references. A raw `<` ends noscript if scripting is enabled (13.2.6.4.7), and a raw shift
# or escape character can change the decoder's state (Encoding Standard 12.2), also in a charset that a browser guessed.
_MUST: Final = {quote: re.compile(b"[&<>\\r\x0e\x0f\x1b%b]" % quote) for quote in (b"", b'"', b"'")}


def only_ampersands(
    p: cython.p_const_uchar, i: cython.Py_ssize_t, end: cython.Py_ssize_t, attribute: cython.bint
) -> cython.bint:
    """Return whether each `&` of a span begins `&amp;`, or in an attribute `&name=`, which is no reference (13.2.5.73).

    This is the case for nearly all values that contain an `&`.
    """
    i = byte_scan.find(p, 38, i, end)
    while i >= 0:
        if i + 4 < end and p[i + 1] == 97 and p[i + 2] == 109 and p[i + 3] == 112 and p[i + 4] == 59:
            i += 5
        elif attribute:
            i += 1
            while i < end and (97 <= p[i] | 32 <= 122 or 48 <= p[i] <= 57):
                i += 1
            if i >= end or p[i] != 61:
                return False
        else:
            return False
        i = byte_scan.find(p, 38, i, end)
    return True


def _stands_for_itself(raw: bytes, start: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.bint:
    """Return whether a span is ASCII without `&`, CR and NUL, so that it decodes to itself."""
    p: cython.p_const_uchar = raw
    i: cython.Py_ssize_t
    odd: cython.uchar = 0
    if cython.compiled:
        for i in range(start, end):  # without an early exit, so that the compiler can vectorize it
            odd |= (p[i] == 38) | (p[i] == 13) | (p[i] == 0) | (p[i] > 127)
        return odd == 0
    return raw[start:end].isascii() and not _SPECIAL.search(raw, start, end)


@cython.no_gc
@cython.cclass
class CharacterReferences:
    """Text with character references: an attribute value or an element's text (HTML Standard 13.2.5.72 to .80).

    For example, `a&amp;b` decodes to `a&b`, and `a&copy"` encodes to `a&amp;copy&quot;` in double quotes. `quote` is
    the quote character around an attribute value, empty for text. Newlines are normalized (13.2.3.5).
    """

    def __init__(self, charset: Charset, quote: bytes) -> None:
        self.slot: tuple[int, int] | None = None
        self._charset = charset
        self._transparent = charset.transparent
        self._attribute = bool(quote)
        self._must = _MUST[quote]

    def decode(self, raw: bytes) -> bytes:
        if self.is_plain(raw, 0, len(raw)):
            return raw
        value: bytes = raw if self._transparent and raw.isascii() else to_utf8(self._charset, raw)
        if 0x0D not in value and 0 not in value:  # numbers: `bytes in bytes` raises and catches an error inside
            if 0x26 not in value:
                return value
            if only_ampersands(value, 0, len(value), self._attribute):
                return value.replace(b"&amp;", b"&")
        decoded: bytes
        decoded, _ = self._mapped(value, False)
        return decoded

    def is_plain(self, data: bytes, start: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.bint:
        """Return whether the raw value in this span is ASCII and decodes to itself."""
        return self._transparent and _stands_for_itself(data, start, end)

    def decode_mapped(self, raw: bytes) -> tuple[bytes, Offsets]:
        if self.is_plain(raw, 0, len(raw)):
            return raw, IDENTITY_OFFSETS
        utf8, outer = to_utf8_mapped(self._charset, raw)
        if 0x26 not in utf8 and 0x0D not in utf8 and 0 not in utf8:
            return utf8, outer
        value, inner = self._mapped(utf8, True)
        return value, inner if outer is IDENTITY_OFFSETS else Composed(outer, inner)

    def _mapped(self, utf8: bytes, mapped: cython.bint) -> tuple:  # type: ignore[type-arg]
        """Decode references and newlines; return the value and, if `mapped`, its offsets in `utf8`.

        All delimiters are ASCII, so bytes can be compared instead of characters.
        """
        p: cython.p_const_uchar = utf8
        n: cython.Py_ssize_t = len(utf8)
        i: cython.Py_ssize_t = 0
        end: cython.Py_ssize_t
        made = Decoded(utf8, mapped)
        while i < n:
            if p[i] != 38 and p[i] != 13 and p[i] != 0:
                i += 1
                continue
            end = i + 1
            if p[i] == 38:
                reference = reference_at(utf8, i, n, self._attribute)
                if reference is not None:
                    end = reference[0]
                    made.unit(i, end, reference[1])
            elif p[i] == 13:
                if end < n and p[end] == 10:
                    end += 1
                made.unit(i, end, b"\n")
            else:
                made.unit(i, end, _REPLACEMENT)
            i = end
        return made.whole()

    def encode(self, value: bytes, after: bytes = b"", before: bytes = b"") -> bytes:
        if self._must.search(value):
            text = value + after[:64]
            value = replaced(self._must, lambda found: self._escaped(found, text), value)
        raw = from_utf8(self._charset, value, "absolve.references", after)
        return b";" + raw if before[-1:].isalnum() and self._swallows(before, raw + after) else raw

    def _swallows(self, before: bytes, raw: bytes) -> bool:
        """Return whether a reference without semicolon at the end of `before` would change if `raw` followed it."""
        open_reference = _UNTERMINATED.search(before)
        if open_reference is None:
            return False
        text = open_reference[0]
        alone, followed = (reference_at(text + rest, 0, len(text + rest), self._attribute) for rest in (b"", raw[:64]))
        return alone is not None and alone[0] == len(text) and alone != followed

    def _escaped(self, found: re.Match[bytes], text: bytes) -> bytes:
        character = found[0]
        if character != b"&":
            return _NAMED.get(character) or b"&#%d;" % ord(character)
        needed = needs_escape(text, found.start(), attribute=self._attribute)
        return b"&amp;" if needed else character


_NAMED: Final = {b'"': b"&quot;", b"<": b"&lt;", b">": b"&gt;"}
_UNTERMINATED: Final = re.compile(rb"&#?[A-Za-z0-9]++\Z")
_quoting = bytes(byte in b"\t\n\f\r \"'=<>`" for byte in range(256))
_QUOTING = _quoting


@cython.no_gc
@cython.cclass
class Unquoted(CharacterReferences):
    """An unquoted attribute value, or an attribute without a value; `slot` is the span that `settle` encodes again.

    New text is escaped for double quotes; whether quotes are needed is decided after all edits of the value are known.
    Without a slot it is the template for all values that are one link each: EventList makes their codings by `of`.
    """

    def __init__(self, charset: Charset, slot: tuple[int, int] | None, *, absent: bool = False) -> None:
        super().__init__(charset, b'"')
        self.slot = slot
        self._absent = absent

    def of(self, slot: Slot) -> Unquoted:
        """Return the same coding with another slot; without a constructor call, which is slow for millions."""
        coding: Unquoted = Unquoted.__new__(Unquoted)
        coding.slot = slot
        coding._charset = self._charset
        coding._transparent = self._transparent
        coding._attribute = self._attribute
        coding._must = self._must
        coding._absent = self._absent
        return coding

    def settle(self, raw: bytes) -> bytes:
        """Return the raw bytes of the slot, with quotes and `=` as needed: for example, `a b` gives `"a b"`."""
        return b"".join(self.parts(raw))

    def parts(self, raw: bytes) -> tuple[bytes, bytes, bytes]:
        """Return the bytes of `settle` in three parts: before the value, the value, behind the value."""
        if raw and not self._absent and not _needs_quotes(raw, len(raw)):
            return b"", raw, b""
        return b'="' if self._absent else b'"', raw.replace(b'"', b"&quot;"), b'"'


def _needs_quotes(p: cython.p_const_uchar, size: cython.Py_ssize_t) -> cython.bint:
    """Return whether these bytes cannot be an unquoted attribute value (HTML Standard 13.1.2.3)."""
    i: cython.Py_ssize_t = 0
    quoting: cython.p_const_uchar = _QUOTING
    while i < size and not quoting[p[i]]:
        i += 1
    return i < size


def quoted(charset: Charset, quote: int) -> CharacterReferences:
    """Return the coding of values in these quotes (a byte), cached by charset."""
    key = (charset, quote)
    if key not in _QUOTED:
        _QUOTED[key] = CharacterReferences(charset, bytes((quote,)))
    return _QUOTED[key]


_QUOTED: Final[dict[tuple[Charset, int], CharacterReferences]] = {}


# --- character references ---------------------------------------------------------------------------------------------

# 13.2.5.80, numeric character reference end state: numbers in the C1 range are bytes of windows-1252
_WINDOWS_1252: Final[dict[int, bytes]] = {
    byte: bytes((byte,)).decode("windows-1252").encode()
    for byte in range(0x80, 0xA0)
    if byte not in (0x81, 0x8D, 0x8F, 0x90, 0x9D)
}
_BEYOND = 0x110000  # larger numbers are clamped to this one, against overflow

# Names that are valid without a semicolon, with their characters: ISO 8859-1, in its order, and
# markup. The longest has six letters; the longest of all names has 32 characters with its semicolon.
_LATIN_1: Final = (
    "nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 sup3 acute"
    " micro para middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde Auml Aring"
    " AElig Ccedil Egrave Eacute Ecirc Euml Igrave Iacute Icirc Iuml ETH Ntilde Ograve Oacute Ocirc Otilde Ouml"
    " times Oslash Ugrave Uacute Ucirc Uuml Yacute THORN szlig agrave aacute acirc atilde auml aring aelig ccedil"
    " egrave eacute ecirc euml igrave iacute icirc iuml eth ntilde ograve oacute ocirc otilde ouml divide oslash"
    " ugrave uacute ucirc uuml yacute thorn yuml"
).split()
_WITHOUT_SEMICOLON: Final[dict[str, bytes]] = {
    **{name: chr(code).encode() for code, name in enumerate(_LATIN_1, start=0xA0)},
    **dict.fromkeys(("AMP", "amp"), b"&"),
    **dict.fromkeys(("GT", "gt"), b">"),
    **dict.fromkeys(("LT", "lt"), b"<"),
    **dict.fromkeys(("QUOT", "quot"), b'"'),
    "COPY": "\N{COPYRIGHT SIGN}".encode(),
    "REG": "\N{REGISTERED SIGN}".encode(),
}
_LONGEST_WITHOUT_SEMICOLON: Final = max(map(len, _WITHOUT_SEMICOLON))
_LONGEST = 31
# Cache of names with a semicolon, and their characters.
_KNOWN: Final[dict[bytes, bytes]] = {name.encode(): text for name, text in _WITHOUT_SEMICOLON.items()}


def needs_escape(text: bytes, at: int, attribute: bool) -> bool:
    """Return whether an `&` must be written as `&amp;`: for example, in `a&copy`, but not in `a&b`.

    The text must go on as in the document; the end of the text is the end of the value.
    """
    return reference_at(text, at, len(text), attribute) is not None


def reference_at(value: bytes, at: cython.Py_ssize_t, size: cython.Py_ssize_t, attribute: cython.bint) -> Read | None:
    """Decode the reference whose `&` is at this offset (13.2.5.72); return None if there is no reference.

    Return the offset behind it and its characters in UTF-8: for example, `&eacute;x` gives 8 and `é`. Only
    `value[:size]` is read.
    """
    p: cython.p_const_uchar = value
    start: cython.Py_ssize_t = at + 1
    end: cython.Py_ssize_t = start
    length: cython.Py_ssize_t
    if start < size and p[start] == 35:
        return _numeric(value, start + 1, size)
    if start >= size or not 97 <= p[start] | 32 <= 122:
        return None  # an ASCII alphanumeric or a number sign and digits must follow: flush
    while end < size and end - start < _LONGEST and (97 <= p[end] | 32 <= 122 or 48 <= p[end] <= 57):
        end += 1
    name: bytes = p[start:end]
    if end < size and p[end] == 59:
        text = _named(name)
        if text is not None:
            return end + 1, text
    # 13.2.5.73, named character reference state: the longest name that is a prefix of the text
    letters = name.decode("ascii")
    length = _begins_with(letters)
    if not length:
        return None  # 13.2.5.74, ambiguous ampersand state: not a reference
    if attribute and (length < end - start or (end < size and p[end] == 61)):
        return None  # "for historical reasons": flush
    return start + length, _WITHOUT_SEMICOLON[letters[:length]]


def _named(name: bytes) -> bytes | None:
    """Return the characters of a name before a semicolon, or None: for example, `eacute` gives `é`."""
    found: bytes | None = _KNOWN.get(name)
    if found is None:
        text = _all_names().get(name.decode("ascii") + ";")
        if text is not None:
            found = _KNOWN[name] = text.encode()
    return found


@cache
def _all_names() -> dict[str, str]:
    """Return all 2,231 names (13.5); loaded lazily, as few documents need them."""
    from html.entities import html5

    return html5


@lru_cache(maxsize=1024)
def _begins_with(name: str) -> int:
    """Return the length of the longest prefix that is a name valid without a semicolon, or 0."""
    for length in range(min(len(name), _LONGEST_WITHOUT_SEMICOLON), 1, -1):
        if name[:length] in _WITHOUT_SEMICOLON:
            return length
    return 0


def _numeric(value: bytes, at: cython.Py_ssize_t, size: cython.Py_ssize_t) -> Read | None:
    """Return the offset after a numeric reference (13.2.5.75), and its character; None if no digit follows.

    `at` is the offset after the number sign: for example, `&#x41;` and 2 give `(6, b"A")`.
    """
    p: cython.p_const_uchar = value
    base: cython.int = 10
    number: cython.int = 0
    digit: cython.int
    start: cython.Py_ssize_t
    if at < size and p[at] | 32 == 120:  # x
        base = 16
        at += 1
    start = at
    while at < size:
        if 48 <= p[at] <= 57:  # 0-9
            digit = p[at] - 48
        elif base == 16 and 97 <= p[at] | 32 <= 102:  # a-f
            digit = (p[at] | 32) - 87
        else:
            break
        number = min(number * base + digit, _BEYOND)
        at += 1
    if at == start:
        return None  # 13.2.5.76 and .77: it is text
    if at < size and p[at] == 59:  # ;
        at += 1
    return at, _character(number)


def _character(number: int) -> bytes:
    """Return the character of a number in UTF-8 (13.2.5.80): for example, 128 gives `€`, as in windows-1252."""
    if number in _WINDOWS_1252:
        return _WINDOWS_1252[number]
    if number == 0 or number > 0x10FFFF or 0xD800 <= number <= 0xDFFF:
        return _REPLACEMENT
    return chr(number).encode()  # noncharacters and controls too: parse errors without effect
