"""File names that are not UTF-8, in every mode of every command."""

import io
import os
from collections.abc import Iterator
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path

import pytest
from command_runner import ABSOLUTE, PAGE, SUMMARY

from absolve.cli import main

FOLDER = os.fsdecode(b"d\xff")
NAME = os.fsdecode(b"caf\xe9.html")
BROKEN = os.fsdecode(b"\xa0.xml")
URL = "http://h/d/"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.chdir(tmp_path)
    try:
        Path(FOLDER).mkdir()
        Path(FOLDER, NAME).write_bytes(PAGE)
        Path(NAME).write_bytes(PAGE)
    except (OSError, UnicodeError):
        pytest.skip("this file system takes names in UTF-8 only")
    yield tmp_path
    for path in (Path(FOLDER, "absolve.toml"), Path(FOLDER, BROKEN)):
        path.unlink(missing_ok=True)


def ran(*arguments: str | Path, encoding: str = "utf-8", cwd: str | Path = ".") -> tuple[int, bytes, bytes]:
    """Run the command with a stdout that is strict about encoding, as in most locales."""
    buffers = io.BytesIO(), io.BytesIO()
    out, err = map(io.TextIOWrapper, buffers, (encoding, encoding), ("strict", "backslashreplace"))
    with redirect_stdout(out), redirect_stderr(err), chdir(cwd):
        status = main(list(map(str, arguments)))
        out.flush()
        err.flush()
    assert b"internal-error" not in buffers[1].getvalue()
    return status, buffers[0].getvalue(), SUMMARY.sub("", buffers[1].getvalue().decode()).encode()


@pytest.mark.parametrize("jobs", [["-j1"], ["-j2", "--verbose"]], ids="".join)
def test_dry_run_and_diff_escape_names_that_are_not_utf8(jobs: list[str]) -> None:
    name = rb"d\udcff/caf\udce9.html"
    assert ran("rewrite", "--dry-run", *jobs, FOLDER) == (0, name + b": 2 links, 1 would change\n", b"")
    status, out, err = ran("rewrite", "--diff", NAME)
    assert (status, out.splitlines()[0], err) == (0, rb'--- "caf\351.html"', b"")


def test_rewrites_write_names_that_are_not_utf8_and_resume_knows_them() -> None:
    (Path(FOLDER) / BROKEN).write_bytes(b"<a><b></a>")
    for again in (False, True):
        resume = ["--resume"] if again else []
        status, out, err = ran("rewrite", FOLDER, "--url", URL, "-o", "out", *resume)
        assert (status, out) == (3, b"")
        assert (b"1 skipped: done by an earlier run" in err) is again
        assert b"error: " in err
        assert Path("out", NAME).read_bytes() == ABSOLUTE
    assert ran("rewrite", "--in-place", "--backup", ".orig", "--verify", "--quiet", NAME) == (0, b"", b"")
    assert Path(f"{NAME}.orig").read_bytes() == PAGE


@pytest.mark.parametrize("output", ["sqlite", "parquet"])
def test_every_table_lists_documents_whose_names_are_not_utf8(output: str) -> None:
    quiet = ("links", FOLDER, "-o", f"links.{output}", "--url", URL, "--quiet")  # a slow run prints its progress
    assert ran(*quiet) == (0, b"", b"")
    assert Path(f"links.{output}").stat().st_size


def test_base_and_config_escape_on_their_output_names_that_are_not_utf8() -> None:
    status, out, _ = ran("base", NAME, encoding="ascii")
    assert (status, out.splitlines()[0]) == (0, b"caf\\udce9.html")
    Path(FOLDER, "absolve.toml").write_text("profile = 'whatwg'\n")
    status, out, _ = ran("config", "base", encoding="ascii", cwd=FOLDER)
    assert status == 0
    assert rb"d\udcff/absolve.toml" in out


def test_a_mirror_is_made_of_files_whose_names_are_not_utf8() -> None:
    capture = os.fsdecode(b"j\xff.warc")
    response = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n" + PAGE
    head = b"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://h/\r\nWARC-Date: 2020-01-01T00:00:00Z\r\nContent-Length: %d\r\n\r\n"
    Path(capture).write_bytes(head % len(response) + response + b"\r\n\r\n")
    for given, out in ((FOLDER, "m"), (NAME, "n"), (capture, os.fsdecode(b"o\xff"))):
        known = [] if given == capture else ["--url", URL]
        assert ran("mirror", given, *known, "-o", out)[0] == 0
        assert ran("mirror", "--check", out)[0] in {0, 1}
    assert Path("m", "h", "d", "caf%E9.html").is_file()
