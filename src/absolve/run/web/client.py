"""Request a URL over HTTP, within limits: follow its redirects, and keep the response of each server.

In: a URL that the user named. Out: an `Answer`: the headers of all responses, as `curl -iL` shows them, and the last
body without its content codings. httpcore does the work: it has HTTP/2, proxies and a connection pool, and takes a
network backend of ours; httpx, above it, does not. Redirects are followed here, because credentials must not be.
"""

from __future__ import annotations

import random
import re
import ssl
import time
import urllib.request
import weakref
from base64 import b64encode
from contextlib import asynccontextmanager, suppress
from email.utils import mktime_tz, parsedate_tz
from functools import partial
from http.cookiejar import CookieJar
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import ada_url

from absolve.core.errors import CodingError, Diagnostic, MissingPackageError, UsageError, WalkError, in_short
from absolve.document.settings import Settings
from absolve.formats import http, registry, sniffing
from absolve.run.web import exchange
from absolve.run.web.exchange import AGENT, OPEN_FIELDS, Answer, Response
from absolve.urls import access
from absolve.urls.access import is_public, is_public_host
from absolve.urls.chain import REDIRECTS
from absolve.urls.identity import without_user

try:
    import anyio
    import httpcore

    from absolve.run.web import network
    from absolve.run.web.network import NoAnswer, PrivateAddressError, PublicNetwork
except ImportError as error:
    raise MissingPackageError("an input URL needs absolve[web]: pip install 'absolve[web]'") from error

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from typing import Self

    from absolve.run.web.exchange import Asking

_MOST_REDIRECTS: Final = 20  # as in browsers
_MOST_OF_ROBOTS: Final = 5, access.MOST_BYTES  # redirects (RFC 9309 2.3.1.2), bytes
_LATER: Final = frozenset({429, 502, 503, 504})  # statuses that may be different a moment later
_MOST_COOKIES: Final = 1000  # cookies of all servers
_MOST_KEPT: Final = 16 << 20  # bytes of responses to which more than one URL may lead; as many of robots.txt
_MOST_OF_A_PAGE: Final = 256 << 20  # bytes of a body that is no archive, unless the user gives a bound
_SNIFFED: Final = 1 << 16  # bytes that identify an archive
_OVERHEAD: Final = 2048  # bytes of memory for a kept response, beside its text
_PER_RULE: Final = 512
_IDLE: Final = 5.0  # seconds for which a connection is kept
_LONGEST_WAIT: Final = 60.0  # seconds
_OURS: Final = frozenset({"connection", "content-length", "host", "te", "trailer", "transfer-encoding", "upgrade"})
_SCHEMES: Final = frozenset({"http:", "https:"})
_TOKEN: Final = re.compile(r"[\w!#$%&'*+.^`|~-]+", re.ASCII)  # RFC 9110 5.6.2
_VALUE: Final = re.compile(r"[\t -~]*")
_USER: Final = re.compile(rb"(?i)^(location:[ \t]*(?:https?:)?//)[^/?#\s]*@", re.MULTILINE)
_ENDS_A_FIELD: Final = re.compile(rb"[\r\n\0]+")
_AGAIN: Final = (httpcore.NetworkError, httpcore.RemoteProtocolError, httpcore.TimeoutException, TimeoutError)


class _Progress(NamedTuple):
    """The responses so far for the URL that the user named, its origin, and the user and password for that origin."""

    origin: str
    credentials: tuple[str, str] | None
    found: list[Response]
    others: list[Response]
    method: str = "GET"

    def moved(self) -> str:
        """Describe the redirects that led here, for a message."""
        count = len(self.found) - 1
        times = "a redirect" if count == 1 else f"{count} redirects"
        return f", after {times} from {in_short(self.found[0].url)}" if count > 0 else ""


