"""Request a URL over HTTP, within limits: follow its redirects, and keep the response of each server.

In: a URL that the user named. Out: an `Answer`: the headers of all responses, as `curl -iL` shows them, and the last
body without its content codings. The engine sends each request; redirects are followed here, because credentials must
not be.
"""

from __future__ import annotations

import random
import re
import socket
import time
import urllib.request
from base64 import b64encode
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from email.utils import mktime_tz, parsedate_tz
from functools import partial
from http.cookiejar import CookieJar
from types import MappingProxyType, SimpleNamespace
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from absolve.core.errors import CodingError, Diagnostic, UsageError, WalkError, in_short
from absolve.document.settings import Settings
from absolve.formats import http, registry, sniffing
from absolve.run.web import exchange
from absolve.run.web.engine import ONLY_NAMED, Engine, NoAnswer, Request
from absolve.run.web.exchange import AGENT, OPEN_FIELDS, Answer, Response
from absolve.urls import access, whatwg
from absolve.urls.access import is_public, is_public_host
from absolve.urls.chain import REDIRECTS
from absolve.urls.identity import without_user

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Mapping
    from typing import Self

    from absolve.run.web.engine import Received, Task
    from absolve.run.web.exchange import Asking

    Steps = Generator[Request | float | list[Any], Any, Any]

NO_FIELDS: Final[Mapping[str, str]] = MappingProxyType({})
_MOST_REDIRECTS: Final = 20  # as in browsers
_MOST_OF_ROBOTS: Final = 5, access.MOST_BYTES  # redirects (RFC 9309 2.3.1.2), bytes
_LATER: Final = frozenset({408, 429, 502, 503, 504})  # statuses that may be different a moment later
_MOST_COOKIES: Final = 1000  # cookies of all servers
_MOST_KEPT: Final = 16 << 20  # bytes of responses to which more than one URL may lead; as many of robots.txt
_MOST_OF_A_PAGE: Final = 256 << 20  # bytes of a body that is no archive, unless the user gives a bound
_OVERHEAD: Final = 2048  # bytes of memory for a kept response, beside its text
_PER_RULE: Final = 512
_LONGEST_WAIT: Final = 60.0  # seconds
_OURS: Final = frozenset({"connection", "content-length", "host", "te", "trailer", "transfer-encoding", "upgrade"})
_PARTS: Final = re.compile(r"(https?://)(?:[^/@]*@)?((\[[^]]*\]|[^/:]*)(?::[0-9]+)?)(/[^#]*)")  # of a normal URL
_TOKEN: Final = re.compile(r"[\w!#$%&'*+.^`|~-]+", re.ASCII)  # RFC 9110 5.6.2
_VALUE: Final = re.compile(r"[\t -~]*")
_USER: Final = re.compile(rb"(?i)^(location:[ \t]*(?:https?:)?//)[^/?#\s]*@", re.MULTILINE)
_ENDS_A_FIELD: Final = re.compile(rb"\r?\n[ \t]+|\r(?!\n)|\0")  # inside of a header
_CODING: Final = re.compile(rb"(?im)^transfer-encoding:.*\n")
_LENGTH: Final = re.compile(rb"(?im)^content-length:[ \t]*([^\r\n]*?)[ \t]*\r?$")
_UNUSUAL: Final = re.compile(rb"(?i)\n(?:transfer-encoding:|location:.*@|[ \t])|\r(?!\n)|\0")
_NOT_MODIFIED: Final = 304
_UNKNOWN: Final = {socket.EAI_NONAME, getattr(socket, "EAI_NODATA", socket.EAI_NONAME)}


