"""Create base claims from attribute values, and find the retrieval URL that programs which save pages write into them.

In: a decoded value (UTF-8 bytes) and its byte offset in the entity, or the span of a comment's text. Out: a `BaseClaim`
of the layer EMBEDDED (RFC 1808 section 3.1), without ASCII white space around its reference; or the URL (3.3) and the
name of the program, or None. Known are the mark of the web (Internet Explorer, Chromium), SingleFile, monolith,
HTTrack, the Wayback Machine; WebScrapBook and Save Page WE.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from absolve.core.lazy_regex import pattern
from absolve.core.model import EMBEDDED, BaseClaim, Layer, new
from absolve.encodings.codings import to_utf8
from absolve.formats.grammars import WHITE_SPACE
from absolve.formats.html.link_tables import INCLUDES, SAVE_PAGE, SCRAPBOOK
from absolve.urls.predicates import has_scheme

if TYPE_CHECKING:
    from collections.abc import Iterator

    from absolve.core.model import LinkSite
    from absolve.encodings.charsets import Charset


def base_claim(value: bytes, position: int) -> BaseClaim:
    """Return the claim of a base element (RFC 1808 3.1): for example, of `/a` for the href ` /a `."""
    return new(BaseClaim, (EMBEDDED, _reference(value), "base element", position, None))


def codebase_claim(value: bytes, position: int) -> BaseClaim | None:
    """Return the claim of `codebase`, for classid, data, archive and code of its element (HTML 4.01 13.3).

    Return None where the value is empty.
    """
    reference = _reference(value)
    return new(BaseClaim, (EMBEDDED, reference, "codebase attribute", position, None)) if reference else None


def xml_base_claim(value: bytes, position: int) -> BaseClaim:
    """Return the claim of `xml:base`, for its element and all descendants (XML Base 3.1)."""
    return new(BaseClaim, (EMBEDDED, _reference(value), "xml:base attribute", position, None))


def link_claim(value: bytes, position: int, source: str, outer: BaseClaim | None = None) -> BaseClaim | None:
    """Return the claim of a feed's link for the HTML beside it; None for a scheme that is not of the web."""
    reference = _reference(value)
    is_base = reference[:4].lower() == "http" or not has_scheme(reference)
    return new(BaseClaim, (EMBEDDED, reference, source, position, outer)) if is_base else None


def _reference(value: bytes) -> str:
    return value.strip(WHITE_SPACE).decode("utf-8", "surrogateescape")


_INCLUDE: Final = re.compile(rb"\s*+#\s*+include\s")
_INCLUDED: Final = re.compile(rb"\s(virtual|file)\s*+=\s*+[\"'`]([^\"'`]+)[\"'`]")


def includes(data: bytes, start: int, end: int) -> Iterator[tuple[LinkSite, int, int]]:
    """Yield the references of a server-side include in a comment, for example `/a` in `#include virtual="/a"`."""
    command = _INCLUDE.match(data, start, end)
    for found in _INCLUDED.finditer(data, command.end() - 1, end) if command is not None else ():
        yield INCLUDES[found[1].decode()], *found.span(2)


# --- the URLs of saved pages ------------------------------------------------------------------------------------------

