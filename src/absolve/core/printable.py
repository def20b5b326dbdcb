"""Make text safe to show: `printable` escapes invisible characters, `masked` hides user information in URLs.

In: `str`. Out: `str`. Characters that move the cursor, reorder or hide text (UAX #44) cannot reach the terminal.
All messages, drawings and tables go through here; formats for programs (JSON, CSV files, fields of a diagnostic) stay
exact, but for `literal`, which keeps spreadsheets from evaluating cells. User information is defined by RFC 3986 3.2.1.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from absolve.core.lazy_regex import pattern

if TYPE_CHECKING:
    from collections.abc import Callable

MASK: Final = "***"

# UAX #44, Default_Ignorable_Code_Point: without a glyph; but not format characters (Cf): `isprintable` rejects them.
_NOT_DRAWN: Final = pattern(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0\U000e0000-\U000e0fff]"
)
_JOINERS: Final = "\u200c\u200d\ufe0f"  # of Persian and Indic words, and of emoji
# RFC 3986 3.2.1, also in the middle of a sentence, and behind any slashes that browsers accept; `C:\a@b` has none.
# Matching is linear: a match begins behind slashes, and user information contains no slash.
_USER_INFORMATION: Final = pattern(
    r"""( \A(?:https?|wss?|ftp):[/\\]* | (?:(?<=https:)|(?<=http:)|(?<=wss:)|(?<=ws:)|(?<=ftp:))[/\\]+ | (?<=:)//
    | (?<![^\s"'(<=,\[])[/\\]{2,} ) [^/?#\\\s"<>]+ @""",
    re.VERBOSE | re.IGNORECASE,
)


def _backslashed(character: str) -> str:
    return character.encode("unicode_escape", "surrogatepass").decode("ascii")


def printable(text: str, keep: str = "", escape: Callable[[str], str] = _backslashed) -> str:
    r"""Return the text with escapes (`\n`, `\x1b`, `\u202e`, as in `repr`) for every invisible character.

    Those are C0 and C1 controls, DEL, separators other than the space, format characters (including those that change
    text direction), default ignorable characters, surrogates and unassigned code points. Characters in `keep` stay, and
    so does the backslash: the function is idempotent.
    """
    if _is_visible(text):
        return text
    return "".join(one if _is_visible(one) or one in keep else escape(one) for one in text)


def is_hidden_in(text: str) -> bool:
    """Return whether a text has a character that nobody sees, other than joiners in words and emoji."""
    return printable(text, _JOINERS) != text


def percent_escaped(character: str) -> str:
    """Return a character percent-encoded (RFC 3986, 2.1), for `printable`: for example, `%E2%80%AE` for U+202E."""
    return "".join(f"%{byte:02X}" for byte in character.encode("utf-8", "surrogateescape"))


def json_escaped(character: str) -> str:
    r"""Return a character as an escape of a JSON string (RFC 8259, 7; `\u009b`): an escape function for `printable`."""
    import json  # most runs need none

    return json.dumps(character)[1:-1]


def number(count: int, noun: str) -> str:
    """Return a count with its noun: for example, `1 link`, `2,000 links`."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def visible_json(lines: bytes) -> bytes:
    r"""Return lines of JSON with the same values, in which invisible characters are escapes (`\u009b`)."""
    return "\n".join(printable(line, escape=json_escaped) for line in lines.decode().split("\n")).encode()


def _is_visible(text: str) -> bool:
    return text.isprintable() and (text.isascii() or not _NOT_DRAWN.search(text))


def masked(text: str) -> str:
    """Return the text without user information: for example, `http://u:p@h/` gives `http://***@h/`."""
    return _USER_INFORMATION.sub(rf"\1{MASK}@", text) if "@" in text else text


def message(text: str) -> str:
    """Return a text for a message: printable, with user information masked."""
    return printable(masked(text))


def width(text: str) -> int:
    """Return the number of terminal columns of a text (UAX #11)."""
    if text.isascii():
        return len(text)
    import unicodedata  # an extension module that most runs do not need

    return sum(
        0 if unicodedata.combining(character) else 1 + (unicodedata.east_asian_width(character) in {"W", "F"})
        for character in text
    )


# --- cells of spreadsheets --------------------------------------------------------------------------------------------

# OWASP, "CSV Injection": spreadsheets evaluate cells that begin with these characters, quoted or not, also with the
# fullwidth forms of East Asian input. A program that splits lines at every line break, or fields at `;` or a tab (the
# default in many countries), begins a cell in the middle of ours, and takes quotes off its beginning.
# Numbers alone call and name nothing: `-1`, `+49 (0) 30`, a lone hyphen.
_FORMULA: Final = r"(?:[=@\uff1d\uff0b\uff0d\uff20]|[+-](?![0-9 .,:/()%+*-]*+(?:[;\t\r\n]|\Z)))"
# An apostrophe that is there already gets another one, so that `original` gives each text back.
_EVALUATED: Final = pattern(rf"\A(?='*+(?:[\t\r\n]|{_FORMULA}))|(?<=[;\t\r\n])(?=['\"]*+{_FORMULA})")
_HARMLESS: Final = pattern(rf"\A'(?='*+(?:[\t\r\n]|{_FORMULA}))|(?<=[;\t\r\n])'(?=['\"]*+{_FORMULA})")


def literal(text: str) -> str:
    """Return the text, with an apostrophe wherever a spreadsheet would evaluate the rest as a formula.

    For example, `=1+1` becomes `'=1+1`. An anchor text such as `=HYPERLINK(...)` or `=cmd|...` would run an attacker's
    formula when the list is opened.
    """
    return _EVALUATED.sub("'", text)


def original(text: str) -> str:
    """Return the inverse of `literal`: for example, `'=1+1` gives `=1+1`."""
    return _HARMLESS.sub("", text) if "'" in text else text