class _Progress(NamedTuple):
    """The responses so far for the URL that the user named, its origin, and the user and password for that origin."""

    origin: str
    credentials: tuple[str, str] | None
    found: list[Response]
    others: list[Response]
    method: str = "GET"
    fields: Mapping[str, str] = NO_FIELDS

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
    """Requests URLs, several at once: a method with steps is part of a task of its engine. Close it at the end."""

    def __init__(self, asking: Asking) -> None:
        self.asking = asking
        for field in asking.fields:
            if not _TOKEN.fullmatch(field[0]) or not _VALUE.fullmatch(field[1]):
                raise UsageError(f"a field of a request is 'Name: value' in ASCII, and {in_short(field[0])!r} is none")
            if field[0].lower() in _OURS:
                raise UsageError(f"{field[0]} follows from the URL: leave it out")
        default = asking.settings.max_size is Settings._field_defaults["max_size"]  # not the same number from a user
        self._most_of_a_page = _MOST_OF_A_PAGE if default else asking.settings.max_size
        self._encodings = ", ".join(exchange.encodings())
        self._resolved = dict(asking.resolved)
        self._store = asking.store
        self._cookies = exchange.cookies(asking.cookies)
        self._jars: dict[tuple[str, bool], CookieJar] = {}  # by origin, and whether the user named it
        self._robots = _SizedCache(_MOST_KEPT)  # rules, or why there are none, by origin
        self._known = _SizedCache(_MOST_KEPT)  # responses, by their requests
        self._under_way: dict[Any, list[Task]] = {}  # the tasks that wait for the same answer
        named = {url.hostname: url for url in map(_parsed, asking.origins or ())}
        self._named = named.keys() | self._resolved.keys()
        self._inside = {host for host, url in named.items() if self._is_inside(url)}
        self._ways: dict[str, dict[str, str] | NoAnswer] = {}  # how an origin is reached
        self._guards = asking.origins is not None and (not named or self._inside != named.keys())
        self.leaves_out: Callable[[str], object] = lambda _: False  # whether no redirect to a URL is followed
        self.engine = Engine(asking.concurrency, asking.timeout, wait=asking.wait, insecure=asking.insecure)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.engine.close()

    def _is_inside(self, url: _Url) -> bool:
        """Return whether a URL that the user named is in a private network: its pages may link to private addresses."""
        host = url.hostname
        if not is_public_host(host):
            return True
        if host not in self._resolved and exchange.proxy_of(url.origin) is None:
            with suppress(OSError):
                return not all(is_public(str(one[4][0])) for one in socket.getaddrinfo(host.strip("[]"), None))
        return False

    def answer(self, url: str, method: str = "GET", fields: Mapping[str, str] = NO_FIELDS) -> Steps:
        """Return the `Answer` to GET or HEAD for a URL, with more fields (names in lower case) in each request.

        User and password of the URL are nowhere in it.
        """
        name = without_user(url)
        try:
            named = _parsed(url)
        except NoAnswer as none:
            return Answer(name, problem=Diagnostic(none.code, none.text, name))
        progress = _Progress(named.origin, self._credentials(url, named.origin), [], [], method, fields)
        body = b""
        problem: tuple[str, str] | None = None
        try:
            yield from self._follow(named, progress, _MOST_REDIRECTS, self._most_of_a_page)
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
        except OSError:  # of the store: the disk is full
            raise
        except Exception as error:  # noqa: BLE001 - one server, or a fault in a package, ends no run
            text = in_short(f"{type(error).__name__}: {error}")
            problem = "broken-response", f"{named.host} sent what cannot be read: {text}"
        why = Diagnostic(*problem, name) if problem is not None else None
        found = Answer(name, tuple(progress.found), body, why, tuple(progress.others))
        if self._store is not None:
            self._store.add_problem(found)
        return found

    def _body(self, response: Response) -> bytes:
        """Return the body of a response without its content codings. Raise CodingError."""
        if not response.body or b"\ncontent-encoding:" not in response.head.lower():
            return response.body
        message = response.head + response.body
        return bytes(http.payload(message, options=self.asking.settings, count=None))

    def _follow(self, url: _Url, progress: _Progress, redirects: int, most: int, *, robots: bool = True) -> Steps:
        """Add the responses to a URL, and to the URLs that it redirects to."""
        seen = set()
        while True:
            if robots and self.asking.robots:
                yield from self._check_robots(url, progress)
            fields = self._fields(url, progress)
            request = url.href, fields.get("cookie")
            if request in seen:
                raise NoAnswer("redirects", f"its redirects lead in a circle, to {in_short(url.href)} again")
            seen.add(request)
            response = yield from self._request_once(url, fields, progress, most)
            progress.found.append(response)
            location = response.field("Location") if response.status in REDIRECTS else None
            if location is None:
                return
            if sum(len(one.body) for one in progress.found) > most:
                raise NoAnswer("too-large", f"redirects with more than {most:,} bytes (--max-size)")
            if len(progress.found) > redirects:
                text = f"more than {redirects} redirects, the last one to {in_short(location or url.href)}"
                raise NoAnswer("redirects", text)
            before, url = url, _parsed(location, url.href, progress.moved())
            if self._leads_inside(before, url):
                text = f"a server may not lead to {url.hostname}, of this network{progress.moved()}"
                raise NoAnswer("refused-address", text)
            if self.leaves_out(url.href):
                text = f"{in_short(url.href)} is not asked for (--exclude, --ignore){progress.moved()}"
                raise NoAnswer("left-out", text)

    def _leads_inside(self, before: _Url, url: _Url) -> bool:
        """Return whether a redirect leads to a private address, as of a metadata server, that the user did not name."""
        host = url.hostname.rstrip(".")
        if self.asking.origins is None or is_public_host(host) or host in {before.hostname, *self._named}:
            return False
        return host.startswith("[") or host[-1:].isdigit() or f".{host}".endswith(".localhost")

    def _check_robots(self, url: _Url, progress: _Progress) -> Steps:
        """Raise NoAnswer for a URL that the robots.txt of its origin does not allow, or whose robots.txt fails."""
        yield from self.alone(url.origin)
        rules = self._robots.get(url.origin)
        if rules is None:
            with self.entered(url.origin):
                rules = yield from self._rules(url, progress)
                self._robots.keep(url.origin, rules, _OVERHEAD + _PER_RULE * getattr(rules, "number", 0))
        if isinstance(rules, NoAnswer):
            raise NoAnswer(rules.code, f"{rules.text}{progress.moved()}")
        if rules(url.target) is not None:
            text = f"robots.txt of {url.origin} does not allow {in_short(url.href)}{progress.moved()}"
            raise NoAnswer("robots", f"{text} (ignore-robots in absolve.toml)")

    def _rules(self, url: _Url, progress: _Progress) -> Steps:
        """Return the robots.txt rules of an origin: no rules without a file, and why it cannot be had (2.3.1)."""
        own = progress._replace(found=[], method="GET", fields=NO_FIELDS)
        data = b""
        try:
            yield from self._follow(_parsed("/robots.txt", url.origin), own, *_MOST_OF_ROBOTS, robots=False)
        except NoAnswer as none:
            if none.code not in {"too-large", "redirects", "refused-scheme", "malformed"}:
                return none
            data = none.start  # what is beyond the bound is ignored (2.5)
        progress.others.extend(own.found)
        last = own.found[-1] if own.found else None
        if last is not None and last.status >= 500:
            text = f"robots.txt of {url.origin} cannot be read (status {last.status}), so nothing may be asked for"
            return NoAnswer("robots", f"{text} (ignore-robots in absolve.toml)")
        if last is not None and last.status < 300:
            with suppress(CodingError, WalkError):
                data = self._body(last)
        group = access.of_robots(data, "absolve")
        self.engine.slow_down(url.host, group.delay)
        return access.Rules(group.rules)

    def alone(self, key: Any) -> Steps:
        """Wait until no other task is inside of `entered` with this key."""
        while (tasks := self._under_way.get(key)) is not None:
            yield tasks

    @contextmanager
    def entered(self, key: Any) -> Iterator[None]:
        tasks: list[Task] = []
        self._under_way[key] = tasks
        try:
            yield
        finally:
            del self._under_way[key]
            self.engine.resume(tasks)

    # --- one request --------------------------------------------------------------------------------------------------

    def _fields(self, url: _Url, progress: _Progress) -> dict[str, str]:
        """Return the fields of a request; only the origin that the user named gets the user's secrets."""
        is_named = self._is_named(url, progress)
        is_own = is_named and url.origin == progress.origin
        found = {"user-agent": AGENT, "accept": "*/*", "accept-encoding": self._encodings}
        for name, value in self.asking.fields:
            if is_own or name.lower() in OPEN_FIELDS:
                found[name.lower()] = value
        if is_own and progress.credentials is not None:
            found.setdefault("authorization", f"Basic {b64encode(':'.join(progress.credentials).encode()).decode()}")
        found |= progress.fields
        jar = self._jars.get((url.origin, is_named), self._cookies if is_named else ())
        if "cookie" not in found and isinstance(jar, CookieJar) and next(iter(jar), None) is not None:
            request = urllib.request.Request(url.href)  # noqa: S310 - not opened: the jar asks it for the URL
            jar.add_cookie_header(request)
            if (cookie := request.get_header("Cookie")) is not None:
                found["cookie"] = cookie
        return found

    def _request_once(self, url: _Url, fields: dict[str, str], progress: _Progress, most: int) -> Steps:
        """Return the response to a request; equal requests are sent once, as long as the body is kept."""
        key = (progress.method, url.href, *fields.items())
        yield from self.alone(key)
        response: Response | None = self._known.get(key)
        if response is None:
            with self.entered(key):
                response = yield from self._request(url, fields, progress, most)
            texts = url.href, *fields.values(), response.head, response.body
            self._known.keep(key, response, _OVERHEAD + sum(map(len, texts)))
        return response

    def _request(self, url: _Url, fields: dict[str, str], progress: _Progress, most: int) -> Steps:
        """Return the response to a request: from the store, if it is young enough there, or from the server."""
        store, method, server = self._store, progress.method, self._resolved.get(url.hostname, "")
        kept = store.find(method, url.href, server) if store is not None else None
        if store is None or kept is None:
            response = yield from self._answered(url, fields, progress, most)
        elif store.is_fresh(kept):
            response = store.load(kept, url.href)
            store.used += 1
        else:
            held = store.load(kept, url.href)
            asked = {"if-none-match": held.field("ETag"), "if-modified-since": held.field("Last-Modified")}
            more = {name: value for name, value in asked.items() if value is not None}
            response = yield from self._answered(url, more | fields, progress, most)
            if response.status == _NOT_MODIFIED and not more.keys() & fields.keys():
                store.confirm(response, kept, server)
                return held._replace(time=response.time)
        return response

    def _answered(self, url: _Url, fields: dict[str, str], progress: _Progress, most: int) -> Steps:
        """Return the response of a server, asked again if another try may help."""
        for left in range(self.asking.retries, -1, -1):
            jitter = random.uniform(0.8, 1.2)  # noqa: S311 - so that not all ask at the same time
            wait = jitter * 0.5 * 2 ** (self.asking.retries - left)
            try:
                response = yield from self._sent(url, progress.method, most, fields)
                self._keep(url, response, is_named=self._is_named(url, progress))
                if response.status not in _LATER or not left:
                    return response
                wait = max(wait, _retry_after(response.field("Retry-After") or ""))
                if wait > _LONGEST_WAIT:
                    return response
                progress.others.append(response)
                self.engine.delay(url.host, wait)
            except NoAnswer as none:
                if none.code == "unknown-host":
                    yield from _check_unknown(url.hostname, is_last=not left)
                if not left or not none.may_pass:
                    raise
            yield wait
        raise AssertionError

    def _keep(self, url: _Url, response: Response, *, is_named: bool) -> None:
        self._keep_cookies(url, response, is_named=is_named)
        if self._store is not None and response.status != _NOT_MODIFIED:
            self._store.keep(response, self._resolved.get(url.hostname, ""))

    def _sent(self, url: _Url, method: str, most: int, fields: dict[str, str]) -> Steps:
        """Return the response to a request, whose header has no Transfer-Encoding. Raise NoAnswer."""
        sent = tuple((name.encode("latin-1"), value.encode("latin-1", "replace")) for name, value in fields.items())
        lines = [b"%b: %b" % field if field[1] else b"%b;" % field[0] for field in sent]
        way = dict(self._way(url))
        more = partial(self._most, url, most)
        got: Received = yield Request(way.pop("origin") + url.target, url.host, method, lines, most, more, **way)
        head = got.head
        if len(set(_LENGTH.findall(head))) > 1:
            raise NoAnswer("broken-response", f"{url.host} sent two lengths of one body")
        if _UNUSUAL.search(head) is not None:
            head = _USER.sub(rb"\1", _ENDS_A_FIELD.sub(b" ", _CODING.sub(b"", head)))
        return Response(url.href, sent, got.status, head, got.body, got.time, method)

    def _most(self, url: _Url, most: int, start: bytes) -> int:
        """Return the size limit for a body with more than `most` bytes, if it is an archive. Raise NoAnswer."""
        larger = self.asking.settings.max_size
        kind = sniffing.sniff(start, url.target.partition("?")[0]) if most == self._most_of_a_page < larger else None
        if kind is None or not registry.is_archive(kind):
            raise NoAnswer("too-large", f"more than {most:,} bytes (--max-size)", start=start)
        return larger

    def _way(self, url: _Url) -> dict[str, str]:
        """Return how an origin is reached: by a server, a proxy, or public addresses only, and why. Raise NoAnswer."""
        found = self._ways.get(url.origin)
        if found is None:
            try:
                found = self._found_way(url)
            except NoAnswer as none:
                found = none
            self._ways[url.origin] = found
        if isinstance(found, NoAnswer):
            raise found
        return found

    def _found_way(self, url: _Url) -> dict[str, str]:
        server = self._resolved.get(url.hostname)
        proxy = exchange.proxy_of(url.origin) if server is None else None
        is_guarded = self._guards and url.hostname not in self._inside | self._resolved.keys()
        if proxy is not None and not self.asking.private:
            text = f"--deny-private cannot see what the proxy {in_short(without_user(proxy))} connects to"
            raise NoAnswer("refused-address", text)
        if is_guarded and not is_public_host(url.hostname):
            raise NoAnswer("refused-address", f"{url.hostname} has no public address ({ONLY_NAMED})")
        way = {"origin": url.origin}
        if server is not None:
            at = _parsed(server)
            port = at.host.removeprefix(at.hostname) or (":443" if server.startswith("https:") else ":80")
            way = {"origin": f"{server.partition('://')[0]}://{url.host}", "place": f"::{at.hostname}{port}"}
        if proxy is not None:
            way["proxy"] = proxy
        elif is_guarded or not self.asking.private:
            way["guard"] = ONLY_NAMED if self.asking.private else "--deny-private"
        return way

    def _credentials(self, url: str, origin: str) -> tuple[str, str] | None:
        """Return the user and password for a URL; a URL that only a document names gets its origin's."""
        if not self.asking.passwords:
            return None
        own = exchange.credentials_in(url) if "@" in url else None
        if self.asking.origins is None:
            return own or exchange.credentials_of_netrc(url)
        return (own or self.asking.origins[origin]) if origin in self.asking.origins else None

    def _is_named(self, url: _Url, progress: _Progress) -> bool:
        """Return whether the user named the origin of a URL."""
        return url.origin in ({progress.origin} if self.asking.origins is None else self.asking.origins)

    def _keep_cookies(self, url: _Url, response: Response, *, is_named: bool) -> None:
        if b"\nset-cookie:" not in response.head.lower() or sum(map(len, self._jars.values())) > _MOST_COOKIES:
            return
        key = url.origin, is_named
        if key not in self._jars:
            self._jars[key] = CookieJar()
            for cookie in self._cookies if is_named else ():
                self._jars[key].set_cookie(cookie)
        jar = self._jars[key]
        request = urllib.request.Request(response.url)  # noqa: S310 - not opened
        read = SimpleNamespace(info=lambda: response.message)
        jar.extract_cookies(read, request)  # type: ignore[arg-type]


