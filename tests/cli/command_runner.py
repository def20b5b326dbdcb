"""Runs commands for their tests: in this process, or in one of their own where that matters."""

from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from absolve.cli import main

if TYPE_CHECKING:
    import pytest

FIXTURES = Path(__file__).parents[2] / "fixtures"
PAGE = b"""<!-- saved from url=(0017)http://h/d/p.html -->
<a href='x.html?a&amp;b'>x</a>
<a href="http://g/">g</a>\r
"""
ABSOLUTE = PAGE.replace(b"'x.html", b"'http://h/d/x.html")


class Done(NamedTuple):
    status: int
    out: bytes
    err: str

    @property
    def lines(self) -> list[str]:
        return self.out.decode().splitlines()


class Runner:
    """`absolve ARGUMENT...`, run in this process."""

    def __init__(self, capture: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> None:
        self._capture = capture
        self._monkeypatch = monkeypatch

    def __call__(self, *arguments: object, stdin: bytes = b"") -> Done:
        self._monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        self._capture.readouterr()
        status = main([str(argument) for argument in arguments])
        out, err = self._capture.readouterr()
        assert b"Traceback" not in err
        return Done(status, out, err.decode())

    @staticmethod
    def process(*arguments: object, stdin: bytes = b"") -> Done:
        argv = [sys.executable, "-m", "absolve", *map(str, arguments)]
        done = subprocess.run(argv, input=stdin, capture_output=True, check=False)
        return Done(done.returncode, done.stdout, done.stderr.decode())
