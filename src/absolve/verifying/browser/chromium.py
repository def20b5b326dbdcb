"""Find, start and end a headless Chromium without network access and with a temporary profile.

In: the name of a program. Out: a running process with a `DevTools` connection over pipes.
"""

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

# Names of Chromium and its derivatives, on PATH and elsewhere.
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
    # no network: each request is answered or refused; connections without a request (DNS prefetch, preconnect, the
    # browser's own services) go to a proxy whose name does not resolve, for the loopback interface, too
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
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",  # with scripts on
    # an http page is not upgraded to https
    "--disable-features=HttpsUpgrades,HttpsFirstBalancedModeAutoEnable,MediaRouter,OptimizationHints,Translate",
    # no desktop integration
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
_START: Final = 60.0  # seconds until the first reply
_END: Final = 3.0  # seconds for the process to end by itself after the pipes are closed

# Chromium reads descriptor 3 and writes to 4. Not all shells can redirect descriptors above 9.
_CONNECT: Final = """\
import os, sys
os.dup2(int(sys.argv[1]), 3)
os.dup2(int(sys.argv[2]), 4)
os.execv(sys.argv[3], sys.argv[3:])
"""


def _pipe() -> list[int]:
    """Return the ends of a pipe, with descriptors of 5 or more: 3 and 4 are those of Chromium."""
    import fcntl  # POSIX only

    ends = []
    for end in os.pipe():
        ends.append(fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 5))
        os.close(end)
    return ends


class NoBrowserError(UsageError):
    """Chromium is not installed, or does not start."""


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
    """A running browser with a temporary profile; the `with` block always ends the process and removes the profile.

    It requires POSIX pipes. For root it runs without a sandbox, because it does not start with one.
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
            errors = self._errors()
            self.close()
            raise NoBrowserError(f"{program} does not start: {errors or error}") from error
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
            with Path(folder, "stderr").open("wb") as errors:
                self._process = subprocess.Popen(  # noqa: S603 - the user's browser, without a shell
                    (sys.executable, "-I", "-S", "-c", _CONNECT, str(theirs_in), str(theirs_out), *command),
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=errors,
                    pass_fds=(theirs_in, theirs_out),
                    start_new_session=True,  # a process group to kill; Ctrl-C does not reach it
                    env={**os.environ, "HOME": folder},
                )
        finally:
            os.close(theirs_in)
            os.close(theirs_out)
        return DevTools(*self._pipes)

    def _errors(self) -> str:
        with suppress(OSError):
            lines = Path(self._profile.name, "stderr").read_text("utf-8", "replace").strip().splitlines()
            return lines[-1][:200] if lines else ""
        return ""

    def close(self) -> None:
        """End the browser and all its child processes, and remove its profile."""
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
