"""A headless Chromium without network access, driven by Playwright: for `mirror --check --browser`, and tests.

In: the name of a program, and work to do with the browser. Out: its result, within a time limit.
"""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import tempfile
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, TypeVar

from absolve.core.errors import AbsolveError, MissingPackageError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine
    from types import TracebackType
    from typing import Self

    from playwright.async_api import Browser, Playwright

T = TypeVar("T")

# Names of Chromium and its derivatives, on PATH and elsewhere.
PROGRAMS: Final = (
    *("chromium", "chromium-browser", "chrome-headless-shell", "google-chrome", "google-chrome-stable", "chrome"),
    *("microsoft-edge", "brave-browser"),
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
)
VARIABLE: Final = "ABSOLVE_BROWSER"

# Connections without a request, which nothing else refuses (DNS prefetch, preconnect, the browser's own services), go
# to a proxy whose name does not resolve, for the loopback interface, too.
NO_NETWORK: Final = (
    "--proxy-server=socks5://proxy.invalid:1",
    "--proxy-bypass-list=<-loopback>",
    "--host-resolver-rules=MAP * ~NOTFOUND",
)
_FLAGS: Final = (  # besides Playwright's own
    "--dns-prefetch-disable",
    "--disable-domain-reliability",
    "--no-pings",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",  # with scripts on
)
_WRITTEN: Final = re.compile(r"\[err\] (.*)")  # a program's standard error in Playwright's messages
_START: Final = 60.0  # seconds until the browser runs
_END: Final = 10.0  # seconds for it to end


class NoBrowserError(UsageError):
    """Chromium is not installed, or does not start."""


class BrowserError(AbsolveError):
    """The browser refused something, took too long, or has ended."""


def find(program: str | None = None) -> str:
    """Return the path of `program`, else of the one that $ABSOLVE_BROWSER names, else of the first of PROGRAMS.

    Raise NoBrowserError where it is not installed.
    """
    named = program or os.environ.get(VARIABLE)
    for name in (named,) if named else PROGRAMS:
        if found := shutil.which(name):
            return found
    what = f"no program {named!r} is there" if named else "there is no Chromium"
    raise NoBrowserError(f"{what}: install one (Debian: chromium), or name it by --browser or ${VARIABLE}")


class Chromium:
    """A browser with a temporary profile, which starts with the first `run`; the `with` block ends all its processes.

    `flags` decide about its network. For root it runs without a sandbox, because it does not start with one. Raise
    MissingPackageError without Playwright.
    """

    def __init__(self, program: str, flags: tuple[str, ...] = NO_NETWORK) -> None:
        try:
            from playwright import async_api
        except ImportError as error:
            raise MissingPackageError("a browser needs playwright: pip install 'absolve[browser]'") from error
        self._api = async_api
        self._program = program
        self._flags = flags
        self._runner = asyncio.Runner()
        self._home: tempfile.TemporaryDirectory[str] | None = None
        self._driver: Playwright | None = None
        self._browser: Browser | None = None

    def run(self, work: Callable[[Browser], Coroutine[Any, Any, T]], seconds: float) -> T:
        """Return the result of `work`, done with the browser. Raise BrowserError where that fails or takes too long.

        The browser has then ended, and the next call starts another.
        """
        browser = self._browser or self._start()
        try:
            return self._within(seconds, work(browser))
        except (self._api.Error, TimeoutError) as error:
            self.close()
            raise BrowserError(_reason(error)) from error

    def _within(self, seconds: float, work: Coroutine[Any, Any, T]) -> T:
        return self._runner.run(asyncio.wait_for(work, seconds))

    def _start(self) -> Browser:
        try:
            return self._within(_START, self._started())
        except (self._api.Error, OSError, TimeoutError) as error:
            self.close()
            last = [_reason(error), *_WRITTEN.findall(str(error))][-1][:200]
            raise NoBrowserError(f"{self._program} does not start: {last}") from error
        except BaseException:  # an interrupt
            self.close()
            raise

    async def _started(self) -> Browser:
        self._home = tempfile.TemporaryDirectory(prefix="absolve-browser-", ignore_cleanup_errors=True)
        self._driver = await self._api.async_playwright().start()
        self._browser = await self._driver.chromium.launch(
            executable_path=self._program,
            args=[*_FLAGS, *self._flags],
            chromium_sandbox=not hasattr(os, "geteuid") or os.geteuid() != 0,
            env={**os.environ, "HOME": self._home.name, "TMPDIR": self._home.name},
            timeout=0,
        )
        return self._browser

    def close(self) -> None:
        """End the browser and all its child processes, and remove its profile."""
        with suppress(self._api.Error, OSError, TimeoutError):
            self._within(_END, self._ended())
        self._browser = self._driver = None
        self._runner.close()
        self._runner = asyncio.Runner()
        if self._home is not None:
            self._home.cleanup()

    async def _ended(self) -> None:
        if self._browser is not None:
            await self._browser.close()
        if self._driver is not None:
            await self._driver.stop()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _reason(error: BaseException) -> str:
    return "it took too long" if isinstance(error, TimeoutError) else str(error).partition("\n")[0]
