"""Character references: which ones a value holds, what they stand for, and which `&` would be taken for one.

HTML is the WHATWG tokenizer's states 13.2.5.72 to 13.2.5.80, in data or in an attribute, where a reference without its
semicolon before `=`, a letter or a digit is none (`&copy=3`). XML is XML 1.0 section 4.1 without a DTD's entities.
Text is `str`, spans are in characters, half open. Newlines and NUL are the tokenizer's business, not dealt with here.
"""

from __future__ import annotations

import re
from functools import lru_cache
from html.entities import html5
from typing import Final

CharacterReference = tuple[int, int, str]  # start, end, what stands there

# 13.2.5.80, numeric character reference end state: what windows-1252 has in the C1 range
_WINDOWS_1252: Final[dict[int, str]] = {
    byte: bytes((byte,)).decode("windows-1252")
    for byte in range(0x80, 0xA0)
    if byte not in (0x81, 0x8D, 0x8F, 0x90, 0x9D)
}
_REPLACEMENT: Final = "\N{REPLACEMENT CHARACTER}"

# Names that are references without a semicolon too; the longest has six letters. The longest name of all, with its
# semicolon, has 32.
_WITHOUT_SEMICOLON: Final[frozenset[str]] = frozenset(name for name in html5 if not name.endswith(";"))
_LONGEST_WITHOUT_SEMICOLON: Final = max(map(len, _WITHOUT_SEMICOLON))

_HTML: Final = re.compile(r"&(?:([A-Za-z][A-Za-z0-9]{0,30}+)(;?+)|#(?:[xX]([0-9A-Fa-f]++)|([0-9]++));?+)")
_XML: Final = re.compile(r"&(?:(amp|lt|gt|quot|apos)|#(?:x([0-9A-Fa-f]++)|([0-9]++)));")
_XML_NAMES: Final = {"amp": "&", "lt": "<", "gt": ">", "quot": '"', "apos": "'"}


def references(value: str, attribute: bool) -> list[CharacterReference]:
    """The references in a value, in order: in an attribute's or in text (the data state)."""
    found: list[CharacterReference] = []
    at = value.find("&")
    while at >= 0:
        reference = _reference(value, at, attribute)
        if reference:
            found.append(reference)
        at = value.find("&", reference[1] if reference else at + 1)
    return found


def decode(value: str, attribute: bool) -> str:
    """The value with its references replaced; the value itself where it has none."""
    return _replaced(value, references(value, attribute))


def needs_escape(text: str, at: int, attribute: bool) -> bool:
    """Whether the `&` at this index would be taken as (part of) a reference, and must be written `&amp;`.

    The text must go on as it will stand in the document; where it ends, the value ends.
    """
    return _reference(text, at, attribute) is not None


def _reference(value: str, at: int, attribute: bool) -> CharacterReference | None:
    """13.2.5.72, character reference state, with `&` at this index."""
    found = _HTML.match(value, at)
    if not found:
        return None  # an ASCII alphanumeric or a number sign and digits must follow: flush
    name = found[1]
    if name is None:
        return at, found.end(), _character(found[3] or found[4], 16 if found[3] else 10)
    if found[2] and (text := html5.get(name + ";")):
        return at, found.end(), text
    # 13.2.5.73, named character reference state: the longest name that the text begins with
    length = _begins_with(name)
    end = at + 1 + length
    if not length:
        return None  # 13.2.5.74, ambiguous ampersand state: stays as it is
    if attribute and (length < len(name) or value[end : end + 1] == "="):
        return None  # "for historical reasons": flush
    return at, end, html5[name[:length]]


@lru_cache(maxsize=1024)
def _begins_with(name: str) -> int:
    """The length of the longest name without a semicolon that these letters and digits begin with, 0 for none."""
    for length in range(min(len(name), _LONGEST_WITHOUT_SEMICOLON), 1, -1):
        if name[:length] in _WITHOUT_SEMICOLON:
            return length
    return 0


def _character(digits: str, base: int) -> str:
    """13.2.5.80, numeric character reference end state; a number of any length."""
    digits = digits.lstrip("0")
    number = int(digits, base) if 0 < len(digits) <= 7 else -1  # 10FFFF has six digits, 1114111 seven
    if number in _WINDOWS_1252:
        return _WINDOWS_1252[number]
    if number < 0 or number > 0x10FFFF or 0xD800 <= number <= 0xDFFF:
        return _REPLACEMENT
    return chr(number)  # noncharacters and controls too: errors, and taken as they are


def _replaced(value: str, found: list[CharacterReference]) -> str:
    if not found:
        return value
    pieces: list[str] = []
    position = 0
    for start, end, text in found:
        pieces += (value[position:start], text)
        position = end
    pieces.append(value[position:])
    return "".join(pieces)


def xml_references(value: str) -> list[CharacterReference]:
    """The references of XML without a DTD: the five names and numbers of characters that XML allows.

    Any other `&` stays as it is here; it makes the document not well-formed, which its parser says. In what is written
    every `&` must be escaped, so XML has no `needs_escape`.
    """
    found: list[CharacterReference] = []
    for match in _XML.finditer(value):
        text = _XML_NAMES[match[1]] if match[1] else _xml_character(match[2] or match[3], 16 if match[2] else 10)
        if text:
            found.append((match.start(), match.end(), text))
    return found


def xml_decode(value: str) -> str:
    """The value with the references of `xml_references` replaced."""
    return _replaced(value, xml_references(value))


def _xml_character(digits: str, base: int) -> str:
    """XML 1.0 production [2], Char; "" where the number is none."""
    digits = digits.lstrip("0")
    number = int(digits, base) if 0 < len(digits) <= 7 else 0
    allowed = (
        number in (0x9, 0xA, 0xD)
        or 0x20 <= number <= 0xD7FF
        or 0xE000 <= number <= 0xFFFD
        or 0x10000 <= number <= 0x10FFFF
    )
    return chr(number) if allowed else ""