class _SizedCache:
    """A cache with a maximum size in bytes: values that were used longest ago are dropped."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._size = 0
        self._found: dict[Any, tuple[Any, int]] = {}  # the one used last at the end

    def get(self, key: Any) -> Any:
        if key in self._found:
            self._found[key] = found = self._found.pop(key)
            return found[0]
        return None

    def keep(self, key: Any, value: Any, size: int) -> None:
        self._size += size - self._found.pop(key, (None, 0))[1]
        self._found[key] = value, size
        while self._size > self._most:
            self._size -= self._found.pop(next(iter(self._found)))[1]


class Client:
    """Requests URLs, several at once. Use it as an asynchronous context manager."""

    def __init__(self, asking: Asking) -> None:
        self._asking = asking
        for field in asking.fields:
            if not _TOKEN.fullmatch(field[0]) or not _VALUE.fullmatch(field[1]):
                raise UsageError(f"a field of a request is 'Name: value' in ASCII, and {in_short(field[0])!r} is none")
            if field[0].lower() in _OURS:
                raise UsageError(f"{field[0]} follows from the URL: leave it out")
        default = asking.settings.max_size is Settings._field_defaults["max_size"]  # not the same number from a user
        self._most_of_a_page = _MOST_OF_A_PAGE if default else asking.settings.max_size
        self._encodings = ", ".join(exchange.encodings())
        self._cache = None
        if asking.cache is not None:
            from absolve.run.web.caching import Cache

            self._cache = Cache(asking.cache)
        self._resolved = dict(asking.resolved)
        self._cookies = exchange.cookies(asking.cookies)
        self._jars: dict[tuple[str, bool], CookieJar] = {}  # by origin, and whether the user named it
        self._tls = ssl.create_default_context()
        self._pools: dict[str, Any] = {}  # by origin, the one used last at the end: large pools are slow
        self._all = anyio.CapacityLimiter(asking.concurrency[0])
        self._named = {ada_url.URL(origin).hostname for origin in asking.origins or ()} | self._resolved.keys()
        # Requests that wait for a host, or for the same answer, share its limiter or lock.
        self._hosts: weakref.WeakValueDictionary[str, anyio.CapacityLimiter] = weakref.WeakValueDictionary()
        self._locks: weakref.WeakValueDictionary[Any, anyio.Lock] = weakref.WeakValueDictionary()
        self._robots = _SizedCache(_MOST_KEPT)  # rules, or why there are none, by origin
        self._known = _SizedCache(_MOST_KEPT)  # responses, by their requests

    async def __aenter__(self) -> Self:
        named = {url.hostname: url for url in map(ada_url.URL, self._asking.origins or ())}
        self._inside = {host for host, url in named.items() if await self._is_inside(url)}
        self._guards = self._asking.origins is not None and (not named or self._inside != named.keys())
        return self

    async def _is_inside(self, url: ada_url.URL) -> bool:
        """Return whether a URL that the user named is in a private network: its pages may link to private addresses."""
        host = url.hostname
        if not is_public_host(host):
            return True
        if host not in self._resolved and exchange.proxy_of(url) is None:
            with suppress(OSError):
                found = await anyio.getaddrinfo(host.strip("[]"), url.port or 80)
                return not all(is_public(str(one[4][0])) for one in found)
        return False

    async def __aexit__(self, *_: object) -> None:
        if self._cache is not None:
            await self._cache.close()
        for pool in self._pools.values():
            await pool.aclose()

    async def answer(self, url: str, method: str = "GET") -> Answer:
        """Return the answer to GET or HEAD for a URL; user and password of the URL are nowhere in it."""
        name = without_user(url)
        try:
            named = _parsed(url)
        except NoAnswer as none:
            return Answer(name, problem=Diagnostic(none.code, none.text, name))
        progress = _Progress(named.origin, self._credentials(named), [], [], method)
        named.username = named.password = ""
        body = b""
        problem: tuple[str, str] | None = None
        try:
            await self._follow(named, progress, _MOST_REDIRECTS, self._most_of_a_page)
            last = progress.found[-1]
            if last.status >= 400:
                line = last.head.partition(b"\r\n")[0].decode("latin-1").partition(" ")[2].strip()
                problem = "http-status", f"the server answered {line}{progress.moved()}"
            else:
                body = self._body(last)
        except NoAnswer as none:
            problem = none.code, none.text
        except (CodingError, WalkError) as error:
            problem = error.code, error.message
        except Exception as error:  # noqa: BLE001 - one server, or a fault in a package, ends no run
            text = in_short(f"{type(error).__name__}: {error}")
            problem = "broken-response", f"{named.host} sent what cannot be read: {text}"
        why = Diagnostic(*problem, name) if problem is not None else None
        return Answer(name, tuple(progress.found), body, why, tuple(progress.others))

    def _body(self, response: Response) -> bytes:
        """Return the body of a response without its content codings. Raise CodingError."""
        if not response.body or b"\ncontent-encoding:" not in response.head.lower():
            return response.body
        message = response.head + response.body
        return bytes(http.payload(message, options=self._asking.settings, count=None))

    async def _follow(
        self, url: ada_url.URL, progress: _Progress, redirects: int, most: int, *, robots: bool = True
    ) -> None:
        """Add the responses to a URL, and to the URLs that it redirects to."""
        seen = set()
        while True:
            if robots and self._asking.robots and not await self._is_allowed(url, progress):
                text = f"robots.txt of {url.origin} does not allow {in_short(url.href)}{progress.moved()}"
                raise NoAnswer("robots", f"{text} (ignore-robots in absolve.toml)")
            fields = self._fields(url, progress)
            request = url.href, fields.get("cookie")
            if request in seen:
                raise NoAnswer("redirects", f"its redirects lead in a circle, to {in_short(url.href)} again")
            seen.add(request)
            response = await self._request_once(url, fields, progress, most)
            progress.found.append(response)
            location = response.message.get("Location") if response.status in REDIRECTS else None
            if location is None:
                return
            if sum(len(one.body) for one in progress.found) > most:
                raise NoAnswer("too-large", f"redirects with more than {most:,} bytes (--max-size)")
            if len(progress.found) > redirects:
                text = f"more than {redirects} redirects, the last one to {in_short(location or url.href)}"
                raise NoAnswer("redirects", text)
            before, url = url, _parsed(location, url, progress.moved())
            if self._leads_inside(before, url):
                text = f"a server may not lead to {url.hostname}, of this network{progress.moved()}"
                raise NoAnswer("refused-address", text)
            url.username = url.password = ""

    def _leads_inside(self, before: ada_url.URL, url: ada_url.URL) -> bool:
        """Return whether a redirect leads to a private address, as of a metadata server, that the user did not name."""
        host = url.hostname.rstrip(".")
        if self._asking.origins is None or is_public_host(host) or host in {before.hostname, *self._named}:
            return False
        return host.startswith("[") or host[-1:].isdigit() or f".{host}".endswith(".localhost")

    async def _is_allowed(self, url: ada_url.URL, progress: _Progress) -> bool:
        rules = self._robots.get(url.origin)
        if rules is None:
            async with self._locks.setdefault(url.origin, anyio.Lock()):
                rules = self._robots.get(url.origin) or await self._rules(url, progress)
                self._robots.keep(url.origin, rules, _OVERHEAD + _PER_RULE * getattr(rules, "number", 0))
        if isinstance(rules, NoAnswer):
            raise NoAnswer(rules.code, f"{rules.text}{progress.moved()}")
        return rules(url.pathname + url.search) is None

    async def _rules(self, url: ada_url.URL, progress: _Progress) -> access.Rules | NoAnswer:
        """Return the robots.txt rules of an origin: no rules without a file, and why it cannot be had (2.3.1)."""
        own = progress._replace(found=[], method="GET")
        file = ada_url.URL("/robots.txt", url.origin)
        try:
            await self._follow(file, own, *_MOST_OF_ROBOTS, robots=False)
        except NoAnswer as none:
            if none.code not in {"too-large", "redirects", "refused-scheme", "malformed"}:
                return none
        progress.others.extend(own.found)
        last = own.found[-1] if own.found else None
        if last is not None and last.status >= 500:
            text = f"robots.txt of {url.origin} cannot be read (status {last.status}), so nothing may be asked for"
            return NoAnswer("robots", f"{text} (ignore-robots in absolve.toml)")
        if last is not None and last.status < 300:
            with suppress(CodingError, WalkError):
                return access.Rules(access.of_robots(self._body(last), "absolve"))
        return access.Rules(())

    # --- one request --------------------------------------------------------------------------------------------------

    def _fields(self, url: ada_url.URL, progress: _Progress) -> dict[str, str]:
        """Return the fields of a request; only the origin that the user named gets the user's secrets."""
        is_named = self._is_named(url, progress)
        is_own = is_named and url.origin == progress.origin
        found = {"user-agent": AGENT, "accept": "*/*", "accept-encoding": self._encodings}
        for name, value in self._asking.fields:
            if is_own or name.lower() in OPEN_FIELDS:
                found[name.lower()] = value
        if is_own and progress.credentials is not None:
            found.setdefault("authorization", f"Basic {b64encode(':'.join(progress.credentials).encode()).decode()}")
        jar = self._jars.get((url.origin, is_named), self._cookies if is_named else ())
        if "cookie" not in found and isinstance(jar, CookieJar) and next(iter(jar), None) is not None:
            request = urllib.request.Request(url.href)  # noqa: S310 - not opened: the jar asks it for the URL
            jar.add_cookie_header(request)
            if (cookie := request.get_header("Cookie")) is not None:
                found["cookie"] = cookie
        return found

    async def _request_once(self, url: ada_url.URL, fields: dict[str, str], progress: _Progress, most: int) -> Response:
        """Return the response to a request; equal requests are sent once, as long as the body is kept."""
        key = (progress.method, url.href, *fields.items())
        async with self._locks.setdefault(key, anyio.Lock()):
            response: Response | None = self._known.get(key)
            if response is None:
                response = await self._request(url, fields, progress, most)
                texts = url.href, *fields.values(), response.head, response.body
                self._known.keep(key, response, _OVERHEAD + sum(map(len, texts)))
            return response

    async def _request(self, url: ada_url.URL, fields: dict[str, str], progress: _Progress, most: int) -> Response:
        """Return the response to a request, repeated if another try may help."""
        for left in range(self._asking.retries, -1, -1):
            jitter = random.uniform(0.8, 1.2)  # noqa: S311 - so that not all ask at the same time
            wait = jitter * 0.5 * 2 ** (self._asking.retries - left)
            try:
                response = await self._once(url, fields, progress.method, most)
                self._keep_cookies(response, is_named=self._is_named(url, progress))
                if response.status not in _LATER or not left:
                    return response
                wait = max(wait, _retry_after(response.message.get("Retry-After", "")))
                if wait > _LONGEST_WAIT:
                    return response
                progress.others.append(response)
            except _AGAIN as error:
                if not left or network.is_unknown(error):
                    raise network.failure(url, error, self._asking) from error
            except (httpcore.ProtocolError, httpcore.ProxyError, PrivateAddressError, OSError, UnicodeError) as error:
                raise network.failure(url, error, self._asking) from error
            await anyio.sleep(wait)
        raise AssertionError

    async def _once(self, url: ada_url.URL, fields: dict[str, str], method: str, most: int) -> Response:
        """Return the response to a request: from the cache, if that is allowed."""
        if self._cache is None:
            return await self._sent(url, method, most, fields)
        send = partial(self._sent, url, method, most)
        response = await self._cache.response(url.href, method, fields, send, self._resolved.get(url.hostname, ""))
        return response._replace(request=tuple(_encoded(fields)))

    async def _sent(self, url: ada_url.URL, method: str, most: int, fields: dict[str, str]) -> Response:
        sent = _encoded(fields)
        async with self._slot(url.host):
            with anyio.fail_after(self._asking.timeout):
                began = time.time()
                request = self._place(url)
                headers = [(b"host", url.host.encode()), *sent]
                pool = await self._pool(url)
                async with pool.stream(method, **request, headers=headers) as got:
                    body = bytearray()
                    async for piece in got.aiter_stream():
                        body += piece
                        if len(body) > most:
                            most = self._most(url, body, most)
        version, reason = (got.extensions.get(name, b"") for name in ("http_version", "reason_phrase"))
        kept = [field for field in got.headers if field[0].lower() != b"transfer-encoding"]
        lines = b"".join(b"%b: %b\r\n" % (name, _ENDS_A_FIELD.sub(b" ", value)) for name, value in kept)
        head = b"%b %d %b\r\n%b\r\n" % (version or b"HTTP/1.1", got.status, reason, _USER.sub(rb"\1", lines))
        return Response(url.href, tuple(sent), got.status, head, bytes(body), began, method)

    def _most(self, url: ada_url.URL, body: bytearray, most: int) -> int:
        """Return the size limit for a body with more than `most` bytes, if it is an archive. Raise NoAnswer."""
        larger = self._asking.settings.max_size
        kind = sniffing.sniff(bytes(body[:_SNIFFED]), url.pathname) if most == self._most_of_a_page < larger else None
        if kind is None or not registry.is_archive(kind):
            raise NoAnswer("too-large", f"more than {most:,} bytes (--max-size)")
        return larger

    def _place(self, url: ada_url.URL) -> dict[str, Any]:
        """Return the URL to connect to, and the host name for TLS."""
        origin = self._resolved.get(url.hostname, url.origin)
        return {"url": f"{origin}{url.pathname}{url.search}", "extensions": {"sni_hostname": url.hostname}}

    @asynccontextmanager
    async def _slot(self, host: str) -> AsyncIterator[None]:
        """Wait until a host, and then the network, has a free slot."""
        limiter = self._hosts.setdefault(host, anyio.CapacityLimiter(self._asking.concurrency[1]))
        async with _taken(limiter), _taken(self._all):
            yield

    async def _pool(self, url: ada_url.URL) -> Any:
        """Return the connections to an origin; connections to the least recently used origin are closed."""
        origin = url.origin
        pool = self._pools.pop(origin, None)
        if pool is None:
            if len(self._pools) >= 2 * self._asking.concurrency[0]:
                await self._close_one()
            pool = self._pools.pop(origin, None) or self._new_pool(url)
        self._pools[origin] = pool
        return pool

    async def _close_one(self) -> None:
        for origin, pool in self._pools.items():
            if all(one.is_idle() for one in pool.connections):
                await self._pools.pop(origin).aclose()
                return

    def _new_pool(self, url: ada_url.URL) -> Any:
        proxy = exchange.proxy_of(url)
        if proxy is not None and not proxy.lower().startswith(("http://", "https://")):
            raise NoAnswer("unreachable", f"a proxy of the environment is none of http: {in_short(proxy)}")
        is_guarded = self._guards and url.hostname not in self._inside | self._resolved.keys()
        if proxy is not None and not self._asking.private:
            text = f"--deny-private cannot see what the proxy {in_short(proxy)} connects to"
            raise NoAnswer("refused-address", text)
        if is_guarded and not is_public_host(url.hostname):
            raise NoAnswer("refused-address", f"{url.hostname} has no public address ({network.ONLY_NAMED})")
        return httpcore.AsyncConnectionPool(
            ssl_context=self._tls,
            http2=True,
            max_connections=None,
            keepalive_expiry=_IDLE,
            proxy=network.proxy_at(proxy) if proxy is not None else None,
            network_backend=PublicNetwork() if proxy is None and (is_guarded or not self._asking.private) else None,
        )

    def _credentials(self, url: ada_url.URL) -> tuple[str, str] | None:
        """Return the user and password for a URL; a URL that only a document names gets those of its origin."""
        if self._asking.origins is None:
            return exchange.credentials(url)
        found = self._asking.origins
        return (exchange.credentials_in(url) or found[url.origin]) if url.origin in found else None

    def _is_named(self, url: ada_url.URL, progress: _Progress) -> bool:
        """Return whether the user named the origin of a URL."""
        return url.origin in ({progress.origin} if self._asking.origins is None else self._asking.origins)

    def _keep_cookies(self, response: Response, *, is_named: bool) -> None:
        if b"\nset-cookie:" not in response.head.lower() or sum(map(len, self._jars.values())) > _MOST_COOKIES:
            return
        key = ada_url.URL(response.url).origin, is_named
        if key not in self._jars:
            self._jars[key] = CookieJar()
            for cookie in self._cookies if is_named else ():
                self._jars[key].set_cookie(cookie)
        jar = self._jars[key]
        request = urllib.request.Request(response.url)  # noqa: S310 - not opened
        read = SimpleNamespace(info=lambda: response.message)
        jar.extract_cookies(read, request)  # type: ignore[arg-type]


