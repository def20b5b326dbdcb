"""How references and inner documents are written in XML: attribute values, character data, CDATA sections.

Section numbers are those of XML 1.0. Raw bytes are UTF-8: the walker gets no others. The charset that they must be
written in in the end may be another one, which lacks characters.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import TYPE_CHECKING, Final

from absolve.codings import from_utf8
from absolve.offsets import IDENTITY_OFFSETS, Offsets

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from absolve.charsets import Charset
    from absolve.typing import Offsets as OffsetsProtocol

    Unit = tuple[int, int, int, int]

PREDEFINED: Final[dict[bytes, bytes]] = {b"lt": b"<", b"gt": b">", b"amp": b"&", b"apos": b"'", b"quot": b'"'}  # 4.6

# 4.1, CharRef and EntityRef; 2.11, line ends; in attributes any white space is a blank (3.3.3)
_REFERENCE: Final = rb"&(?:#x([0-9A-Fa-f]++)|#([0-9]++)|([^\x00-,/;<=>?@[-^`{-\x7f][^\x00-,/;<=>?@[-^`{-\x7f]*+));"
_IN_TEXT: Final = re.compile(_REFERENCE + rb"|\r\n?")
_IN_ATTRIBUTE: Final = re.compile(_REFERENCE + rb"|\r\n|[\t\n\r]")
_NAMED: Final = re.compile(_REFERENCE)
_NO_CHARACTER: Final = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f]|\xef\xbf[\xbe\xbf]")  # 2.2, Char
_LONGEST: Final = 8  # digits of a character reference, without zeros at its start
_CLOSE: Final = b"]]>"
_OPEN: Final = b"<![CDATA["


def unknown_entity(raw: bytes, entities: Mapping[bytes, bytes]) -> bytes | None:
    """The name of the first entity referred to here whose replacement text is not known; None where there is none."""
    for found in _NAMED.finditer(raw):
        if found[3] and found[3] not in entities:
            return bytes(found[3])
    return None


class CharacterData:
    """Character data of an element (2.4) or, with the `quote` around it, an attribute's value (3.3.3).

    `entities` has the replacement texts that can stand for a reference, those of 4.6 among them; a reference to any
    other one stays as it is written.
    """

    def __init__(self, charset: Charset, quote: bytes = b"", entities: Mapping[bytes, bytes] = PREDEFINED) -> None:
        self.slot: tuple[int, int] | None = None
        self._charset = charset
        self._entities = entities
        self._special = _IN_ATTRIBUTE if quote else _IN_TEXT
        self._blank = b" " if quote else b"\n"
        self._is_text = not quote
        self._must = re.compile(b"[&<\\t\\n\\r%b]" % quote if quote else rb"[&<\r]")

    def decode(self, raw: bytes) -> bytes:
        return self.decode_mapped(raw)[0]

    def decode_mapped(self, raw: bytes) -> tuple[bytes, OffsetsProtocol]:
        value, units = self.units(raw, 0, len(raw))
        return (bytes(value), Offsets(units, len(value), len(raw))) if units else (raw, IDENTITY_OFFSETS)

    def units(self, raw: bytes, start: int, end: int) -> tuple[bytearray, list[Unit]]:
        """The value of a stretch of raw bytes, and its units: offsets into that value and into `raw`."""
        value = bytearray()
        units: list[Unit] = []
        position = start
        for found in self._special.finditer(raw, start, end):
            new = self._meaning(found)
            if new is None:
                continue
            value += raw[position : found.start()]
            units.append((len(value), len(value) + len(new), *found.span()))
            value += new
            position = found.end()
        value += raw[position:end]
        return value, units

    def _meaning(self, found: re.Match[bytes]) -> bytes | None:
        hexadecimal, decimal, name = found.groups()
        if name:
            return self._entities.get(name)
        if hexadecimal or decimal:
            digits = (hexadecimal or decimal).lstrip(b"0")
            code = int(digits[:_LONGEST] or b"0", 16 if hexadecimal else 10)
            return chr(code).encode("utf-8", "surrogatepass") if code < 0x110000 else b"\xef\xbf\xbd"
        return self._blank

    def encode(self, value: bytes, after: bytes = b"", before: bytes = b"") -> bytes:
        raw = self._must.sub(_escaped, writable(value))
        if self._is_text:
            lead = before[-2:]
            raw = (lead + raw).replace(_CLOSE, b"]]&gt;")[len(lead) :]
            if _CLOSE in raw[-2:] + after[:2]:
                raw = raw[:-1] + b"&#93;"
        return from_utf8(self._charset, raw, "absolve.references")


def _escaped(found: re.Match[bytes]) -> bytes:
    return _ESCAPES.get(found[0]) or b"&#%d;" % ord(found[0])


_ESCAPES: Final = {b"&": b"&amp;", b"<": b"&lt;", b'"': b"&quot;", b"'": b"&apos;"}


def writable(value: bytes) -> bytes:
    """What can stand in XML: no control characters, which are percent-escaped, and nothing that is no UTF-8 (2.2)."""
    if not value.isascii():
        value = value.decode("utf-8", "replace").encode()
    return _NO_CHARACTER.sub(lambda found: b"".join(b"%%%02X" % byte for byte in found[0]), value)


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

    def decode_mapped(self, raw: bytes) -> tuple[bytes, OffsetsProtocol]:
        if 0x0D not in raw:
            return raw, IDENTITY_OFFSETS
        value, units = _WITHOUT_REFERENCES.units(raw, 0, len(raw))
        return bytes(value), Offsets(units, len(value), len(raw))

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


class _LineEnds(CharacterData):
    """Line ends alone are normalized (2.11)."""

    def __init__(self) -> None:
        self._special = re.compile(rb"\r\n?")

    def _meaning(self, found: re.Match[bytes]) -> bytes:  # noqa: ARG002 - there is one kind
        return b"\n"


_WITHOUT_REFERENCES: Final = _LineEnds()
_MARKUP: Final = re.compile(rb"<!\[CDATA\[(.*?)\]\]>|<!--.*?-->|<\?.*?\?>", re.DOTALL)


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

    def decode_mapped(self, raw: bytes) -> tuple[bytes, OffsetsProtocol]:
        value = bytearray()
        units: list[Unit] = []
        self._starts, self._ends = [], []
        for coding, start, end in self._stretches(raw):
            here = len(value)
            if coding is None:  # markup stands for nothing
                units.append((here, here, start, end))
                continue
            new, found = coding.units(raw, start, end)
            units += ((here + one, here + other, first, last) for one, other, first, last in found)
            value += new
        return bytes(value), Offsets(units, len(value), len(raw))

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
