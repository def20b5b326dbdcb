"""A run that is killed at any moment leaves each file whole; with a signal that it can handle no temporary file either.

$ABSOLVE_KILLS is the number of kills at random moments of each test, over all commands and signals in turn, of one process or
the whole job. `-s` prints the figures.
"""

import gzip
import io
import itertools
import os
import random
import shutil
import signal
import subprocess
import sys
import time
import zipfile
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Final

import pytest

from absolve.cli import main
from tests.shapes import captures
from tests.shapes.captures import files_below, zipped
from tests.shapes.trap_server import page as sent
from tests.shapes.trap_server import serving

KILLS: Final = int(os.environ.get("ABSOLVE_KILLS", "3"))
PAGE: Final = b"<!-- saved from url=(0017)http://h/d/p.html -->" + b"<a href='x.html'>text</a><p>text</p>" * 40
CONTAINER: Final = (
    b"<container xmlns='urn:oasis:names:tc:opendocument:xmlns:container'><rootfiles><rootfile full-path='p.opf'"
    b" media-type='application/oebps-package+xml'/></rootfiles></container>"
)

if not hasattr(os, "killpg"):
    pytest.skip("there are no process groups here", allow_module_level=True)


def package(pages: int) -> bytes:
    members = {"mimetype": b"application/epub+zip", "META-INF/container.xml": CONTAINER}
    return zipped({**members, **{f"{number}.html": PAGE for number in range(pages)}}, stored=True)


# The files of a folder by the kind of its inputs; the first file is large.
SIGNALS: Final = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
REMAP: Final = "--remap=http://h=http://h/old"  # a second pass over the same file would be visible


def started(folder: Path, *arguments: str) -> subprocess.Popen[bytes]:
    (folder / "tmp").mkdir(exist_ok=True)
    environment = {**os.environ, "XDG_STATE_HOME": str(folder / "state"), "TMPDIR": str(folder / "tmp")}
    argv = [sys.executable, "-m", "absolve", *arguments]
    return subprocess.Popen(argv, cwd=folder, env=environment, stderr=subprocess.PIPE, start_new_session=True)


def temporary(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if ".absolve-" in path.name]


def _is_group(number: int) -> bool:
    try:
        os.killpg(number, 0)
    except ProcessLookupError:
        return False
    return True


RECORD: Final = (
    b"WARC/1.0\r\nWARC-Type: response\r\nWARC-Date: 2024-05-01T00:00:00Z\r\nWARC-Target-URI: http://h/d/p.html\r\n"
    b"Content-Length: 100\r\n\r\n%b\r\n\r\n" % b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<a href=x>".ljust(100)
)
COMMANDS: Final = (
    "rewrite site -o out/ --log log.csv", "rewrite site --in-place", "links site -o l.csv --resume", "links site -o l.sqlite",
    "mirror c.warc -o m --missing list", "mirror c.warc -o m.zip", "audit site --url http://h/ -o a.html --fix",
)  # fmt: skip


# A process that runs each command in a copy of the folder and ends, as if killed, where the first file is complete.
KILLED: Final = """
import os, sys
from absolve.cli import main, running
from absolve.run import outputs
outputs.put = outputs.settle = lambda made: os._exit(9)
for number, command in enumerate(sys.argv[1:]):
    if not os.fork():
        os.chdir(str(number))
        os.environ.update(XDG_STATE_HOME=os.path.abspath("state"), TMPDIR=os.path.abspath("tmp"))
        main(command.split())
        os._exit(0)
    print(os.waitstatus_to_exitcode(os.wait()[1]))
"""


def test_the_next_run_removes_what_a_killed_one_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    saved = b"<!-- saved from url=(0012)http://h/%b --><a href=/c.html#top><a href=http://h/Q.html>"
    for number in range(len(COMMANDS)):
        for name in ("site", "out", "m", "tmp"):
            (tmp_path / str(number) / name).mkdir(parents=True)
        for name in ("p.html", "q.html"):
            (tmp_path / str(number) / "site" / name).write_bytes(saved % name.encode())
        (tmp_path / str(number) / "c.warc").write_bytes(RECORD)
    argv = [sys.executable, "-c", KILLED, *COMMANDS]
    done = subprocess.run(argv, cwd=tmp_path, capture_output=True, check=True, text=True)
    assert done.stdout.split() == ["9"] * len(COMMANDS), done.stderr
    for number, command in enumerate(COMMANDS):
        assert temporary(tmp_path / str(number)), command
        monkeypatch.chdir(tmp_path / str(number))
        monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / str(number) / "state"))
        monkeypatch.setattr("tempfile.tempdir", str(tmp_path / str(number) / "tmp"))
        assert main(command.split()) in {0, 1}, command
        assert not temporary(tmp_path / str(number)), command


