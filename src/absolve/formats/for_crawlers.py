"""Walkers of what a site has for crawlers: robots.txt, sitemaps as text; and of gzip, in which sitemaps often are.

In: the bytes of a file. Out: the links of its lines; or a part, the document that is compressed.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from absolve.core.errors import WalkError
from absolve.core.lazy_regex import pattern
from absolve.core.model import Link, LinkSite, Part
from absolve.encodings.codings import IDENTITY
from absolve.formats import registry
from absolve.formats.compression import Gzip

if TYPE_CHECKING:
    from collections.abc import Iterator

    from absolve.encodings.charsets import Charset
    from absolve.formats.protocols import WalkOptions

_SITEMAP: Final = LinkSite("robots.txt", "sitemap", "line", "metadata")
_URL: Final = LinkSite("sitemap", "url", "line", "navigation")
# RFC 9309 2.2: a line is a name, a colon, a value, and perhaps a comment; sitemaps.org/protocol.html#submit_robots
_LINE: Final = pattern(rb"^(?:\xef\xbb\xbf)?[\t ]*+sitemap[\t ]*+:[\t ]*+([^\s#]++)", re.IGNORECASE | re.MULTILINE)
_LINE_OF_URL: Final = pattern(rb"^(?:\xef\xbb\xbf)?[\t ]*+([^\s#][^\r\n]*+)", re.MULTILINE)


def walk_robots(data: bytes, _charset: Charset, _options: WalkOptions) -> Iterator[Link]:
    """Yield the sitemaps that robots.txt names; the values of Allow and Disallow are patterns."""
    for found in _LINE.finditer(data.replace(b"\r", b"\n")):
        yield Link(_SITEMAP, *found.span(1), IDENTITY)


def walk_sitemap(data: bytes, _charset: Charset, _options: WalkOptions) -> Iterator[Link]:
    """Yield the URL in each line of a sitemap in text (sitemaps.org/protocol.html#otherformats)."""
    for found in _LINE_OF_URL.finditer(data.replace(b"\r", b"\n")):
        start = found.start(1)
        yield Link(_URL, start, start + len(found[1].rstrip()), IDENTITY)


def walk_gzip(data: bytes, charset: Charset, options: WalkOptions) -> Iterator[Part]:  # noqa: ARG001 - it has its own
    """Yield the document, message or mailbox in gzip data, by its first bytes. Raise WalkError for other content."""
    media_type = registry.document_in_gzip(data)
    if media_type is None:
        raise WalkError("no-message", "there is no page, XML, list of URLs, message or mailbox in this gzip file")
    name = {registry.MESSAGE: "message", registry.MAILBOX: ""}.get(media_type, "content")  # messages have names
    coding = Gzip(options.max_decompressed)
    yield Part(media_type, 0, len(data), coding, name=name, own_charset=True, encloses=False)
