"""URLs of web archives, in the form of the Wayback Machine: the URL and the time of each capture.

In: a URL such as `https://web.archive.org/web/20150102030405id_/http://example.com/`. Out: an `Archived`. The form is
the same in every archive with Wayback, OpenWayback or pywb.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from absolve.core.model import RETRIEVAL

if TYPE_CHECKING:
    from absolve.core.model import BaseURL
    from absolve.core.protocols import Resolver

# The folders of a collection, a time of 14 digits (fewer behind `web` or `wayback`), and flags such as id_ and if_.
_TIME: Final = r"/(?:(?:[^/?#]+/){0,3}?([0-9]{14})|(?:[^/?#]+/){0,2}?(?:web|wayback)/([0-9]{1,14}))([a-z]{2}_)?/"
_URL: Final = re.compile(rf"(https?://([^/?#]+)){_TIME}(https?:/+)?(.+)", re.IGNORECASE | re.DOTALL)
_PATH: Final = re.compile(rf"{_TIME}https?:/", re.IGNORECASE)
# What the archive inserts into a page: scripts and styles, and the links of its toolbar
_INSERTED: Final = re.compile(r"/_static/|/web/(?:\Z|submit\b|[0-9]{0,14}\*/|[0-9]{14}(?:[a-z]{2}_)?/)")
_HOST: Final = "web.archive.org"  # it also has URLs without a scheme
_EXACT: Final = "id_"  # a page as it was captured; in others the archive changed the links
_SCHEME_END: Final = 8
_DIGITS: Final = 14
_KNOWN: Final = frozenset({"won", "resolved against", "overruled", "ignored"})


class Archived(NamedTuple):
    """The capture that a URL leads to: its URL, its time ("" if it is no whole one), and where it is: at the URL `at`.

    `is_exact`: its links are those that were captured.
    """

    url: str
    time: str
    host: str
    origin: str
    is_exact: bool
    at: str


def archived(url: str) -> Archived | None:
    """Return the capture to which a URL leads: for example, `https://w.example/web/2015/http://h/` to `http://h/`."""
    if url.find(":/", _SCHEME_END) < 0 and _HOST not in url:
        return None
    found = _URL.fullmatch(url)
    if found is None or (found[6] is None and found[2].lower() != _HOST):
        return None
    time = found[3] or found[4]
    scheme = found[6].partition(":")[0] if found[6] else "http"  # of several slashes a server may have left one
    exact = (found[5] or "").lower() == _EXACT
    return Archived(f"{scheme}://{found[7]}", time if len(time) == _DIGITS else "", found[2], found[1], exact, url)


def original(url: str) -> str:
    """Return the captured URL for a URL of a web archive; any other URL unchanged."""
    found = archived(url)
    return found.url if found is not None else url


def of_base(base: BaseURL) -> Archived | None:
    """Return the capture from which a document was retrieved; None if that is no URL of a web archive.

    So may be a record that another URL of the same host precedes, which the user gives for the captured site.
    """
    path = ""  # to which the archive redirected
    for fate in base.chain:
        if fate.base.layer is RETRIEVAL and fate.verdict in _KNOWN:
            found = archived(fate.base.reference)
            if found is not None and (fate.verdict != "ignored" or _host(found.url) == _host(base.url)):
                return archived(found.origin + path) if path else found
            if not path and _PATH.match(fate.base.reference):
                path = fate.base.reference
    return None


def _host(url: str) -> str:
    return url.partition("://")[2].partition("/")[0].lower()


class Replayed:
    """The resolver of a page in which an archive changed the links: it returns the captured URLs.

    For example, `/web/20150102030405im_/http://e.example/a.png` gives `http://e.example/a.png`.
    """

    def __init__(self, resolve: Resolver, origin: str) -> None:
        self._resolve = resolve
        self._origin = origin
        self._host = origin.partition("://")[2].lower()

    def __call__(self, reference: str) -> str | None:
        """Return the absolute URL of a reference."""
        url = self.led(reference)
        found = archived(url) if url is not None else None
        return self._resolve(found.url) if found is not None and found.host.lower() == self._host else url

    def led(self, reference: str) -> str | None:
        """Return the URL to which a reference leads in the archive: paths in the form of its URLs are on its host."""
        is_own = _PATH.match(reference) is not None or _INSERTED.match(reference) is not None
        return self._resolve(self._origin + reference if is_own else reference)


def led(resolve: Resolver, reference: str) -> str | None:
    """Return the URL of the archive to which a reference leads; None if its target is no capture."""
    found = resolve.led(reference) if isinstance(resolve, Replayed) else None
    return found if found is None or found != resolve(reference) else None


def resolver_for(base: BaseURL, resolve: Resolver) -> Resolver:
    """Return the resolver for a base: `resolve`, unless an archive changed the links of the page."""
    found = of_base(base)
    return Replayed(resolve, found.origin) if found is not None and not found.is_exact else resolve
