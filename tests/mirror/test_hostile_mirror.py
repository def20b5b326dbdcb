"""Hostile captures: nothing leaves the folder, nothing reaches the terminal or the entry page as markup."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from absolve.cli import main
from tests.shapes import captures

TRAPS = [
    "../../../up",
    "%2e%2e/%2e%2e/%2E./up",
    "..%2f..%2f..%2fup",
    "..%5c..%5cup",
    "%252e%252e%252fup",
    "..;/..;/up",
    "//etc/passwd",
    "/C:/up",
    "C%3A%5Cup",
    "nul%00byte",
    "con",
    "aux.html",
    "mirror.sqlite",
    "x" * 10_000,
    "%F0%9F%98%80" * 900,
    "\u202egpj.exe",
]


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    path = tmp_path / "in" / "c.warc"
    path.parent.mkdir()
    hosts = ("h", "..", "%2e%2e", "C:")
    path.write_bytes(b"".join(captures.page(f"http://{host}/{trap}", b"<a href=/up>u</a>") for host in hosts for trap in TRAPS))
    return path


def test_no_url_leads_a_file_out_of_the_folder(hostile: Path, tmp_path: Path) -> None:
    assert main(["mirror", str(hostile), "-o", str(tmp_path / "a" / "b" / "m"), "-q"]) in {0, 1}
    outside = {path for path in tmp_path.rglob("*") if path.is_file()} - {hostile}
    inside = {path for path in outside if path.is_relative_to(tmp_path / "a" / "b" / "m")}
    assert outside == inside
    assert len(inside) >= len(TRAPS)
    assert all(len(name.encode()) <= 240 for path in inside for name in path.relative_to(tmp_path).parts)


@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")
@pytest.mark.slow
def test_no_system_call_writes_outside_the_folder(hostile: Path, tmp_path: Path) -> None:
    root, log = tmp_path / "m", tmp_path / "trace"
    calls = ("trace=open,openat,creat,rename,renameat,renameat2,link,linkat,symlink,symlinkat,mkdir,mkdirat,unlink,unlinkat")
    command = [sys.executable, "-m", "absolve", "mirror", str(hostile), "-o", str(root), "-q", "--jobs", "2"]
    traced = ["strace", "-f", "-qq", "-s", "20000", "-e", calls, "-o", str(log), *command]
    run = subprocess.run(traced, cwd=tmp_path, check=False, env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"})
    assert run.returncode in {0, 1}
    changing = re.compile(r"O_WRONLY|O_RDWR|O_CREAT|(?:creat|rename\w*|link\w*|symlink\w*|mkdir\w*|unlink\w*)\(")
    lines = [line for line in log.read_text("utf-8", "replace").splitlines() if changing.search(line) and " = -1 " not in line]
    names = {name for line in lines for name in re.findall(r'"((?:[^"\\]|\\.)*)"', line)}
    absolute = {name for name in names if name.startswith("/")}
    allowed = (str(root), "/dev/", "/proc/")
    assert any(name.startswith(str(root)) for name in absolute)
    assert not {name for name in absolute if not name.startswith(allowed)}
    assert not {name for name in names if ".." in name.split("/")}


def test_titles_and_urls_are_text_in_the_entry_page_and_on_the_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    capture = tmp_path / "c.warc"
    page = b"<title>&lt;script>alert(1)&lt;/script>\x1b[31m</title><a href='/q\"&gt;<script>&#27;[2J'>x</a>"
    capture.write_bytes(captures.page('http://h/a"><script>\x1b[31m', page) + captures.page("http://h/b", page))
    for more in (["--dry-run"], [], ["-v"]):
        main(["mirror", str(capture), "-o", str(tmp_path / "m"), *more])
    main(["mirror", "--check", str(tmp_path / "m")])
    shown = capsys.readouterr()
    assert "\x1b" not in shown.out + shown.err
    entry = (tmp_path / "m" / "index.html").read_bytes()
    assert entry.count(b"<script") == 2  # its own
    assert b"alert(1)&lt;/script&gt;" in entry
