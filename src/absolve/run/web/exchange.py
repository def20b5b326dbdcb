"""Requests and answers: how URLs are requested, and what comes back.

In: the options about requests; cookies, passwords, proxies and packages from the user's environment, never from a
document. Out: an `Answer` for a URL, with all responses.
"""

from __future__ import annotations

import re
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from urllib.parse import unquote, urlsplit

from absolve import __version__
from absolve.core.errors import DocumentError, UsageError
from absolve.document.settings import Settings
from absolve.urls.chain import REDIRECTS
from absolve.urls.identity import without_user

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from email.message import Message
    from http.cookiejar import CookieJar
    from typing import Self

    from absolve.core.errors import Diagnostic
    from absolve.run.web.store import Store

AGENT: Final = f"absolve/{__version__}"
OPEN_FIELDS: Final = frozenset({"accept", "accept-encoding", "accept-language", "user-agent"})  # no secrets


class Asking(NamedTuple):
    """How URLs are requested: fields of every request, a file of cookies in Netscape's format, limits.

    `timeout`: seconds for one response with its body. `retries` after errors of the network and answers that mean
    "later". `concurrency`: requests at once, in all and per host. `private`: also addresses that are not public.
    `robots`: request robots.txt and follow it (RFC 9309). `resolved`: the server to connect to for a host, for example
    `http://127.0.0.1:8080`. `store`: what earlier runs got, and where responses are kept. `wait`: seconds between
    requests to one host. `insecure`: any certificate is trusted. `passwords`: those of URLs and .netrc are sent.

    `origins`: the origins that the user named, if documents name URLs, too: only these get the user's secrets (fields,
    cookies, netrc). Unless all of them are in private networks, only they and hosts of `resolved` may be.
    Raise UsageError in `Client` for options that cannot be used.
    """

    fields: tuple[tuple[str, str], ...] = ()
    cookies: str | None = None
    timeout: float = 30.0
    retries: int = 2
    concurrency: tuple[int, int] = 16, 4
    private: bool = True
    robots: bool = True
    settings: Settings = Settings()
    resolved: tuple[tuple[str, str], ...] = ()
    store: Store | None = None
    wait: float = 0.0
    insecure: bool = False
    passwords: bool = True
    origins: Mapping[str, tuple[str, str] | None] | None = None  # with the user and password for each

    def with_origins(self, urls: Iterable[str | None]) -> Self:
        """Return the same for URLs of documents: the user's secrets are for the origins of `urls`."""
        import ada_url

        found: dict[str, tuple[str, str] | None] = {}
        for url in filter(None, urls):
            with suppress(ValueError):
                parsed = ada_url.URL(url)
                found[parsed.origin] = found.get(parsed.origin) or credentials_in(url) or credentials_of_netrc(url)
        return self._replace(origins=found)


class Response(NamedTuple):
    """One response: the requested URL, the fields of the request, status, header in bytes, body, time (Unix).

    Neither header nor body has a Transfer-Encoding any more; content codings stay.
    """

    url: str
    request: tuple[tuple[bytes, bytes], ...]
    status: int
    head: bytes
    body: bytes
    time: float
    method: str = "GET"

    def field(self, name: str) -> str | None:
        """Return the value of the first field with this name: UTF-8 as browsers read it, or ISO 8859-1."""
        found = _line_of(name).search(self.head)
        if found is None:
            return None
        try:
            return found[1].decode()
        except UnicodeDecodeError:
            return found[1].decode("latin-1")

    @property
    def message(self) -> Message:
        """The fields of the header."""
        from email.message import Message

        message = Message()
        for line in self.head.splitlines()[1:]:  # some servers end lines with LF
            name, _, value = line.partition(b":")
            if name:
                message[name.decode("latin-1")] = value.strip().decode("latin-1")
        return message


@cache
def _line_of(name: str) -> re.Pattern[bytes]:
    return re.compile(rb"(?im)^%b:[ \t]*([^\r\n]*?)[ \t]*\r?$" % name.encode())


class Answer(NamedTuple):
    """The answer to a request for a URL: redirects and the last response, and its body, decoded.

    `problem`: why there is no document; `responses` has the responses before it. `others`: responses to repeated tries,
    and of robots.txt.
    """

    url: str
    responses: tuple[Response, ...] = ()
    body: bytes = b""
    problem: Diagnostic | None = None
    others: tuple[Response, ...] = ()

    @property
    def asked_last(self) -> str:
        """The URL of the last request, even if it has no response."""
        import ada_url

        if not self.responses:
            return self.url
        last = self.responses[-1]
        location = last.field("Location") if last.status in REDIRECTS else None
        with suppress(ValueError):
            return without_user(ada_url.URL(location, last.url).href) if location is not None else last.url
        return last.url

    @property
    def head(self) -> bytes:
        """The headers of all responses, in their order."""
        return b"".join(one.head for one in self.responses)


# --- the user's environment for requests ------------------------------------------------------------------------------


def cookies(name: str | None) -> CookieJar:
    """Return the cookies in a file in Netscape's format. Raise UsageError for a file that cannot be read."""
    import io
    from http.cookiejar import CookieJar, LoadError, MozillaCookieJar

    from absolve.run.sources import of_option

    if name is None:
        return CookieJar()
    jar = MozillaCookieJar(name)
    reader: Any = jar
    try:  # by `load` it would wait for a pipe for ever
        reader._really_load(io.StringIO(of_option(name).decode(), None), name, True, True)  # noqa: SLF001
    except (LoadError, DocumentError, UnicodeDecodeError) as error:
        raise UsageError(f"--cookies: {error}") from error
    for cookie in jar:
        if cookie.expires == 0:  # a session cookie, as curl and browsers write it
            cookie.expires, cookie.discard = None, True
    jar.clear_expired_cookies()
    return jar


def credentials_in(url: str) -> tuple[str, str] | None:
    """Return the user and password in a URL, for example ("u", "p") in `http://u:p@h/`; or None."""
    import ada_url

    found = ada_url.URL(url)
    return (unquote(found.username), unquote(found.password)) if found.username or found.password else None


def credentials_of_netrc(url: str) -> tuple[str, str] | None:
    """Return the user and password that .netrc has for the host of a URL."""
    import netrc

    with suppress(OSError, netrc.NetrcParseError):
        if (found := netrc.netrc().authenticators(urlsplit(url).hostname or "")) is not None:
            return found[0], found[2] or ""
    return None


def proxy_of(url: str) -> str | None:
    """Return the proxy that the environment names for a URL, or None."""
    from urllib.request import getproxies, proxy_bypass

    parts = urlsplit(url)
    if proxy_bypass(parts.hostname or ""):
        return None
    found = getproxies()
    proxy = found.get(parts.scheme) or found.get("all")
    return proxy if proxy is None or "://" in proxy else f"http://{proxy}"


def encodings() -> list[str]:
    """Return the content codings that can be decoded here, for example gzip; br and zstd need packages."""
    from importlib.util import find_spec

    more = {"br": "brotli", "zstd": "zstandard"}
    return ["gzip", "deflate", *(name for name, package in more.items() if find_spec(package) is not None)]