def _check_unknown(host: str, *, is_last: bool) -> Steps:
    """Raise NoAnswer for a host without an address: libcurl does not say whether that may pass."""
    with ThreadPoolExecutor(1) as pool:  # it may take long
        asked = pool.submit(socket.getaddrinfo, host.strip("[]"), 80)
        while not asked.done():
            yield 0.02
    error = asked.exception()
    if (isinstance(error, socket.gaierror) and error.errno in _UNKNOWN) or isinstance(error, UnicodeError):
        raise NoAnswer("unknown-host", f"no host has the name {host}")
    if is_last:
        why = in_short(str(error or "its address was not found"))
        raise NoAnswer("unreachable", f"{host} cannot be reached: {why}")


class _Url(NamedTuple):
    """A URL as browsers read it, without fragment, user and password. `host` has a port; `target` is for a request."""

    href: str
    origin: str
    host: str
    hostname: str
    target: str


def _parsed(url: str, base: str | None = None, after: str = "") -> _Url:
    """Return the parts of a URL, for example of `/b` after `http://h/a`. Raise NoAnswer."""
    found = whatwg.parse(url, base)
    if found is None:
        raise NoAnswer("malformed", f"{in_short(url)!r} is no URL{after}")
    parts = _PARTS.match(found)
    if parts is None:
        raise NoAnswer("refused-scheme", f"only http and https are asked for, not {in_short(url)}{after}")
    scheme, host, hostname, target = parts.groups()
    return _Url(f"{scheme}{host}{target}", f"{scheme}{host}", host, hostname, target)


def _retry_after(value: str) -> float:
    """Return the seconds in a Retry-After field (RFC 9110 10.2.3), for example 120.0 for `120`; 0 without any."""
    if value.isdecimal() and len(value) < 9:
        return float(value)
    try:
        return max(0.0, mktime_tz(date) - time.time()) if (date := parsedate_tz(value)) is not None else 0.0
    except (ValueError, OverflowError):  # a year that no calendar has
        return float("inf")


