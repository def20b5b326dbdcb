"""A Chromium that reaches this machine only, and says what tries to leave: for tests of mirrors that are opened."""

from __future__ import annotations

import socket
import threading
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, NamedTuple

from playwright.async_api import Error

from absolve.mirror import serve
from absolve.verifying.chromium import Chromium
from tests import browser_page

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright import async_api as playwright

    from tests.shapes.active import Response


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
def browser(*flags: str) -> Iterator[tuple[Chromium, Trap]]:
    """Yield a Chromium and what sees its requests to other machines; skip the test where none is installed."""
    program = browser_page.program()
    trap = Trap()
    more = (f"--proxy-server=http://127.0.0.1:{trap.port}", "--proxy-bypass-list=*.localhost;localhost;127.0.0.1;web.example")
    with Chromium(program, (*more, *flags)) as started:
        yield started, trap
    trap.close()


class Online(NamedTuple):
    """A browser, what it would send to other machines, and what is on the web for it."""

    chromium: Chromium
    trap: Trap
    web: Web


class Tab:
    """Opens one URL after the other; `ran` are the words with which their scripts called `ran`.

    Behind a load that failed comes a new page: the old one would still show its error, and stop the next load.
    """

    def __init__(self, chromium: Chromium) -> None:
        self._chromium = chromium
        self.ran: set[str] = set()
        self._page: playwright.Page | None = None

    def open(self, url: str) -> None:
        """Open a URL, and wait until it is loaded, or turns out to be none that is shown."""

        async def opened(browser: playwright.Browser) -> None:
            if self._page is None:
                self._page = await browser.new_page(accept_downloads=False)
                await self._page.expose_binding("ran", lambda _, word: self.ran.add(word))
            try:
                await self._page.goto(url, timeout=0)
            except Error:
                await self._page.close()
                self._page = None

        self._chromium.run(opened, 60)
