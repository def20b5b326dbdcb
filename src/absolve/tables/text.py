"""Decode the bytes of a table or another file of the user, and cut it into lines; read TOML in bounded time.

In: bytes. Out: text, and the lines that are no UTF-8; of TOML a dictionary. A byte order mark decides; UTF-16 without
one is recognised by its zero bytes, because spreadsheets write it. They also write windows-1252, which is tried for
tables that have no character in UTF-8 at all.
"""

from __future__ import annotations

import codecs
import re
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from absolve.core.lazy_regex import pattern

if TYPE_CHECKING:
    from collections.abc import Iterator

NOT_UTF8: Final = "it is not UTF-8: save the file as UTF-8"
_LONGEST: Final = 1 << 16
_LOOKED_AT: Final = 1 << 20  # bytes at the beginning that decide the charset
_LEGACY: Final = "cp1252"
_UNDECODED: Final = re.compile("[\udc80-\udcff]")
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_ABOVE_ASCII: Final = re.compile("[^\0-\x7f\udc80-\udcff]")
TOO_LONG: Final = f"it has more than {_LONGEST} characters"
_MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


class Charset(NamedTuple):
    """How a text is written: its byte order mark, empty without one, and a charset of Python."""

    mark: bytes
    name: str

    def encoded(self, text: str) -> bytes:
        """Return the bytes of a text, with those that were no character of it; other lone surrogates are replaced.

        A text that a legacy charset cannot have is UTF-8 with a byte order mark.
        """
        try:
            return self.mark + text.encode(self.name, _errors(self.name))
        except UnicodeEncodeError:
            whole = self if self.name != _LEGACY else Charset(codecs.BOM_UTF8, "utf-8")
            return whole.mark + text.encode(whole.name, "replace")


UTF8: Final = Charset(b"", "utf-8")


class Line(NamedTuple):
    """One line with its number (1-based), without its end. `problem`: why it cannot be read, or None."""

    number: int
    text: str
    problem: str | None = None


def charset_of(data: bytes, *, legacy: bool = False) -> Charset:
    """Return how a text is written. `legacy`: windows-1252 if it has bytes above ASCII, and none of them is UTF-8."""
    for mark, name in _MARKS:
        if data.startswith(mark):
            return Charset(mark, name)
    head = data[:512]
    if head.count(b"\0") * 3 > len(head):
        return Charset(b"", "utf-16-le" if head[1::2].count(0) >= head[::2].count(0) else "utf-16-be")
    return Charset(b"", _LEGACY) if legacy and _is_legacy(data[:_LOOKED_AT]) else UTF8


def _is_legacy(head: bytes) -> bool:
    text = codecs.getincrementaldecoder("utf-8")("surrogateescape").decode(head)
    return not text.isascii() and bool(_UNDECODED.search(text)) and not _ABOVE_ASCII.search(text)


def decoded(data: bytes, *, legacy: bool = False) -> str:
    """Return a text; bytes that its charset does not have become lone surrogates (PEP 383)."""
    mark, name = charset_of(data, legacy=legacy)
    return data[len(mark) :].decode(name, _errors(name))


def _errors(charset: str) -> str:
    return "replace" if charset.startswith("utf-16") else "surrogateescape"


def lines(data: bytes) -> Iterator[Line]:
    """Yield the lines of a file."""
    for number, text in enumerate(cut(with_line_feeds(decoded(data)).removesuffix("\n")), start=1):
        yield line(number, text)


def cut(text: str) -> Iterator[str]:
    """Yield the lines of a text without their line feeds, one at a time: a list of all would take as much memory."""
    start = 0
    while (end := text.find("\n", start)) >= 0:
        yield text[start:end]
        start = end + 1
    yield text[start:]


def with_line_feeds(text: str) -> str:
    """Return a text whose lines all end with a line feed."""
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def line(number: int, text: str) -> Line:
    """Return a line, with the problem of one that is too long or has bytes that are no UTF-8."""
    if len(text) > _LONGEST:
        return Line(number, text[:100], TOO_LONG)
    if not text.isascii() and not is_text(text):
        return Line(number, shown(text), NOT_UTF8)
    return Line(number, text)


def shown(text: str) -> str:
    """Return a text whose lone surrogates are replaced: bytes that are no UTF-8, escapes of JSON."""
    return _SURROGATE.sub("\ufffd", text)


def is_text(text: str) -> bool:
    """Return whether a text has no lone surrogates."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


# --- TOML -------------------------------------------------------------------------------------------------------------

_MOST_PARTS: Final = 32  # parts of a dotted key; tomllib needs quadratic time and memory for them
_KEY: Final = r"""(?:[\w-]+|"[^"\n]*"|'[^'\n]*')"""
_DEEP: Final = pattern(rf"(?<![\w-]){_KEY}(?:[ \t]*\.[ \t]*{_KEY}){{{_MOST_PARTS}}}", re.ASCII)
_MOST_DIGITS: Final = 1000  # digits of a number; Python writes no number with many
_LONG: Final = pattern(rf"[=,\[\s][+-]?0[xob][0-9A-Fa-f_]{{{_MOST_DIGITS}}}")


def toml(text: str) -> dict[str, Any]:
    """Return the table of a TOML text. Raise ValueError if it is malformed, too long or nested too deep."""
    import tomllib  # most runs have no such file

    if _DEEP.search(text):
        raise ValueError(f"a key has more than {_MOST_PARTS} parts")
    if _LONG.search(text):
        raise ValueError(f"a number has more than {_MOST_DIGITS} digits")
    try:
        return tomllib.loads(text)
    except RecursionError as error:
        raise ValueError("the values are nested too deep") from error
