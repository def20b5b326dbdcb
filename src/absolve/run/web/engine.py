"""Send requests by libcurl, many at once from one thread, within limits: in all, per host, of bytes and of time.

Whoever needs answers is a task, a generator. It yields a `Request` and gets its `Received`, or `NoAnswer` is raised in
it; it yields a number of seconds to wait so long, or a list to wait until `resume` is called with that list. libcurl
has TLS, HTTP/2, proxies and reuses connections; redirects, cookies and user names are never left to it. Addresses are
judged when a socket is to be opened for them: what counts is the address, not an earlier resolution of its name.
"""

from __future__ import annotations

import heapq
import os
import re
import socket
import ssl
import time
from collections import deque
from contextlib import suppress
from itertools import count
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

from absolve.core.errors import MissingPackageError, in_short
from absolve.urls.access import is_public

try:
    import pycurl
except ImportError as error:
    how = "pip install pycurl; without a wheel for this system it needs a compiler and libcurl, as of apk add curl-dev"
    raise MissingPackageError(f"an input URL needs pycurl ({error}): {how}") from error

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator

    Task: TypeAlias = Generator["Request | float | list[Any]", Any, Any]

ONLY_NAMED: Final = "and only a document names it"
_TURN: Final = 0.05  # seconds after which a signal is obeyed, and new tasks are begun
_MOST_HELD: Final = 256 << 20  # bytes of unfinished bodies; only the oldest request may go on above it
_SOON: Final = 14 * 86_400  # seconds
_BUFFER: Final = 1 << 16  # bytes of one read
_START: Final = 1 << 19  # bytes of a body by which it is judged
_HTTP2_STREAM, _PROXY, _TOO_LARGE = 92, 97, 100  # errors of libcurl that pycurl does not name
_NO_HEADER_OF_PROXIES: Final = 265  # and an option: SUPPRESS_CONNECT_HEADERS
_CUT: Final = frozenset({pycurl.E_SEND_ERROR, pycurl.E_RECV_ERROR})  # of the system if it gives a number, else of HTTP
_NO_WAY: Final = frozenset({
    pycurl.E_COULDNT_CONNECT, pycurl.E_COULDNT_RESOLVE_PROXY, _PROXY, pycurl.E_FAILED_INIT,
})  # fmt: skip
_HEAD_ENDS: Final = re.compile(rb"\r?\n\r?\n")
_FINAL: Final = re.compile(rb"HTTP/[0-9.]+ (?!1)")
_BROKEN: Final = frozenset({
    pycurl.E_UNSUPPORTED_PROTOCOL, pycurl.E_FTP_WEIRD_SERVER_REPLY, pycurl.E_HTTP2, pycurl.E_PARTIAL_FILE,
    pycurl.E_GOT_NOTHING, _HTTP2_STREAM, _TOO_LARGE, pycurl.E_BAD_CONTENT_ENCODING,
})  # fmt: skip


class NoAnswer(Exception):  # noqa: N818 - it is the outcome
    """Why there is no answer: a code and words. `may_pass`: another try may help. `start`: of a body, so far."""

    def __init__(self, code: str, text: str, *, may_pass: bool = False, start: bytes = b"") -> None:
        super().__init__(code, text)
        self.code, self.text, self.may_pass, self.start = code, text, may_pass, start


class Request(NamedTuple):
    """A request: `url` as it is sent, `host` for the limit per host, lines of fields, a limit for the body in bytes.

    `place`: the host and port to connect to, for example `::127.0.0.1:8080`; `proxy`: the URL of a proxy, or "".
    `more` is called with a body beyond the limit, and returns a larger limit or raises NoAnswer. `is_guarded`: only
    public addresses may be connected to, because of `guard`, words for a message.
    """

    url: str
    host: str
    method: str
    fields: list[bytes]
    most: int
    more: Callable[[bytes], int]
    place: str = ""
    proxy: str = ""
    guard: str = ""


class Received(NamedTuple):
    """A response: its status, its header with all lines as they came, its body, the time of the request (Unix)."""

    status: int
    head: bytes
    body: bytes
    time: float


class _Host:
    """The requests of a host: those that wait, the number of those under way, the time before which none begins."""

    __slots__ = ("is_listed", "later", "number", "waiting")

    def __init__(self) -> None:
        self.waiting: deque[tuple[Request, Task]] = deque()
        self.number = 0
        self.later = 0.0
        self.is_listed = False


