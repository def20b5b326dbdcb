"""`--resume` continues a killed run: files that are done and unchanged since are skipped."""

import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from command_runner import Runner

from absolve.cli import many
from absolve.run.state import State
from tests.shapes.captures import files_below, written

URL = "--url=http://h/"
BROKEN = b"\x7fELF\x02\x01\x01\0"
PAGE = b"<a href='%d.html'>x</a>" + b"<p>text</p>" * 200
REMAP = "--remap=http://h=http://h/old"  # a second pass over the same file would be visible


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(many, "WORTH_A_POOL", 1)
    return written(tmp_path / "site", {f"{index % 5}/{index}.html": PAGE % index for index in range(12)})


@pytest.fixture(params=["in-place", "to a folder"])
def where(request: pytest.FixtureRequest, site: Path) -> list[str]:
    return ["--in-place"] if request.param == "in-place" else ["-o", str(site.with_name("out"))]


def skipped(message: str) -> int:
    words = [line.split() for line in message.splitlines() if line.endswith(" skipped: done by an earlier run")]
    return int(words[0][1].replace(",", "")) if words else 0


def failing(absolve: Runner, site: Path, *command: str) -> None:
    """Run a command in which one input fails, which is put right afterwards."""
    (site / "broken.html").write_bytes(BROKEN)
    assert absolve(*command).status == 3
    (site / "broken.html").unlink()


def states() -> list[Path]:
    return sorted((Path(os.environ["XDG_STATE_HOME"]) / "absolve").iterdir())


@pytest.mark.parametrize("jobs", ["-j1", "-j2"])
def test_resume_skips_finished_files_until_all_are_done(absolve: Runner, site: Path, where: list[str], jobs: str) -> None:
    command = ["rewrite", str(site), URL, REMAP, jobs, *where]
    failing(absolve, site, *command)
    out = site if where == ["--in-place"] else site.with_name("out")
    after = files_below(out)
    inodes = {path: path.stat().st_ino for path in out.rglob("*.html")}
    assert len(states()) == 1
    done = absolve(*command, "--resume")
    assert (done.status, skipped(done.err)) == (0, 12)
    assert files_below(out) == after
    assert {path: path.stat().st_ino for path in out.rglob("*.html")} == inodes
    assert b"http://h/old/0/0.html" in after["0/0.html"]
    assert not states()
    assert absolve(*command, "--resume").status == (2 if where == ["--in-place"] else 0)
    assert files_below(out) == after


def test_resume_repeats_files_that_failed_or_changed_since(absolve: Runner, site: Path, where: list[str]) -> None:
    command = ["rewrite", str(site), URL, REMAP, *where]
    (site / "broken.html").write_bytes(BROKEN)
    absolve(*command)
    (site / "0/0.html").write_bytes(b"<a href=changed>")
    done = absolve(*command, "--resume")
    assert (done.status, skipped(done.err)) == (3, 11)
    out = site if where == ["--in-place"] else site.with_name("out")
    assert (out / "0/0.html").read_bytes() == b"<a href=http://h/old/0/changed>"
    if out != site:
        (out / "1/1.html").unlink()
        (out / "2/2.html").write_bytes(b"")
        assert skipped(absolve(*command, "--resume").err) == 10
        assert b"http://h/old/2/2.html" in (out / "2/2.html").read_bytes()
    (site / "broken.html").write_bytes(b"<a href=x>")
    assert absolve(*command, "--resume").status == 0
    assert (out / "broken.html").read_bytes() == b"<a href=http://h/old/x>"