def capture(pages: int) -> bytes:
    """Return a WARC file with pages that link to each other."""
    return b"".join(captures.page(f"http://h/{number}", b"<a href=%d>next</a>" % ((number + 1) % pages) + PAGE) for number in range(pages))


WRITING: Final = (
    "mirror c.warc -o m -j1", "mirror c.warc -o m -j2", "mirror c.warc -o m.zip",
    "audit site --url http://h/ --fix -j2", "audit site --url http://h/ -o a.csv", "rewrite site/0.html -o out.html",
    f"rewrite mixed -o out/ -j2 {REMAP}", f"rewrite mixed --in-place -j1 {REMAP}", f"rewrite mixed --in-place --backup .orig -j2 {REMAP}",
    f"rewrite mixed/0.warc --in-place --backup .orig {REMAP}", f"rewrite mixed/0.epub --in-place {REMAP}",
    "links site -o l.csv -j1", "links site -o l.jsonl -j2", "links site -o l.sqlite", "links site -o l.parquet -j2", "links site -o l.jsonl --resume", "documents site -o d.csv --resume -j2", "documents site -o d.tsv",
)  # fmt: skip
OWN: Final = ("tmp", "state", "m/mirror.sqlite.part")  # what a run that was ended leaves for the next one


def files(folder: Path) -> dict[str, bytes]:
    """Return the files of a folder; the rows of an audit come in any order."""
    return {
        name: b"".join(sorted(data.splitlines())) if name.endswith(".csv") else data
        for name, data in files_below(folder).items()
        if not name.startswith(OWN)
    }


def is_done(folder: Path, command: str) -> bool:
    run = started(folder, *command.split(), "-q")
    run.communicate(timeout=120)
    return run.returncode in {0, 1}  # an audit has findings