class _Transfer:
    """One request under way, and what came so far."""

    __slots__ = ("body", "engine", "failure", "head", "is_paused", "most", "refused", "request", "task", "time")

    def __init__(self, engine: Engine, request: Request, task: Task) -> None:
        self.engine, self.request, self.task = engine, request, task
        self.head = bytearray()
        self.body = bytearray()
        self.most = request.most
        self.is_paused = False
        self.failure: NoAnswer | None = None
        self.refused: list[str] = []  # addresses
        self.time = time.time()

    def take_body(self, piece: bytes) -> int:
        engine = self.engine
        if engine.held > _MOST_HELD and not engine.is_first(self):
            self.is_paused = True
            return int(pycurl.WRITEFUNC_PAUSE)
        self.body += piece
        engine.held += len(piece)
        if len(self.body) > self.most:
            try:
                self.most = self.request.more(bytes(self.body[:_START]))
            except NoAnswer as none:
                self.failure = none
                return -1
        return len(piece)

    def open_socket(self, _purpose: int, address: Any) -> int:
        """Return a socket for a public address, which libcurl will close, and none for others."""
        family, kind, protocol, at = address
        if not is_public(at[0]):
            self.refused.append(at[0])
            return int(pycurl.SOCKET_BAD)
        return socket.socket(family, kind, protocol).detach()


