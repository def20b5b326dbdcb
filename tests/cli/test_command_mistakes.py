"""Common mistakes, and what is printed: the blocks of mistakes.txt, each run as a command."""

import shlex
from pathlib import Path
from typing import NamedTuple

import pytest
from command_runner import Runner


class Mistake(NamedTuple):
    """A block: files as `NAME: TEXT`, the command line, the lines on the standard error, the exit status."""

    why: str
    files: tuple[str, ...]
    command: str
    printed: str
    status: int


def _parsed(block: str) -> Mistake:
    why, *lines = block.splitlines()
    files = tuple(line.removeprefix("< ") for line in lines if line.startswith("< "))
    command, *printed, end = [line for line in lines if not line.startswith("< ")]
    text = "".join(f"{line}\n" for line in printed)
    return Mistake(why.removeprefix("# "), files, command.removeprefix("$ "), text, int(end.removeprefix("exit status ")))


MISTAKES = [_parsed(block) for block in Path(__file__).with_name("mistakes.txt").read_text().split("\n\n")[1:]]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Create the files that mistakes.txt uses; their folder is the working folder."""
    (tmp_path / "page.html").write_bytes(b"<!-- saved from url=(0017)http://h/d/p.html -->\n<a href=x.html>x</a>\n")
    (tmp_path / "other.html").write_bytes(b"<a href=x>x</a>\n<a href=../y>y</a>\n")
    (tmp_path / "odd.html").write_bytes(b"<a href=http:x>x</a>\n<a href=http:y>y</a>\n")
    (tmp_path / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    (tmp_path / "site").mkdir()
    for name in "abcd":
        (tmp_path / f"site/{name}.html").write_bytes(b"<a href=x>x</a>\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.delenv("ABSOLVE_CONFIG", raising=False)
    return tmp_path


@pytest.mark.parametrize("mistake", MISTAKES, ids=[f"{m.command} ({m.why})" for m in MISTAKES])
def test_a_mistake_is_answered_with_what_is_wrong_and_what_helps(absolve: Runner, folder: Path, mistake: Mistake) -> None:
    for file in mistake.files:
        name, _, text = file.partition(": ")
        Path(name).write_text(text.replace(r"\n", "\n") + "\n")
    before = sorted(folder.rglob("*"))
    done = absolve(*shlex.split(mistake.command)[1:])
    assert mistake.status != 2 or sorted(folder.rglob("*")) == before
    printed = done.err.replace(f"{folder}/", "")
    assert (done.status, printed) == (mistake.status, mistake.printed)


def test_folders_above_the_output_are_made(absolve: Runner, folder: Path) -> None:
    assert absolve("rewrite", "page.html", "-o", "new/deep/out.html").status == 0
    assert absolve("rewrite", "site", "-u", "http://h/", "-o", "old/deep").status == 0
    assert absolve("rewrite", "page.html", "-o", "never/deep/out.html", "--remap", "no").status == 2
    assert not (folder / "never").exists()
    assert (folder / "new/deep/out.html").is_file()
    assert (folder / "old/deep/a.html").is_file()


@pytest.mark.usefixtures("folder")
def test_a_hint_is_printed_once_and_not_with_quiet(absolve: Runner) -> None:
    assert absolve("links", "a*", "b*").err.count("hint: ") == 1
    assert "hint: " not in absolve("links", "a*", "-q").err
