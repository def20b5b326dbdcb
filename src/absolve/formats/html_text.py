"""What rows say beside the reference: the attributes of a tag, and the text of an anchor."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Final

from absolve.codings import CharacterReferences, quoted

if TYPE_CHECKING:
    from absolve.charsets import Charset

LONGEST: Final = 200  # characters of text in a row
_LOOKED_AT: Final = 4096  # bytes of an anchor's content that are read for it

# 13.2.5.32 to .40: white space and slashes, a name (that may begin with =), and a value in quotes or without.
_ATTRIBUTE: Final = re.compile(
    rb"[\t\n\f\r /]*+([^\t\n\f\r />][^\t\n\f\r />=]*+)"
    rb"(?:[\t\n\f\r ]*+=[\t\n\f\r ]*+(?:\"([^\"]*+)\"|'([^']*+)'|([^\t\n\f\r >]*+)))?+"
)
_WANTED: Final = (b"rel", b"alt")
_NAME: Final = re.compile(rb"<[^\t\n\f\r />]*+")
# A tag or comment that the stretch cuts off takes all the rest of it: nothing in it is looked at twice.
_TOKEN: Final = re.compile(
    rb"<(?:!--(?:-?>|.*?--!?>|.*)"
    rb"|(/?)([A-Za-z][^\t\n\f\r />]*+)"
    rb"(?:[^>=]++|=[\t\n\f\r ]*+(?:\"[^\"]*+(?:\"|\Z)|'[^']*+(?:'|\Z))?+)*+(?:>|\Z)"
    rb"|[!?/][^>]*+(?:>|\Z))",
    re.DOTALL,
)
_CLOSED: Final = (b"</a>", b"</A>")
_HIDDEN: Final = re.compile(rb"script|style|template|noscript", re.IGNORECASE)


def attributes(data: bytes, start: int, end: int, charset: Charset) -> dict[str, str]:
    """The `rel` and the `alt` of the start tag in this span, as far as it has them: values decoded and folded."""
    found: dict[str, str] = {}
    tag = data[start:end].lower()
    if tag.find(b"rel") < 0 and tag.find(b"alt") < 0:  # as in most tags; looking closer takes longer
        return found
    name = _NAME.match(data, start, end)
    position = name.end() if name else end
    while attribute := _ATTRIBUTE.match(data, position, end):
        position = attribute.end()
        key = attribute[1].lower()
        if key in _WANTED:
            double, single, bare = attribute.groups()[1:]
            value = double or single or bare or b""
            found.setdefault(key.decode(), folded(quoted(charset, 0x22).decode(value)))
    return found


def anchor_text(data: bytes, start: int, charset: Charset) -> str:
    """The text of the anchor whose start tag ends here, or the alternative texts in it; white space folded, cut."""
    end = min(len(data), start + _LOOKED_AT)
    tag = data.find(b"<", start, end)
    if tag >= 0 and data[tag : tag + 4] in _CLOSED:  # most anchors hold text alone
        return folded(_text(charset).decode(data[start:tag]))
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
            alternatives.append(attributes(data, *token.span(), charset).get("alt", ""))
    else:
        if not hidden:
            pieces.append(data[position:end].partition(b"<")[0])
    text = folded(_text(charset).decode(b" ".join(pieces)))
    return text or folded(" ".join(alternatives).encode())


@cache
def _text(charset: Charset) -> CharacterReferences:
    """The coding of an element's text."""
    return CharacterReferences(charset, b"")


def folded(value: bytes) -> str:
    return " ".join(value.decode("utf-8", "replace").split())[:LONGEST]
