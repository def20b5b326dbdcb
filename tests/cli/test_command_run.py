"""Runs over many inputs: progress, the summary, and the handling of bad inputs."""

import io
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from command_runner import Runner

from absolve import cli
from absolve.cli import many, reporting, terminal
from absolve.core.errors import Diagnostic
from absolve.run import folders
from tests.shapes.captures import written
from tests.terminals import in_terminal

URL = "--url=http://h/"
PAGE = b"<a href=x>"
NEW = b"<a href=http://h/x>"
BROKEN = b"\x7fELF\x02\x01\x01\0"


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Create a folder of three files, the second of which is no document; it is the working folder."""
    monkeypatch.chdir(tmp_path)
    return written(tmp_path / "site", {"a.html": PAGE, "b.html": BROKEN, "c.html": PAGE})


def test_the_errors_of_one_input_are_not_repeated_after_a_long_run(capsys: pytest.CaptureFixture[str]) -> None:
    """As of two records of an archive."""
    report = reporting.Report()
    for place in (1, 2):
        report.finding(Diagnostic("too-large", "too many bytes come out", "c.warc", place, failed=True))
    report.summary("done")
    assert capsys.readouterr().err.count("too-large") == 2
    report.note("asked", "something else")
    report.summary("done")
    assert capsys.readouterr().err.count("too-large") == 1


@pytest.mark.usefixtures("site")
def test_quiet_prints_only_failures(absolve: Runner) -> None:
    assert "no-base" in absolve("links", "site").err
    assert absolve("links", "site/a.html", "--quiet").err == ""
    assert absolve("links", "site", "-q").err.count("\n") == 1


def test_what_many_inputs_share_is_one_message_with_a_count_and_a_hint(absolve: Runner, site: Path) -> None:
    (site / "b.html").unlink()  # two are left
    counted = "warning: no-base: no URL is known for {} pages: {} in ./{} (--verbose lists all)"
    assert absolve("links", "site").err.splitlines() == [counted.format(2, 2, ""), HINT]
    second = absolve("links", "site/a.html", "site/c.html").err.splitlines()[1]  # the place of the count has the name
    assert second.startswith("warning: site/c.html: no-base: ")
    for number in range(20):
        (site / f"{number}.html").write_bytes(PAGE)
    assert absolve("links", *sorted(site.glob("*.html"))).err.splitlines()[1:] == ["warning: no-base: 21 more inputs (--verbose lists all)", HINT]
    written(site, {"b/c/d.html": '<link rel="canonical" href="http://h/d"><a href="e">'})
    first, *rest = absolve("links", "site").err.splitlines()
    assert first == counted.format(23, 22, ", 1 in b/")
    assert rest[0].startswith("hint: 1 of them has a canonical link")
    assert rest[0].endswith(": absolve documents site --columns document,canonical -o urls.csv, then --url-map urls.csv")
    absolve("documents", "site", "--columns", "document,canonical", "-o", "urls.csv")
    assert absolve("links", "site", "--url-map", "urls.csv").err.splitlines() == [counted.format(22, 22, ""), HINT]
    (site / "b/c/d.html").unlink()
    done = absolve("links", "site", "--verbose")
    assert len(done.err.splitlines()) == done.err.count(": no-base: no base URL is known: ") == 22


HINT = "hint: --url file: takes the paths of files; --url URL or --url-map FILE gives URLs of the web"


def test_a_diagnostic_with_a_place_is_printed_for_20_inputs_then_counted(capsys: pytest.CaptureFixture[str]) -> None:
    report = reporting.Report()
    for number in range(22):
        report.finding(Diagnostic("ambiguous", "text", f"{number}.html", 1, number))
    report.rest()
    *named, last = capsys.readouterr().err.splitlines()
    assert named == [f"warning: {number}.html:1:{number}: ambiguous: text" for number in range(20)]
    assert last == "warning: ambiguous: 2 more inputs (--verbose lists all)"


def test_failures_are_repeated_at_the_end_of_a_long_output(absolve: Runner, site: Path) -> None:
    for number in range(30):
        (site / f"{number}.html").write_bytes(PAGE)
    *_, failure = absolve("links", "site", "-v").err.splitlines()
    assert failure.startswith("error: site/b.html: unknown-media-type: ")
    assert absolve.summary == "32 links in 32 documents: 32 without host; problems: 32 unresolved; 1 input failed"
    for number in range(30):
        (site / f"{number}.html").write_bytes(BROKEN)
    assert absolve("links", "site").err.splitlines()[-1] == "... and 11 more"


def test_a_long_run_reports_its_progress_every_few_seconds(absolve: Runner, site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(many, "EVERY", 0.0)
    (site / "b.html").unlink()
    assert absolve("rewrite", "site", URL, "--in-place").err.splitlines()[0].startswith("absolve: 0 inputs, 0.0 MB in 0 s so far")
    assert absolve.summary.startswith("2 links in 2 documents changed; 0 left as is; 0.0 MB in 0.")
    assert absolve("rewrite", "site", URL, "--in-place", "--quiet").err == ""


@pytest.mark.parametrize(("seconds", "compiled", "count"), [(3600.0, False, 0), (0.0, True, 0), (0.0, False, 1)], ids=["short", "compiled", "interpreted"])
def test_a_long_interpreted_run_prints_once_that_a_compiler_makes_it_faster(
    absolve: Runner, site: Path, monkeypatch: pytest.MonkeyPatch, seconds: float, count: int, *, compiled: bool
) -> None:
    monkeypatch.setattr(reporting, "LONG", seconds)
    monkeypatch.setattr(cli, "is_compiled", lambda: compiled)
    (site / "b.html").unlink()
    assert absolve("links", "site", URL).err.splitlines() == [f"note: {reporting.INTERPRETED}"] * count
    assert "C compiler" in reporting.INTERPRETED


def test_alone_absolve_shows_three_first_steps_on_a_terminal_and_is_a_usage_error_elsewhere(absolve: Runner) -> None:
    status, shown = in_terminal([sys.executable, "-m", "absolve"], {**os.environ, "TERM": "xterm"})
    steps = re.findall(r"^  absolve (\w+)", shown, re.MULTILINE)
    assert (status, steps, "error" in shown) == (0, ["rewrite", "check", "mirror"], False)
    done = absolve()
    assert (done.status, done.out, "missing: COMMAND" in done.err) == (2, b"", True)


def test_on_a_terminal_a_bar_shows_the_progress(site: Path) -> None:
    code = "import sys; from absolve.cli import main, many; many.PATIENCE = many._BETWEEN = 0; sys.exit(main())"
    argv = [sys.executable, "-c", code, "rewrite", "site", URL, "--in-place", "-j1"]
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "100", "XDG_STATE_HOME": str(site.parent / "state")}
    status, shown = in_terminal(argv, environment, stdout=subprocess.DEVNULL)
    assert status == 3
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown)
    assert re.search("3 (of 3 )?inputs, 0.0 MB, 1 failed", text)  # a thread counts the inputs meanwhile
    assert re.search(r"[0-9]/s", text)
    assert "unknown-media-type" in text
    assert "absolve: 2 links in 2 documents changed; 0 left as is; 1 input failed; 0.0 MB in " in text.splitlines()[-1]


@pytest.mark.parametrize(("columns", "shown"), [(100, "20 of 40 inputs, 0.0 MB, "), (40, "20/40 ")])
def test_the_bar_shows_done_total_rate_and_time_left(columns: int, shown: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setattr(many, "PATIENCE", -1.0)
    monkeypatch.setattr(many, "_BETWEEN", 1e-9)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    bar = many.Bar(lambda: 40)
    for number in range(21):
        bar.tick(many.Progress(number))
        while not bar._inputs:  # a thread counts them
            pass
    bar.close()
    lines = capsys.readouterr().err.split("\r\x1b[K")
    assert lines[-1] == ""
    assert shown in lines[-2]
    assert re.search(r"[0-9,]+/s +\S+ left", lines[-2])
    assert max(map(len, lines)) < columns


def test_messages_are_above_the_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    guard = terminal.Guard(io.TextIOWrapper(raw := io.BytesIO(), "utf-8", newline=""))
    monkeypatch.setattr(terminal, "_below", "[== ]")
    guard.write(b"a\x1b[K\n")
    assert raw.getvalue() == b"\r\x1b[Ka\\x1b[K\n[== ]"


@pytest.fixture(params=["-j1", "-j2"])
def jobs(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(many, "WORTH_A_POOL", 1)
    return str(request.param)


def test_a_read_only_file_stays_and_the_rest_is_rewritten(absolve: Runner, site: Path, jobs: str) -> None:
    (site / "b.html").write_bytes(PAGE)
    (site / "b.html").chmod(0o444)
    done = absolve("rewrite", "site", URL, "--in-place", "--backup", ".bak", jobs)
    assert done.status == 3
    assert done.err == "error: site/b.html: unwritable: the file is read-only\n"
    assert [path.read_bytes() for path in sorted(site.glob("*.html"))] == [NEW, PAGE, NEW]
    assert [path.name for path in sorted(site.glob("*.bak"))] == ["a.html.bak", "c.html.bak"]


def test_a_file_that_disappears_is_reported_and_the_rest_continues(absolve: Runner, site: Path, monkeypatch: pytest.MonkeyPatch, jobs: str) -> None:
    (site / "b.html").write_bytes(PAGE)
    found = folders.files_in

    def vanishing(*arguments: Any, **options: Any) -> Iterator[tuple[Any, ...]]:
        for file in found(*arguments, **options):
            if file[1] == "b.html":
                Path(file[0]).unlink()
            yield file

    monkeypatch.setattr(folders, "files_in", vanishing)
    done = absolve("rewrite", "site", URL, "-o", "out", jobs)
    assert (done.status, done.err) == (3, "error: site/b.html: not-found: No such file or directory\n")
    assert sorted(path.name for path in Path("out").iterdir()) == ["a.html", "c.html"]


def test_an_input_named_twice_is_rewritten_in_place_once(absolve: Runner, site: Path, jobs: str) -> None:
    (site / "b.html").unlink()
    remap = "--remap=http://h/=http://h/old/"
    assert absolve("rewrite", "site/a.html", "site", "./site/a.html", "site/../site/a.html", URL, "--in-place", remap, jobs) == (0, b"", "")
    assert (site / "a.html").read_bytes() == b"<a href=http://h/old/x>"


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="there is no /proc/self/status")
@pytest.mark.parametrize(("suffix", "jobs"), [("jsonl", "-j2"), ("sqlite", "-j1")])
def test_memory_does_not_grow_with_the_number_of_files(absolve: Runner, tmp_path: Path, suffix: str, jobs: str) -> None:
    number = int(os.environ.get("ABSOLVE_FILES", "2000"))
    page = b"".join(b"<a href=/%s/%d>x</a>\n" % (b"a" * 80, index) for index in range(100))
    written(tmp_path / "site", {f"{index % 50}/{index}.html": page for index in range(number)})
    out = tmp_path / f"links.{suffix}"
    status, memory = absolve.measured("links", tmp_path / "site", URL, "-q", "-o", out, jobs)
    assert status == 0
    assert out.stat().st_size > 25_000 * number
    assert memory < 90 << 20  # the results of 1,500 files would not fit into this
