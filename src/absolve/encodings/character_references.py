"""Decode the character references of HTML (HTML Standard 13.2.5.72 to 13.2.5.80), in text and in attribute values.

In: bytes with the offset of an `&`. Out: the offset at which the reference ends and its characters in UTF-8, or None.
In attributes a reference without semicolon before `=`, a letter or a digit is not a reference (`&copy=3`). The bytes
are UTF-8, or of any charset in which ASCII bytes are always ASCII characters; offsets are in bytes. Newlines and NUL
are left to the tokenizer.
"""

from __future__ import annotations

from functools import cache, lru_cache
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import cython

    Read = tuple[int, bytes]  # the end offset of a reference, and its characters in UTF-8

# 13.2.5.80, numeric character reference end state: numbers in the C1 range are bytes of windows-1252
_WINDOWS_1252: Final[dict[int, bytes]] = {
    byte: bytes((byte,)).decode("windows-1252").encode()
    for byte in range(0x80, 0xA0)
    if byte not in (0x81, 0x8D, 0x8F, 0x90, 0x9D)
}
_REPLACEMENT: Final = "\N{REPLACEMENT CHARACTER}".encode()
_BEYOND = 0x110000  # larger numbers are clamped to this one, against overflow

# Names that are valid without a semicolon, with their characters: those of ISO 8859-1, in its order, and those of
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
    """Return whether an `&` at this offset begins a character reference, and must be written as `&amp;`.

    The text must go on as in the document; the end of the text is the end of the value.
    """
    return reference_at(text, at, len(text), attribute) is not None


def reference_at(
    value: bytes, at: cython.Py_ssize_t, size: cython.Py_ssize_t, attribute: cython.bint
) -> Read | None:
    """Decode the reference whose `&` is at this offset (13.2.5.72); return None if there is no reference.

    Return the offset behind it and its characters in UTF-8. Only `value[:size]` is read.
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
    """Return the characters of a name that is followed by a semicolon, None for an unknown name."""
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
    """Decode a numeric reference (13.2.5.75) of any length; `at` is the offset behind the number sign."""
    p: cython.p_const_uchar = value
    base: cython.int = 10
    number: cython.int = 0
    digit: cython.int
    start: cython.Py_ssize_t
    if at < size and p[at] | 32 == 120:
        base = 16
        at += 1
    start = at
    while at < size:
        if 48 <= p[at] <= 57:
            digit = p[at] - 48
        elif base == 16 and 97 <= p[at] | 32 <= 102:
            digit = (p[at] | 32) - 87
        else:
            break
        number = min(number * base + digit, _BEYOND)
        at += 1
    if at == start:
        return None  # 13.2.5.76 and .77: digits must follow: flush
    if at < size and p[at] == 59:
        at += 1
    return at, _character(number)


def _character(number: int) -> bytes:
    """Return the character of a number in UTF-8 (13.2.5.80, numeric character reference end state)."""
    if number in _WINDOWS_1252:
        return _WINDOWS_1252[number]
    if number == 0 or number > 0x10FFFF or 0xD800 <= number <= 0xDFFF:
        return _REPLACEMENT
    return chr(number).encode()  # noncharacters and controls too: parse errors without effect
