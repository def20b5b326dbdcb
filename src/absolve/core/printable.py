"""Text for people: `printable` escapes what could move a cursor, reorder or hide; `masked` hides user information.

Every message, drawing and table on a terminal passes here. What programs read (JSON, CSV in a file, the fields of a
diagnostic) stays exact.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from absolve.core.lazy_regex import pattern

if TYPE_CHECKING:
    from collections.abc import Callable

MASK: Final = "***"

# UAX #44, Default_Ignorable_Code_Point: what is not drawn, beside the format characters (Cf), which are not printable.
_NOT_DRAWN: Final = pattern(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0\U000e0000-\U000e0fff]"
)
# RFC 3986 3.2.1, in the middle of a sentence too, and behind the slashes that browsers take; `C:\a@b` has none. It is
# found in linear time: a match begins behind slashes, of which the user information has none.
_USER_INFORMATION: Final = pattern(
    r"""( \A(?:https?|wss?|ftp):[/\\]* | (?:(?<=https:)|(?<=http:)|(?<=wss:)|(?<=ws:)|(?<=ftp:))[/\\]+ | (?<=:)//
    | (?<![^\s"'(<=,\[])[/\\]{2,} ) [^/?#\\\s"<>]+ @""",
    re.VERBOSE | re.IGNORECASE,
)


def _backslashed(character: str) -> str:
    return character.encode("unicode_escape", "surrogatepass").decode("ascii")


def printable(text: str, keep: str = "", escape: Callable[[str], str] = _backslashed) -> str:
    r"""Return the text with escapes (`\n`, `\x1b`, `\u202e`, as in `repr`) for every character that is not visible.

    Those are the controls of C0 and C1, DEL, separators other than the blank, format characters (those that change the
    direction of text among them), what is not drawn, surrogates and what is not assigned. Characters in `keep` stay,
    and so does the backslash: to escape twice is to escape once.
    """
    if _is_visible(text):
        return text
    return "".join(one if _is_visible(one) or one in keep else escape(one) for one in text)


def percent_escaped(character: str) -> str:
    """Return the UTF-8 bytes of a character as a URL has them (RFC 3986, 2.1): an escape for `printable`."""
    return "".join(f"%{byte:02X}" for byte in character.encode("utf-8", "surrogateescape"))


def _is_visible(text: str) -> bool:
    return text.isprintable() and (text.isascii() or not _NOT_DRAWN.search(text))


def masked(text: str) -> str:
    """Return the text with `***` for the user information (`user:password`) of each URL in it."""
    return _USER_INFORMATION.sub(rf"\1{MASK}@", text) if "@" in text else text


def message(text: str, *, credentials: bool = False) -> str:
    """Return a text as a line of a message: printable, and without user information unless `credentials` are shown."""
    return printable(text if credentials else masked(text))


def width(text: str) -> int:
    """Return how many columns a terminal gives to a text (UAX #11)."""
    if text.isascii():
        return len(text)
    import unicodedata  # an extension module: most runs need none of it

    return sum(
        0 if unicodedata.combining(character) else 1 + (unicodedata.east_asian_width(character) in {"W", "F"})
        for character in text
    )
