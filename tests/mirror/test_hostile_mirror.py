"""Hostile captures and hostile files in the folder of a mirror: nothing leaves the folder, nothing becomes markup, nothing hangs."""

import os
import re
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

import absolve
from absolve.cli import main
from absolve.mirror import map as maps
from absolve.mirror.browsers import content_type
from absolve.mirror.serve import Origins
from absolve.run.state import BESIDE
from tests.shapes import captures
from tests.shapes.captures import entry, har

TRAPS = [
    "../../../up", "%2e%2e/%2e%2e/%2E./up", "..%2f..%2f..%2fup", "..%5c..%5cup", "%252e%252e%252fup", "..;/..;/up", "//etc/passwd", "/C:/up",
    "C%3A%5Cup", "nul%00byte", "con", "aux.html", "mirror.sqlite", "x" * 10_000, "%F0%9F%98%80" * 900, "\u202egpj.exe",
]  # fmt: skip


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
    calls = "trace=open,openat,creat,rename,renameat,renameat2,link,linkat,symlink,symlinkat,mkdir,mkdirat,unlink,unlinkat"
    command = [sys.executable, "-m", "absolve", "mirror", str(hostile), "-o", str(root), "-q", "--jobs", "2"]
    traced = ["strace", "-f", "-qq", "-s", "20000", "-e", calls, "-o", str(log), *command]
    run = subprocess.run(traced, cwd=tmp_path, check=False, env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"})
    assert run.returncode in {0, 1}
    changing = re.compile(r"O_WRONLY|O_RDWR|O_CREAT|(?:creat|rename\w*|link\w*|symlink\w*|mkdir\w*|unlink\w*)\(")
    lines = [line for line in log.read_text("utf-8", "replace").splitlines() if changing.search(line) and " = -1 " not in line]
    names = {name for line in lines for name in re.findall(r'"((?:[^"\\]|\\.)*)"', line)}
    absolute = {name for name in names if name.startswith("/")}
    assert any(name.startswith(str(root)) for name in absolute)
    assert not {name for name in absolute if not name.startswith((str(root), "/dev/", "/proc/"))}
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
    index = (tmp_path / "m" / "index.html").read_bytes()
    assert index.count(b"<script") == 2  # its own
    assert b"alert(1)&lt;/script&gt;" in index


# --- hostile files in the folder of a mirror --------------------------------------------------------------------------

ENDLESS = "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT n AS url, n AS path, n AS media_type FROM r"
needs_pipes = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
EVIL = "text/plain\r\nX-Evil: 1\r\n\r\n<script>"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "c.har").write_bytes(har(entry("http://h/", "<a href=/x.html#a>x</a>"), entry("http://h/x.html", "<p id=a>")))
    assert main(["mirror", str(tmp_path / "c.har"), "-o", str(tmp_path / "m"), "-q"]) == 0
    return tmp_path / "m"


def again(root: Path) -> int:
    return main(["mirror", str(root.parent / "c.har"), "-o", str(root)])


def changed(root: Path, statement: str, *values: object) -> None:
    with closing(sqlite3.connect(root / "mirror.sqlite")) as database:
        database.execute(statement, values)
        database.commit()


