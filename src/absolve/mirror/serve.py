"""Show a mirror on the loopback interface: each host of the capture is an origin of its own, and none reaches the web.

In: the folder of a mirror. Out: an HTTP server for GET and HEAD that knows the files of the map and no others.
"""

from __future__ import annotations

import os
import socket
import sqlite3
import sys
import time
from contextlib import suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final
from urllib.parse import quote

from absolve.core.errors import UsageError
from absolve.formats import registry
from absolve.mirror import browsers
from absolve.mirror.extensions import OTHER, content_type
from absolve.mirror.origins import File, Origins, host_of, name_of
from absolve.mirror.paths import INDEX_PAGE, MAP
from absolve.run.output_folder import OutputFolder

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
    """Return whether pages of other hosts show or run a file of this type without asking for leave (Fetch, no-cors)."""
    essence = registry.essence_of(media_type)[0]
    is_code = essence in {registry.CSS, OTHER} or essence in browsers.JAVASCRIPT
    return is_code or essence.startswith(("image/", "font/", "audio/", "video/", "application/font"))


class Server(ThreadingHTTPServer):
    """A server of the mirror in a folder, bound to the loopback interface; `port` 0 is a free one.

    Raise OSError if the port is in use, UsageError without a map that can be read.
    """

    request_queue_size = 128

    def __init__(self, folder: Path, port: int = 0) -> None:
        if not (folder / MAP).is_file():
            raise UsageError(f"--serve {folder}: there is no {MAP}: this is no mirror of absolve")
        try:
            self.origins = Origins(folder / MAP)
        except sqlite3.Error as error:
            raise UsageError(f"--serve {folder}: {MAP} cannot be read: {error}") from error
        self.root = OutputFolder.of(str(folder))
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
        """Return the host of the capture that a Host field names, "" for the mirror itself; None for any other.

        A page of another site whose name leads here (DNS rebinding) gets nothing.
        """
        without, _, port = name.lower().rpartition(":")
        found = without if port.isdecimal() else name.lower()
        if found in _NAMES:
            return ""
        return self.origins.hosts.get(found.removesuffix(_BELOW)) if found.endswith(_BELOW) else None

    def allowed(self, origin: str | None, recorded: str | None) -> str | None:
        """Return the Access-Control-Allow-Origin for a request: what was recorded, for pages of the mirror only.

        `recorded` is None for a redirect, which tells nothing: its target decides.
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
        """Return the origin that stands for an origin of the web."""
        return self.origin(host_of(f"{source}/"))

    def framing(self, file: File) -> str:
        """Return the policy for a file that only some pages, or none, may show in a frame; "" for any other."""
        recorded = file.field("content-security-policy").lower().partition("frame-ancestors ")[2]
        limit = recorded.partition(";")[0].split() or [_FRAMES.get(file.field("x-frame-options").lower(), "*")]
        sources = (source if source in _FRAMES.values() else self.local(source) for source in limit)
        return f"frame-ancestors {' '.join(sources)}" if "*" not in limit else ""

    def wait(self, connection: socket.socket, *, answers: bool = False) -> None:
        """Give a client its time to send a request. While it is answered, `timeout` bounds each piece."""
        self._until[connection] = float("inf") if answers else time.monotonic() + _WAIT

    def process_request(self, request: Any, client_address: Any) -> None:
        """Answer a client in a thread; one too many ends the connection that waited longest."""
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
        if not host and target in {"/", f"/{self.server.entry}"}:
            self._send_file(self.server.entry, File("", "", registry.HTML, ""))
        elif (found := origins.find(host, target)) is None:
            self._send(HTTPStatus.NOT_FOUND, b"not in this mirror\n")
        else:
            navigates = self.headers.get("Sec-Fetch-Mode") == "navigate"
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
        given = {
            "Content-Type": "text/plain",
            "Content-Length": str(len(data)),
            "Cross-Origin-Resource-Policy": "same-origin",
            "Cache-Control": "no-store",
            "Content-Security-Policy": self.server.policy,
            "Referrer-Policy": "no-referrer",
            "X-Content-Type-Options": "nosniff",
            "X-DNS-Prefetch-Control": "off",
        }
        for name, value in (given | dict(fields or {})).items():
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
