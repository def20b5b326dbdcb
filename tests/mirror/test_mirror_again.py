"""Mirrors again and again: into folders with files, after a kill, with other options; and errors of use."""

import json
import sqlite3
import subprocess
import sys
from contextlib import closing
from gzip import compress
from pathlib import Path

import pytest
from packed import asked, mirrored, tree

from absolve.cli import main
from absolve.mirror import map as maps
from tests.shapes.captures import entry, har, page

HEAD = "<meta charset=utf-8>"
CAPTURE = har(
    entry("http://h/", f"{HEAD}<title> A &amp;\n b </title><a href=/a/b>b</a><img src=/gone.png><a href=/gone>g</a>"),
    entry("http://h/a/b", f"{HEAD}<a href=/>a</a><img src=/gone.png>"), entry("http://h/m.js", "fetch('x')", "text/javascript"),
    entry("http://h/e", f"{HEAD}error", status=404),
)
PATHS = {"h/index.html", "h/a/b.html", "h/m.js"}


KILLED = "import os, sys; from absolve.cli import main; from absolve.mirror import making, map; {} = lambda *_, **__: os._exit(9); main(sys.argv[1:])"


def killed(tmp_path: Path, step: str = "making._finish") -> None:
    """Leave a run that was killed before a step: `making._finish` writes its map."""
    (tmp_path / "c.har").write_bytes(CAPTURE)
    command = ["mirror", str(tmp_path / "c.har"), "-o", str(tmp_path / "m"), "-q", "-j", "1"]
    assert subprocess.run([sys.executable, "-c", KILLED.format(step), *command], check=False).returncode == 9
    assert (tmp_path / "m" / maps.WORKING).is_file()


@pytest.mark.parametrize("more", [["--resume"], []])
def test_a_run_after_a_killed_one_gives_the_undisturbed_tree(tmp_path: Path, more: list[str]) -> None:
    killed(tmp_path)
    code, found = mirrored(tmp_path, "c.har", CAPTURE, *more)
    assert (code, set(found)) == (0, PATHS)
    assert not (tmp_path / "m" / maps.WORKING).exists()
    (tmp_path / "other").mkdir()
    assert mirrored(tmp_path / "other", "c.har", CAPTURE)[1] == found


NEW = har(entry("http://h/", f"{HEAD}new"))


def test_a_run_after_killed_ones_knows_what_they_made_and_may_replace_it(tmp_path: Path) -> None:
    killed(tmp_path)
    killed(tmp_path, "map.Working.add_ours")  # before it read the map of the first one
    killed(tmp_path, "map.Working.add_ours")
    assert mirrored(tmp_path, "c.har", har())[0] == 3
    assert mirrored(tmp_path, "c.har", NEW, "--prune") == (0, {"h/index.html": f"{HEAD}new".encode()})
    assert sorted(path.name for path in (tmp_path / "m").iterdir() if path.is_file()) == ["index.html", "mirror.sqlite"]
    for name, step in (("other", "making._finish"), ("early", "map.Working.finish")):  # early: a file is there, no row
        (tmp_path / name).mkdir()
        killed(tmp_path / name, step)
        new = har(entry("http://h/new", f"{HEAD}new"))
        assert mirrored(tmp_path / name, "c.har", new, "--resume", "--prune") == (0, {"h/new.html": f"{HEAD}new".encode()})


PAGE = page("http://h/", f"{HEAD}new".encode())
CUT = compress(page("http://h/", HEAD.encode()))[:-9]
EMPTY = {
    "none.warc": None, "empty.warc": b"",
    "asked.warc": b"WARC/1.0\r\nWARC-Type: request\r\nWARC-Target-URI: http://h/\r\nContent-Length: 18\r\n\r\nGET / HTTP/1.1\r\n\r\n\r\n\r\n",
    "gone.warc": page("http://h/", b"gone", status=404), "empty.har": har(), "broken.har": b'{"log": 1', "broken.wacz": b"PK\3\4", "cut.warc.gz": CUT,
}


