"""Codings of references and inner documents in XML: attribute values, character data, CDATA sections.

In: raw bytes in UTF-8 (other charsets are converted before the walk). Out: the value with references and line ends
decoded, or escaped bytes to write. Output is limited to characters of the document's own charset; others become
character references or percent escapes. Section numbers refer to XML 1.0.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from absolve.core import byte_scan
from absolve.core.byte_scan import tag_end
from absolve.core.errors import WalkError
from absolve.encodings.charsets import UTF_8
from absolve.encodings.codings import from_utf8
from absolve.encodings.offset_map import IDENTITY_OFFSETS, Decoded, replaced

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import cython

    from absolve.core.protocols import Offsets
    from absolve.encodings.charsets import Charset
    from absolve.encodings.codings import Piece


_SINGLE = tuple(bytes((byte,)) for byte in range(128))
PREDEFINED: Final[dict[bytes, bytes]] = {b"lt": b"<", b"gt": b">", b"amp": b"&", b"apos": b"'", b"quot": b'"'}  # 4.6

# 4.1, CharRef and EntityRef
_NAMED: Final = re.compile(rb"&([^\x00-,/;<=>?@[-^`{-\x7f][^\x00-,/;<=>?@[-^`{-\x7f]*+);")
_NO_CHARACTER: Final = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f]|\xef\xbf[\xbe\xbf]")  # 2.2, Char
_LONGEST: Final = 8  # digits of a character reference, without leading zeros
_CLOSE: Final = b"]]>"
_OPEN: Final = b"<![CDATA["


def is_character(code: int) -> bool:
    """Return whether a code point is a character of XML (2.2, Char)."""
    return 32 <= code < 0xD800 or 0xE000 <= code < 0xFFFE or 0x10000 <= code < 0x110000 or code in {9, 10, 13}


def unknown_entity(raw: bytes, entities: Mapping[bytes, bytes]) -> bytes | None:
    """Return the name of the first entity in `raw` that `entities` lacks, for example b"x" in `&amp;&x;`; or None."""
    for found in _NAMED.finditer(raw):
        if found[1] not in entities:
            return bytes(found[1])
    return None


class CharacterData:
    """The `Coding` of character data (2.4) or, with `quote`, of an attribute value between these quotes (3.3.3).

    `entities` maps entity names, also the names of 4.6, to replacement texts; a reference to another entity is left
    unchanged. With None there are no references at all, as in CDATA sections: only line ends are normalized.

    For example, `a&amp;b` is decoded to `a&b`, and encoded again as `a&amp;b`.
    """

    def __init__(
        self, charset: Charset, quote: bytes = b"", entities: Mapping[bytes, bytes] | None = PREDEFINED
    ) -> None:
        self.slot: tuple[int, int] | None = None
        self._charset = charset
        self._entities = entities
        self._quote = ord(quote) if quote else 0
        self._must = re.compile(b"[&<>\\t\\n\\r%b]" % quote if quote else rb"[&<>\r]")

    def folds(self, raw: bytes) -> bool:
        """Return whether a reference expands to more than one character: it may contain a link or a part of one."""
        if self._entities is None or self._entities is PREDEFINED or 0x26 not in raw:
            return False
        texts = (self._entities.get(found[1], b"") for found in _NAMED.finditer(raw))
        return any(len(text.decode("utf-8", "replace")) > 1 for text in texts)

    def decode(self, raw: bytes) -> bytes:
        return raw if is_plain(raw, 0, len(raw)) else self.decode_mapped(raw)[0]

    def decode_mapped(self, raw: bytes) -> tuple[bytes, Offsets]:
        decoded = Decoded(raw)
        self.read(decoded, raw, 0, len(raw))
        return decoded.whole()

    def read(self, decoded: Decoded, raw: bytes, start: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.int:
        """Add the units of the raw span to `decoded`: references, line ends and, in attributes, white space (3.3.3)."""
        p: cython.p_const_uchar = raw
        i: cython.Py_ssize_t = start
        after: cython.Py_ssize_t
        while i < end:
            if p[i] > 38 or (p[i] >= 32 and p[i] != 38) or (not self._quote and (p[i] == 9 or p[i] == 10)):
                i += 1
                continue
            if p[i] == 38:
                after = _reference_end(p, i, end) if self._entities is not None else 0
                new = self._meaning(raw, i, after) if after else None
                if new is None:
                    i += 1
                    continue
            elif p[i] != 13 and p[i] != 9 and p[i] != 10:  # no character (2.2): it is skipped
                after = i + 1
                new = b""
            else:
                after = i + 2 if p[i] == 13 and i + 1 < end and p[i + 1] == 10 else i + 1
                new = b" " if self._quote else b"\n"
            decoded.unit(i, after, new)
            i = after
        return 0

    def _meaning(self, raw: bytes, start: cython.Py_ssize_t, end: cython.Py_ssize_t) -> bytes | None:
        """Return the value of a reference: b"A" for `&#65;`; None for an unknown entity, and for no character."""
        p: cython.p_const_uchar = raw
        if p[start + 1] != 35:
            new: cython.int = _predefined(p, start + 1, end - 1)
            if new:
                return _SINGLE[new]
            return self._entities.get(raw[start + 1 : end - 1])  # type: ignore[union-attr]  # `read` checked it
        is_hexadecimal: cython.bint = p[start + 2] == 120
        digits = raw[start + (3 if is_hexadecimal else 2) : end - 1].lstrip(b"0")
        code = int(digits[:_LONGEST] or b"0", 16 if is_hexadecimal else 10)
        return chr(code).encode() if is_character(code) else None

    def encode(self, value: bytes, after: bytes = b"", before: bytes = b"") -> bytes:
        if _stands_for_itself(value, len(value), self._quote):
            return from_utf8(self._charset, value, "absolve.references")
        raw = replaced(self._must, _escaped, writable(value))
        if not self._quote and raw.endswith(b"]") and _CLOSE in (before[-1:] + raw)[-2:] + after[:2]:
            raw = raw[:-1] + b"&#93;"
        return from_utf8(self._charset, raw, "absolve.references")


def _reference_end(p: cython.p_const_uchar, i: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.Py_ssize_t:
    """Return the end of the reference that begins at `i` (4.1, CharRef and EntityRef); 0 for no reference."""
    first: cython.Py_ssize_t = i + 1
    if first < end and p[first] == 35:
        first += 1
        if first < end and p[first] == 120:
            first += 1
            i = first
            while i < end and (48 <= p[i] <= 57 or 97 <= p[i] | 32 <= 102):
                i += 1
        else:
            i = first
            while i < end and 48 <= p[i] <= 57:
                i += 1
    else:
        i = first
        while i < end and _is_of_name(p[i]):
            i += 1
    return i + 1 if first < i < end and p[i] == 59 else 0


def _predefined(p: cython.p_const_uchar, i: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.int:
    """Return the character of a predefined entity (4.6: a document cannot change it); 0 for another name."""
    if end - i == 2 and p[i + 1] == 116:
        return 60 if p[i] == 108 else 62 if p[i] == 103 else 0
    if end - i == 3 and p[i] == 97 and p[i + 1] == 109 and p[i + 2] == 112:
        return 38
    if end - i == 4 and p[i] == 113 and p[i + 1] == 117 and p[i + 2] == 111 and p[i + 3] == 116:
        return 34
    return 0  # apos is rare: it is looked up in the entities


def _is_of_name(byte: cython.int) -> cython.bint:
    """Return whether a byte can be part of a name (2.3, NameChar); every non-ASCII byte counts."""
    return 97 <= byte | 32 <= 122 or (45 <= byte <= 58 and byte != 47) or byte == 95 or byte > 127


def is_plain(p: cython.p_const_uchar, start: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.bint:
    """Return whether a value has neither references nor white space."""
    i: cython.Py_ssize_t
    for i in range(start, end):
        if p[i] == 38 or p[i] <= 32:
            return False
    return True


def _stands_for_itself(value: bytes, end: cython.Py_ssize_t, quote: cython.int) -> cython.bint:
    """Return whether a value needs no escapes between these quotes, or as text (0): printable ASCII only."""
    p: cython.p_const_uchar = value
    i: cython.Py_ssize_t
    for i in range(end):
        if p[i] < 32 or p[i] > 126 or p[i] == 38 or p[i] == 60 or p[i] == 62 or p[i] == quote:
            return False
        if quote == 0 and p[i] == 93:  # may be part of ]]>
            return False
    return True


def _escaped(found: re.Match[bytes]) -> bytes:
    return _ESCAPES.get(found[0]) or b"&#%d;" % ord(found[0])


_ESCAPES: Final = {b"&": b"&amp;", b"<": b"&lt;", b">": b"&gt;", b'"': b"&quot;", b"'": b"&apos;"}


def writable(value: bytes) -> bytes:
    """Return a value with only characters that XML allows (2.2): control characters are percent-escaped.

    For example, a tabulator stays, and U+0001 becomes `%01`. Bytes that are not UTF-8 become U+FFFD.
    """
    if not value.isascii():
        value = value.decode("utf-8", "replace").encode()
    return replaced(_NO_CHARACTER, lambda found: b"%" + found[0].hex("%").upper().encode(), value)


class PseudoAttribute:
    """The `Coding` of a pseudo-attribute's value in a processing instruction (xml-stylesheet 1.0, 3).

    Only the entities of 4.6 exist, and white space is not normalized. A `?` that would end the instruction is escaped:
    for example, `a?>b` is written as `a?&gt;b`.
    """

    slot: tuple[int, int] | None = None

    def __init__(self, charset: Charset, quote: bytes) -> None:
        self._text = CharacterData(charset)
        self._attribute = CharacterData(charset, quote)

    def decode(self, raw: bytes) -> bytes:
        return self._text.decode(raw)

    def decode_mapped(self, raw: bytes) -> tuple[bytes, Offsets]:
        return self._text.decode_mapped(raw)

    def encode(self, value: bytes, after: bytes = b"", before: bytes = b"") -> bytes:
        raw = self._attribute.encode(value, after, before)
        return raw[:-1] + b"&#63;" if raw.endswith(b"?") and after.startswith(b">") else raw


class CData:
    """The `Coding` of the content of a CDATA section (2.7), which has no escapes.

    `errors` is the handler for characters outside the charset: percent escapes in a reference or a style sheet,
    character references where the section contains HTML.
    """

    def __init__(self, charset: Charset, errors: str = "absolve.percent") -> None:
        self.slot: tuple[int, int] | None = None
        self._charset = charset
        self._errors = errors

    def decode(self, raw: bytes) -> bytes:
        return raw.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if 0x0D in raw else raw

    def decode_mapped(self, raw: bytes) -> tuple[bytes, Offsets]:
        return _WITHOUT_REFERENCES.decode_mapped(raw) if 0x0D in raw else (raw, IDENTITY_OFFSETS)

    def encode(self, value: bytes, after: bytes = b"", before: bytes = b"") -> bytes:
        """Return the value; where it would form `]]>`, HTML continues in a new section, else `>` or `]` is escaped.

        For example, `a]]>b` becomes `a]]%3Eb`: the percent escape keeps a reference in one piece.
        """
        lead, end = before[-2:], after[:2]
        value = lead + writable(value)
        if self._errors == "absolve.percent":
            value = value.replace(_CLOSE, b"]]%3E")[len(lead) :]
            value = value[:-1] + b"%5D" if _CLOSE in value[-2:] + end else value
        else:
            value = value.replace(_CLOSE, b"]]" + _CLOSE + _OPEN + b">")[len(lead) :]
            value = value + _CLOSE + _OPEN if _CLOSE in value[-2:] + end else value
        return from_utf8(self._charset, value, self._errors)


_WITHOUT_REFERENCES: Final = CharacterData(UTF_8, entities=None)
_MARKUP: Final = re.compile(rb"<(?:!\[CDATA\[|!--|\?)")
_ENDS: Final = {_OPEN: _CLOSE, b"<!--": b"-->", b"<?": b"?>"}


def pieces(raw: bytes, text: CharacterData, section: CData) -> Iterator[Piece]:
    """Yield the pieces of character data: text and CDATA sections, between comments and processing instructions.

    For example, `a<![CDATA[&]]><!-- -->b` has `a`, `&`, an empty one, and `b`. There are no elements.
    """
    unclosed: set[bytes] = set()  # beginnings without an end behind them: searched once, for linear time
    position = at = 0
    while (found := _MARKUP.search(raw, at)) is not None:
        opening = found[0]
        start, at = found.span()
        end = raw.find(_ENDS[opening], at) if opening not in unclosed else -1
        if end < 0:  # what is not closed is text
            unclosed.add(opening)
            continue
        yield text, position, start
        if opening == _OPEN:
            yield section, at, end
        position = at = end + len(_ENDS[opening])
    yield text, position, len(raw)


# --- limits that are checked before expat runs -----------------------------------------------------------------------

DEEPEST: Final = 5000  # nested elements: the limit of Blink (kMaxXMLTreeDepth)
MOST_ATTRIBUTES: Final = 10_000  # of one element: for years the limit of Java's parsers (elementAttributeLimit)
MOST_NAMES: Final = 50_000  # distinct names of elements and attributes: expat stores each
TOO_DEEP: Final = "elements-too-deep"
TOO_MANY_ATTRIBUTES: Final = "too-many-attributes"
TOO_MANY_NAMES: Final = "too-many-names"
AHEAD: Final = frozenset({TOO_DEEP, TOO_MANY_ATTRIBUTES, TOO_MANY_NAMES})  # codes of `check_elements`, run before expat
HINT: Final = "--media-type text/html reads it as HTML"
_DEEPEST = DEEPEST
_MOST = MOST_ATTRIBUTES
_LEAST = 3  # bytes of the shortest start tag
_LEAST_ATTRIBUTE = 5  # bytes of the shortest attribute with the space before it
_MOST_NAMES = MOST_NAMES
_LEAST_NAMED = 6  # bytes per name, at least, when so many are distinct
_HASHES = (1 << 20) - 1  # mask of a name's hash: an index into a bit set
_FNV_BASIS = 2166136261  # FNV-1a, 32 bits
_FNV_PRIME = 16777619
_32_BITS = 0xFFFFFFFF


def check_elements(data: bytes, start: cython.Py_ssize_t) -> None:
    """Raise WalkError at the first start tag that exceeds the limit of attributes, names or nesting.

    All markup before `start` must be complete. Stop at the next document type declaration. The result is exact only up
    to the first well-formedness error.
    """
    p: cython.p_const_uchar = data
    n: cython.Py_ssize_t = len(data) - 2  # no complete markup begins in the last two bytes
    if n < _DEEPEST * _LEAST:
        return
    i: cython.Py_ssize_t = byte_scan.find(p, 60, start, n)
    at: cython.Py_ssize_t
    depth: cython.Py_ssize_t = 0
    tags: _Tags | None = _Tags() if n > _MOST_NAMES * _LEAST_NAMED else None
    while i >= 0:
        if p[i + 1] == 47:
            depth -= 1
            at = i + 2
        elif p[i + 1] == 63:
            at = data.find(b"?>", i + 2)
        elif p[i + 1] != 33:
            if depth == _DEEPEST:
                raise WalkError(TOO_DEEP, f"elements nested more than {DEEPEST} deep ({HINT})", i)
            at = tag_end(p, i + 1, n + 2)
            if tags is None and at - i > _MOST * _LEAST_ATTRIBUTE:
                tags = _Tags()
            if tags is not None:
                if tags.attributes(p, i + 1, at) > _MOST:
                    words = f"an element with more than {MOST_ATTRIBUTES} attributes ({HINT})"
                    raise WalkError(TOO_MANY_ATTRIBUTES, words, i)
                if tags.names > _MOST_NAMES:
                    words = f"more than {MOST_NAMES} names of elements and attributes that differ ({HINT})"
                    raise WalkError(TOO_MANY_NAMES, words, i)
            if p[at - 2] != 47:
                depth += 1
        elif p[i + 2] == 45:
            at = data.find(b"-->", i + 4)
        elif p[i + 2] == 91:
            at = data.find(b"]]>", i + 9)
        else:
            return
        if at < 0:
            return
        i = byte_scan.find(p, 60, at, n)


class _Tags:
    """The number of distinct `names` in start tags; slightly low, as names with equal hashes count once."""

    def __init__(self) -> None:
        self.names = 0
        self._seen = bytearray((_HASHES >> 3) + 1)

    def attributes(self, p: cython.p_const_uchar, i: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Return the number of attributes of the tag whose name begins at `i` (3.1), and count its names."""
        seen: cython.p_uchar = self._seen
        count: cython.Py_ssize_t = 0
        of: cython.uint
        while i < end and p[i] != 62:
            of = _FNV_BASIS
            while i < end and p[i] > 32 and p[i] != 61 and p[i] != 62 and p[i] != 47:  # 2.3, Name
                of = ((of ^ p[i]) * _FNV_PRIME) & _32_BITS
                i += 1
            of = (of ^ of >> 20) & _HASHES
            if not seen[of >> 3] & 1 << (of & 7):
                seen[of >> 3] |= 1 << (of & 7)
                self.names += 1
            while i < end and p[i] <= 32:
                i += 1
            if i < end and p[i] == 61:
                i += 1
                while i < end and p[i] <= 32:
                    i += 1
                if i == end or (p[i] != 34 and p[i] != 39):
                    break
                i = byte_scan.find(p, p[i], i + 1, end) + 1
                if i == 0:
                    break
                count += 1
                while i < end and p[i] <= 32:
                    i += 1
            if i < end and p[i] == 47:
                i += 1
        return count
