"""A headless Chromium of our own: found, started without a network, and ended with everything it wrote."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from absolve.core.errors import UsageError
from absolve.verifying.browser.devtools import DevTools, DevToolsError

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self

# What Chromium and its kin are called, on PATH and elsewhere.
PROGRAMS: Final = (
    *("chromium", "chromium-browser", "chrome-headless-shell", "google-chrome", "google-chrome-stable", "chrome"),
    *("microsoft-edge", "brave-browser"),
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
)
VARIABLE: Final = "ABSOLVE_BROWSER"

_FLAGS: Final = (
    "--headless",
    "--remote-debugging-pipe",  # descriptors 3 and 4: no port that others could connect to
    # no network: requests are answered or refused one by one, and what asks for none (DNS prefetch, preconnect,
    # the browser's own services) finds a proxy whose name does not resolve, on the loopback interface as well
    "--proxy-server=socks5://proxy.invalid:1",
    "--proxy-bypass-list=<-loopback>",
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--dns-prefetch-disable",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-domain-reliability",
    "--disable-extensions",
    "--disable-sync",
    "--no-pings",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",  # where scripts are on
    # a page that came by http is shown as such
    "--disable-features=HttpsUpgrades,HttpsFirstBalancedModeAutoEnable,MediaRouter,OptimizationHints,Translate",
    # nothing of the desktop
    "--disable-breakpad",
    "--disable-crash-reporter",
    "--disable-dev-shm-usage",
    "--disable-gpu",
    "--hide-scrollbars",
    "--mute-audio",
    "--no-default-browser-check",
    "--no-first-run",
    "--password-store=basic",
    "--use-mock-keychain",
)
_START: Final = 60.0  # seconds until it must answer
_END: Final = 3.0  # seconds that it has to end by itself, when nobody is at the other end of the pipes

# Chromium reads descriptor 3 and writes to 4. Shells cannot be relied on to connect higher numbers than 9.
_CONNECT: Final = """\
import os, sys
os.dup2(int(sys.argv[1]), 3)
os.dup2(int(sys.argv[2]), 4)
os.execv(sys.argv[3], sys.argv[3:])
"""


def _pipe() -> list[int]:
    """The ends of a pipe, whose numbers are not those that Chromium's will have."""
    import fcntl  # where there are POSIX pipes

    ends = []
    for end in os.pipe():
        ends.append(fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 5))
        os.close(end)
    return ends


class NoBrowserError(UsageError):
    """There is no Chromium here, or it does not start."""


def find(program: str | None = None) -> str:
    """The path of the program that the user names, that $ABSOLVE_BROWSER names, or of the first that is there."""
    named = program or os.environ.get(VARIABLE)
    for name in (named,) if named else PROGRAMS:
        if found := shutil.which(name):
            return found
    what = f"no program {named!r} is there" if named else "there is no Chromium"
    raise NoBrowserError(f"{what}: install one (Debian: chromium), or name it by --browser or ${VARIABLE}")


class Chromium:
    """One running browser with a profile of its own, which goes when the `with` block ends, however it ends.

    It runs where there are POSIX pipes. A superuser's browser has no sandbox, for it would not start with one.
    """

    def __init__(self, program: str) -> None:
        if os.name != "posix":
            raise NoBrowserError("browsers are driven by POSIX pipes, which this system does not have")
        self._profile = tempfile.TemporaryDirectory(prefix="absolve-browser-", ignore_cleanup_errors=True)
        self._process: subprocess.Popen[bytes] | None = None
        try:
            self.devtools = self._started(program)
            self.devtools.deadline = time.monotonic() + _START
            self.version: str = self.devtools.call("Browser.getVersion")["product"]
        except (OSError, DevToolsError) as error:
            said = self._said()
            self.close()
            raise NoBrowserError(f"{program} does not start: {said or error}") from error
        except BaseException:  # an interrupt
            self.close()
            raise

    def _started(self, program: str) -> DevTools:
        theirs_in, ours_out = _pipe()
        ours_in, theirs_out = _pipe()
        self._pipes = (ours_in, ours_out)
        folder = self._profile.name
        sandbox = ("--no-sandbox",) if os.geteuid() == 0 else ()
        command = (program, *_FLAGS, *sandbox, f"--user-data-dir={folder}", "about:blank")
        try:
            with Path(folder, "stderr").open("wb") as said:
                self._process = subprocess.Popen(  # noqa: S603 - the user's browser, and no shell reads the words
                    (sys.executable, "-I", "-S", "-c", _CONNECT, str(theirs_in), str(theirs_out), *command),
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=said,
                    pass_fds=(theirs_in, theirs_out),
                    start_new_session=True,  # one group to end; an interrupt is ours to pass on
                    env={**os.environ, "HOME": folder},
                )
        finally:
            os.close(theirs_in)
            os.close(theirs_out)
        return DevTools(*self._pipes)

    def _said(self) -> str:
        with suppress(OSError):
            lines = Path(self._profile.name, "stderr").read_text("utf-8", "replace").strip().splitlines()
            return lines[-1][:200] if lines else ""
        return ""

    def close(self) -> None:
        """End it and all that it started, and remove its profile."""
        for pipe in self.__dict__.pop("_pipes", ()):
            os.close(pipe)
        process, self._process = self._process, None
        if process is not None:
            with suppress(subprocess.TimeoutExpired):
                process.wait(_END)
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        self._profile.cleanup()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