# The source's name and the pattern of the comment's text from its start, with the URL as a group.
_SAVERS: Final = (
    # Internet Explorer's and Chromium's mark of the web; the number is the length of the URL in characters; Chromium
    # writes the second of two hyphens as %2D.
    (
        "saved from url comment",
        pattern(r"\s*saved from url=\((?P<length>[0-9]{4,5})\)(?P<url>\S+)", re.ASCII | re.IGNORECASE),
    ),
    # The first form was the default until 2022, and is still an option.
    (
        "SingleFile comment",
        pattern(
            r"\s*(?:Archive processed by|Page saved with) SingleFileZ?\b[^\n]*+\s++url:[\t ]*(?P<url>\S+)", re.ASCII
        ),
    ),
    ("monolith comment", pattern(r"\s*Saved from (?P<url>\S+) at [^\n]* using monolith v", re.ASCII)),
    (
        "PyWebCopy comment",
        pattern(r"\s*\* PyWebCopy Engine \[[^\n]*\n[^\n]*\n\* File mirrored from \[(?P<url>[^\s\]]+)\]"),
    ),
    # Without the scheme; the newest versions write an absolute URL.
    ("HTTrack comment", pattern(r"\s*Mirrored from (?P<url>\S+) by HTTrack Website Copier", re.ASCII)),
)
# The Wayback Machine ends its insertions into a page by these comments; its URL is an argument of the script before.
_WAYBACK: Final = pattern(rb"\s*END WAYBACK (?:TOOLBAR INSERT|REWRITE JS INCLUDE)", re.IGNORECASE)
_WOMBAT: Final = pattern(rb"""__wm\.wombat\("([^"\s]+)","([0-9]{14})","(https?://[^"\s]+/)","(\w+)\"""")
_TOOLBAR: Final = pattern(rb"""__wm\.bt\((?:[0-9]+,)+"(\w+)","([^"\s]+)","([0-9]{14})",""")
_ARCHIVE: Final = "https://web.archive.org/"
_BEFORE: Final = 2048  # bytes before the comment in which the script is looked for
_ATTRIBUTES: Final = {SCRAPBOOK: "WebScrapBook attribute", SAVE_PAGE: "Save Page WE meta element"}

_LONGEST: Final = 8192  # bytes of a comment that are read

_SCHEME: Final = pattern(r"[A-Za-z][A-Za-z0-9+.-]*:")
# URLs that only assign the page to the Internet zone.
_ZONE: Final = pattern(r"about:|https?://(?:internet\.e-mail|localhost)/?\Z", re.IGNORECASE)


def retrieval_url(data: bytes, start: int, end: int, charset: Charset) -> tuple[str, str] | None:
    """Return the URL of a saved page by a comment, or None: for example, ` saved from url=(0014)http://h/a.htm `."""
    raw = data[start : min(end, start + _LONGEST)]
    text = to_utf8(charset, raw).decode("utf-8", "surrogateescape")
    for source, form in _SAVERS:
        if found := form.match(text):
            url = _counted(text, found) or found["url"]
            if source == "HTTrack comment" and not re.match(r"[a-z]+://", url):
                url = f"http://{url}"
            return (url, source) if _SCHEME.match(url) and not _ZONE.match(url) else None
    return _replayed(data, start) if _WAYBACK.match(raw) else None


def _replayed(data: bytes, end: int) -> tuple[str, str] | None:
    """Return the URL of a page that the Wayback Machine shows, by the last call of its scripts before an offset."""
    before = data[max(end - _BEFORE, 0) : end]
    call = before[max(before.rfind(b"__wm.wombat("), before.rfind(b"__wm.bt("), 0) :]
    if found := _WOMBAT.match(call):
        url, time, host, collection = (group.decode("utf-8", "surrogateescape") for group in found.groups())
    elif found := _TOOLBAR.match(call):
        collection, url, time = (group.decode("utf-8", "surrogateescape") for group in found.groups())
        host = _ARCHIVE
    else:
        return None
    return f"{host}{collection}/{time}/{url}", "Wayback Machine script"


def saved_claim(place: LinkSite, value: bytes, position: int) -> BaseClaim | None:
    """Return the claim of an attribute in which a program that saves pages writes the URL; None for others."""
    if place is not SCRAPBOOK and place is not SAVE_PAGE:
        return None
    url = value.decode("utf-8", "surrogateescape").strip()
    if not _SCHEME.match(url) or _ZONE.match(url):
        return None
    return BaseClaim(Layer.RETRIEVAL, url, _ATTRIBUTES[place], position)


def _counted(text: str, found: re.Match[str]) -> str:
    """Return the URL by its stated length, which may include spaces; "" unless it extends to the comment's end."""
    length = found.groupdict().get("length")
    if length is None:
        return ""
    end = found.start("url") + int(length)
    url = text[found.start("url") : end]
    return url if len(url) == int(length) and not text[end:].strip() and not re.search(r"[\t\n\f\r]", url) else ""
