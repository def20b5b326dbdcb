"""How references and inner documents are written in XML: attribute values, character data, CDATA sections.

Section numbers are those of XML 1.0. Raw bytes are UTF-8: the walker gets no others. The charset that they must be
written in in the end may be another one, which lacks characters.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import TYPE_CHECKING, Final

from absolve.encodings.charsets import UTF_8
from absolve.encodings.codings import from_utf8
from absolve.encodings.offset_map import IDENTITY_OFFSETS, replaced

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    import cython

    from absolve.core.protocols import Offsets
    from absolve.encodings.charsets import Charset
else:
    from absolve.core import _cython as cython

if cython.compiled:
    from cython.cimports.absolve.encodings.offset_map import Decoded
else:
    from absolve.encodings.offset_map import Decoded

_SINGLE = cython.declare(tuple, tuple(bytes((byte,)) for byte in range(128)))
PREDEFINED: Final[dict[bytes, bytes]] = {b"lt": b"<", b"gt": b">", b"amp": b"&", b"apos": b"'", b"quot": b'"'}  # 4.6

# 4.1, CharRef and EntityRef
_NAMED: Final = re.compile(rb"&([^\x00-,/;<=>?@[-^`{-\x7f][^\x00-,/;<=>?@[-^`{-\x7f]*+);")
_NO_CHARACTER: Final = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f]|\xef\xbf[\xbe\xbf]")  # 2.2, Char
_LONGEST: Final = 8  # digits of a character reference, without zeros at its start
_CLOSE: Final = b"]]>"
_OPEN: Final = b"<![CDATA["


def unknown_entity(raw: bytes, entities: Mapping[bytes, bytes]) -> bytes | None:
    """The name of the first entity referred to here whose replacement text is not known; None where there is none."""
    for found in _NAMED.finditer(raw):
        if found[1] not in entities:
            return bytes(found[1])
    return None


@cython.final
@cython.cclass
class CharacterData:
    """Character data of an element (2.4) or, with the `quote` around it, an attribute's value (3.3.3).

    `entities` has the replacement texts that can stand for a reference, those of 4.6 among them; a reference to any
    other one stays as it is written. Without any entities there are no references: only line ends mean something.
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
        """Whether a reference in these bytes stands for more than a character: links may be in it, or parts of them."""
        if self._entities is None or self._entities is PREDEFINED or 0x26 not in raw:
            return False
        texts = (self._entities.get(found[1], b"") for found in _NAMED.finditer(raw))
        return any(len(text.decode("utf-8", "replace")) > 1 for text in texts)

    @cython.ccall
    def decode(self, raw: bytes) -> bytes:
        return raw if is_plain(raw, 0, len(raw)) else self.decode_mapped(raw)[0]

    def decode_mapped(self, raw: bytes) -> tuple[bytes, Offsets]:
        made = Decoded(raw)
        self.read(made, raw, 0, len(raw))
        return made.whole()

    @cython.ccall
    @cython.boundscheck(False)
    @cython.wraparound(False)
    def read(self, made: Decoded, raw: bytes, start: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.int:
        """Tell of the units in a stretch of the raw bytes."""
        p: cython.p_const_uchar = raw
        i: cython.Py_ssize_t = start
        after: cython.Py_ssize_t
        while i < end:
            if p[i] > 38 or (p[i] != 38 and p[i] != 13 and (not self._quote or (p[i] != 9 and p[i] != 10))):
                i += 1
                continue
            if p[i] == 38:
                after = _reference_end(p, i, end) if self._entities is not None else 0
                new = self._meaning(raw, i, after) if after else None
                if new is None:
                    i += 1
                    continue
            else:
                after = i + 2 if p[i] == 13 and i + 1 < end and p[i + 1] == 10 else i + 1
                new = b" " if self._quote else b"\n"
            made.unit(i, after, new)
            i = after
        return 0

    @cython.cfunc
    @cython.boundscheck(False)
    @cython.wraparound(False)
    def _meaning(self, raw: bytes, start: cython.Py_ssize_t, end: cython.Py_ssize_t) -> bytes | None:
        """What a reference stands for; None for an entity that is not known."""
        p: cython.p_const_uchar = raw
        if p[start + 1] != 35:
            new: cython.int = _predefined(p, start + 1, end - 1)
            if new:
                return _SINGLE[new]
            return self._entities.get(raw[start + 1 : end - 1])  # type: ignore[union-attr]  # there are some
        is_hexadecimal: cython.bint = p[start + 2] == 120
        digits = raw[start + (3 if is_hexadecimal else 2) : end - 1].lstrip(b"0")
        code = int(digits[:_LONGEST] or b"0", 16 if is_hexadecimal else 10)
        return chr(code).encode("utf-8", "surrogatepass") if code < 0x110000 else b"\xef\xbf\xbd"

    def encode(self, value: bytes, after: bytes = b"", before: bytes = b"") -> bytes:
        if _stands_for_itself(value, len(value), self._quote):
            return from_utf8(self._charset, value, "absolve.references")
        raw = replaced(self._must, _escaped, writable(value))
        if not self._quote and raw.endswith(b"]") and _CLOSE in (before[-1:] + raw)[-2:] + after[:2]:
            raw = raw[:-1] + b"&#93;"
        return from_utf8(self._charset, raw, "absolve.references")


@cython.cfunc
@cython.exceptval(check=False)
@cython.boundscheck(False)
@cython.wraparound(False)
def _reference_end(p: cython.p_const_uchar, i: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.Py_ssize_t:
    """Where the reference ends that begins at `i` (4.1, CharRef and EntityRef); 0 where none does."""
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


@cython.cfunc
@cython.exceptval(check=False)
@cython.boundscheck(False)
@cython.wraparound(False)
def _predefined(p: cython.p_const_uchar, i: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.int:
    """The character that an entity of this name stands for whatever a document declares (4.6); 0 for another name."""
    if end - i == 2 and p[i + 1] == 116:
        return 60 if p[i] == 108 else 62 if p[i] == 103 else 0
    if end - i == 3 and p[i] == 97 and p[i + 1] == 109 and p[i + 2] == 112:
        return 38
    if end - i == 4 and p[i] == 113 and p[i + 1] == 117 and p[i + 2] == 111 and p[i + 3] == 116:
        return 34
    return 0  # apos is rare


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _is_of_name(byte: cython.int) -> cython.bint:
    """Whether a byte can be one of a name's (2.3, NameChar), as far as bytes alone say."""
    return 97 <= byte | 32 <= 122 or (45 <= byte <= 58 and byte != 47) or byte == 95 or byte > 127


@cython.cfunc
@cython.exceptval(check=False)
@cython.boundscheck(False)
@cython.wraparound(False)
def is_plain(p: cython.p_const_uchar, start: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.bint:
    """Whether there are neither references nor white space in a value."""
    i: cython.Py_ssize_t
    for i in range(start, end):
        if p[i] == 38 or p[i] <= 32:
            return False
    return True


@cython.cfunc
@cython.exceptval(check=False)
@cython.boundscheck(False)
@cython.wraparound(False)
def _stands_for_itself(value: bytes, end: cython.Py_ssize_t, quote: cython.int) -> cython.bint:
    """Whether nothing in a value need be looked at when it is written between these quotes, or as text."""
    p: cython.p_const_uchar = value
    i: cython.Py_ssize_t
    for i in range(end):
        if p[i] < 32 or p[i] > 126 or p[i] == 38 or p[i] == 60 or p[i] == 62 or p[i] == quote:
            return False
        if quote == 0 and p[i] == 93:  # of ]]>
            return False
    return True


def _escaped(found: re.Match[bytes]) -> bytes:
    return _ESCAPES.get(found[0]) or b"&#%d;" % ord(found[0])


_ESCAPES: Final = {b"&": b"&amp;", b"<": b"&lt;", b">": b"&gt;", b'"': b"&quot;", b"'": b"&apos;"}


def writable(value: bytes) -> bytes:
    """What can stand in XML: no control characters, which are percent-escaped, and nothing that is no UTF-8 (2.2)."""
    if not value.isascii():
        value = value.decode("utf-8", "replace").encode()
    return replaced(_NO_CHARACTER, lambda found: b"%" + found[0].hex("%").upper().encode(), value)


class PseudoAttribute:
    """A value in a processing instruction (xml-stylesheet 1.0, 3): no entities but those of 4.6, white space as it is.

    Nothing in it may end the instruction.
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
    """What stands in a CDATA section (2.7), where nothing can be escaped.

    `errors` is the handler for what the charset lacks: percent escapes in a reference or a style sheet, character
    references where the section holds HTML.
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
        """Where the value would end the section, HTML gets another one, and what is one reference stays one."""
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
_MARKUP: Final = re.compile(
    rb"<!\[CDATA\[([^\]]*+(?:\](?!\]>)[^\]]*+)*+)\]\]>|<!--[^-]*+(?:-(?!->)[^-]*+)*+-->|<\?[^?]*+(?:\?(?!>)[^?]*+)*+\?>"
)


class Mixed:
    """Character data with CDATA sections, comments and processing instructions in it, but no elements.

    Each stretch has a coding of its own, and `encoder` says which.
    """

    def __init__(self, text: CharacterData, section: CData) -> None:
        self.slot: tuple[int, int] | None = None
        self._text = text
        self._section = section
        self._starts: list[int] = []  # of what stands in CDATA sections
        self._ends: list[int] = []

    def decode(self, raw: bytes) -> bytes:
        return self.decode_mapped(raw)[0]

    def decode_mapped(self, raw: bytes) -> tuple[bytes, Offsets]:
        made = Decoded(raw)
        self._starts, self._ends = [], []
        for coding, start, end in self._stretches(raw):
            if coding is None:  # markup stands for nothing
                made.unit(start, end, b"")
            else:
                coding.read(made, raw, start, end)
        return made.whole()

    def folds(self, raw: bytes) -> bool:
        """As `CharacterData.folds`, by what seems to be a reference in a CDATA section, too."""
        return self._text.folds(raw)

    def _stretches(self, raw: bytes) -> Iterator[tuple[CharacterData | None, int, int]]:
        position = 0
        for found in _MARKUP.finditer(raw):
            yield self._text, position, found.start()
            start, end = found.span(1) if found[1] is not None else (found.end(), found.end())
            yield None, found.start(), start
            if found[1] is not None:
                self._starts.append(start)
                self._ends.append(end)
                yield _WITHOUT_REFERENCES, start, end
                yield None, end, found.end()
            position = found.end()
        yield self._text, position, len(raw)

    def encoder(self, start: int, end: int) -> Callable[[bytes, bytes, bytes], bytes]:
        """What encodes that which comes in the place of this stretch of the raw bytes that were decoded last.

        Where it ends in another kind of stretch than it began in, the mark between them is written too.
        """
        inside, goes_on_inside = self._inside(start), self._inside(end)
        encode = self._section.encode if inside else self._text.encode
        if inside == goes_on_inside:
            return encode
        mark = _CLOSE if inside else _OPEN
        return lambda value, _after, before: encode(value, b"", before) + mark

    def _inside(self, position: int) -> bool:
        index = bisect_right(self._starts, position) - 1
        return index >= 0 and position <= self._ends[index]

    def encode(self, value: bytes, after: bytes = b"", before: bytes = b"") -> bytes:
        return self._text.encode(value, after, before)