@pytest.mark.parametrize("output", ["m", "m.zip"])
def test_a_run_without_a_document_leaves_the_mirror_as_it_is(tmp_path: Path, output: str, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "c.har").write_bytes(CAPTURE)
    out = tmp_path / output
    assert main(["mirror", str(tmp_path / "c.har"), "-o", str(out)]) == 0
    before = state(tmp_path)
    capsys.readouterr()
    for name, data in EMPTY.items():
        if data is not None:
            (tmp_path / name).write_bytes(data)
        assert main(["mirror", str(tmp_path / name), "-o", str(out), *(["--prune"] if output == "m" else [])]) == 3
        assert main(["mirror", str(tmp_path / name), "-o", str(tmp_path / f"new-{output}")]) == 3
        (tmp_path / name).unlink(missing_ok=True)
        assert state(tmp_path) == before, name
    assert "documents" not in capsys.readouterr().err


def state(root: Path) -> dict[str, bytes]:
    """Return all files below a folder, those of the mirror's own, too, and the folders."""
    return {str(path): path.read_bytes() if path.is_file() else b"" for path in root.rglob("*")}


def test_nothing_is_pruned_where_an_input_failed(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    mirrored(tmp_path, "c.har", CAPTURE)
    odd = page("http://h/odd", b"\x1f\x8b", Content_Encoding="gzip")
    for name, data in {"page.warc": PAGE, "odd.warc": odd, **EMPTY}.items():
        if data is not None:
            (tmp_path / name).write_bytes(data)
    for bad in ("none.warc", "cut.warc.gz", "broken.har", "broken.wacz", "odd.warc"):
        assert main(["mirror", "page.warc", bad, "-o", "m", "--prune"]) == 3
        assert set(tree(tmp_path / "m")) == PATHS
        assert "nothing is removed" in capsys.readouterr().err
    assert main(["mirror", "page.warc", "-o", "m", "--prune", "-q"]) == 0  # what an earlier run made is still known
    assert tree(tmp_path / "m") == {"h/index.html": f"{HEAD}new".encode()}


def test_a_resumed_run_prunes_nothing_where_an_input_failed_before(tmp_path: Path) -> None:
    mirrored(tmp_path, "c.warc", PAGE + page("http://h/b", HEAD.encode()))
    (tmp_path / "c.warc").write_bytes(PAGE + page("http://h/b", HEAD.encode())[:-9])
    command = ["mirror", str(tmp_path / "c.warc"), "-o", str(tmp_path / "m"), "-q", "-j", "1", "--prune"]
    assert subprocess.run([sys.executable, "-c", KILLED.format("making._finish"), *command], check=False).returncode == 9
    main([*command, "--resume"])
    assert set(tree(tmp_path / "m")) == {"h/index.html", "h/b.html"}


def test_what_no_longer_belongs_stays_without_prune_and_is_not_in_the_way_of_the_next_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    mirrored(tmp_path, "c.har", CAPTURE)
    (tmp_path / "c.har").write_bytes(har(entry("http://h/", HEAD)))
    assert main(["mirror", str(tmp_path / "c.har"), "-o", str(tmp_path / "m")]) == 0
    assert set(tree(tmp_path / "m")) == PATHS
    assert "m.js: stays" in capsys.readouterr().err
    code, found = mirrored(tmp_path, "c.har", har(entry("http://h/a/b", f"{HEAD}new")))
    assert (code, found["h/a/b.html"]) == (0, f"{HEAD}new".encode())


def test_a_foreign_entry_page_stays_and_is_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "m").mkdir()
    (tmp_path / "m/index.html").write_text("mine")
    assert mirrored(tmp_path, "c.har", CAPTURE)[0] == 3
    assert (tmp_path / "m/index.html").read_text() == "mine"
    assert "foreign" in capsys.readouterr().err


@pytest.mark.parametrize("more", ["", "-o m --at yesterday", "-o m --same everything", "--serve m --port 99999", "-o c.har"])
def test_invalid_options_are_errors_of_use(tmp_path: Path, more: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "c.har").write_bytes(CAPTURE)
    assert main(["mirror", "c.har", *more.split()]) == 2
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"c.har": CAPTURE}


def test_a_dry_run_prints_the_paths_and_writes_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "c.har").write_bytes(CAPTURE)
    assert main(["mirror", str(tmp_path / "c.har"), "--dry-run"]) == 0
    out = capsys.readouterr()
    assert "http://h/a/b\th/a/b.html\n" in out.out
    assert "3 documents, 1 other URL" in out.err
    assert [path.name for path in tmp_path.iterdir()] == ["c.har"]


