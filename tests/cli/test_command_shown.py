"""Output for people has no control character, no forged line and no credentials; output for programs is exact."""

import csv
import io
import json
import os
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest
from command_runner import Runner, on_terminal
from pyarrow import parquet

BAD = "\x1b]0;x\x07\x9b31m\x7f\u202e\u2028"
FORGED = "x\nother.html:1:1: not-found: forged"
SECRET = "http://user:secret@h.example/"  # noqa: S105 - a URL
PAGE = b"<a href='x'>x</a>\n"
PATCH = shutil.which("patch")
GIT = shutil.which("git")
CONTROLS = {*map(chr, range(32)), *map(chr, range(127, 160)), "\u202e", "\u2028", "\u2029", "\u2066"} - {"\n"}


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


shown = partial(on_terminal, environment={"NO_COLOR": "1"}, errors=False)


def is_clean(text: str) -> bool:
    return not CONTROLS & set(text)


@pytest.mark.parametrize("command", ["rewrite", "links", "base"])
@pytest.mark.parametrize("name", [BAD, FORGED], ids=["controls", "newline"])
def test_a_name_is_escaped_in_the_message_about_it(absolve: Runner, command: str, name: str) -> None:
    done = absolve(command, name)
    assert done.status
    assert is_clean(done.err)
    assert not any(line.startswith("other.html") for line in done.err.splitlines())


@pytest.mark.parametrize("arguments", [
    ("rewrite", f"--{BAD}"), ("rewrite", f"--profile={BAD}"), ("links", "-", "--columns", BAD), ("links", "-o", f"x{BAD}"),
    ("rewrite", "-", "--remap", BAD), (f"x{BAD}",),
], ids=lambda arguments: arguments[0] if len(arguments) == 1 else arguments[1][:9])
def test_a_usage_error_is_escaped(absolve: Runner, arguments: tuple[str, ...]) -> None:
    done = absolve(*arguments)
    assert done.status == 2
    assert is_clean(done.err)
    assert [line.partition(":")[0] for line in done.err.splitlines() if line[:5] != "hint:"] == ["error", "try"]


@pytest.mark.parametrize("reference", [f"x{BAD}", "a\nb", os.fsdecode(b"\xff\x9b")], ids=["controls", "newline", "bytes"])
def test_resolve_writes_a_url_on_one_line_with_percent_escapes(absolve: Runner, reference: str) -> None:
    done = absolve("resolve", "http://h/", reference)
    assert len(done.lines) == 1
    assert done.out.rstrip(b"\n").isascii()
    assert is_clean(done.out.decode())


# --- patches ----------------------------------------------------------------------------------------------------------

NAMES = ["a b.html", " first.html", "last .html", "x\n+++ other.html\n@@ -1 +1 @@.html", "t\tab.html", 'q"uote.html', "b\\slash.html", "\x1b[31m.html", "\u202e.html", "é日.html", "c\rr.html"]


@pytest.mark.skipif(sys.platform == "win32", reason="no such names")
@pytest.mark.parametrize("tool", [
    pytest.param((PATCH, "-p0", "-s"), id="patch", marks=pytest.mark.skipif(not PATCH, reason="there is no patch")),
    pytest.param((GIT, "apply", "-p0"), id="git", marks=pytest.mark.skipif(not GIT, reason="there is no git")),
])
def test_patch_finds_files_by_their_names_in_the_diff(absolve: Runner, tool: tuple[str, ...]) -> None:
    diffs = []
    for name in NAMES:
        Path(name).write_bytes(PAGE)
        diffs.append(absolve("rewrite", name, "--url", "http://h/", "--diff").out)
        assert is_clean(b"".join(diffs[-1].splitlines(keepends=True)[:2]).decode().replace("\t\n", "\n"))
    done = subprocess.run(tool, input=b"".join(diffs), capture_output=True, check=False)
    assert (done.returncode, sorted(os.listdir())) == (0, sorted(NAMES))  # noqa: PTH208 - names
    assert {Path(name).read_bytes() for name in NAMES} == {PAGE.replace(b"'x'", b"'http://h/x'")}


def page(*references: str) -> bytes:
    return "".join(f'<a href="{reference}">{BAD}\n</a>\n' for reference in references).encode()


@pytest.mark.parametrize("arguments", [("links", "p.html", "-f", "csv"), ("rewrite", "p.html", "--diff")], ids=" ".join)
def test_an_output_is_escaped_on_a_terminal_and_exact_elsewhere(absolve: Runner, arguments: tuple[str, ...]) -> None:
    Path("p.html").write_bytes(b"\t" + page("x\x9b\x7f").replace(b"\n", b"\r\n"))
    arguments = (*arguments, "--url", f"http://h/{BAD}/")
    shows = shown(*arguments)
    assert is_clean(shows.replace("\t", ""))
    assert "\\x9b" in shows
    assert "x\x9b\x7f" in absolve(*arguments).out.decode()