def test_a_signal_at_any_moment_tears_nothing_and_leaves_nothing(tmp_path: Path) -> None:
    chance = random.Random(os.environ.get("ABSOLVE_SEED", "3"))  # noqa: S311 - moments, no secrets
    start, work = tmp_path / "start", tmp_path / "work"
    (start / "site").mkdir(parents=True)
    for number in range(60):
        page = b"<!-- saved from url=(0012)http://h/d/%d.html --><a href=http://h/ABOUT.html>a</a>" % number + PAGE
        (start / "site" / f"{number}.html").write_bytes(page)
    (start / "site/about.html").write_bytes(b"<title>about</title>")
    (start / "c.warc").write_bytes(capture(200))
    (start / "mixed").mkdir()
    for number in range(20):
        (start / "mixed" / f"{number}.html").write_bytes(PAGE * (200 if number == 0 else 4))
    for number in range(3):  # the first is large
        (start / "mixed" / f"{number}.warc").write_bytes(captures.page("http://h/d/", PAGE) * (10 if number else 100))
        (start / "mixed" / f"{number}.epub").write_bytes(package(10 if number else 100))
    old = files(start)
    undisturbed: dict[str, tuple[dict[str, bytes], float]] = {}
    figures: dict[str, Counter[str]] = {one.name: Counter() for one in SIGNALS}
    commands = itertools.cycle(chance.sample(WRITING, len(WRITING)))
    for turn, command in zip(range(KILLS), commands, strict=False):
        number = SIGNALS[(turn + turn // len(WRITING)) % len(SIGNALS)]
        shutil.rmtree(work, ignore_errors=True)
        shutil.copytree(start, work)
        if command not in undisturbed:
            begun = time.monotonic()
            assert is_done(work, command)
            undisturbed[command] = files(work), time.monotonic() - begun
            shutil.rmtree(work)
            shutil.copytree(start, work)
        new, seconds = undisturbed[command]
        run = started(work, *command.split(), "-q")
        time.sleep(chance.uniform(0, seconds))
        kill = chance.choice((os.kill, os.killpg))
        with suppress(ProcessLookupError):  # it was faster this time
            kill(run.pid, number)
        _, message = run.communicate(timeout=60)
        while _is_group(run.pid):
            time.sleep(0.005)
        wrong: Counter[str] = Counter(signals=1, late=run.returncode in {0, 1}, temporary=len(temporary(work)))
        found = files(work)
        wrong["torn"] = sum(data not in {old.get(name), new.get(name)} for name, data in found.items() if ".absolve-" not in name)
        wrong["lost"] = len(old.keys() - found.keys())
        wrong["lost"] += sum(f"{name}.orig" in new.keys() - found.keys() and found.get(name) != data for name, data in old.items())
        figures[number.name].update(wrong)
        way = (turn, command, number.name, wrong, message, temporary(work))
        assert not wrong["torn"], way
        assert not wrong["lost"], way
        assert number == signal.SIGKILL or not wrong["temporary"], way
        assert not message or found == old, way  # while Python starts it prints where it was
        is_incomplete = any((work / "state").rglob("*.sqlite"))  # otherwise the signal came before its work or after it
        if is_incomplete or found != new:
            assert is_done(work, f"{command} --resume" if is_incomplete and command.startswith("rewrite") else command), way
        assert files(work) == new, way
        assert not temporary(work), way
        assert not [*(work / "tmp").iterdir()], way
    for name, counts in figures.items():
        print(f"{name}: {dict(counts)}")


ASKING: Final = (
    "mirror {url}/0 --depth 1 -o m --save s.warc.gz", "mirror {url}/0 --depth 1 -o m.zip", "links --from urls -o l.csv --save s.warc.gz",
    "check {url}/0 --depth 1 -o a.csv --save s.warc.gz", "check site --url {url}/ --live all -o a.csv", "rewrite --from urls -o out/ --save s.warc.gz",
)  # fmt: skip
SOON: Final = 2.0  # seconds, of which the machine of the tests may take some for itself


def is_whole(data: bytes) -> bool:
    """Return whether an output is as it was, or complete: a table, a ZIP; or a capture of whole records."""
    if data.startswith(b"\x1f\x8b"):
        return gzip.decompress(data).endswith(b"\r\n\r\n")
    return data == b"old" or (zipfile.is_zipfile(io.BytesIO(data)) if data.startswith(b"PK") else data.endswith(b"\n"))


def test_a_signal_while_urls_are_asked_ends_the_run_soon_and_leaves_nothing(tmp_path: Path) -> None:
    """The signal is raised in a loop of tasks, in a thread's wait, in DuckDB; `mirror.sqlite.part` stays for --resume."""
    chance = random.Random(os.environ.get("ABSOLVE_SEED", "3"))  # noqa: S311 - moments, no secrets
    answer = sent(b"".join(b"<a href=/%d>x</a>" % number for number in range(60)) + PAGE)
    names = ("l.csv", "a.csv", "m.zip")
    late, slowest = 0, 0.0
    with serving({f"/{number}": answer for number in range(60)}) as server:
        for turn in range(KILLS):
            work = tmp_path / str(turn)
            (work / "site").mkdir(parents=True)
            for name in names:
                (work / name).write_bytes(b"old")
            (work / "urls").write_text("".join(f"{server.url}/{number}\n" for number in range(60)), "utf-8")
            (work / "site/index.html").write_text("".join(f"<a href={server.url}/{number}>x</a>" for number in range(60)), "utf-8")
            command = ASKING[turn % len(ASKING)]
            number = SIGNALS[1:][(turn + turn // len(ASKING)) % 3]
            run = started(work, *command.format(url=server.url).split(), "-q", "--retries", "0")
            while not server.asked and run.poll() is None:
                time.sleep(0.005)
            time.sleep(chance.uniform(0, 1))
            begun = time.monotonic()
            late += run.poll() is not None
            run.send_signal(number)
            _, message = run.communicate(timeout=60)
            slowest = max(slowest, seconds := time.monotonic() - begun)
            way = (turn, command, number.name, seconds, message, temporary(work))
            assert run.returncode in {0, 1, 128 + number}, way
            assert (b"Traceback" in message, temporary(work), [*(work / "tmp").iterdir()]) == (False, [], []), way
            assert seconds < 2 * SOON, way
            saved = [work / "s.warc.gz"] if "--save" in command else []
            assert all(is_whole(path.read_bytes()) for path in [*(work / name for name in names), *saved]), way
            server.asked.clear()
    print(f"URLs: {KILLS} signals, {late} late, at most {slowest:.1f} s")
