"""Hostile files in the folder of a mirror: links, pipes, databases that somebody else made."""

import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from packed import mirrored

import absolve
from absolve.cli import main
from absolve.document.captures import entries
from absolve.document.walk import walk
from absolve.mirror import map as maps
from absolve.mirror.browsers import content_type
from absolve.mirror.serve import Origins
from absolve.run.state import BESIDE
from tests.shapes.captures import entry, har, mhtml

ENDLESS = "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT n AS url, n AS path, n AS media_type FROM r"
needs_pipes = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")


def run(*arguments: str) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "absolve", "mirror", *arguments]
    done = subprocess.run(command, capture_output=True, check=False, timeout=60)
    assert b"Traceback" not in done.stderr
    return done


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "c.har").write_bytes(har(entry("http://h/", "<a href=/x.html#a>x</a>"), entry("http://h/x.html", "<p id=a>")))
    assert main(["mirror", str(tmp_path / "c.har"), "-o", str(tmp_path / "m"), "-q"]) == 0
    return tmp_path / "m"


@pytest.mark.parametrize("name", [f"{maps.WORKING}{suffix}" for suffix in BESIDE] + ["mirror.sqlite"])
def test_a_link_in_place_of_the_map_is_refused_and_its_target_stays(root: Path, name: str) -> None:
    victim = root.parent / "victim"
    with closing(sqlite3.connect(victim)) as database:
        database.execute("CREATE TABLE t (x)")
    before = victim.read_bytes()
    (root / name).unlink(missing_ok=True)
    (root / name).symlink_to(victim)
    done = run(str(root.parent / "c.har"), "-o", str(root))
    assert done.returncode == 2
    assert b"no regular file" in done.stderr
    assert victim.read_bytes() == before
    assert not list(root.parent.glob("victim-*"))


def test_what_is_no_map_or_no_working_copy_is_refused_and_named(root: Path) -> None:
    def refused(words: bytes) -> None:
        done = run(str(root.parent / "c.har"), "-o", str(root))
        assert (done.returncode, words in done.stderr) == (2, True)

    os.link(root / "mirror.sqlite", root / maps.WORKING)
    refused(b"")
    (root / maps.WORKING).unlink()
    (root / maps.WORKING).write_bytes(b"x" * 5000)
    refused(b"no working copy")
    (root / maps.WORKING).unlink()
    working = maps.Working(root / maps.WORKING)
    working.connection.executescript("CREATE TRIGGER t AFTER INSERT ON ours BEGIN DELETE FROM earlier; END")
    working.close()
    refused(b"no working copy")
    (root / maps.WORKING).unlink()
    (root / "mirror.sqlite").unlink()
    (root / "mirror.sqlite").mkdir()
    refused(b"mirror.sqlite: this is no regular file")


def test_a_view_in_place_of_a_table_is_never_computed(root: Path) -> None:
    with closing(sqlite3.connect(root / "mirror.sqlite")) as database:
        database.execute("DROP TABLE resources")
        database.execute(f"CREATE VIEW resources AS {ENDLESS}")
    assert run("--check", str(root)).returncode == 1
    assert run("--serve", str(root)).returncode == 2
    assert run(str(root.parent / "c.har"), "-o", str(root)).returncode == 0  # and the map is made again
    assert run("--check", str(root)).returncode == 0


def test_values_of_other_types_in_the_map_are_left_out(root: Path) -> None:
    with closing(sqlite3.connect(root / "mirror.sqlite")) as database:
        database.execute("INSERT INTO resources (url, path, media_type) VALUES (x'ff', x'ff', x'ff'), ('http://h/y', 'y', x'ff')")
        database.commit()
    assert Origins(root / "mirror.sqlite").files["y"].media_type == ""
    assert run("--check", str(root)).returncode in {0, 1}


@pytest.mark.parametrize("stated", ["text/plain\r\nX-Evil: 1\r\n\r\n<script>", "text/html\u0416", "text"])
def test_the_map_gives_no_header_fields_to_the_server(root: Path, stated: str) -> None:
    with closing(sqlite3.connect(root / "mirror.sqlite")) as database:
        database.execute("UPDATE resources SET media_type = ?", (stated,))
        database.commit()
    files = Origins(root / "mirror.sqlite").files
    assert {content_type(path, file.media_type) for path, file in files.items()} == {"text/html"}  # by their names


