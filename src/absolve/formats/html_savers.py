"""The comments in which programs that save pages write where a page came from (RFC 1808 section 3.3, at second hand)."""

from __future__ import annotations

import re
from typing import Final

_SAVERS: Final = (
    # Internet Explorer's and Chromium's mark of the web: the number counts the characters of the URL.
    ("saved from url comment", re.compile(rb"[\t\n\f\r ]*saved from url=\((\d{4})\)([^\t\n\f\r ]+)", re.I)),
    ("SingleFile comment", re.compile(rb"[\t\n\f\r ]*Page saved with SingleFile[^\n]*[\t\n\f\r ]+()url:[\t ]*([^\t\n\f\r ]+)")),
    ("monolith comment", re.compile(rb"[\t\n\f\r ]*Saved from ()([^\t\n\f\r ]+) at [^\n]* using monolith ")),
    ("HTTrack comment", re.compile(rb"[\t\n\f\r ]*Mirrored from ()([^\t\n\f\r ]+) by HTTrack Website Copier")),
)
_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_LONGEST: Final = 8192  # bytes of a comment that are looked at


def retrieval_url(data: bytes, start: int, end: int) -> tuple[str, str] | None:
    """The URL that the comment with this text says the page was saved from, and who said so; None for any other."""
    text = data[start : min(end, start + _LONGEST)]
    for source, form in _SAVERS:
        found = form.match(text)
        if found is None:
            continue
        url = found[2].decode("utf-8", "surrogateescape")
        if found[1] and len(url) > int(found[1]):
            url = url[: int(found[1])]
        if source == "HTTrack comment" and not _SCHEME.match(url):
            url = f"http://{url}"  # it writes none
        # The local name that Chromium gives a page that was never on the web says nothing.
        return None if url.lower().startswith("about:") else (url, source)
    return None
