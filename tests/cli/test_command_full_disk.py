"""A full disk is one line on the standard error: no traceback, nothing torn, the old file kept, no temporary file."""

import gc
import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from test_command_kills import capture, temporary

from absolve.cli import main
from tests.shapes import captures

resource = pytest.importorskip("resource")
# openpyxl's generators do not end well on a full disk: not in any other test.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")

PAGE = b"<!-- saved from url=(0012)http://h/d/%d.html --><a href=http://h/ABOUT.html>a</a>" + b"<a href='x.html'>text</a>" * 60
SMALL = 20  # bytes of the largest file that may be written
# Outputs, and arguments with which they are written.
OUTPUTS = (
    ("links.csv", "links site"), ("links.sqlite", "links site"), ("links.duckdb", "links site"), ("links.parquet", "links site"), ("o.html", "rewrite site/1.html"),
    ("m.zip", "mirror c.warc"), ("a.html", "audit site --url http://h/"), ("a.xlsx", "audit site --url http://h/"), ("list", "mirror c.warc -o m --missing"), ("l.csv", "rewrite site -o out --log"),
)  # fmt: skip
STDOUT = (
    "rewrite site/1.html", "rewrite site --diff", "links site", "base site/1.html", "mirror c.warc -o -", "audit site --url http://h/ -f jsonl",
    "audit site --url http://h/ --write-map -", "resolve http://h/ x", "config", "completion bash", "--version", "links --help",
)  # fmt: skip


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("site").mkdir()
    for number in range(3):
        Path("site", f"{number}.html").write_bytes(PAGE % number)
    Path("site/about.html").write_bytes(b"<title>about</title>")
    Path("c.warc").write_bytes(capture(30) + captures.page("http://h.example/", b"<img src=gone.png>"))


@contextmanager
def limited() -> Iterator[None]:
    """Let no file of this process grow beyond some bytes; what is printed is kept in memory."""
    old = resource.getrlimit(resource.RLIMIT_FSIZE)
    with pytest.MonkeyPatch.context() as patch:  # Python would keep byte code that is cut off
        patch.setattr(sys, "dont_write_bytecode", True)
        patch.setenv("PYTHONDONTWRITEBYTECODE", "1")
        resource.setrlimit(resource.RLIMIT_FSIZE, (SMALL, old[1]))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, old)


def run(capture: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, list[str]]:
    """Run a command in this process; return its status and its messages."""
    capture.readouterr()
    status = main(list(arguments))
    gc.collect()
    lines = capture.readouterr().err.splitlines()
    assert not [line for line in lines if line.startswith((" ", "Traceback", "Exception"))], lines
    return status, lines


