"""How the tests of the commands run them: in this process, or in one of their own where that matters."""

from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from absolve.cli import main

FIXTURES = Path(__file__).parents[2] / "fixtures"


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


@pytest.fixture
def absolve(capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Runner:
    return Runner(capsysbinary, monkeypatch)


@pytest.fixture
def page(tmp_path: Path) -> Path:
    """Give a page that says itself where it came from, with one link that changes and one that does not."""
    path = tmp_path / "page.html"
    path.write_bytes(PAGE)
    return path


PAGE = b"""<!-- saved from url=(0017)http://h/d/p.html -->
<a href='x.html?a&amp;b'>x</a>
<a href="http://g/">g</a>\r
"""
ABSOLUTE = PAGE.replace(b"'x.html", b"'http://h/d/x.html")
