"""Show a mirror on the loopback interface: each host of the capture is an origin of its own, and none reaches the web.

In: the folder of a mirror. Out: an HTTP server for GET and HEAD of the map's files, and no others. Their addresses are
their paths, so that relative links lead from file to file, and also the URLs of the capture, so that scripts find the
files that they ask for: for example, `http://h.localhost:8000/a?b` is the file of `http://h/a?b`.
"""

from __future__ import annotations

import os
import re
import socket
import sqlite3
import sys
import time
from base64 import b32encode
from contextlib import suppress
from hashlib import sha256
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Lock
from typing import IO, TYPE_CHECKING, Any, Final, NamedTuple
from urllib.parse import quote

from absolve.core.errors import UsageError
from absolve.formats import registry
from absolve.mirror import browsers
from absolve.mirror import map as maps
from absolve.mirror.browsers import OTHER, content_type
from absolve.mirror.lookup import Equivalences, Lookup
from absolve.mirror.paths import INDEX_PAGE, MAP
from absolve.mirror.policy import Target
from absolve.run.output_folder import OutputFolder
from absolve.urls.identity import percent_decoded

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

HOST: Final = "127.0.0.1"
_NAMES: Final = frozenset({HOST, "localhost", "[::1]"})
_BELOW: Final = ".localhost"  # browsers resolve such names themselves (RFC 6761 6.3)
_PIECE: Final = 1 << 20  # bytes that are sent at once
_WAIT: Final = 20.0  # seconds for a client to send a request
_MOST: Final = 500  # connections
_FRAGMENT: Final = "!$&'()*+,;=:@/?-._~%"
_FRAMES: Final = {"deny": "'none'", "sameorigin": "'self'"}
_POLICIES: Final = frozenset({"same-origin", "same-site", "cross-origin"})


def _is_embedded(media_type: str) -> bool:
    """Return whether pages of other hosts may show or run a file of this type without permission (Fetch, no-cors)."""
    essence = registry.essence_of(media_type)[0]
    is_code = essence in {registry.CSS, OTHER} or essence in browsers.JAVASCRIPT
    return is_code or essence.startswith(("image/", "font/", "audio/", "video/", "application/font"))


