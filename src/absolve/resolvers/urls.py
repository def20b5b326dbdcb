"""Questions that others ask of one URL or reference, answered without resolving it."""

from __future__ import annotations

import re

from absolve.resolvers import whatwg
from absolve.resolvers.references import NEVER_RELATIVE, STRICT_SCHEME
from absolve.resolvers.rfc3986 import split

__all__ = ["NEVER_RELATIVE", "has_scheme", "host_port", "is_malformed", "is_plain", "scheme", "split_fragment"]

# Default ports: URL Standard 4.2, and those of RFC 1738 for the schemes that it has besides.
PORTS = {
    **dict.fromkeys(("http", "ws"), "80"),
    **dict.fromkeys(("https", "wss"), "443"),
    "ftp": "21",
    "gopher": "70",
    "nntp": "119",
    "prospero": "1525",
    "telnet": "23",
    "wais": "210",
}

AUTHORITY = re.compile(rf"{STRICT_SCHEME.pattern}//([^/?#\\]*)")

# A name whose last label begins with a letter (no IPv4 address in any spelling), and a small port; a file without
# either.
PLAIN = re.compile(
    rf"(?i:file):///|(?!(?i:file):){STRICT_SCHEME.pattern}//(?:[A-Za-z0-9-]++\.)*+[A-Za-z][A-Za-z0-9-]*+(?::[0-9]{{1,4}})?(?:[/?#]|\Z)"
)


def has_scheme(reference: str) -> bool:
    """Whether a reference (str) is absolute in every profile: it starts with a scheme name (RFC 3986 3.1)."""
    return STRICT_SCHEME.match(reference) is not None


def scheme(reference: str) -> str | None:
    """The scheme of a reference (str) in lower case, None where it has none (RFC 3986 3.1)."""
    match = STRICT_SCHEME.match(reference)
    return match[1].lower() if match else None


def split_fragment(url: str) -> tuple[str, str | None]:
    """A URL (str) without its fragment, and the fragment: None is absent, "" is there and empty (RFC 1808 2.4.1)."""
    rest, crosshatch, fragment = url.partition("#")
    return rest, fragment if crosshatch else None


def host_port(url: str) -> str | None:
    """The host of a URL (str) in lower case, with `:port` unless it is the scheme's own; None without authority.

    Two URLs whose `host_port` is equal are of one site, whatever their schemes. An authority that is not ASCII is
    compared as the URL Standard writes it.
    """
    match = AUTHORITY.match(url)
    if match is None:
        return None
    if not match[2].isascii() and (host := whatwg.host(url)) is not None:
        return host
    authority = match[2].rpartition("@")[2].lower()
    host, colon, port = authority.rpartition(":")
    if not colon or "]" in port:  # no port, or the colon of an IPv6 address
        return authority
    return host if port in {"", PORTS.get(match[1].lower())} else authority


def is_plain(url: str) -> bool:
    """Whether a URL (str) has an authority that is well formed at a glance."""
    found = PLAIN.match(url)
    return found is not None and "xn--" not in found[0].lower()  # what that stands for may be no name


def is_malformed(url: str) -> bool:
    """Whether a URL (str) has an authority (`scheme://`) and the URL Standard's parser fails on it."""
    if is_plain(url):
        return False
    return split(url).net_loc is not None and has_scheme(url) and whatwg.parse(url) is None
