"""Comments that name a source map (ECMA-426, "Linking through inline annotations"), and the walker of JavaScript.

In: the bytes of a script in UTF-8, or the text of a comment in a style sheet. Out: the link to the source map.
A script is read without parsing it, from its end: the last such comment counts, and no code may follow it. Debuggers
resolve its URL against that of the script, or of the page around it; no base element counts.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from absolve.core.lazy_regex import pattern
from absolve.core.model import Link, LinkSite
from absolve.encodings.codings import IDENTITY
from absolve.formats.grammars import SCRIPT_SPACE, source_map
from absolve.formats.registry import NAMES_MAP, SCRIPT_END

if TYPE_CHECKING:
    from absolve.encodings.charsets import Charset
    from absolve.formats.protocols import WalkOptions

# It stays: a script or a style sheet with other bytes is refused where a page states its digest.
IN_SCRIPT: Final = LinkSite("javascript", "sourcemappingurl", against="own", stays="always")
IN_SHEET: Final = LinkSite("css", "sourcemappingurl", against="own", stays="always")

_LINE: Final = rb"(?:[^\n\r\xe2]++|\xe2(?!\x80[\xa8\xa9]))"  # without the line terminators of JavaScript
# Comments in one line, as the algorithm reads them: one that has no end there is no code, but has no URL.
_TOKEN: Final = pattern(
    rb"%b|//(?P<one>(?>%b*))|/\*(?P<other>(?>(?:[^\n\r*\xe2]++|\*(?!/)|\xe2(?!\x80[\xa8\xa9]))*))\*/|/\*(?>%b*)|(?P<code>[^/]++|/.?)"
    % (SCRIPT_SPACE, _LINE, _LINE),
    re.DOTALL,
)


def in_comment(data: bytes, start: int, end: int, site: LinkSite) -> Link | None:
    """Return the link in the text of a comment; None where it names no source map."""
    for one, other in source_map(data[start:end]):
        return Link(site, start + one, start + other, IDENTITY)
    return None


def walk(data: bytes, _charset: Charset, _options: WalkOptions) -> list[Link]:
    """Return the link of a script to its source map (a `Walker`): JavaScriptExtractSourceMapURL, without parsing."""
    floor = max(0, len(data) - SCRIPT_END)
    mark = data.rfind(NAMES_MAP, floor)
    if mark < 0:
        return []
    last: Link | None = None
    for found in _TOKEN.finditer(data, _line_start(data, floor, mark)):
        if found["code"] is not None:
            last = None
        for name in ("one", "other"):
            if found[name] is not None:
                last = in_comment(data, *found.span(name), IN_SCRIPT) or _kept(last, found[name])
    return [last] if last is not None else []


def _kept(last: Link | None, comment: bytes) -> Link | None:
    """Return the last link, unless a quote in another comment behind it may end a string around both."""
    return None if any(quote in comment for quote in (b'"', b"'", b"`")) else last


def _line_start(data: bytes, floor: int, mark: int) -> int:
    """Return where a line begins: the first one behind `floor` if it is before the mark, or that of the mark."""
    starts = [at + 1 for at in (data.find(b"\n", floor, mark), data.find(b"\r", floor, mark)) if at >= 0]
    if starts and floor:
        return min(starts)
    return max(data.rfind(b"\n", 0, mark), data.rfind(b"\r", 0, mark)) + 1 if floor else 0