def test_titles_modules_error_pages_and_what_is_missing_are_known(tmp_path: Path) -> None:
    (tmp_path / "own.toml").write_text("[mirror]\nkeep-errors = true\n")
    title = entry("http://h/16", "<title>z\u00fc</title>".encode("utf-16"), "text/html; charset=utf-16")
    data = CAPTURE.replace(b"http://h/", b"http://h.example/").replace(b"]}}", b"," + json.dumps(title).encode() + b"]}}")
    wanted = ("--missing", str(tmp_path / "wanted"), "--config", str(tmp_path / "own.toml"))
    found = mirrored(tmp_path, "c.har", data, *wanted)[1]
    assert set(found) == {f"h.example{path[1:]}" for path in (*PATHS, "h/e.html")} | {"h/16.html"}
    index = (tmp_path / "m/index.html").read_text("utf-8")
    assert "A &amp; b" in index
    assert "z\u00fc" in index
    assert asked(tmp_path / "m", "SELECT path, line, column, code FROM notes WHERE code = 'needs-server'") == [
        ("h.example/m.js", 1, 1, "needs-server")
    ]
    assert (tmp_path / "wanted").read_text().splitlines() == ["http://h.example/gone.png", "http://h.example/gone"]


@pytest.mark.parametrize("profile", ["rfc1808", "rfc3986", "whatwg"])
def test_no_missing_url_leads_a_crawler_astray(tmp_path: Path, capsys: pytest.CaptureFixture[str], profile: str) -> None:
    links = ["/a b", "/a%20b", "//u:secret@away.example/\u202e\x1bz", "//away.example/\u202e\x1bz#f", "/x&#10;http://evil/", "http://2130706433/", "//10.0.0.1/x", "//jenkins:8080/x"]
    page = "".join(f"<img src='{link}'><a href='//no{number}/'>" for number, link in enumerate(links)).encode()
    (tmp_path / "c.har").write_bytes(har(entry("http://h.example/", page, "text/html; charset=utf-8")))
    files = {"-o": tmp_path / "m", "--missing": tmp_path / "wanted", "--profile": profile}
    assert main(["mirror", str(tmp_path / "c.har"), *(str(word) for pair in files.items() for word in pair)]) == 0
    lines = (tmp_path / "wanted").read_bytes().decode("ascii").splitlines()
    assert sorted(lines) == ["http://away.example/%E2%80%AE%1Bz", "http://h.example/a%20b", "http://h.example/xhttp://evil/"]
    assert "; 3 not in " in capsys.readouterr().err


def test_a_folder_that_cannot_be_written_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("absolve.run.outputs._rename", refuse)
    assert mirrored(tmp_path, "c.har", CAPTURE) == (3, {})
    assert "Permission denied" in capsys.readouterr().err


def test_several_inputs_are_one_capture_and_one_unreadable_input_is_reported(tmp_path: Path) -> None:
    (tmp_path / "a.har").write_bytes(har(entry("http://h/", f"{HEAD}<a href=/b>")))
    (tmp_path / "b.txt").write_bytes(har(entry("http://h/b", HEAD)))  # a media type that is given counts before the content
    names = [str(tmp_path / name) for name in ("a.har", "b.txt", "none.har")]
    assert main(["mirror", *names, "-o", str(tmp_path / "m"), "-q", "-j", "2", "--media-type", "application/har+json"]) == 3
    assert tree(tmp_path / "m") == {"h/b.html": HEAD.encode(), "h/index.html": f"{HEAD}<a href=b.html>".encode()}


def test_prune_removes_no_file_that_a_forged_map_names_and_none_that_was_changed_since(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    mirrored(tmp_path, "c.har", CAPTURE)
    (tmp_path / "m/mine.txt").write_text("mine")
    (tmp_path / "m/h/m.js").write_text("my change")
    with closing(sqlite3.connect(tmp_path / "m/mirror.sqlite")) as db:
        db.execute("INSERT INTO resources (url, path, digest) VALUES ('http://h/x', 'mine.txt', 'sha256:00')")
        db.execute("INSERT INTO resources (url, path) VALUES ('http://h/y', 'mine.txt')")
        db.commit()
    (tmp_path / "c.har").write_bytes(har(entry("http://h/", HEAD)))
    assert main(["mirror", str(tmp_path / "c.har"), "-o", str(tmp_path / "m"), "--prune"]) == 0
    assert (tmp_path / "m/mine.txt").read_text() == "mine"
    assert (tmp_path / "m/h/m.js").read_text() == "my change"
    assert "m.js: stays" in capsys.readouterr().err
    assert not (tmp_path / "m/h/a").exists()
