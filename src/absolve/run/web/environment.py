"""What the user's environment has for requests: cookies, passwords, proxies, packages for content codings.

In: a URL, the name of a file. Out: what a request for it may have. No document has a part in it.
"""

from __future__ import annotations

import netrc
import urllib.request
from contextlib import suppress
from http.cookiejar import CookieJar, LoadError, MozillaCookieJar
from typing import TYPE_CHECKING
from urllib.parse import unquote

from absolve.core.errors import UsageError

if TYPE_CHECKING:
    import ada_url


def cookies(name: str | None) -> CookieJar:
    """Return the cookies in a file in Netscape's form. Raise UsageError for a file that cannot be read."""
    if name is None:
        return CookieJar()
    jar = MozillaCookieJar(name)
    try:
        jar.load(ignore_discard=True, ignore_expires=True)
    except (LoadError, OSError, UnicodeDecodeError) as error:
        raise UsageError(f"--cookies: {error}") from error
    for cookie in jar:
        if cookie.expires == 0:  # of a session, as curl and browsers write it
            cookie.expires, cookie.discard = None, True
    jar.clear_expired_cookies()
    return jar


def given(url: ada_url.URL) -> tuple[str, str] | None:
    """Return the user and password in a URL."""
    return (unquote(url.username), unquote(url.password)) if url.username or url.password else None


def credentials(url: ada_url.URL) -> tuple[str, str] | None:
    """Return the user and password for a URL that the user named: those in it, or those of .netrc for its host."""
    if (own := given(url)) is not None:
        return own
    with suppress(OSError, netrc.NetrcParseError):
        if (found := netrc.netrc().authenticators(url.hostname)) is not None:
            return found[0], found[2] or ""
    return None


def proxy_of(url: ada_url.URL) -> str | None:
    """Return the proxy that the environment names for a URL; None for none."""
    if urllib.request.proxy_bypass(url.hostname):
        return None
    found = urllib.request.getproxies()
    proxy = found.get(url.protocol.removesuffix(":")) or found.get("all")
    return proxy if proxy is None or "://" in proxy else f"http://{proxy}"


def encodings() -> list[str]:
    """Return the content codings that are read here; br and zstd need packages."""
    from importlib.util import find_spec

    more = {"br": "brotli", "zstd": "zstandard"}
    return ["gzip", "deflate", *(name for name, package in more.items() if find_spec(package) is not None)]