class Engine:
    """Runs tasks. `concurrency`: requests at once, in all and per host; `timeout`: seconds for one response.

    `wait`: seconds between requests to one host; `insecure`: any certificate is trusted.
    """

    def __init__(
        self, concurrency: tuple[int, int], timeout: float, *, wait: float = 0.0, insecure: bool = False
    ) -> None:
        self._total, self._per_host = concurrency
        self._timeout = timeout
        self._pause = wait
        self._pauses: dict[str, float] = {}  # of single hosts
        self._insecure = insecure
        self._multi = pycurl.CurlMulti()
        self._multi.setopt(pycurl.M_MAXCONNECTS, 2 * self._total)
        self._unused: list[Any] = []  # handles of libcurl
        self._active: dict[Any, _Transfer] = {}
        self._hosts: dict[str, _Host] = {}
        self._free: deque[_Host] = deque()  # each has a request that waits, and may begin one
        self._ready: deque[tuple[Task, Any]] = deque()
        self._sleeping: list[tuple[float, int, Task | _Host]] = []
        self._numbers = count()
        self.tasks: set[Task] = set()
        self.held = 0  # bytes of unfinished bodies
        self.certificates: dict[str, float] = {}  # when those of hosts end (Unix); 0 if that is not known
        self.is_stopped = False

    def run(self, source: Callable[[], Task | None], most: int) -> Iterator[Any]:
        """Yield what each task returns, as they end. `source` returns the next task, or None if there is none now.

        At most `most` tasks are begun at once. It ends when no task is left, or soon after `stop`.
        """
        while not self.is_stopped:
            while len(self.tasks) < most and (task := source()) is not None:
                self.tasks.add(task)
                self._ready.append((task, None))
            if not self.tasks:
                return
            while self._ready:
                yield from self._step(*self._ready.popleft())
            if self.tasks:
                self._begin()
                self._wait()

    def stop(self) -> None:
        """End `run` soon; any thread may call it, and a handler of signals."""
        self.is_stopped = True

    def ending(self) -> list[str]:
        """Return words for each host whose certificate ends soon, for example `h ends on 2027-01-01`."""
        soon = time.time() + _SOON
        found = sorted((host, at) for host, at in self.certificates.items() if 0 < at < soon)
        return [f"{host} ends on {time.strftime('%Y-%m-%d', time.gmtime(at))}" for host, at in found]

    def close(self) -> None:
        for easy in self._active:
            self._multi.remove_handle(easy)
            easy.close()
        for task in self.tasks:
            task.close()
        self._active.clear()
        self.tasks.clear()
        self._multi.close()

    def resume(self, tasks: list[Task]) -> None:
        """Let tasks go on that wait for this list."""
        self._ready.extend((task, None) for task in tasks)
        tasks.clear()

    def delay(self, host: str, seconds: float) -> None:
        """Begin no request to a host for so long."""
        one = self._hosts.setdefault(host, _Host())
        one.later = max(one.later, time.monotonic() + seconds)

    def slow_down(self, host: str, seconds: float) -> None:
        """Let so many seconds pass between requests to a host, unless they are more already."""
        if seconds > self._pause:
            self._pauses[host] = seconds

    def is_first(self, transfer: _Transfer) -> bool:
        return next(iter(self._active.values())) is transfer

    # --- tasks --------------------------------------------------------------------------------------------------------

    def _step(self, task: Task, value: Any) -> Iterator[Any]:
        """Let a task go on with a value, or with an exception; yield what it returns when it ends."""
        try:
            wanted = task.throw(value) if isinstance(value, NoAnswer) else task.send(value)
        except StopIteration as end:
            self.tasks.discard(task)
            yield end.value
            return
        if isinstance(wanted, Request):
            host = self._hosts.setdefault(wanted.host, _Host())
            host.waiting.append((wanted, task))
            self._list(host)
        elif isinstance(wanted, list):
            wanted.append(task)
        else:
            heapq.heappush(self._sleeping, (time.monotonic() + wanted, next(self._numbers), task))

    def _list(self, host: _Host) -> None:
        """List a host as free if one of its requests may begin."""
        if host.waiting and host.number < self._per_host and not host.is_listed:
            host.is_listed = True
            if host.later > time.monotonic():
                heapq.heappush(self._sleeping, (host.later, next(self._numbers), host))
            else:
                self._free.append(host)

    def _begin(self) -> None:
        """Begin the requests that have a free slot, the hosts in turn."""
        while self._free and len(self._active) < self._total:
            host = self._free.popleft()
            host.is_listed = False
            if host.later <= time.monotonic():  # it may have been delayed since
                host.number += 1
                request, task = host.waiting.popleft()
                self._send(request, task)
                host.later = time.monotonic() + self._pauses.get(request.host, self._pause)
            self._list(host)

    def _wait(self) -> None:
        """Wait until something happens, and take it."""
        now = time.monotonic()
        wait = min(_TURN, self._sleeping[0][0] - now if self._sleeping else _TURN)
        milliseconds = self._multi.timeout()
        if milliseconds >= 0:
            wait = min(wait, milliseconds / 1000)
        if not self._ready:
            (self._multi.select if self._active else time.sleep)(max(0.0, wait))
        self._multi.perform()
        now = time.monotonic()
        while self._sleeping and self._sleeping[0][0] <= now:
            one = heapq.heappop(self._sleeping)[2]
            if isinstance(one, _Host):
                one.is_listed = False
                self._list(one)
            else:
                self._ready.append((one, None))
        self._finish()

    # --- libcurl ------------------------------------------------------------------------------------------------------

    def _send(self, request: Request, task: Task) -> None:
        easy = self._unused.pop() if self._unused else pycurl.Curl()
        transfer = self._active[easy] = _Transfer(self, request, task)
        put = easy.setopt
        put(pycurl.URL, request.url)
        put(pycurl.PATH_AS_IS, 1)
        put(pycurl.REQUEST_TARGET, _target(request))
        put(_NO_HEADER_OF_PROXIES, 1)
        put(pycurl.HTTPHEADER, request.fields)
        put(pycurl.HEADERFUNCTION, transfer.head.extend)
        put(pycurl.WRITEFUNCTION, transfer.take_body)
        put(pycurl.TIMEOUT_MS, int(self._timeout * 1000))
        put(pycurl.NOSIGNAL, 1)
        put(pycurl.BUFFERSIZE, _BUFFER)
        put(pycurl.PROXY, request.proxy)  # "" is none, whatever the environment says
        put(pycurl.PROTOCOLS, pycurl.PROTO_HTTP | pycurl.PROTO_HTTPS)
        if request.method == "HEAD":
            put(pycurl.NOBODY, 1)
        if request.place:
            put(pycurl.CONNECT_TO, [request.place])
        if request.guard:
            put(pycurl.OPENSOCKETFUNCTION, transfer.open_socket)
        if request.url.startswith("https:"):
            _trust(put, insecure=self._insecure)
            put(pycurl.OPT_CERTINFO, request.host not in self.certificates)
        self._multi.add_handle(easy)

    def _finish(self) -> None:
        more = 1
        while more:
            more, right, failed = self._multi.info_read()
            for easy in right:
                self._end(easy, None)
            for easy, number, text in failed:
                self._end(easy, self._reason(easy, number, text))

    def _end(self, easy: Any, failure: NoAnswer | None) -> None:
        transfer = self._active.pop(easy)
        request, body = transfer.request, transfer.body
        self.held -= len(body)
        status = easy.getinfo(pycurl.RESPONSE_CODE)
        if request.url.startswith("https:") and request.host not in self.certificates:
            self.certificates[request.host] = _expiry(easy.getinfo(pycurl.INFO_CERTINFO))
        self._multi.remove_handle(easy)
        easy.reset()
        self._unused.append(easy)
        host = self._hosts[request.host]
        host.number -= 1
        self._list(host)
        if not host.number and not host.waiting and host.later <= time.monotonic():
            del self._hosts[request.host]
        received = Received(status, _final_head(bytes(transfer.head)), bytes(body), transfer.time)
        self._ready.append((transfer.task, failure or received))
        for other, paused in self._active.items():
            if paused.is_paused and (self.held <= _MOST_HELD or self.is_first(paused)):
                paused.is_paused = False
                other.pause(pycurl.PAUSE_CONT)

    def _reason(self, easy: Any, number: int, text: str) -> NoAnswer:
        """Return why a request has no response, in words: the system's own, where it has some."""
        transfer = self._active[easy]
        request = transfer.request
        host = request.host
        if transfer.failure is not None:
            return transfer.failure
        if transfer.refused and number == pycurl.E_COULDNT_CONNECT:
            addresses = ", ".join(transfer.refused)
            return NoAnswer("refused-address", f"{host} has no public address: {addresses} ({request.guard})")
        if number == pycurl.E_OPERATION_TIMEDOUT:
            words = f"{host} sent no whole response in {self._timeout:g} s (--timeout)"
            return NoAnswer("timeout", words, may_pass=True)
        if number == pycurl.E_COULDNT_RESOLVE_HOST:
            return NoAnswer("unknown-host", f"no host has the name {host}", may_pass=True)
        of_system = easy.getinfo(pycurl.OS_ERRNO)
        if number == _TOO_LARGE:
            text = "its header is too large"  # libcurl has no words
        if number in _BROKEN or (number in _CUT and not of_system):
            words = f"{host} broke off, or sent no response of HTTP: {in_short(text)}"
            return NoAnswer("broken-response", words, may_pass=True)
        if of_system and number in _NO_WAY | _CUT:
            text = os.strerror(of_system).lower()
        return NoAnswer("unreachable", f"{host} cannot be reached: {in_short(text)}", may_pass=number in _NO_WAY | _CUT)


