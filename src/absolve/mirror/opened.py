"""Open the pages of a mirror in a headless Chromium without a network, and report what does not work in it.

In: a folder, and the paths of its pages. Out: a `Fault` for each file that a page lacks, each request that the browser
blocked, and each URL that the page asked the network for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from absolve.mirror.check import ASKED, BLOCKED, MISSING, UNREADABLE, Fault
from absolve.urls.identity import percent_decoded
from absolve.verifying import chromium
from absolve.verifying.chromium import BrowserError, Chromium

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from playwright import async_api as playwright

_SECONDS: Final = 30.0  # for a page
_MOST: Final = 100  # faults of a page: a script may ask without end
_SHOWN: Final = 200
_REFUSED: Final = ("blocked by", "Refused to", "Not allowed to load", "violates the following", "Unsafe attempt")


def faults(folder: Path, pages: Iterable[str]) -> Iterator[Fault]:
    """Yield what does not work in each page. Raise NoBrowserError and MissingPackageError where there is no browser."""
    with Chromium(chromium.find()) as browser:
        for path in pages:
            seen = _Seen(folder, path)
            try:
                browser.run(seen.open, _SECONDS)
            except BrowserError as error:
                yield Fault(path, None, None, UNREADABLE, f"the browser does not show it: {error}")
            yield from (Fault(path, None, None, code, text) for code, text in seen.found)


class _Seen:
    """The faults of one page, each once."""

    def __init__(self, folder: Path, path: str) -> None:
        self._root = folder.absolute().as_uri().rstrip("/") + "/"
        self._url = (folder.absolute() / path).as_uri()
        self.found: dict[tuple[str, str], None] = {}

    async def open(self, browser: playwright.Browser) -> None:
        context = await browser.new_context(accept_downloads=False, service_workers="block")
        try:
            page = await context.new_page()
            page.on("request", self._asks)
            page.on("requestfailed", self._fails)
            page.on("websocket", lambda socket: self._add(ASKED, socket.url))
            page.on("console", self._says)
            await page.goto(self._url, wait_until="load")
        finally:
            await context.close()

    def _asks(self, request: playwright.Request) -> None:
        if not request.url.startswith(("file:", "data:", "blob:", "about:", "chrome-error:")):
            self._add(ASKED, request.url)

    def _fails(self, request: playwright.Request) -> None:
        if request.url.startswith("file:"):
            code = MISSING if request.failure == "net::ERR_FILE_NOT_FOUND" else BLOCKED
            self._add(code, percent_decoded(request.url.removeprefix(self._root)))

    def _says(self, message: playwright.ConsoleMessage) -> None:
        if message.type == "error" and any(word in message.text for word in _REFUSED):
            self._add(BLOCKED, message.text.replace(self._root, ""))

    def _add(self, code: str, text: str) -> None:
        if len(self.found) < _MOST:
            self.found.setdefault((code, text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."))
