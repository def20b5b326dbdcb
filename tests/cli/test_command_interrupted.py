"""What is printed when a signal ends a run."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from command_runner import PAGE

pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes here")


@pytest.mark.parametrize(
    ("arguments", "printed"),
    [
        (("rewrite", "-o", "out"), "note: interrupted: {} of 3 done; --resume goes on\n"),
        (("rewrite", "--dry-run"), "note: interrupted: 2 of 3 done\n"),
        (("rewrite", "-o", "out", "--quiet"), ""),
    ],
    ids=lambda value: value[1:] if isinstance(value, tuple) else "",
)
def test_an_interrupted_run_says_how_far_it_came(tmp_path: Path, arguments: tuple[str, ...], printed: str) -> None:
    for name in ("a.html", "b.html"):
        (tmp_path / name).write_bytes(PAGE)
    os.mkfifo(tmp_path / "pipe.html")
    argv = [sys.executable, "-m", "absolve", *arguments, "a.html", "b.html", "pipe.html", "-j1"]
    environment = {**os.environ, "XDG_STATE_HOME": str(tmp_path / "state")}
    with (
        subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=tmp_path, env=environment) as process,
        (tmp_path / "pipe.html").open("wb"),  # waits until the run reads there
    ):
        process.send_signal(signal.SIGINT)
        try:
            err = process.communicate(timeout=20)[1]
        except subprocess.TimeoutExpired:  # Python had opened the pipe, and not begun to read: it runs no handler then
            process.send_signal(signal.SIGINT)
            err = process.communicate(timeout=20)[1]
    done = len(list((tmp_path / "out").glob("*.html")))  # files are flushed and renamed in groups
    assert (process.returncode, err.decode()) == (130, printed.format(done))