def _final_head(heads: bytes) -> bytes:
    """Return the header after those of 1xx (100 Continue), without the lines after the body (RFC 9112 7.1.2)."""
    found = (one for one in _HEAD_ENDS.split(heads) if _FINAL.match(one) is not None)
    return next((one + b"\r\n\r\n" for one in found), b"")


def _target(request: Request) -> str:
    """Return what a request asks for, as it is written: libcurl would write `%c3` as `%C3`."""
    is_of_proxy = request.proxy.startswith("http") and request.url.startswith("http:")
    url = request.url.partition("#")[0]
    return url if is_of_proxy else "/" + url.partition("://")[2].partition("/")[2]


def _expiry(chain: Any) -> float:
    """Return when the first certificate of a chain ends, for example for `Expire date:Jan  1 00:00:00 2027 GMT`."""
    fields = dict(chain[0]) if chain else {}
    with suppress(ValueError):
        return ssl.cert_time_to_seconds(fields.get("Expire date", ""))
    return 0.0


def _trust(put: Callable[[int, Any], None], *, insecure: bool) -> None:
    """Trust what Python trusts here: $SSL_CERT_FILE, the system's certificates; or any certificate."""
    if insecure:
        put(pycurl.SSL_VERIFYPEER, 0)
        put(pycurl.SSL_VERIFYHOST, 0)
        return
    places = ssl.get_default_verify_paths()
    if places.cafile:
        put(pycurl.CAINFO, places.cafile)
    if places.capath:
        put(pycurl.CAPATH, places.capath)
    if not places.cafile and not places.capath:
        put(pycurl.SSL_OPTIONS, pycurl.SSLOPT_NATIVE_CA)