@pytest.mark.parametrize("stated", ["text/plain\r\nX-Evil: 1\r\n\r\n<script>", "a/\ud800", "text/html; charset=\x00\ud800"])
def test_a_media_type_of_a_capture_is_one_or_not_used(stated: str) -> None:
    data = har(entry("http://h/p.txt", "x", stated), entry("http://h/q", "<a href=/p.txt>", "text/html"))
    assert set(absolve.mirror_plan([data])) == {"http://h/p.txt", "http://h/q"}


@pytest.mark.parametrize("status", ["1e400", str(2**70 + 200), "-1"])
def test_a_har_entry_with_an_odd_status_is_reported_and_the_others_are_held(root: Path, status: str) -> None:
    data = har(entry("http://h/a", "x", status=12345), entry("http://h/b", "x")).replace(b"12345", status.encode())
    (root.parent / "odd.har").write_bytes(data)
    done = run(str(root.parent / "odd.har"), "-o", str(root.parent / "odd"))
    assert (done.returncode, b"broken-entry" in done.stderr) == (3, True)
    assert (root.parent / "odd/h/b.html").is_file() or list((root.parent / "odd/h").glob("b*"))


@needs_pipes
def test_pipes_and_links_are_not_read(root: Path) -> None:
    os.mkfifo(root / "y.html")
    (root / "h/x.html").unlink()
    os.mkfifo(root / "h/x.html")
    assert run("--check", str(root)).returncode in {0, 1}
    (root / "h/x.html").unlink()
    (root / "h/x.html").symlink_to("/dev/zero")
    assert run("--check", str(root)).returncode in {0, 1}


@needs_pipes
@pytest.mark.parametrize("linked", [True, False])
def test_a_pipe_in_place_of_the_entry_page_stays_and_is_named(root: Path, linked: bool) -> None:
    (root / "index.html").unlink()
    (root / "mirror.sqlite").unlink()
    os.mkfifo(root.parent / "pipe" if linked else root / "index.html")
    if linked:
        (root / "index.html").symlink_to(root.parent / "pipe")
    done = run(str(root.parent / "c.har"), "-o", str(root))
    assert (done.returncode, b"index.html" in done.stderr) == (3, True)


# --- hostile archives -------------------------------------------------------------------------------------------------


def counted(monkeypatch: pytest.MonkeyPatch, name: str, function: Callable[..., Any]) -> list[int]:
    """Return a list that grows with each call of a function."""
    calls: list[int] = []

    def call(*arguments: Any) -> Any:
        calls.append(1)
        return function(*arguments)

    monkeypatch.setattr(name, call)
    return calls


def test_a_har_is_parsed_twice_and_a_message_is_walked_once_for_all_batches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = har(*(entry(f"http://h/{number}", "x") for number in range(450)))  # three batches
    calls = counted(monkeypatch, "absolve.mirror.containers.entries", entries)
    code, found = mirrored(tmp_path, "c.har", data, "-j", "1")
    assert (code, len(found), len(calls)) == (0, 450, 2)
    data = mhtml(*((f"Content-Location: http://h/{number}", "text/html", b"<a href=/1>") for number in range(450)))
    calls = counted(monkeypatch, "absolve.mirror.containers.walk", walk)
    code, found = mirrored(tmp_path, "c.mht", data, "-j", "1")
    assert (code, len(found), len(calls)) == (0, 450, 1)


def test_parts_that_are_too_deep_are_reported(tmp_path: Path) -> None:
    inner = b"Content-Type: text/html\r\nContent-Location: http://h/deep\r\n\r\n<p>"
    for number in range(60):
        inner = b"Content-Type: multipart/mixed; boundary=b%d\r\n\r\n--b%d\r\n%b\r\n--b%d--" % (number, number, inner, number)
    page = b"Content-Type: text/html\r\nContent-Location: http://h/page\r\n\r\n<p>"
    data = b"From: a@b\r\nContent-Type: multipart/mixed; boundary=o\r\n\r\n--o\r\n%b\r\n--o\r\n%b\r\n--o--\r\n" % (page, inner)
    (tmp_path / "d.eml").write_bytes(data)
    done = run(str(tmp_path / "d.eml"), "-o", str(tmp_path / "m"))
    assert (done.returncode, b"too-deep" in done.stderr, (tmp_path / "m/h/page.html").is_file()) == (3, True, True)

