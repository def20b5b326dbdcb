"""Two simultaneous runs may share inputs but no outputs, under whatever names."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from command_runner import Runner

LINK = b"<a href=x.html>"
SAID = "another run is working on "

pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes here, which runs wait at")


@pytest.fixture
def _sites(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Create folders with pages, some under two names, and a list of the files in one of them."""
    monkeypatch.chdir(tmp_path)
    for place in ("site/a.html", "site/sub/b.html", "other/c.html", "other/d.html"):
        path = tmp_path / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(LINK)
    (tmp_path / "soft").symlink_to("site")
    (tmp_path / "softer").symlink_to("site/sub")
    (tmp_path / "out").mkdir()
    (tmp_path / "softout").symlink_to("out")
    (tmp_path / "list").write_text("site/a.html\n")
    os.mkfifo("held")


@contextmanager
def at_work(*arguments: str) -> Iterator[None]:
    """Keep a run busy: its last input is a pipe to which nothing is written."""
    state = Path(os.environ["XDG_STATE_HOME"]) / "absolve"
    argv = [sys.executable, "-m", "absolve", "rewrite", *arguments, "--from", "held", "--url=http://h/", "-q", "-j1"]
    run = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
    try:
        deadline = time.monotonic() + 30
        # An empty one is of a run that is just starting: it will find the other one itself.
        while not any(path.stat().st_size for path in state.glob("*.run")) and time.monotonic() < deadline:
            assert run.poll() is None
            time.sleep(0.01)
        yield
        with Path("held").open("wb"):
            pass
        _, message = run.communicate(timeout=30)
        assert (run.returncode, message) == (0, b"")
        assert not list(state.glob("*.run"))
    finally:
        run.kill()
        run.communicate()


@pytest.mark.usefixtures("_sites")
@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("site --in-place", "site/ --in-place"),
        ("site --in-place", "./site/../site --in-place"),
        ("site --in-place", "soft --in-place"),
        ("soft --in-place", "site/sub --in-place"),
        ("site/sub --in-place", "soft --in-place"),
        ("site other --in-place", "other site --in-place"),
        ("site --in-place", "soft/a.html softer --in-place"),
        ("site/a.html site/sub --in-place", "softer other --in-place"),
        ("site --in-place", "--from list --in-place"),
        ("site -o out", "soft -o softout"),
        ("site -o out", "site/sub -o out/sub"),
        ("site/a.html other -o out/", "soft other -o out"),
        ("other -o out", "out --in-place"),
        ("out other --in-place", "site -o softout"),
    ],
)
def test_a_second_run_that_would_write_the_same_files_is_refused(absolve: Runner, first: str, second: str) -> None:
    with at_work(*first.split()):
        done = absolve("rewrite", *second.split(), "--url=http://h/")
        assert (done.status, done.out) == (2, b"")
        assert SAID in done.err


@pytest.mark.usefixtures("_sites")
@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("site --in-place", "other --in-place"),
        ("site/sub --in-place", "site/a.html other --in-place"),
        ("site -o out", "other -o out"),
        ("site/a.html other/c.html -o out", "site/sub/b.html other/d.html -o out"),
        ("site -o out", "site -o elsewhere"),
    ],
)
def test_runs_on_different_files_may_run_at_the_same_time(absolve: Runner, first: str, second: str) -> None:
    with at_work(*first.split()):
        assert absolve("rewrite", *second.split(), "--url=http://h/") == (0, b"", "")


@pytest.mark.usefixtures("_sites")
def test_a_killed_run_does_not_block_later_runs(absolve: Runner) -> None:
    state = Path(os.environ["XDG_STATE_HOME"]) / "absolve"
    argv = [sys.executable, "-m", "absolve", "rewrite", "site", "--in-place", "--from", "held"]
    run = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while not list(state.glob("*.run")):
        assert run.poll() is None
        time.sleep(0.01)
    run.kill()
    run.wait()
    assert absolve("rewrite", "soft", "--in-place", "--url=http://h/") == (0, b"", "")
    assert not list(state.glob("*.run"))


@pytest.mark.usefixtures("_sites")
def test_the_incomplete_file_of_a_run_that_was_killed_while_it_started_is_removed(absolve: Runner) -> None:
    state = Path(os.environ["XDG_STATE_HOME"]) / "absolve"
    state.mkdir(parents=True)
    (state / "0123.sqlite.run").write_text("[[")
    assert absolve("rewrite", "site", "--in-place", "--url=http://h/") == (0, b"", "")
    assert not list(state.glob("*.run"))
