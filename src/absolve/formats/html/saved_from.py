"""Find the retrieval URL (RFC 1808 section 3.3) in comments of programs that save pages.

In: the span of a comment's text. Out: the URL and the name of the program, or None. Known are the mark of the web
(Internet Explorer, Chromium), SingleFile, monolith and HTTrack.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from absolve.core.lazy_regex import pattern
from absolve.encodings.codings import to_utf8

if TYPE_CHECKING:
    from absolve.encodings.charsets import Charset

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
            r"\s*(?:Archive processed by|Page saved with) SingleFile\b[^\n]*+\s++url:[\t ]*(?P<url>\S+)", re.ASCII
        ),
    ),
    ("monolith comment", pattern(r"\s*Saved from (?P<url>\S+) at [^\n]* using monolith v", re.ASCII)),
    # Without the scheme; the newest versions write an absolute URL.
    ("HTTrack comment", pattern(r"\s*Mirrored from (?P<url>\S+) by HTTrack Website Copier", re.ASCII)),
)
_LONGEST: Final = 8192  # bytes of a comment that are read

_SCHEME: Final = pattern(r"[A-Za-z][A-Za-z0-9+.-]*:")
# URLs that only assign the page to the Internet zone.
_ZONE: Final = pattern(r"about:|http://internet\.e-mail/?\Z", re.IGNORECASE)


def retrieval_url(data: bytes, start: int, end: int, charset: Charset) -> tuple[str, str] | None:
    """Return the URL from which the page was saved, by the comment with this text, and its source; or None."""
    raw = data[start : min(end, start + _LONGEST)]
    text = to_utf8(charset, raw).decode("utf-8", "surrogateescape")
    for source, form in _SAVERS:
        if found := form.match(text):
            url = _counted(text, found) or found["url"]
            if source == "HTTrack comment" and not re.match(r"[a-z]+://", url):
                url = f"http://{url}"
            return (url, source) if _SCHEME.match(url) and not _ZONE.match(url) else None
    return None


def _counted(text: str, found: re.Match[str]) -> str:
    """Return the URL by its stated length, which may include spaces; "" unless it extends to the comment's end."""
    length = found.groupdict().get("length")
    if length is None:
        return ""
    end = found.start("url") + int(length)
    url = text[found.start("url") : end]
    return url if len(url) == int(length) and not text[end:].strip() and not re.search(r"[\t\n\f\r]", url) else ""
