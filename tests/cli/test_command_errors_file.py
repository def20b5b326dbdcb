"""`--errors FILE` never replaces an input or output of the run, and is written completely or not at all."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from command_runner import PAGE, Runner

from tests.shapes.captures import files_below

BROKEN = b"<a href='//[x'>"


@pytest.fixture(autouse=True)
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Create a folder of two pages, with a link to it, a list, tables, and a page with other names."""
    monkeypatch.chdir(tmp_path)
    Path("site/sub").mkdir(parents=True)
    for name in ("site/a.html", "site/sub/b.html", "page.html"):
        Path(name).write_bytes(PAGE)
    Path("list").write_text("site/a.html\n./page.html\n")
    Path("urls.csv").write_text("page.html,http://h/\n")
    Path("moved.csv").write_text("http://h/,http://g/\n")
    try:
        Path("folder").symlink_to("site")
        Path("link.html").symlink_to("page.html")
        Path("hard.html").hardlink_to("page.html")
    except OSError:
        pytest.skip("no hard or symbolic links here")
    return tmp_path


@pytest.mark.parametrize("command", [["links"], ["rewrite", "--dry-run"], ["rewrite", "--in-place"]], ids=" ".join)
@pytest.mark.parametrize(
    ("given", "errors"),
    [
        ("page.html", "page.html"),
        ("page.html", "./site/../page.html"),
        ("page.html", "link.html"),
        ("link.html", "page.html"),
        ("page.html", "hard.html"),
        ("none.html", "none.html"),
        ("site", "site/a.html"),
        ("site", "site/errors.jsonl"),
        ("site", "site/sub/errors.jsonl"),
        ("site", "folder/errors.jsonl"),
        ("folder", "site/errors.jsonl"),
        (".", "errors.jsonl"),
        ("site/sub/..", "site/none/errors.jsonl"),
        ("--from=list", "page.html"),
        ("--from=list", "site/a.html"),
        ("--from=list", "list"),
        ("--url-map=urls.csv page.html", "urls.csv"),
    ],
)
def test_an_errors_file_that_is_or_may_become_an_input_is_refused(
    absolve: Runner, command: list[str], given: str, errors: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = files_below(Path())
    monkeypatch.setattr("absolve.run.sources.read", None)  # nothing may be read
    done = absolve(*command, *given.split(), "--errors", errors)
    assert (done.status, done.out) == (2, b"")
    assert f"--errors {errors} is " in done.err
    assert files_below(Path()) == before


def test_an_errors_file_that_is_an_output_is_refused(absolve: Runner) -> None:
    Path("out").mkdir()
    before = files_below(Path())
    for arguments in (
        ["links", "page.html", "-o", "out.csv", "--errors", "./out.csv"],
        ["rewrite", "site", "-o", "out", "--errors", "out/a.html"],
        ["rewrite", "page.html", "--in-place", "--backup", ".orig", "--errors", "page.html.orig"],
        ["rewrite", "page.html", "-o", "out.html", "--remap", "@moved.csv", "--errors", "moved.csv"],
    ):
        done = absolve(*arguments)
        assert (done.status, done.out) == (2, b"")
        assert "--errors " in done.err
        assert files_below(Path()) == before


def test_an_errors_file_beside_the_inputs_or_in_the_output_folder_is_written(absolve: Runner) -> None:
    Path("site/a.html").write_bytes(BROKEN)
    for errors in ("site.jsonl", "site/../site.html", "out/errors.jsonl"):
        Path(errors).parent.mkdir(exist_ok=True)
        assert absolve("rewrite", "site", "-o", "out", "--errors", errors, "--quiet").status in {0, 1}
        assert Path(errors).exists()


def test_an_errors_file_named_in_a_piped_list_is_refused_before_it_is_read(absolve: Runner) -> None:
    done = absolve("links", "--from", "-", "--errors", "link.html", stdin=b"site/a.html\npage.html\n")
    assert done.status == 2
    assert "--errors link.html is also a file of the run (page.html)" in done.err
    assert Path("page.html").read_bytes() == PAGE
    assert not [path for path in Path().iterdir() if ".absolve" in path.name]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes here")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["SIGINT", "SIGTERM"])
def test_an_interrupted_run_leaves_the_errors_file_unchanged(number: int) -> None:
    os.mkfifo("pipe")
    Path("errors.jsonl").write_text("as it was")
    argv = [sys.executable, "-m", "absolve", "links", "none.html", "pipe", "--errors", "errors.jsonl"]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as run:
        assert run.stderr is not None
        assert b"not-found" in run.stderr.readline()
        time.sleep(0.1)
        run.send_signal(number)
        run.communicate(timeout=30)
    assert run.returncode == 128 + number
    assert Path("errors.jsonl").read_text() == "as it was"
    assert not [path for path in Path().iterdir() if ".absolve" in path.name]


def test_a_failing_run_leaves_the_errors_file_unchanged(absolve: Runner) -> None:
    Path("errors.jsonl").write_text("as it was")
    Path("out.csv").mkdir()
    assert absolve("links", "none.html", "-o", "out.csv", "--errors", "errors.jsonl").status == 3
    assert Path("errors.jsonl").read_text() == "as it was"


def test_a_write_error_leaves_the_errors_file_unchanged(
    absolve: Runner, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Full:
        def write(self, _: bytes) -> int:
            raise OSError(28, "No space left on device")

        def flush(self) -> None: ...

    def fail(self: object, input_: str, diagnostic: object) -> None:
        self.errors = Full() if self.errors is not None else None  # type: ignore[attr-defined]
        real(self, input_, diagnostic)  # type: ignore[arg-type]

    from absolve.cli.reporting import Report

    real = Report._fail
    monkeypatch.setattr(Report, "_fail", fail)
    Path("errors.jsonl").write_text("as it was")
    done = absolve("links", "none.html", "other.html", "page.html", "-o", "out.csv", "--errors", "errors.jsonl")
    assert done.status == 3
    assert done.err.count("--errors: unwritable: No space left on device") == 1
    assert Path("errors.jsonl").read_text() == "as it was"
    assert Path("out.csv").exists()
    assert not [path for path in Path().iterdir() if ".absolve" in path.name]
