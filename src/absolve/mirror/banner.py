"""The line at the top of a copied page that states where and when it was captured (`--banner`).

In: the bytes of a page, its URL and the date of its capture. Out: an `Edit`. The line has no script, and its style is
inside it, so that neither the page nor a Content-Security-Policy needs to know of it.
"""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING, Final

from absolve.core.model import Edit
from absolve.core.printable import masked, printable
from absolve.formats.html.start_tags import start_tags
from absolve.urls.identity import without_user

if TYPE_CHECKING:
    from absolve.document.resolved import Resolved
    from absolve.encodings.charsets import Charset

MARK: Final = b'data-absolve="banner"'
_LONGEST: Final = 200  # characters of the URL that are shown,
_LINKED: Final = 4000  # and that are linked
_STYLE: Final = (
    "all:initial;display:block;position:relative;z-index:2147483647;box-sizing:border-box;padding:6px 14px;"
    "border-bottom:1px solid #b59b3c;background:#fff8dc;color:#1b1f24;font:14px/1.4 system-ui,sans-serif;"
    "overflow-wrap:anywhere"
)
# Elements that may be in the head of a page: none of them begins its body (HTML Standard 13.2.6.4.4).
_IN_HEAD: Final = frozenset(b"html head base basefont bgsound link meta title noframes style script".split())
_NOSCRIPT: Final = re.compile(rb"(?i:</noscript)")  # behind it: its content is not shown in every browser
_FRAMESET: Final = re.compile(rb"(?i:<frameset)")  # may take the place of a body without text (13.2.6.4.7)


def edit(data: bytes, charset: Charset, url: str, date: str) -> Edit | None:
    """Return the edit that adds the line; None where it has no place: in framesets, in pages without any element.

    A page that has such a line gets no other one. `date` is that of ISO 8601. In a charset that is not a superset of
    ASCII no place is looked for.
    """
    place = _place(data) if charset.transparent and MARK not in data else None
    if place is None:
        return None
    return Edit(place, place, _line(url, date).encode(charset.codec, "xmlcharrefreplace"))


def is_own(resolved: Resolved) -> bool:
    """Return whether a link is that of such a line."""
    link = resolved.link
    return link.tag_start >= 0 and MARK in resolved.entity.own_data[link.tag_start : link.tag_end]


def _place(data: bytes) -> int | None:
    """Return the offset behind the start tag of the body, or before the first element that is shown."""
    end = 0
    for tag in start_tags(data):
        if tag.start < end or tag.inert or tag.name in _IN_HEAD:
            continue
        if tag.name == b"body":
            return tag.end
        if tag.name != b"noscript":
            return None if _FRAMESET.search(data, tag.start) else tag.start
        found = _NOSCRIPT.search(data, tag.end)
        if found is None:
            return None
        end = found.end()
    return None


def _line(url: str, date: str) -> str:
    mark = MARK.decode()
    day = f"{date[:10]} {date[11:16]} UTC" if date else ""
    when = f', captured on <time datetime="{html.escape(date)}">{html.escape(day)}</time>' if day else ""
    label = f'{mark} role="complementary" aria-label="About this copy"'
    return f'<div {label} style="{_STYLE}">A copy of {_source(url, mark)}{when}.</div>'


def _source(url: str, mark: str) -> str:
    """Return the URL as a link; for a page without a URL of the web only words."""
    if not url.startswith(("http://", "https://")):
        return "a page whose URL is not known"
    url = without_user(url)
    shown = printable(masked(url))
    text = html.escape(shown if len(shown) <= _LONGEST else f"{shown[:_LONGEST]}...")
    if len(url) > _LINKED:
        return text
    return f'<a {mark} rel="noreferrer" style="color:#0550ae" href="{html.escape(url)}">{text}</a>'
