"""Content Security Policies: the directives of a policy, and whether a list of sources allows a URL (CSP Level 3).

In: the text of a policy, such as `base-uri 'self'; img-src https:`. Out: `{"base-uri": ["'self'"], ...}`; a verdict.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple
from urllib.parse import urlsplit

from absolve.urls.identity import percent_decoded

if TYPE_CHECKING:
    from collections.abc import Iterable

Directives = dict[str, list[str]]

INSIDE: Final = frozenset({"data:", "blob:", "about:", "filesystem:", "mediastream:"})
_SCHEME: Final = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE)
_HOST: Final = re.compile(r"(?:([a-z][a-z0-9+.-]*)://)?([^/:]+)(?::(\*|[0-9]{1,5}))?(/.*)?", re.IGNORECASE | re.DOTALL)
_PORTS: Final = {"http": 80, "https": 443}
MOST_SOURCES: Final = 500  # of one directive: each is compared with each URL that the page loads
_LONGEST: Final = 1 << 15  # characters of one directive


def directives(policy: str) -> Directives:
    """Return the directives of a policy, by name in lower case, with their words; of duplicates the first (2.2.1).

    One with more than `MOST_SOURCES`, or longer than `_LONGEST`, allows nothing.
    """
    found: Directives = {}
    for text in policy.split(";"):
        words = text.split()
        if words:
            is_read = len(words) <= MOST_SOURCES + 1 and len(text) <= _LONGEST
            found.setdefault(words[0].lower(), words[1:] if is_read else ["'none'"])
    return found


def allow_base(policies: Iterable[str], url: str, page: str) -> bool:
    """Return whether the policies of a page let a base element give this base URL (6.3.1, HTML 4.2.3)."""
    lists = (directives(policy).get("base-uri") for policy in policies)
    return all(sources is None or matches(sources, url, page) for sources in lists)


class _Place(NamedTuple):
    """The parts of a URL that a source expression is compared with; the path is percent-decoded."""

    scheme: str
    host: str
    port: int | None
    path: str


def _place(url: str) -> _Place:
    parts = urlsplit(url)
    port = parts.port or _PORTS.get(parts.scheme)
    return _Place(parts.scheme, parts.hostname or "", port, percent_decoded(parts.path))


def matches(sources: Iterable[str], url: str, page: str, *, by_path: bool = True) -> bool:
    """Return whether any source expression of a page's policy allows a URL (6.7.2.6)."""
    try:
        its, own = _place(url), _place(page)
    except ValueError:
        return False
    return any(_matches(source, its, own, by_path=by_path) for source in sources)


def _matches(source: str, its: _Place, own: _Place, *, by_path: bool) -> bool:
    lowered = source.lower()
    if lowered == "'self'":
        same_port = its.port == own.port or (its.port, own.port) == (443, 80)
        return its.host == own.host and same_port and _is_at_least(its.scheme, own.scheme)
    if lowered.startswith("'") or lowered in INSIDE:
        return lowered[:-1] == its.scheme
    if source == "*":
        return its.scheme in {"http", "https", "ws", "wss", own.scheme}
    if _SCHEME.fullmatch(source):
        return _is_at_least(its.scheme, lowered[:-1])
    found = _HOST.fullmatch(source)
    return found is not None and _host_matches(found, its, own.scheme) and (
        not by_path or _path_matches(percent_decoded(found[4] or ""), its.path)
    )


def _host_matches(found: re.Match[str], its: _Place, own_scheme: str) -> bool:
    wanted, pattern, stated = found[2].lower(), (found[1] or own_scheme).lower(), found[3]
    if not _is_at_least(its.scheme, pattern):
        return False
    if wanted != "*" and not (its.host.endswith(wanted[1:]) if wanted.startswith("*.") else its.host == wanted):
        return False
    if stated is None:
        return its.port == _PORTS.get(its.scheme)
    return stated == "*" or its.port == int(stated) or (stated == "80" and its.port == 443)


def _is_at_least(scheme: str, wanted: str) -> bool:
    return scheme == wanted or (scheme, wanted) == ("https", "http")


def _path_matches(wanted: str, path: str) -> bool:
    return not wanted or path == wanted or (wanted.endswith("/") and path.startswith(wanted))