class Server(ThreadingHTTPServer):
    """A server of the mirror in a folder, on the loopback interface; with `port` 0 it takes a free port.

    Raise OSError if the port is in use, UsageError without a readable map.
    """

    request_queue_size = 128

    def __init__(self, folder: Path, port: int = 0) -> None:
        if not (folder / MAP).is_file():
            raise UsageError(f"--serve {folder}: there is no {MAP}: this is no mirror of absolve")
        try:
            self.origins = Origins(folder / MAP)
        except sqlite3.Error as error:
            raise UsageError(f"--serve {folder}: {MAP} cannot be read: {error}") from error
        self.root = OutputFolder.at_path(str(folder))
        self.entry = INDEX_PAGE
        self._until: dict[socket.socket, float] = {}  # when a client must have sent its request
        super().__init__((HOST, port), Handler)
        self.port = self.server_address[1]
        sources = f"'self' http://*{_BELOW}:{self.port}"
        framed = f"frame-ancestors {sources} http://{HOST}:{self.port} http://localhost:{self.port}"
        loaded = f"default-src {sources} data: blob: 'unsafe-inline' 'unsafe-eval'"
        self.policy = f"{framed}; {loaded}; form-action {sources}"

    def origin(self, host: str) -> str:
        """Return the origin of a host of the capture."""
        return f"http://{name_of(host)}{_BELOW}:{self.port}"

    def host(self, name: str) -> str | None:
        """Return the host of the capture in a Host field, "" for the mirror itself; None for any other.

        A page of another site whose name resolves to this machine (DNS rebinding) gets nothing.
        """
        without, _, port = name.lower().rpartition(":")
        found = without if port.isdecimal() else name.lower()
        if found in _NAMES:
            return ""
        return self.origins.hosts.get(found.removesuffix(_BELOW)) if found.endswith(_BELOW) else None

    def allowed(self, origin: str | None, recorded: str | None) -> str | None:
        """Return the Access-Control-Allow-Origin for a request: as recorded, and for pages of the mirror only.

        `recorded` is None for a redirect, which reveals nothing: its target decides.
        """
        if origin not in {None, "null"}:
            host = self.host((origin or "").removeprefix("http://"))
            if not host or self.origin(host) != origin:  # another server has another port
                return None
        if recorded == "*" or (recorded is None and origin == "null"):
            return "*"
        is_theirs = recorded is None or recorded == origin or self.local(recorded) == origin
        return origin if is_theirs else None

    def local(self, source: str) -> str:
        """Return the local origin for an origin of the web, for example `http://h.localhost:8000` for `https://h`."""
        return self.origin(site_of(f"{source}/"))

    def framing(self, file: File) -> str:
        """Return the policy for a file that only some pages, or none, may frame; "" for any other file."""
        recorded = file.field("content-security-policy").lower().partition("frame-ancestors ")[2]
        limit = recorded.partition(";")[0].split() or [_FRAMES.get(file.field("x-frame-options").lower(), "*")]
        sources = (source if source in _FRAMES.values() else self.local(source) for source in limit)
        return f"frame-ancestors {' '.join(sources)}" if "*" not in limit else ""

    def wait(self, connection: socket.socket, *, answers: bool = False) -> None:
        """Give a client its time to send a request. While the answer is sent, `timeout` bounds each piece."""
        self._until[connection] = float("inf") if answers else time.monotonic() + _WAIT

    def process_request(self, request: Any, client_address: Any) -> None:
        """Answer a client in a thread; above the maximum, end the connection that has waited longest."""
        if len(self._until) >= _MOST:
            self._end(min(list(self._until.items()), key=lambda item: item[1])[0])
        self.wait(request)
        super().process_request(request, client_address)

    def service_actions(self) -> None:
        """End the connections of clients that are too slow; `serve_forever` calls it twice a second."""
        now = time.monotonic()
        for connection, until in list(self._until.items()):
            if until < now:
                self._end(connection)

    def _end(self, connection: socket.socket) -> None:
        self._until.pop(connection, None)
        with suppress(OSError):
            connection.shutdown(socket.SHUT_RDWR)  # its thread reads the end, and closes it

    def shutdown_request(self, request: Any) -> None:
        self._until.pop(request, None)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Print nothing for clients that end a connection early, as browsers do when a page is left."""
        if not isinstance(sys.exception(), ConnectionError | TimeoutError):
            super().handle_error(request, client_address)


class Handler(BaseHTTPRequestHandler):
    """Answers the requests of one connection."""

    server: Server
    server_version = "absolve"
    sys_version = ""
    protocol_version = "HTTP/1.1"
    timeout = 300  # seconds for a client to take a piece of an answer: a player that pauses takes none

    def handle_one_request(self) -> None:
        self.server.wait(self.connection)
        super().handle_one_request()

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:  # noqa: ARG002 - of the base class
        self.close_connection = True
        self._send(HTTPStatus(code))

    def do_GET(self) -> None:
        self._answer()

    def do_HEAD(self) -> None:
        self._answer()

    def _answer(self) -> None:
        self.server.wait(self.connection, answers=True)
        if self.headers.get("Content-Length") or self.headers.get("Transfer-Encoding"):
            self.close_connection = True  # a body is not read, and must not be taken for the next request
        host = self.server.host(self.headers.get("Host") or "")
        if host is None or self.headers.get("Service-Worker"):  # a worker would stay when the mirror is gone
            self._send(HTTPStatus.FORBIDDEN)
            return
        target = self.requestline.split()[1].partition("#")[0]  # `self.path` has one slash for several
        origins = self.server.origins
        navigates = self.headers.get("Sec-Fetch-Mode") == "navigate"
        if not host and target in {"/", f"/{self.server.entry}"}:
            self._send_file(self.server.entry, File("", "", registry.HTML, ""))
        elif (found := origins.find(host, target, navigates=navigates)) is None:
            self._send(HTTPStatus.NOT_FOUND, b"not in this mirror\n")
        else:
            place = origins.place(found, host, target, navigates=navigates)
            if place is None:
                self._send_file(found.path, origins.files[found.path])
            else:
                location = self.server.origin(place[0]) + place[1]
                location += f"#{quote(found.fragment, safe=_FRAGMENT)}" if navigates and found.fragment else ""
                self._redirect(location)

    def _redirect(self, location: str) -> None:
        fields = {"Location": location, "Cross-Origin-Resource-Policy": "cross-origin"}
        self._send(HTTPStatus.TEMPORARY_REDIRECT, fields=fields | self._cors(None))

    def _cors(self, recorded: str | None, *, credentials: bool = False) -> dict[str, str]:
        allowed = self.server.allowed(self.headers.get("Origin"), recorded)
        more = {"Access-Control-Allow-Credentials": "true"} if credentials else {}
        return {"Access-Control-Allow-Origin": allowed, **more} if allowed is not None else {}

    def _send_file(self, path: str, file: File) -> None:
        source: IO[bytes] | None = None
        with suppress(OSError):
            source = self.server.root.opened(path)
        if source is None:
            self._send(HTTPStatus.NOT_FOUND, b"not in this mirror\n")
            return
        with source:
            size = os.fstat(source.fileno()).st_size
            self._send(HTTPStatus.OK, fields={**self._fields(path, file), "Content-Length": str(size)})
            while self.command != "HEAD" and size > 0 and (piece := source.read(min(size, _PIECE))):
                self.wfile.write(piece)
                size -= len(piece)

    def _fields(self, path: str, file: File) -> dict[str, str]:
        media_type = content_type(path, file.media_type)
        recorded = file.field("cross-origin-resource-policy")
        default = "cross-origin" if _is_embedded(media_type) else "same-origin"
        framing = self.server.framing(file)
        return {
            "Content-Type": media_type,
            "Cross-Origin-Resource-Policy": recorded if recorded in _POLICIES else default,
            "Content-Security-Policy": ", ".join(filter(None, (self.server.policy, framing))),
            **self._cors(
                file.field("access-control-allow-origin"),
                credentials=file.field("access-control-allow-credentials") == "true",
            ),
        }

    def _send(self, status: HTTPStatus, data: bytes = b"", *, fields: Mapping[str, str] | None = None) -> None:
        self.send_response(status)
        always = {
            "Content-Type": "text/plain",
            "Content-Length": str(len(data)),
            "Cross-Origin-Resource-Policy": "same-origin",
            "Cache-Control": "no-store",
            "Content-Security-Policy": self.server.policy,
            "Referrer-Policy": "no-referrer",
            "X-Content-Type-Options": "nosniff",
            "X-DNS-Prefetch-Control": "off",
        }
        for name, value in (always | dict(fields or {})).items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - of the base class
        """Print nothing: what is asked for is the reader's own."""