def test_json_lines_have_escapes_on_a_terminal_and_the_same_values(absolve: Runner) -> None:
    Path("p.html").write_bytes(page("x\x9b\x7f\u202e"))
    arguments = ("links", "p.html", "--url", "http://h/", "--format", "jsonl")
    shows = shown(*arguments)
    exact = absolve(*arguments).out.decode()
    assert is_clean(shows)
    assert [json.loads(line) for line in shows.splitlines()] == [json.loads(line) for line in exact.split("\n")[:-1]]
    assert "\u202e" in exact


# --- CSV for spreadsheets ---------------------------------------------------------------------------------------------

FORMULAS = (b"<a href='=x'>=HYPERLINK(1)</a> <a href='y'>+A1</a> <a href='z'>-1</a> <a href='w'>@x</a> <a href=v>plain</a>")


@pytest.mark.parametrize("more", [(), ("--kind", "navigation"), ("--columns", "text,line")])
@pytest.mark.parametrize("form", ["csv", "tsv"])
def test_no_cell_is_a_formula_for_a_spreadsheet(absolve: Runner, form: str, more: tuple[str, ...]) -> None:
    done = absolve("links", "-", "--format", form, *more, stdin=FORMULAS)
    rows = csv.DictReader(io.StringIO(done.out.decode()), delimiter="," if form == "csv" else "	")
    assert [row["text"] for row in rows] == ["'=HYPERLINK(1)", "'+A1", "-1", "'@x", "plain"]
    assert json.loads(absolve("links", "-", stdin=FORMULAS).lines[0])["text"] == "=HYPERLINK(1)"


def test_rewriting_keeps_user_information(absolve: Runner) -> None:
    assert absolve("rewrite", "-", "--url", SECRET, stdin=PAGE).out == f"<a href='{SECRET}x'>x</a>\n".encode()
    assert absolve("resolve", SECRET, "x").lines == [f"{SECRET}x"]


@pytest.mark.parametrize("arguments", [
    ("base", "p.html", "--url", SECRET), ("links", "p.html", "--url", SECRET), ("links", "p.html", "--url", SECRET, "--format", "csv"),
    ("links", "p.html", "--url", SECRET, "--columns", "target"), ("links", "p.html", "--url", SECRET, "--sql", "FROM links SELECT base"),
    ("links", "user.html", "--columns", "reference"), ("links", "p.html", "missing", "--url", SECRET, "--verbose"),
    ("links", ".", "--url", f"{SECRET}?q"), ("rewrite", "p.html", "--remap", SECRET), ("resolve", "mailto:x", "//user:secret@h[/x"),
    ("config", "rewrite"),
], ids=lambda arguments: " ".join(arguments)[:60])
def test_user_information_in_messages_and_lists_is_masked(absolve: Runner, arguments: tuple[str, ...]) -> None:
    Path("p.html").write_bytes(b"<base href='javascript:1'><a href='x'>x</a>")
    Path("user.html").write_bytes(f"<a href='{SECRET}'>x</a>".encode())
    if arguments[0] == "config":
        Path("absolve.toml").write_text(f'url = "{SECRET}"\n')
    done = absolve(*arguments)
    assert "secret" not in done.out.decode() + done.err
    assert "***@h" in done.out.decode() + done.err


@pytest.mark.parametrize("format_", ["parquet", "sqlite"])
def test_user_information_is_masked_in_files_of_rows(absolve: Runner, format_: str) -> None:
    Path("p.html").write_bytes(b"<a href='x'>x</a>" * 50)
    assert absolve("links", "p.html", "--url", SECRET, "-o", f"out.{format_}").status == 0
    if format_ == "parquet":
        found = parquet.read_table("out.parquet")["target"].to_pylist()
    else:
        with closing(sqlite3.connect("out.sqlite")) as database:
            found = [target for (target,) in database.execute("SELECT target FROM links")]
    assert {*found} == {"http://***@h.example/x"}


def test_user_information_is_masked_among_many_other_texts(absolve: Runner) -> None:
    """Columns are searched as a whole: a match must not extend into the texts before or after."""
    links = [f"<a href='mailto:a@b'>{number}@</a><a href='x{number}'>y</a>" for number in range(2000)]
    links.insert(1234, f"<a href='{SECRET}'>mail a@b, {SECRET}</a><a href='//user:secret@g/'>z</a><a href='@'></a>")
    done = absolve("links", "-", stdin="".join(links).encode())
    rows = [json.loads(line) for line in done.lines]
    assert "secret" not in done.out.decode()
    assert [row["reference"] for row in rows if "***" in row["reference"]] == ["http://***@h.example/", "//***@g/"]
    assert [row["text"] for row in rows if "***" in row["text"]] == ["mail a@b, http://***@h.example/"]


def test_user_information_is_masked_where_only_rel_has_it(absolve: Runner) -> None:
    done = absolve("links", "-", "--columns", "rel,target", stdin=f"<base href=http://h/><a rel={SECRET} href=x>t</a>".encode())
    assert [json.loads(line)["rel"] for line in done.lines] == ["", "http://***@h.example/"]

