"""Character references of HTML: which `&` begins one, where it ends, and what it stands for.

They are the WHATWG tokenizer's states 13.2.5.72 to 13.2.5.80, in data or in an attribute, where a reference without its
semicolon before `=`, a letter or a digit is none (`&copy=3`). Values are in UTF-8, or in any charset that has ASCII's
bytes for its characters and for nothing else; offsets are in bytes. Newlines and NUL are the tokenizer's business, not
dealt with here.
"""

from __future__ import annotations

from functools import cache, lru_cache
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import cython

    Read = tuple[int, bytes]  # where a reference ends, and what it stands for
else:
    from absolve.core import _cython as cython

# 13.2.5.80, numeric character reference end state: what windows-1252 has in the C1 range
_WINDOWS_1252: Final[dict[int, bytes]] = {
    byte: bytes((byte,)).decode("windows-1252").encode()
    for byte in range(0x80, 0xA0)
    if byte not in (0x81, 0x8D, 0x8F, 0x90, 0x9D)
}
_REPLACEMENT: Final = "\N{REPLACEMENT CHARACTER}".encode()
_BEYOND = cython.declare(cython.int, 0x110000)  # what any number that is larger is taken for

# Names that are references without a semicolon too, and what they stand for: those of ISO 8859-1 in its order, and
# what markup is made of. The longest has six letters; the longest name of all, with its semicolon, has 32.
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
_LONGEST = cython.declare(cython.Py_ssize_t, 31)
# Names with a semicolon that were met, and what they stand for.
_KNOWN: Final[dict[bytes, bytes]] = {name.encode(): text for name, text in _WITHOUT_SEMICOLON.items()}


def needs_escape(text: bytes, at: int, attribute: bool) -> bool:
    """Whether the `&` at this index would be taken as (part of) a reference, and must be written `&amp;`.

    The text must go on as it will stand in the document; where it ends, the value ends.
    """
    return reference_at(text, at, len(text), attribute) is not None


@cython.ccall
@cython.boundscheck(False)
@cython.wraparound(False)
def reference_at(
    value: bytes, at: cython.Py_ssize_t, size: cython.Py_ssize_t, attribute: cython.bint
) -> Read | None:
    """13.2.5.72, character reference state, with `&` at this index: where it ends, and what it stands for.

    The text goes on up to `size`.
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
    # 13.2.5.73, named character reference state: the longest name that the text begins with
    letters = name.decode("ascii")
    length = _begins_with(letters)
    if not length:
        return None  # 13.2.5.74, ambiguous ampersand state: stays as it is
    if attribute and (length < end - start or (end < size and p[end] == 61)):
        return None  # "for historical reasons": flush
    return start + length, _WITHOUT_SEMICOLON[letters[:length]]


@cython.cfunc
def _named(name: bytes) -> bytes | None:
    """What a name stands for that a semicolon follows; None where it is none."""
    found: bytes | None = _KNOWN.get(name)
    if found is None:
        text = _all_names().get(name.decode("ascii") + ";")
        if text is not None:
            found = _KNOWN[name] = text.encode()
    return found


@cache
def _all_names() -> dict[str, str]:
    """All 2,231 of 13.5, which few documents' references need."""
    from html.entities import html5

    return html5


@lru_cache(maxsize=1024)
def _begins_with(name: str) -> int:
    """The length of the longest name without a semicolon that these letters and digits begin with, 0 for none."""
    for length in range(min(len(name), _LONGEST_WITHOUT_SEMICOLON), 1, -1):
        if name[:length] in _WITHOUT_SEMICOLON:
            return length
    return 0


@cython.cfunc
@cython.boundscheck(False)
@cython.wraparound(False)
def _numeric(value: bytes, at: cython.Py_ssize_t, size: cython.Py_ssize_t) -> Read | None:
    """13.2.5.75, numeric character reference state, behind the number sign; a number of any length."""
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
    """13.2.5.80, numeric character reference end state."""
    if number in _WINDOWS_1252:
        return _WINDOWS_1252[number]
    if number == 0 or number > 0x10FFFF or 0xD800 <= number <= 0xDFFF:
        return _REPLACEMENT
    return chr(number).encode()  # noncharacters and controls too: errors, and taken as they are