def run(folder: str, port: int, announce: Callable[[str], None]) -> None:
    """Serve a mirror until an interrupt; `announce` is called with its URL. Raise UsageError if the port is in use."""
    try:
        found = Server(Path(folder), port)
    except OSError as error:
        raise UsageError(f"--port {port}: {error.strerror or error}") from error
    with found:
        announce(f"http://{HOST}:{found.port}/")
        found.serve_forever()


# --- the origins of the hosts -----------------------------------------------------------------------------------------

_LABELS: Final = re.compile(r"(?:[a-z0-9_-]{1,63}\.)*[a-z0-9_-]{1,63}")
_LONGEST: Final = 180  # characters of a host that keeps its name: one of DNS has 253
_PORT: Final = "port-"
_ODD: Final = "host-"
_QUOTED: Final = "/!$&*+,;=@-._~"
_INDEX: Final = "index.html"


class File(NamedTuple):
    """A file in the map: `host` is the host of its URL, `fields` are recorded header lines except the media type."""

    url: str
    host: str
    media_type: str
    fields: str

    def field(self, name: str) -> str:
        """Return the first value of a field; "" without one."""
        return next(iter(browsers.field(self.fields, name)), "")


def site_of(url: str) -> str:
    """Return the site that shares an origin in a mirror: a host with its port, a package or one part of a message.

    For example, `h:8080` for `http://h:8080/a`. A mirror treats http and https as equal.
    """
    scheme, _, rest = url.partition(":")
    if not rest.startswith("//"):
        return url
    authority, _, path = rest[2:].partition("/")
    return authority.rpartition("@")[2] or f"{scheme}:///{path.partition('/')[0]}"


def name_of(host: str) -> str:
    """Return the name of a host below `localhost`: letters, digits, `-`, `_` and dots. Two hosts never share one.

    For example, `h.org:8080` is `h.org.port-8080`. A host that is no plain DNS name gets a name made of its digest.
    """
    plain, colon, port = host.rpartition(":")
    is_port = bool(colon) and port.isascii() and port.isdecimal() and len(port) <= 5
    name = plain if is_port else host
    if _LABELS.fullmatch(name) and len(name) <= _LONGEST and not name.rpartition(".")[2].startswith((_PORT, _ODD)):
        return f"{name}.{_PORT}{port}" if is_port else name
    digest = sha256(host.encode("utf-8", "surrogatepass")).digest()
    return _ODD + b32encode(digest).decode().rstrip("=").lower()


