"""The comments in which programs that save pages write where they came from (RFC 1808 section 3.3, at second hand)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from absolve.encodings.codings import to_utf8

if TYPE_CHECKING:
    from absolve.encodings.charsets import Charset

# A comment's text as each saver writes it, from its start: what it is called, and where the URL stands.
_SAVERS: Final = (
    # Internet Explorer's and Chromium's mark of the web; the number counts the characters of the URL, in which Chromium
    # writes the second of two hyphens as %2D.
    (
        "saved from url comment",
        re.compile(r"\s*saved from url=\((?P<length>[0-9]{4,5})\)(?P<url>\S+)", re.ASCII | re.IGNORECASE),
    ),
    # The first was its name until 2022, and is still an option.
    (
        "SingleFile comment",
        re.compile(
            r"\s*(?:Archive processed by|Page saved with) SingleFile\b[^\n]*+\s++url:[\t ]*(?P<url>\S+)", re.ASCII
        ),
    ),
    ("monolith comment", re.compile(r"\s*Saved from (?P<url>\S+) at [^\n]* using monolith v", re.ASCII)),
    # Without its scheme, whichever that was; the newest versions write a whole URL.
    ("HTTrack comment", re.compile(r"\s*Mirrored from (?P<url>\S+) by HTTrack Website Copier", re.ASCII)),
)
_LONGEST: Final = 8192  # bytes of a comment that are looked at

_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
# What says only that a page belongs to the Internet zone, not where it was.
_ZONE: Final = re.compile(r"about:|http://internet\.e-mail/?\Z", re.IGNORECASE)


def retrieval_url(data: bytes, start: int, end: int, charset: Charset) -> tuple[str, str] | None:
    """The URL that the comment with this text says the page was saved from, and who said so; None for any other."""
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
    """The characters that the number counts, blanks among them; none where it does not count to the comment's end."""
    length = found.groupdict().get("length")
    if length is None:
        return ""
    end = found.start("url") + int(length)
    url = text[found.start("url") : end]
    return url if len(url) == int(length) and not text[end:].strip() and not re.search(r"[\t\n\f\r]", url) else ""
