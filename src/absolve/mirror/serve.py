"""Show a mirror on the loopback interface, with the media types of its map: then scripts that are modules work.

In: the folder of a mirror. Out: an HTTP server for GET and HEAD that knows the files of the map and no others.
"""

from __future__ import annotations

import os
import sqlite3
import stat
import sys
from contextlib import closing
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import unquote

from absolve.core.errors import UsageError
from absolve.formats import registry
from absolve.mirror import extensions
from absolve.mirror import map as maps
from absolve.mirror.paths import MAP
from absolve.run.output_folder import OutputFolder

if TYPE_CHECKING:
    from collections.abc import Callable

HOST: Final = "127.0.0.1"
_NAMES: Final = frozenset({HOST, "localhost", "[::1]"})
_PIECE: Final = 1 << 20
_OWN: Final = ("index.html", "mirror.html")


def types_of(folder: Path) -> dict[str, str]:
    """Return the media type of each file that the map knows. Raise UsageError without a map."""
    path = folder / MAP
    if not path.is_file():
        raise UsageError(f"--serve {folder}: there is no {MAP}: this is no mirror of absolve")
    try:
        with closing(maps.opened(path, "resources")) as db:
            rows = db.execute("SELECT path, media_type FROM resources WHERE typeof(path) = 'text'")
            found = {row[0]: _type_of(row[0], row[1]) for row in rows}
    except sqlite3.Error as error:
        raise UsageError(f"--serve {folder}: {MAP} cannot be read: {error}") from error
    for name in _OWN:
        if name not in found and (folder / name).is_file():
            found[name] = registry.HTML
    return found


def _type_of(path: str, stated: Any) -> str:
    """Return the media type of a file: that of the map if it is one (RFC 9110 8.3.1), else by its name."""
    essence = registry.essence_of(stated)[0] if isinstance(stated, str) else ""
    return essence if registry.is_media_type(essence) else extensions.by_name(path)


class _Server(ThreadingHTTPServer):
    """A server that prints nothing for clients that end a connection early, as browsers do when a page is left."""

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


def server(folder: Path, port: int = 0) -> ThreadingHTTPServer:
    """Return a server of a mirror, bound to the loopback interface; `port` 0 is a free one. Raise OSError."""
    types = types_of(folder)
    root = OutputFolder.of(str(folder))
    return _Server((HOST, port), _handler(types, root))


def _handler(types: dict[str, str], root: OutputFolder) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        server_version = "absolve"
        sys_version = ""
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self._answer(with_body=True)

        def do_HEAD(self) -> None:
            self._answer(with_body=False)

        def _answer(self, *, with_body: bool) -> None:
            if self.headers.get("Content-Length") or self.headers.get("Transfer-Encoding"):
                self.close_connection = True  # a body is not read, and must not be taken for the next request
            if not _is_own_name(self.headers.get("Host") or ""):  # another site's name for this host
                self._send(HTTPStatus.FORBIDDEN, b"", "text/plain", with_body=with_body)
                return
            path = _path(self.path, types)
            data = _read(root, path) if path is not None else None
            if path is None or data is None:
                self._send(HTTPStatus.NOT_FOUND, b"not in this mirror\n", "text/plain", with_body=with_body)
            else:
                self._send(HTTPStatus.OK, data, types[path] or "application/octet-stream", with_body=with_body)

        def _send(self, status: HTTPStatus, data: bytes, media_type: str, *, with_body: bool) -> None:
            self.send_response(status)
            self.send_header("Content-Type", media_type)
            self.send_header("Content-Length", str(len(data)))
            self.send_header("Cache-Control", "no-store")
            self.end_headers()
            if with_body:
                self.wfile.write(data)

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - of the base class
            """Print nothing: what is asked for is the reader's own."""

    return Handler


def _is_own_name(host: str) -> bool:
    """Return whether a Host field names this machine, with a port, or without one (port 80)."""
    name, _, port = host.rpartition(":")
    return host in _NAMES or (name in _NAMES and port.isdecimal())


def _path(target: str, types: dict[str, str]) -> str | None:
    """Return the file for the target of a request; a folder is its index.html."""
    path = unquote(target.partition("?")[0].partition("#")[0]).removeprefix("/")
    if path in types:
        return path
    for name in _OWN:
        index = f"{path.rstrip('/')}/{name}".lstrip("/")
        if (not path or path.endswith("/")) and index in types:
            return index
    return None


def _read(root: OutputFolder, path: str) -> bytes | None:
    """Return the bytes of a file, without following a link; None if it is not there."""
    above, _, name = path.rpartition("/")
    try:
        folder = root.folder(above)
        state = folder.stat(name)
        if state is None or not stat.S_ISREG(state.st_mode):
            return None
        flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
        with os.fdopen(os.open(folder.at(name), flags, dir_fd=folder.descriptor), "rb") as file:
            return file.read()
    except OSError:
        return None


def run(folder: str, port: int, announce: Callable[[str], None]) -> None:
    """Serve a mirror until an interrupt; `announce` is called with its URL. Raise UsageError if the port is in use."""
    try:
        found = server(Path(folder), port)
    except OSError as error:
        raise UsageError(f"--port {port}: {error.strerror or error}") from error
    with found:
        announce(f"http://{HOST}:{found.server_address[1]}/")
        found.serve_forever()