class Origins:
    """The files of a mirror by path, and its hosts by name. Raise sqlite3.Error for a map that cannot be read."""

    def __init__(self, map_: Path) -> None:
        self.files: dict[str, File] = {}
        db = maps.opened(map_, "resources")
        query = """\
SELECT path, url, media_type, fields FROM resources WHERE typeof(path) = 'text' AND typeof(url) = 'text'"""
        for path, url, *facts in db.execute(query):
            media_type, fields = (fact if isinstance(fact, str) else "" for fact in facts)
            self.files[path] = File(url, site_of(url), media_type, fields)
        self.hosts = {name_of(file.host): file.host for file in self.files.values()}
        self._lookup = Lookup(db, Equivalences(), is_normal=False, is_finished=True)
        self._lock = Lock()
        self._roots: set[tuple[str, str]] = set()
        self._tops: dict[str, str] = {}
        for path, file in self.files.items():
            self._add_root(path, file)
        tops = {path.partition("/")[0] for path in self.files}
        self._crossed = {  # a link from a page to the folder of another host could be one to a folder of its own
            file.host for path, file in self.files.items()
            if (top := self._tops.get(file.host)) and path[len(top) :].partition("/")[0] in tops
        }

    def _add_root(self, path: str, file: File) -> None:
        """Note the folder of a host if the folders in it have the names in the URL."""
        folder, above = path.rpartition("/")[0], _folder(_target(file.url))
        if not above or f"/{folder}".endswith(f"/{above}"):
            root = folder[: len(folder) - len(above)].strip("/")
            root = f"{root}/" if root else ""
            self._roots.add((file.host, root))
            if root.count("/") <= 1 and len(root) <= len(self._tops.get(file.host, root)):
                self._tops[file.host] = root

    def find(self, host: str, target: str, *, navigates: bool = False) -> Target | None:
        """Return a host's file for the target of a request: by its path, or by its URL. It may belong to another host.

        A folder is its index.html. Where a reader navigates to `a`, which is not held, `a.html` or `a/index.html` is
        found, too: scripts of a site write such links. `host` is "" for the entry page of the mirror.
        """
        before, mark, _ = target.partition("?")
        path = percent_decoded(before.removeprefix("/"))
        if not mark and path in self.files:
            return Target(path)
        for below in self._below(host, path, target) if host else ():
            if (found := self._held(host, below)) is not None:
                return found
        for one in (path, self._tops.get(host, "") + path):
            more = (f"{one}.html", f"{one}/{_INDEX}") if navigates else ()
            for named in (f"{one}{_INDEX}",) if one.endswith("/") else (one, *more):
                if named in self.files:
                    return Target(named)
        return None

    def _below(self, host: str, path: str, target: str) -> list[str]:
        """Return the possible targets in URLs of this host: the target itself, and its part below the host's folder."""
        found = [target]
        for number in (1, 2):
            root = "/".join(path.split("/", number)[:number]) + "/"
            if (host, root) in self._roots:
                found.append("/" + target.split("/", number + 1)[-1])
        return found

    def _held(self, host: str, target: str) -> Target | None:
        if "/" in host:  # no host of the web
            return None
        with self._lock:
            found = self._lookup(f"https://{host}{target}")
        return found if found is not None and found.path in self.files else None

    def place(self, found: Target, host: str, target: str, *, navigates: bool) -> tuple[str, str] | None:
        """Return the host and the target from which a file is served; None if that is here.

        A page is at its URL, which its scripts may read; any other file where its relative links work.
        """
        file = self.files[found.path]
        own = f"/{quote(found.path, safe=_QUOTED)}"
        url = _target(file.url)
        if navigates and self._fits(found.path, url) and self._is_at(found.path, url):
            own = url
        elif file.host == host and not navigates and self._fits(found.path, target):
            return None
        return (file.host, own) if (host, target) != (file.host, own) else None

    def _is_at(self, path: str, target: str) -> bool:
        found = self.find(self.files[path].host, target)
        return found is not None and found.path == path

    def _fits(self, path: str, target: str) -> bool:
        """Return whether a file's relative links lead to the same files from this target of its host."""
        if not (target.isascii() and target.isprintable()):
            return False
        host, folder, asked = self.files[path].host, path.rpartition("/")[0], _folder(target)
        top = self._tops.get(host) if host not in self._crossed else None
        return asked == folder or (top is not None and f"{top}{asked}".rstrip("/") == folder)


def _target(url: str) -> str:
    """Return the path and the query of a URL, for example `/a?b` of `http://h/a?b#c`."""
    return "/" + url.partition("://")[2].partition("/")[2]


def _folder(target: str) -> str:
    """Return the folder of a target, unescaped: for example, `a b` for `/a%20b/c.html`."""
    return percent_decoded(target.partition("?")[0]).rpartition("/")[0].removeprefix("/")
