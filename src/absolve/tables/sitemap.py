"""A sitemap (sitemaps.org, protocol 0.9) of the pages among documents.

In: rows of documents. Out: the URL of each page that a search engine may index, once: HTML and PDF of http and https,
with the status 200 or without one, that no `robots` excludes and whose canonical URL is no other.
"""

from __future__ import annotations

import errno
import json
import re
from html import escape
from typing import IO, TYPE_CHECKING, Any, Final

from absolve.tables import Sink
from absolve.tables.plain import json_lines
from absolve.urls import resolve

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from absolve.tables import Table

_MOST: Final = 50_000  # URLs in a sitemap, and
_LARGEST: Final = 50 << 20  # bytes (sitemaps.org, Sitemap file requirements)
_LONGEST: Final = 2048  # characters of a URL (the same: `loc`)
_PAGES: Final = frozenset({"text/html", "application/xhtml+xml", "application/pdf"})
_EXCLUDED: Final = re.compile(r"(?:\A|[,:\s])(?:noindex|none)(?:\Z|[,\s])", re.IGNORECASE)
_HEAD: Final = b'<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n'
_END: Final = b"</urlset>\n"


def _write(_: Sequence[Table], chunks: Iterable[tuple[str, bytes]], file: IO[bytes]) -> None:
    """Write all URLs, or raise OSError if there are more than one sitemap can have."""
    found: dict[str, None] = {}
    for _table, chunk in chunks:
        for line in bytes(chunk).splitlines():
            if (url := _page(json.loads(line))) is not None:
                found.setdefault(url)
    lines = [f"<url><loc>{escape(url)}</loc></url>\n".encode("ascii", "xmlcharrefreplace") for url in found]
    if len(lines) > _MOST or sum(map(len, lines)) > _LARGEST - len(_HEAD) - len(_END):
        text = f"a sitemap has at most {_MOST:,} URLs and 50 MB: write several (--include, --exclude)"
        raise OSError(errno.EFBIG, f"{text}; these are {len(lines):,}")
    file.writelines([_HEAD, *lines, _END])


def _page(row: dict[str, Any]) -> str | None:
    """Return the URL of a page that belongs into a sitemap, as a browser writes it; else None."""
    if row["media_type"] not in _PAGES or row["status"] not in {None, 200} or _EXCLUDED.search(row["robots"] or ""):
        return None
    url = _written(row["url"])
    if url is None or len(url) > _LONGEST or (row["canonical"] and _written(row["canonical"]) not in {None, url}):
        return None
    return url


def _written(url: str | None) -> str | None:
    """Return a URL of http and https without fragment and user information, in ASCII; None for any other."""
    found = resolve("", url.partition("#")[0], "whatwg") if url else None
    is_public = found is not None and found.startswith(("http://", "https://")) and "@" not in found.split("/")[2]
    return found if is_public else None


SITEMAP: Final = Sink(json_lines, _write)
