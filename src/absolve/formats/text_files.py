"""Walkers of files that are read by line: robots.txt, sitemaps as text, scripts; and of gzip.

In: the bytes of a file in UTF-8. Out: the links of its lines; of a script, or the text of a comment in a style sheet,
the link to the source map (ECMA-426, "Linking through inline annotations"); of gzip data a part, the document in it.
A script is read without parsing it, from its end: the last comment that names a source map counts, and no code may
follow it. Debuggers resolve its URL against the URL of the script, or of the page around it; no base element counts.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from absolve.core.errors import WalkError
from absolve.core.lazy_regex import pattern
from absolve.core.model import Link, LinkSite, Part
from absolve.encodings.codings import IDENTITY
from absolve.formats import registry, sniffing
from absolve.formats.grammars import SCRIPT_SPACE, source_map

if TYPE_CHECKING:
    from collections.abc import Iterator

    from absolve.encodings.charsets import Charset
    from absolve.formats import WalkOptions


_SITEMAP: Final = LinkSite("robots.txt", "sitemap", "line", "metadata")
_URL: Final = LinkSite("sitemap", "url", "line", "navigation")
# RFC 9309 2.2: a line is a name, a colon, a value, and perhaps a comment; sitemaps.org/protocol.html#submit_robots
_LINE: Final = pattern(rb"^(?:\xef\xbb\xbf)?[\t ]*+sitemap[\t ]*+:[\t ]*+([^\s#]++)", re.IGNORECASE | re.MULTILINE)
_LINE_OF_URL: Final = pattern(rb"^(?:\xef\xbb\xbf)?[\t ]*+([^\s#][^\r\n]*+)", re.MULTILINE)


def walk_robots(data: bytes, _charset: Charset, _options: WalkOptions) -> Iterator[Link]:
    """Yield the sitemaps in robots.txt, for example `/s.xml` in `Sitemap: /s.xml`; Allow and Disallow are patterns."""
    for found in _LINE.finditer(data.replace(b"\r", b"\n")):
        yield Link(_SITEMAP, *found.span(1), IDENTITY)


def walk_sitemap(data: bytes, _charset: Charset, _options: WalkOptions) -> Iterator[Link]:
    """Yield the URL in each line of a sitemap in text (sitemaps.org/protocol.html#otherformats)."""
    for found in _LINE_OF_URL.finditer(data.replace(b"\r", b"\n")):
        start = found.start(1)
        yield Link(_URL, start, start + len(found[1].rstrip()), IDENTITY)


def walk_gzip(data: bytes, charset: Charset, options: WalkOptions) -> Iterator[Part]:  # noqa: ARG001 - it has its own
    """Yield the document, message or mailbox in gzip data, by its first bytes. Raise WalkError for other content."""
    from absolve.formats.compression import Gzip  # here, because style sheets need this module, too

    media_type = sniffing.document_in_gzip(data)
    if media_type is None:
        raise WalkError("no-message", "there is no page, XML, list of URLs, message or mailbox in this gzip file")
    name = {registry.MESSAGE: "message", registry.MAILBOX: ""}.get(media_type, "content")  # messages have names
    coding = Gzip(options.max_decompressed)
    yield Part(media_type, 0, len(data), coding, name=name, own_charset=True, encloses=False)


# --- source maps ------------------------------------------------------------------------------------------------------

# The link stays: pages that state the digest of a script or a style sheet refuse other bytes.
IN_SCRIPT: Final = LinkSite("javascript", "sourcemappingurl", against="own", stays="always")
IN_SHEET: Final = LinkSite("css", "sourcemappingurl", against="own", stays="always")

_SCRIPT_LINE: Final = rb"(?:[^\n\r\xe2]++|\xe2(?!\x80[\xa8\xa9]))"  # without the line terminators of JavaScript
# Comments in one line, as the algorithm reads them: a comment without an end there is no code, but has no URL.
_TOKEN: Final = pattern(
    rb"%b|//(?P<one>(?>%b*))|/\*(?P<other>(?>(?:[^\n\r*\xe2]++|\*(?!/)|\xe2(?!\x80[\xa8\xa9]))*))\*/|/\*(?>%b*)|(?P<code>[^/]++|/.?)"
    % (SCRIPT_SPACE, _SCRIPT_LINE, _SCRIPT_LINE),
    re.DOTALL,
)


def in_comment(data: bytes, start: int, end: int, site: LinkSite) -> Link | None:
    """Return the link in a comment's text, for example in `# sourceMappingURL=a.js.map`; None without a source map."""
    for one, other in source_map(data[start:end]):
        return Link(site, start + one, start + other, IDENTITY)
    return None


def walk_script(data: bytes, _charset: Charset, _options: WalkOptions) -> list[Link]:
    """Return the link of a script to its source map, for example `f.js.map` in `//# sourceMappingURL=f.js.map`.

    This is JavaScriptExtractSourceMapURL without parsing.
    """
    floor = max(0, len(data) - sniffing.SCRIPT_END)
    mark = data.rfind(sniffing.NAMES_MAP, floor)
    if mark < 0:
        return []
    last: Link | None = None
    for found in _TOKEN.finditer(data, _line_start(data, floor, mark)):
        if found["code"] is not None:
            last = None
        for name in ("one", "other"):
            if found[name] is not None:
                last = in_comment(data, *found.span(name), IN_SCRIPT) or _unless_quoted(last, found[name])
    return [last] if last is not None else []


def _unless_quoted(last: Link | None, comment: bytes) -> Link | None:
    """Return the last link, unless a quote in another comment behind it may end a string around both."""
    return None if any(quote in comment for quote in (b'"', b"'", b"`")) else last


def _line_start(data: bytes, floor: int, mark: int) -> int:
    """Return the start of the line with the mark, or of the first line after `floor` if that is before the mark."""
    starts = [at + 1 for at in (data.find(b"\n", floor, mark), data.find(b"\r", floor, mark)) if at >= 0]
    if starts and floor:
        return min(starts)
    return max(data.rfind(b"\n", 0, mark), data.rfind(b"\r", 0, mark)) + 1 if floor else 0
