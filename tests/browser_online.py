"""A Chromium that reaches this machine only, and says what tries to leave: for tests of mirrors that are opened."""

from __future__ import annotations

import socket
import threading
import time
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from absolve.mirror import serve
from absolve.verifying.browser import chromium
from absolve.verifying.browser.chromium import Chromium, NoBrowserError, find
from absolve.verifying.browser.devtools import DevToolsError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from absolve.verifying.browser.devtools import DevTools
    from tests.shapes.active import Response

_CLOSED = ("--proxy-", "--host-resolver-rules=")  # the flags by which no request leaves `absolve browser`


class Trap(threading.Thread):
    """A proxy that keeps the first line of whatever leaves the machine, and answers nothing."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._socket.getsockname()[1]
        self.seen: list[str] = []
        self.start()

    def run(self) -> None:
        with suppress(OSError):  # closed
            while True:
                client, _ = self._socket.accept()
                threading.Thread(target=self._read, args=(client,), daemon=True).start()

    def _read(self, client: socket.socket) -> None:
        with client, suppress(OSError):
            client.settimeout(5)
            if line := client.recv(1000).partition(b"\r")[0].decode("latin-1"):
                self.seen.append(line)

    def close(self) -> None:
        self._socket.close()


class Web(ThreadingHTTPServer):
    """The web of a capture: `responses` by host and target, as they are. `asked` are the requests."""

    request_queue_size = 128

    def __init__(self, responses: dict[tuple[str, str], Response]) -> None:
        super().__init__(("127.0.0.1", 0), _OfWeb)
        self.responses = responses
        self.asked: list[str] = []


class _OfWeb(BaseHTTPRequestHandler):
    server: Web

    def do_GET(self) -> None:
        self.server.asked.append(self.path)
        response = self.server.responses.get((self.headers["Host"], self.path))
        status, fields, body = (200, response.fields, response.body) if response else (404, (), b"")
        head = "".join(f"{name}: {value}\r\n" for name, value in fields)
        self.wfile.write(f"HTTP/1.0 {status} X\r\n{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def running(server: ThreadingHTTPServer) -> Iterator[int]:
    """Run a server; yield its port."""
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        thread.join(5)
        server.server_close()


@contextmanager
def served(folder: Path, **options: bool) -> Iterator[int]:
    """Serve a mirror; yield the port."""
    with running(serve.Server(folder, **options)) as port:
        yield port


@contextmanager
def browser(*flags: str) -> Iterator[tuple[DevTools, Trap]]:
    """Yield a Chromium and what sees its requests to other machines; skip the test where none is installed."""
    try:
        program = find()
    except NoBrowserError as error:
        pytest.skip(str(error))
    trap = Trap()
    opened = [flag for flag in chromium._FLAGS if not flag.startswith(_CLOSED)]
    more = (f"--proxy-server=http://127.0.0.1:{trap.port}", "--proxy-bypass-list=*.localhost;localhost;127.0.0.1;web.example")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(chromium, "_FLAGS", (*opened, *more, *flags))
        with Chromium(program) as started:
            yield started.devtools, trap
    trap.close()


class Online(NamedTuple):
    """A browser, what it would send to other machines, and what is on the web for it."""

    devtools: DevTools
    trap: Trap
    web: Web


class Tab:
    """One tab that opens one URL after the other; `ran` are the words that their scripts said."""

    def __init__(self, devtools: DevTools) -> None:
        self._devtools = devtools
        devtools.deadline = time.monotonic() + 60
        devtools.session = None
        devtools.call("Browser.setDownloadBehavior", behavior="deny")
        target = devtools.call("Target.createTarget", url="about:blank")["targetId"]
        devtools.session = devtools.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.ran: set[str] = set()
        self._loaded = ""
        devtools.listener = self._heard
        devtools.call("Page.enable")
        devtools.call("Page.setLifecycleEventsEnabled", enabled=True)
        devtools.call("Runtime.enable")
        devtools.call("Runtime.addBinding", name="ran")

    def _heard(self, method: str, parameters: dict[str, Any]) -> None:
        if method == "Runtime.bindingCalled":
            self.ran.add(parameters["payload"])
        elif method == "Page.lifecycleEvent" and parameters["name"] == "load":
            self._loaded = parameters["loaderId"]
        elif method == "Page.javascriptDialogOpening":
            self._devtools.tell("Page.handleJavaScriptDialog", accept=False)

    def open(self, url: str) -> None:
        """Open a URL, and wait until it is loaded, or turns out to be none that is shown."""
        self._devtools.deadline = time.monotonic() + 30
        try:
            found = self._devtools.call("Page.navigate", url=url)
            if "errorText" not in found and not found.get("isDownload"):
                self._devtools.until(lambda: self._loaded == found.get("loaderId"))
        except DevToolsError as error:
            raise DevToolsError(f"{url}: {error}") from error
