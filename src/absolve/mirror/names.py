"""Make names that Linux, macOS and Windows all accept of the segments of URLs.

In: a segment of a URL's path, escaped as it is there. Out: a name, and whether it is exactly the segment decoded; what
cannot keep its name gets letters of a digest from the caller. No name here has more than 240 bytes.
"""

from __future__ import annotations

import re
import unicodedata
from base64 import b32encode
from hashlib import sha256
from typing import Final, NamedTuple

from absolve.urls.identity import percent_decoded
from absolve.urls.whatwg import SURROGATES

MOST_BYTES: Final = 240  # of a name
_LETTERS: Final = 8  # of a digest

_FORBIDDEN: Final = re.compile(r'[<>:"/\\|?*\x00-\x1f\x7f]')
_PLAIN: Final = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._~!$&'()+,;=@-]*")
# Devices of Windows, with any extension, and with blanks before it.
_DEVICE: Final = re.compile(r"(?i:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$) *(?:\..*)?", re.DOTALL)
_SHORT: Final = re.compile(r"[^.]{1,6}~[0-9]{1,6}(?:\.[^.]{0,3})?")  # Windows' short names lead to other files
# Names by which programs find their settings, which might then run commands. Most of them begin with a dot.
_SETTINGS: Final = frozenset({"desktop.ini", "autorun.inf", "thumbs.db", "web.config", "absolve.toml"})
_WELL_KNOWN: Final = ".well-known"  # RFC 8615
_CLASS: Final = re.compile(r".*\.\{[0-9A-Fa-f-]+\}", re.DOTALL)  # Windows opens it as an object of that class


class Name(NamedTuple):
    """A safe name, and whether it is exactly the decoded segment."""

    text: str
    is_exact: bool


def fold(name: str) -> str:
    """Return the form that two names share which are one on some file system: case folded, Unicode composed."""
    if name.isascii():
        return name.lower()
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


def letters(text: str, more: int = 0) -> str:
    """Return a few letters of the digest of a text, and `more`."""
    digest = b32encode(sha256(text.encode("utf-8", "surrogatepass")).digest()).decode().lower()
    return digest[: _LETTERS + more].rstrip("=")


def decoded(segment: str) -> str:
    """Return a segment percent-decoded as UTF-8; as it is where that is not UTF-8."""
    text = percent_decoded(segment)
    return segment if SURROGATES.search(text) else text


def safe(segment: str) -> Name:
    """Return the name for a segment of a URL's path, of any length."""
    text = decoded(segment)
    name = text if _PLAIN.fullmatch(text) and not text.endswith(".") else _replaced(text)
    while is_reserved(name):  # more than once for a short name: one `_` before `a~1` makes another
        name = f"_{name}"
    return Name(name, name == text)


def is_reserved(name: str) -> bool:
    """Return whether a name is hidden, a device's or a short one on Windows, or that of some program's settings."""
    return bool(
        _DEVICE.fullmatch(name)
        or ("~" in name and _SHORT.fullmatch(name))
        or (fold(name) in _SETTINGS)
        or (name.startswith(".") and name != _WELL_KNOWN)
    )


def refused(name: str) -> str | None:
    """Return why some system refuses a name of a file or a folder; None where all accept it."""
    if _FORBIDDEN.search(name):
        return "a character that Windows forbids"
    if name.endswith((".", " ")):
        return "a dot or a blank at the end"
    if _DEVICE.fullmatch(name):
        return "the name of a device on Windows"
    return "more than 255 bytes" if len(name.encode("utf-8", "surrogateescape")) > _MOST_ANYWHERE else None


_MOST_ANYWHERE: Final = 255  # bytes of a name, on most file systems


def _replaced(text: str) -> str:
    text = unicodedata.normalize("NFC", _FORBIDDEN.sub("_", text))
    if not text.isascii():
        text = "".join("_" if _is_invisible(character) else character for character in text)
    bare = text.rstrip(". ")
    text = bare + "_" * min(len(text) - len(bare), 3)
    if _CLASS.fullmatch(text):
        text += "_"
    bare = text.lstrip(" ")
    return "_" * min(len(text) - len(bare), 3) + bare or "_"


def _is_invisible(character: str) -> bool:
    """Return whether a character is a control, a format or an unassigned one, or a blank other than a space."""
    category = unicodedata.category(character)
    return category[0] == "C" or category in {"Zl", "Zp"} or (category == "Zs" and character != " ")


def clipped(text: str, most: int) -> str:
    """Return the start of a text that has at most `most` bytes in UTF-8, without a blank or a dot at its end."""
    data = text.encode("utf-8", "replace")
    if len(data) > most:
        text = data[: max(most, 0)].decode("utf-8", "ignore")
    return text.rstrip(". ") or "_"