def test_resume_with_other_options_repeats_all_files(absolve: Runner, site: Path) -> None:
    rules = site.with_name("moved.csv")
    rules.write_text("http://h,http://one\n")
    (site / "broken.html").write_bytes(BROKEN)
    command = ["rewrite", str(site), "-o", str(site.with_name("out")), "--resume", "--remap", f"@{rules}"]
    assert skipped(absolve(*command, URL).err) == 0
    assert skipped(absolve(*command, URL, "--jobs=1").err) == 12
    assert skipped(absolve(*command, "--url=http://g/").err) == 0
    assert skipped(absolve(*command, "--url=http://g/", "--fragments=absolute").err) == 0
    assert b"http://g/0/0.html" in (site.with_name("out") / "0/0.html").read_bytes()
    absolve(*command, URL)
    rules.write_text("http://h,http://two\n")
    assert skipped(absolve(*command, URL).err) == 0
    assert b"http://two/0/0.html" in (site.with_name("out") / "0/0.html").read_bytes()


def test_without_resume_all_files_are_processed(absolve: Runner, site: Path) -> None:
    command = ["rewrite", str(site), URL, "--in-place", REMAP]
    failing(absolve, site, *command)
    assert absolve(*command) == (0, b"", "")
    assert b"http://h/old/old/0/0.html" in (site / "0/0.html").read_bytes()


def test_a_run_without_a_state_folder_cannot_be_resumed(absolve: Runner, site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (site.parent / "file").touch()
    monkeypatch.setenv("XDG_STATE_HOME", str(site.parent / "file"))
    command = ("rewrite", site, URL, "-o", site.with_name("out"))
    assert absolve(*command) == (0, b"", "")
    assert absolve(*command, "--resume").status == 2


@pytest.mark.parametrize(("command", "damage"), [("rewrite", "all"), ("links", "tables"), ("links", "another")])
def test_a_damaged_state_is_named_and_nothing_is_a_fault(absolve: Runner, site: Path, command: str, damage: str) -> None:
    options = ["-o", str(site.with_name("out")), *(["--format=jsonl", "--resume"] if command == "links" else [])]
    failing(absolve, site, command, str(site), URL, *options)
    (path,) = states()
    data = path.read_bytes()
    path.write_bytes(b"?" * len(data) if damage == "all" else data[:4096] + b"?" * (len(data) - 4096))
    if damage == "another":
        path.unlink()
        with closing(sqlite3.connect(path)) as other:
            other.execute("CREATE TABLE done (other)")
    found = absolve(command, site, URL, *options, "--resume")
    assert (found.status, f"the state {path} of the run cannot be opened" in found.err) == (2, True)


def test_a_second_run_of_the_same_inputs_to_the_same_output_is_refused(absolve: Runner, site: Path, where: list[str]) -> None:
    failing(absolve, site, "rewrite", str(site), URL, *where)
    (path,) = states()
    site.with_name("other").symlink_to(site)
    before = files_below(site)
    with closing(State(path, "", resume=True)):
        for name in (site, site.with_name("other")):
            done = absolve("rewrite", name, URL, REMAP, *where)
            assert (done.status, "another run with the same inputs and output" in done.err) == (2, True)
    assert files_below(site) == before


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="modes are of POSIX systems")
@pytest.mark.parametrize("before", [None, 0o755])
def test_only_their_user_can_read_states(absolve: Runner, site: Path, before: int | None) -> None:
    folder = Path(os.environ["XDG_STATE_HOME"]) / "absolve"
    if before is not None:  # as earlier versions left it
        folder.mkdir(mode=before)
        folder.chmod(before)
    assert absolve("rewrite", str(site), URL, "--in-place").status == 0
    assert folder.stat().st_mode & 0o777 == 0o700


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root may give folders away")
def test_nothing_is_written_to_a_state_folder_of_another_user(absolve: Runner, site: Path) -> None:
    folder = Path(os.environ["XDG_STATE_HOME"]) / "absolve"
    folder.mkdir()
    os.chown(folder, 12345, 12345)
    command = ("rewrite", site, URL, "-o", site.with_name("out"))
    assert absolve(*command) == (0, b"", "")
    done = absolve(*command, "--resume")
    assert (done.status, "belongs to another user" in done.err) == (2, True)
    assert not list(folder.iterdir())
