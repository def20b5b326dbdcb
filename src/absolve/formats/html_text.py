"""What rows say beside the reference: the attributes of a tag, and the text of an anchor."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from absolve.codings import CharacterReferences, attribute_coding
from absolve.formats.html_scanner import ROWS, Scanner
from absolve.formats.html_scanner import ATTRIBUTES as COLUMNS

if TYPE_CHECKING:
    from absolve.charsets import Charset

LONGEST: Final = 200  # characters of text in a row
_LOOKED_AT: Final = 4096  # bytes of an anchor's content that are read for it
_NOTHING: Final = bytes(ROWS * COLUMNS)
_TOKEN: Final = re.compile(
    rb"<!--.*?--!?>|<(/?)([A-Za-z][^\t\n\f\r />]*+)(?:[^>\"']++|\"[^\"]*+\"|'[^']*+')*+>|<[!?/][^>]*+>", re.S
)
_HIDDEN: Final = re.compile(rb"script|style|template|noscript", re.I)


def attributes(data: bytes, tag_start: int, charset: Charset) -> dict[str, str]:
    """The attributes of the start tag at this offset: names in lower case, values decoded and folded."""
    record: list[tuple[int, int, int, int, int]] = []
    scanner = Scanner(data[tag_start : tag_start + 65536], _NOTHING, record)
    scanner.next()
    found: dict[str, str] = {}
    for name, name_end, start, end, quote in record:
        key = data[tag_start + name : tag_start + name_end].lower().decode("latin-1")
        if key in {"rel", "alt", "title"}:
            coding = attribute_coding(charset, quote, (0, 0))
            found.setdefault(key, folded(coding.decode(data[tag_start + start : tag_start + end])))
    return found


def anchor_text(data: bytes, start: int, charset: Charset) -> str:
    """The text of the anchor whose start tag ends here, or the alternative texts in it; white space folded, cut."""
    end = min(len(data), start + _LOOKED_AT)
    pieces: list[bytes] = []
    alternatives: list[str] = []
    position = start
    hidden = b""
    for token in _TOKEN.finditer(data, start, end):
        if not hidden:
            pieces.append(data[position : token.start()])
        position = token.end()
        name = (token[2] or b"").lower()
        if name == b"a":
            end = position
            break
        if hidden:
            if token[1] and name == hidden:
                hidden = b""
        elif not token[1] and _HIDDEN.fullmatch(name):
            hidden = name
        elif name == b"img" and not token[1]:
            alternatives.append(attributes(data, token.start(), charset).get("alt", ""))
    else:
        if not hidden:
            pieces.append(data[position:end].partition(b"<")[0])
    text = folded(CharacterReferences(charset, b"").decode(b" ".join(pieces)))
    return text or folded(" ".join(alternatives).encode())


def folded(value: bytes) -> str:
    return " ".join(value.decode("utf-8", "replace").split())[:LONGEST]