@asynccontextmanager
async def _taken(limiter: anyio.CapacityLimiter) -> AsyncIterator[None]:
    """Take a slot, at once if one is free: anyio would let other tasks run first."""
    try:
        limiter.acquire_nowait()
    except anyio.WouldBlock:
        await limiter.acquire()
    try:
        yield
    finally:
        limiter.release()


def _encoded(fields: dict[str, str]) -> list[tuple[bytes, bytes]]:
    return [(name.encode("latin-1"), value.encode("latin-1", "replace")) for name, value in fields.items()]


def _parsed(url: str, base: ada_url.URL | None = None, after: str = "") -> ada_url.URL:
    """Return a URL as browsers read it, for example `/b` after `http://h/a`, without fragment. Raise NoAnswer."""
    try:
        found = ada_url.URL(url, base.href) if base is not None else ada_url.URL(url)
    except ValueError as error:
        raise NoAnswer("malformed", f"{in_short(url)!r} is no URL{after}") from error
    if found.protocol not in _SCHEMES:
        raise NoAnswer("refused-scheme", f"only http and https are asked for, not {in_short(url)}{after}")
    found.hash = ""
    return found


def _retry_after(value: str) -> float:
    """Return the seconds in a Retry-After field (RFC 9110 10.2.3), for example 120.0 for `120`; 0 without any."""
    if value.isdecimal() and len(value) < 9:
        return float(value)
    try:
        return max(0.0, mktime_tz(date) - time.time()) if (date := parsedate_tz(value)) is not None else 0.0
    except (ValueError, OverflowError):  # a year that no calendar has
        return float("inf")


