"""Find the URL in shortcuts, files that are a link: .url (Windows), .desktop (freedesktop.org), .webloc (Apple).

In: the bytes of one file. Out: its links; or, for a page beside it, its URL. A .webloc is a property list, in XML or
binary; the offsets in a binary one depend on its strings, so that its link is listed and never rewritten.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from absolve.core.errors import WalkError
from absolve.core.lazy_regex import pattern
from absolve.core.model import Link, LinkSite
from absolve.encodings.charsets import UTF_8
from absolve.encodings.codings import IDENTITY, Raw
from absolve.formats.grammars import url
from absolve.formats.plist import binary, markup
from absolve.formats.xml.codings import CharacterData

if TYPE_CHECKING:
    from collections.abc import Iterator

    from absolve.encodings.charsets import Charset
    from absolve.formats.protocols import WalkOptions

# By key, in lower case. BASEURL is the page of a frame; its own URL is URL. KDE marks values to be expanded by [$e].
_PLACES: Final = {
    b"url": LinkSite("shortcut", "url", kind="navigation"),
    b"baseurl": LinkSite("shortcut", "baseurl", kind="metadata"),
    b"iconfile": LinkSite("shortcut", "iconfile", kind="image"),
}
_ENTRY: Final = pattern(rb"^[\t ]*(URL|BASEURL|IconFile)(?:\[\$e\])?[\t ]*=([^\r\n]*+)", re.IGNORECASE | re.MULTILINE)
_WEB: Final = pattern(rb"[\t ]*https?://", re.IGNORECASE)
_IN_XML: Final = pattern(rb"<key>[\t\n\r ]*URL[\t\n\r ]*</key>[\t\n\r ]*<string>([^<]*+)</string>")
_NAMES: Final = frozenset({"URL"})
_MOST: Final = 1000  # values of a property list
_LISTED: Final = LinkSite("shortcut", "url", kind="navigation", stays="always")


def walk(data: bytes, charset: Charset, _options: WalkOptions) -> Iterator[Link]:
    """Yield the links of a .url or .desktop file; `IconFile` is one where it is no path."""
    coding = Raw(charset)
    for found in _ENTRY.finditer(data):
        key = found[1].lower()
        if key != b"iconfile" or _WEB.match(found[2]):
            yield from _link(_PLACES[key], found, 2, coding)


def walk_webloc(data: bytes, _charset: Charset, _options: WalkOptions) -> Iterator[Link]:
    """Yield the link of a .webloc file."""
    if not data.startswith(binary.MAGIC):
        for found in _IN_XML.finditer(data):
            yield from _link(_PLACES[b"url"], found, 1, CharacterData(UTF_8))
        return
    text = _url_in(data).encode("ascii", "ignore")
    start = data.find(text) if text else -1
    if start >= 0:
        yield Link(_LISTED, start, start + len(text), IDENTITY)


def _link(place: LinkSite, found: re.Match[bytes], group: int, coding: Any) -> Iterator[Link]:
    (start, end), *_ = url(found[group])
    if start < end:
        yield Link(place, found.start(group) + start, found.start(group) + end, coding)


def url_in(data: bytes) -> str | None:
    """Return the URL in the UTF-8 text, or the property list, of a shortcut of any of these kinds; None without one."""
    if data.startswith(binary.MAGIC) or b"<plist" in data:
        return _url_in(data) or None
    found = [entry[2] for entry in _ENTRY.finditer(data) if entry[1].lower() == b"url"]
    return found[0].strip().decode("utf-8", "surrogateescape") if found else None


def _url_in(data: bytes) -> str:
    """Return the URL in a property list; "" where there is none, or the list is malformed."""
    try:
        is_binary = data.startswith(binary.MAGIC)
        found = binary.Table(data, _MOST).tree(_NAMES) if is_binary else markup.tree(data, _NAMES, _MOST)
    except WalkError:
        return ""
    value = found.get("URL") if isinstance(found, dict) else None
    return value.strip() if isinstance(value, str) else ""
