"""SIGINT, SIGTERM and SIGHUP end a run quietly, with whole files and no temporary ones."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from command_runner import ABSOLUTE, PAGE

from tests.shapes.scale import not_traced

if not hasattr(os, "killpg"):
    pytest.skip("there are no process groups here", allow_module_level=True)

SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a page, and a pipe to which nothing is written, so that its reader waits."""
    monkeypatch.chdir(tmp_path)
    Path("page.html").write_bytes(PAGE)
    os.mkfifo("pipe")
    return tmp_path


def started(*arguments: str, prefix: tuple[str, ...] = ()) -> subprocess.Popen[bytes]:
    argv = [sys.executable, "-m", "absolve", *arguments]
    return subprocess.Popen([*prefix, *argv], stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)


def temporary() -> list[str]:
    return [str(path) for path in Path().rglob("*") if ".absolve-" in path.name]


def wait_for(condition: Callable[[], object], run: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert run.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.005)


def at_pipe(run: subprocess.Popen[bytes]) -> Iterator[int]:
    """Yield a descriptor for writing once the run reads the pipe."""
    deadline = time.monotonic() + 60
    while True:
        with suppress(OSError):  # no process reads there yet
            writer = os.open("pipe", os.O_WRONLY | os.O_NONBLOCK)
            time.sleep(0.2)  # from open() to read(): Python handles a signal between the two only when read() returns
            yield writer
            return
        assert run.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.005)


def ended(run: subprocess.Popen[bytes], number: int) -> None:
    """Assert that the run ends within seconds, silently, with the shell's exit status, and without temporary files."""
    out, err = run.communicate(timeout=120)
    assert (run.returncode, out, err) == (128 + number, b"", b"")
    assert temporary() == []


@pytest.mark.parametrize(("suffix", "number"), [*zip(["csv", "sqlite", "parquet"], SIGNALS, strict=True)])
def test_a_signal_leaves_the_table_unchanged(suffix: str, number: int) -> None:
    out = Path(f"links.{suffix}")
    out.write_bytes(b"as it was")
    run = started("links", "--quiet", "page.html", "pipe", "-o", str(out))
    for writer in at_pipe(run):
        assert temporary()
        run.send_signal(number)
        ended(run, number)
        os.close(writer)
    assert out.read_bytes() == b"as it was"
    assert sorted(path.name for path in Path().iterdir()) == sorted([out.name, "page.html", "pipe"])


@pytest.mark.parametrize(("arguments", "printed"), [
    (["-o", "out"], "note: interrupted: {} of 3 done; --resume goes on\n"),
    (["--dry-run"], "note: interrupted: 2 of 3 done\n"),
    (["-o", "out", "--quiet"], ""),
], ids=" ".join)
def test_an_interrupted_run_says_how_far_it_came(arguments: list[str], printed: str) -> None:
    Path("b.html").write_bytes(PAGE)
    run = started("rewrite", *arguments, "page.html", "b.html", "pipe", "-j1")
    for writer in at_pipe(run):
        run.send_signal(signal.SIGINT)
        _, err = run.communicate(timeout=120)
        os.close(writer)
    done = len(list(Path("out").glob("*.html")))  # files are flushed and renamed in groups
    assert (run.returncode, err.decode(), temporary()) == (130, printed.format(done), [])


def site(files: int, links: int) -> None:
    Path("site").mkdir()
    for index in range(files):
        Path("site", f"{index:03}.html").write_bytes(PAGE * links)


@pytest.mark.parametrize(("place", "number", "to"), [
    (["-o", "out"], signal.SIGINT, os.killpg), (["-o", "out"], signal.SIGTERM, os.kill),  # as a terminal, and as kill(1)
    (["--in-place"], signal.SIGTERM, os.killpg), (["--in-place", "--backup", ".orig"], signal.SIGHUP, os.kill),
], ids=str)
def test_a_signal_ends_the_workers_with_the_run(place: list[str], number: int, to: Callable[[int, int], None]) -> None:
    site(200, 300)
    old, new = PAGE * 300, ABSOLUTE * 300
    run = started("rewrite", "site", "--quiet", "-j2", *place)
    wait_for(temporary, run)
    to(run.pid, number)
    ended(run, number)
    names = [f"{index:03}.html" for index in range(200)]
    if "-o" in place:
        assert {path.read_bytes() for path in Path("out").glob("*")} <= {new}
    assert {Path("site", name).read_bytes() for name in names} <= {old, new}
    for name in names if "--backup" in place else ():
        backup = Path("site", f"{name}.orig")
        assert backup.read_bytes() == old if backup.exists() else Path("site", name).read_bytes() == old