@pytest.mark.parametrize(("output", "arguments"), OUTPUTS)
def test_a_file_that_cannot_be_written_stays_as_it_was(output: str, arguments: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = arguments.split()
    Path(output).write_bytes(b"old")
    with limited():
        status, lines = run(capsys, *words, *(["-o"] if words[-1][:2] != "--" else []), output)
    assert status == 3
    assert any("unwritable" in line for line in lines), lines
    assert Path(output).read_bytes() == b"old"
    assert not temporary(Path())


@pytest.mark.parametrize("arguments", ["rewrite site --in-place", "rewrite site -o out/ -j2", "mirror c.warc -o m", "audit site --url http://h/ --fix"])
def test_a_folder_keeps_what_cannot_be_written(arguments: str, capsys: pytest.CaptureFixture[str]) -> None:
    with limited():
        status, lines = run(capsys, *arguments.split(), "--quiet")
    assert status == 3
    assert all(line.startswith("error:") and "unwritable" in line for line in lines), lines
    assert lines
    assert [path.read_bytes() for path in sorted(Path("site").glob("?.html"))] == [PAGE % number for number in range(3)]
    assert not temporary(Path())


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")  # noqa: PTH110
@pytest.mark.parametrize("arguments", STDOUT)
def test_a_full_standard_output_is_one_line(arguments: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    with open("/dev/full", "w") as full:  # noqa: PTH123 - a device
        monkeypatch.setattr(sys, "stdout", full)
        status, lines = run(capsys, *arguments.split())
    assert status == 3
    assert [line for line in lines if line.startswith("error")] == ["error: standard output: unwritable: No space left on device"]


def test_a_full_disk_is_one_line_for_all_files_of_a_run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    mount = ["mount", "-t", "tmpfs", "-o", "size=32k", "tmpfs"]
    Path("full").mkdir()
    if not hasattr(os, "geteuid") or os.geteuid() or subprocess.run([*mount, "full"], check=False, capture_output=True).returncode:
        pytest.skip("only root may mount a small file system")
    try:
        Path("full/filler").write_bytes(b"x" * 30_000)
        for arguments in ("rewrite site -o full/out", "mirror c.warc -o full/m"):
            status, lines = run(capsys, *arguments.split(), "--quiet")
            assert (status, len(lines)) == (3, 1), lines
            assert "unwritable: " in lines[0]
            assert not [path for path in Path("full").rglob("*") if path.name.startswith(("mirror.sqlite", ".absolve"))]
        Path("full/filler").write_bytes(b"x" * 20_000)  # a folder on a disk without any room is not used
        monkeypatch.setattr("tempfile.tempdir", str(Path("full").absolute()))
        status, lines = run(capsys, "mirror", "c.warc", "-o", "m.zip")
        assert (status, len(lines)) == (3, 1), lines
        assert not [name for name in os.listdir("full") if name.startswith(".")]  # noqa: PTH208
        Path("site/x.png").write_bytes(b"x")
        Path("full/filler").write_bytes(b"x" * 32_000)
        status, lines = run(capsys, "rewrite", "site", "-o", "full/more")
        assert (status, "copied as is" in lines[-1]) == (3, False), lines
    finally:
        subprocess.run(["umount", "--lazy", "full"], check=True)  # noqa: S607 - as mount; a folder of it may still be open


def test_the_last_line_and_the_map_of_a_mirror_have_only_what_was_written(capsys: pytest.CaptureFixture[str]) -> None:
    Path("victim").mkdir()
    Path("m").mkdir()
    Path("m/h").symlink_to("../victim")
    status, lines = run(capsys, "mirror", "c.warc", "-o", "m")
    assert (status, lines[-1]) == (3, "absolve: m: 1 document, 30 not written, 1 missing file; 1 input failed; open m/index.html")
    with closing(sqlite3.connect("m/mirror.sqlite")) as made:
        assert made.execute("SELECT count(path), count(digest) FROM resources").fetchall() == [(1, 1)]
    assert os.listdir("victim") == []  # noqa: PTH208


@pytest.mark.parametrize(("megabytes", "arguments"), [(120, "links big.html --url http://h/ -o out.csv"), (300, "check site")])
def test_little_memory_is_one_line_and_no_fault_of_absolve(arguments: str, megabytes: int) -> None:
    Path("big.html").write_bytes(b"<a href='x.html'>t</a>" * 900_000)

    def limited_memory() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))

    argv = [sys.executable, "-m", "absolve", *arguments.split(), "-q"]
    environment = {**os.environ, "MALLOC_ARENA_MAX": "1"}
    done = subprocess.run(argv, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, preexec_fn=limited_memory, env=environment, check=False)
    status, lines = done.returncode, done.stderr.decode().splitlines()
    if status == 127 or status < 0 or "lost sys.stderr" in lines:
        pytest.skip("a library of C, or the interpreter, gave up before")
    errors = [line for line in lines if line.startswith(("error", "Traceback"))]
    assert all("out-of-memory" in line or "unwritable" in line for line in errors)
    assert (status == 3, len(errors) <= 1) == (bool(errors), True), lines
