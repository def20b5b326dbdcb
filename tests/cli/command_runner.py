"""Run commands in tests: in this process, or in a subprocess where the test needs one."""

import io
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from absolve.cli import main
from absolve.urls import PROFILES
from tests.terminals import in_terminal

FIXTURES = Path(__file__).parents[2] / "fixtures"
PAGE = b"""<!-- saved from url=(0017)http://h/d/p.html -->
<a href='x.html?a&amp;b'>x</a>
<a href="http://g/">g</a>\r
"""
ABSOLUTE = PAGE.replace(b"'x.html", b"'http://h/d/x.html")
*_OTHERS, _LAST = PROFILES
PROFILE_WORDS = f"{', '.join(_OTHERS)} or {_LAST}"  # as messages list them


class Done(NamedTuple):
    status: int
    out: bytes
    err: str

    @property
    def lines(self) -> list[str]:
        return self.out.decode().splitlines()


# Peak memory from `resource` starts at that of the parent process, where that is larger.
MEASURED = """
import re, resource, sys
from absolve.cli import main
if __name__ == "__main__":
    status = main(sys.argv[1:])
    ours = int(re.search("VmHWM:\\s+(\\d+) kB", open("/proc/self/status").read())[1])
    print(status, max(ours, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss))
"""


# The line that ends a run of rewrite and links, if its output is complete.
SUMMARY = re.compile(r"^absolve: (?:(?:[\d,]+ of )?[\d,]+ (?:links? in |inputs failed)|no link (?:(?:would )?changed?|restored): )[^\n]*\n\Z", re.MULTILINE)


class Runner:
    """`absolve ARGUMENT...`, run in this process.

    The line that ends a run is taken off the messages, which `err` has; `summary` is that of the last run, "" without
    one.
    """

    summary = ""

    def __init__(self, capture: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> None:
        self._capture = capture
        self._monkeypatch = monkeypatch

    def __call__(self, *arguments: object, stdin: bytes = b"") -> Done:
        self._monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        self._capture.readouterr()
        status = main([str(argument) for argument in arguments])
        out, err = self._capture.readouterr()
        assert b"Traceback" not in err
        self.summary = "".join(SUMMARY.findall(err.decode())).removeprefix("absolve: ").rstrip("\n")
        return Done(status, out, SUMMARY.sub("", err.decode()))

    @staticmethod
    def measured(*arguments: object) -> tuple[int, int]:
        """Return the exit status of a run in a subprocess, and the peak bytes of any of its processes; Linux only."""
        argv = [sys.executable, "-c", MEASURED, *map(str, arguments)]
        done = subprocess.run(argv, stdout=subprocess.PIPE, check=True)
        status, kilobytes = map(int, done.stdout.split())
        return status, kilobytes << 10


def on_terminal(*arguments: str, columns: int = 80, environment: dict[str, str] | None = None, errors: bool = True) -> str:
    """Return all that a terminal of this width receives, from both streams or without the standard error."""
    argv = [sys.executable, "-m", "absolve", *arguments]
    given = {**os.environ, "TERM": "xterm", "PYTHONUTF8": "1", **(environment or {})}
    return in_terminal(argv, given, columns=columns, stderr=None if errors else subprocess.DEVNULL)[1]