@not_traced
def test_a_signal_ends_starting_processes_silently() -> None:
    site(2, 100_000)
    for number, delay in zip(SIGNALS, (0.0, 0.1, 0.2), strict=True):
        run = started("links", "site", "--quiet", "-j2", "-o", "links.jsonl")
        wait_for(temporary, run)
        time.sleep(delay)
        os.killpg(run.pid, number)
        ended(run, number)


def test_several_simultaneous_signals_act_as_one() -> None:
    site(200, 300)
    run = started("rewrite", "site", "--quiet", "-j2", "-o", "out")
    wait_for(temporary, run)
    for number in (signal.SIGTERM, signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        with suppress(ProcessLookupError):
            os.killpg(run.pid, number)
        time.sleep(0.01)
    run.communicate(timeout=120)
    assert run.returncode in {128 + number for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)}  # Python handles pending signals in numeric order
    assert temporary() == []


def test_a_run_with_nohup_ignores_sighup() -> None:
    site(20, 300)
    nohup = ("/bin/sh", "-c", "trap '' HUP; exec \"$@\"", "sh")
    run = started("rewrite", "site", "--quiet", "-j2", "-o", "out", prefix=nohup)
    wait_for(temporary, run)
    os.killpg(run.pid, signal.SIGHUP)
    assert run.communicate(timeout=120) == (b"", b"")
    assert run.returncode == 0
    assert [path.read_bytes() for path in Path("out").iterdir()] == [ABSOLUTE * 300] * 20


def test_a_signal_at_the_end_of_the_process_changes_nothing() -> None:
    code = """
import atexit, os, sys
atexit.register(lambda: print("end", flush=True))
from absolve.cli import main
class Late:
    def __del__(self, kill=os.kill, ours=os.getpid()):
        kill(ours, 2)
sys.late = Late()
sys.exit(main())
"""
    argv = [sys.executable, "-c", code, "resolve", "http://h/", "x"]
    done = subprocess.run(argv, capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"http://h/x\nend\n", b"")


def test_a_signal_ends_a_run_whose_output_is_not_read() -> None:
    Path("page.html").write_bytes(PAGE * 20_000)
    run = started("rewrite", "page.html", "--quiet")
    assert run.stdout is not None
    assert run.stdout.read(1)  # the pipe is full soon
    time.sleep(0.5)
    run.terminate()
    assert run.wait(30) == 128 + signal.SIGTERM
    run.stdout.close()
    assert run.stderr is not None
    run.stderr.close()


WAITING = """
import hashlib, threading, time
from absolve.run import interrupts, leftovers, outputs
from pathlib import Path
with interrupts.raising(ends=True), leftovers.temporary_folder(), outputs.writing(Path("old.csv")) as file:
    file.write(b"half")
    {}
"""


@pytest.mark.parametrize(("work", "number"), [
    ('Path("begun").touch(); hashlib.pbkdf2_hmac("sha256", b"", b"", 10**8)', signal.SIGINT),  # a library that does not return, as DuckDB and libzim
    ("threading.Thread(target=lambda: hashlib.pbkdf2_hmac('sha256', b'', b'', 10**8)).start(); Path('begun').touch(); time.sleep(60)", signal.SIGTERM),
], ids=["library", "thread"])
def test_a_signal_ends_what_does_not_end_by_itself(work: str, number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("tmp").mkdir()
    Path("old.csv").write_bytes(b"as it was")
    monkeypatch.setenv("TMPDIR", str(Path("tmp").absolute()))
    run = subprocess.Popen([sys.executable, "-c", WAITING.format(work)], stderr=subprocess.PIPE)
    wait_for(lambda: Path("begun").exists(), run)
    run.send_signal(number)
    begun = time.monotonic()
    run.communicate(timeout=60)
    assert time.monotonic() - begun < 4  # 1.5 seconds, on a machine that does other work
    assert run.returncode == 128 + number
    assert (Path("old.csv").read_bytes(), temporary(), list(Path("tmp").iterdir())) == (b"as it was", [], [])