@pytest.mark.parametrize("name", [f"{maps.WORKING}{suffix}" for suffix in BESIDE] + ["mirror.sqlite"])
def test_a_link_in_place_of_the_map_is_refused_and_its_target_stays(root: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    victim = root.parent / "victim"
    with closing(sqlite3.connect(victim)) as database:
        database.execute("CREATE TABLE t (x)")
    before = victim.read_bytes()
    (root / name).unlink(missing_ok=True)
    (root / name).symlink_to(victim)
    assert again(root) == 2
    assert "no regular file" in capsys.readouterr().err
    assert victim.read_bytes() == before
    assert not list(root.parent.glob("victim-*"))


def test_what_is_no_map_or_no_working_copy_is_refused_and_named(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def refused(words: str) -> None:
        assert (again(root), words in capsys.readouterr().err) == (2, True)
        (root / maps.WORKING).unlink(missing_ok=True)

    os.link(root / "mirror.sqlite", root / maps.WORKING)
    refused("")
    (root / maps.WORKING).write_bytes(b"x" * 5000)
    refused("no working copy")
    working = maps.Working(root / maps.WORKING)
    working.connection.executescript("CREATE TRIGGER t AFTER INSERT ON ours BEGIN DELETE FROM earlier; END")
    working.close()
    refused("no working copy")
    (root / "mirror.sqlite").unlink()
    (root / "mirror.sqlite").mkdir()
    refused("mirror.sqlite: this is no regular file")


def test_a_view_in_place_of_a_table_is_never_computed(root: Path) -> None:
    with closing(sqlite3.connect(root / "mirror.sqlite")) as database:
        database.execute("DROP TABLE resources")
        database.execute(f"CREATE VIEW resources AS {ENDLESS}")
    for arguments, status in ((["--check", str(root)], 1), (["--serve", str(root)], 2)):
        command = [sys.executable, "-m", "absolve", "mirror", *arguments]
        assert subprocess.run(command, capture_output=True, check=False, timeout=60).returncode == status
    assert again(root) == 0  # and the map is made again
    assert main(["mirror", "--check", str(root)]) == 0


def test_values_of_other_types_in_the_map_are_left_out_and_it_gives_no_header_fields_to_the_server(root: Path) -> None:
    changed(root, "INSERT INTO resources (url, path, media_type) VALUES (x'ff', x'ff', x'ff'), ('http://h/y', 'y', x'ff')")
    assert Origins(root / "mirror.sqlite").files["y"].media_type == ""
    assert main(["mirror", "--check", str(root)]) in {0, 1}
    changed(root, "DELETE FROM resources WHERE path = 'y' OR typeof(path) <> 'text'")
    for stated in (EVIL, "text/html\u0416", "text"):
        changed(root, "UPDATE resources SET media_type = ?", stated)
        files = Origins(root / "mirror.sqlite").files
        assert {content_type(path, file.media_type) for path, file in files.items()} == {"text/html"}  # by their names


def test_a_media_type_or_a_status_of_a_capture_is_one_or_not_used(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for stated in (EVIL, "a/\ud800", "text/html; charset=\x00\ud800"):
        data = har(entry("http://h/p.txt", "x", stated), entry("http://h/q", "<a href=/p.txt>", "text/html"))
        assert set(absolve.mirror_plan([data])) == {"http://h/p.txt", "http://h/q"}
    for status in ("1e400", str(2**70 + 200), "-1"):
        data = har(entry("http://h/a", "x", status=12345), entry("http://h/b", "x")).replace(b"12345", status.encode())
        (root.parent / "odd.har").write_bytes(data)
        assert main(["mirror", str(root.parent / "odd.har"), "-o", str(root.parent / "odd")]) == 3
        assert "broken-entry" in capsys.readouterr().err
        assert list((root.parent / "odd/h").glob("b*"))


@needs_pipes
def test_pipes_and_links_are_not_read(root: Path) -> None:
    os.mkfifo(root / "y.html")
    for make in (os.mkfifo, lambda path: path.symlink_to("/dev/zero")):
        (root / "h/x.html").unlink()
        make(root / "h/x.html")
        assert main(["mirror", "--check", str(root)]) in {0, 1}


@needs_pipes
@pytest.mark.parametrize("linked", [True, False])
def test_a_pipe_in_place_of_the_entry_page_stays_and_is_named(root: Path, linked: bool, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("index.html", "mirror.sqlite"):
        (root / name).unlink()
    os.mkfifo(root.parent / "pipe" if linked else root / "index.html")
    if linked:
        (root / "index.html").symlink_to(root.parent / "pipe")
    assert (again(root), "index.html" in capsys.readouterr().err) == (3, True)


def test_parts_that_are_too_deep_are_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    inner = b"Content-Type: text/html\r\nContent-Location: http://h/deep\r\n\r\n<p>"
    for number in range(60):
        inner = b"Content-Type: multipart/mixed; boundary=b%d\r\n\r\n--b%d\r\n%b\r\n--b%d--" % (number, number, inner, number)
    page = b"Content-Type: text/html\r\nContent-Location: http://h/page\r\n\r\n<p>"
    data = b"From: a@b\r\nContent-Type: multipart/mixed; boundary=o\r\n\r\n--o\r\n%b\r\n--o\r\n%b\r\n--o--\r\n" % (page, inner)
    (tmp_path / "d.eml").write_bytes(data)
    assert main(["mirror", str(tmp_path / "d.eml"), "-o", str(tmp_path / "m")]) == 3
    assert "too-deep" in capsys.readouterr().err
    assert (tmp_path / "m/h/page.html").is_file()
