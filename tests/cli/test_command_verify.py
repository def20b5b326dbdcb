"""`absolve verify` and `absolve rewrite --verify`: reported differences, and files that are not written."""

from pathlib import Path
from typing import Any

import pytest
from command_runner import ABSOLUTE, FIXTURES, PAGE, Runner

from absolve.core.model import Finding
from absolve.document.entity import AMBIGUOUS
from absolve.formats.html import walker
from absolve.rewriting import rewriter


def spoilt(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the rewriter also change the text of the first link of the page."""
    honest = rewriter.rewrite
    monkeypatch.setattr(rewriter, "rewrite", lambda *given: honest(*given).replace(b">x<", b">y<"))


@pytest.mark.parametrize("name", ["default", "embedded", "encapsulating", "retrieval", "saved-page"])
def test_verify_is_silent_for_equal_documents(absolve: Runner, name: str) -> None:
    assert absolve("verify", FIXTURES / f"{name}.html", FIXTURES / f"{name}.absolute.html") == (0, b"", "")


def test_verify_reports_a_difference_with_its_position_and_status_1(absolve: Runner, page: Path, tmp_path: Path) -> None:
    after = tmp_path / "after.html"
    after.write_bytes(ABSOLUTE.replace(b">x<", b">y<"))
    done = absolve("verify", page, after)
    assert (done.status, done.out) == (1, b"")
    assert done.err.splitlines()[1] == (f"error: {page}:2:1: tree: html5lib: the text in <a> changed from 'x' to 'y' (after: 2:1)")
    assert done.err.startswith(f"error: {page}:2:26: bytes: ")


def test_verify_reads_either_document_from_the_standard_input(absolve: Runner, page: Path, tmp_path: Path) -> None:
    after = tmp_path / "after.html"
    after.write_bytes(ABSOLUTE)
    assert absolve("verify", page, "-", stdin=ABSOLUTE) == (0, b"", "")
    assert absolve("verify", "-", after, stdin=PAGE) == (0, b"", "")
    assert absolve("verify", "-", "-").status == 2


def test_verify_compares_each_file_of_two_folders(absolve: Runner, tmp_path: Path) -> None:
    before, after = tmp_path / "saved", tmp_path / "absolute"
    (before / "sub").mkdir(parents=True)
    for name in ("a.html", "sub/b.html"):
        (before / name).write_bytes(PAGE)
    (before / "c.bin").write_bytes(b"\0")
    assert absolve("rewrite", before, "-o", after, "--url", "http://h/").status == 0
    silent = "absolve: verify: 2 documents and 1 other file, 0 differences\n"
    assert absolve("verify", before, after, "--url", "http://h/") == (0, b"", silent)
    (after / "c.bin").write_bytes(b"\1")
    (after / "new.html").write_bytes(PAGE)
    (after / "a.html").unlink()
    (before / "b.jsonld").write_bytes(b"{ }")
    (after / "b.jsonld").write_bytes(b"{")
    done = absolve("verify", before, after, "--url", "http://h/")
    reason = "Expecting property name enclosed in double quotes: line 1 column 2 (char 1)"
    assert (done.status, done.err.splitlines()) == (
        3,
        [
            f"error: {after / 'a.html'}: not-found: No such file or directory",
            f"error: {before / 'b.jsonld'}:1:2: bytes: ' }}' before, '' after (after: 1:2)",
            f"error: {before / 'b.jsonld'}: unjudged: json cannot read this: {reason}",
            f"error: {after / 'c.bin'}: bytes: it is no document, and its bytes changed",
            f"error: {after / 'new.html'}: bytes: {before} has no file of this path",
            "absolve: verify: 3 documents and 1 other file, 3 differences; 2 files could not be compared",
        ],
    )
    assert absolve("verify", before, after / "new.html").status == 2


def test_a_verified_rewrite_is_written(absolve: Runner, page: Path) -> None:
    assert absolve("rewrite", "--verify", page) == (0, ABSOLUTE, "")
    assert absolve("rewrite", "--verify", "--in-place", page).status == 0
    assert page.read_bytes() == ABSOLUTE


def test_in_place_a_file_that_fails_verification_stays_and_the_rest_is_rewritten(
    absolve: Runner, page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    honest = tmp_path / "honest.html"
    honest.write_bytes(PAGE.replace(b">x<", b">z<"))
    spoilt(monkeypatch)
    done = absolve("rewrite", "--verify", "--in-place", "--backup", ".bak", page, honest)
    assert (done.status, page.read_bytes()) == (3, PAGE)
    assert honest.read_bytes() == ABSOLUTE.replace(b">x<", b">z<")
    assert not page.with_name("page.html.bak").exists()
    lines = done.err.splitlines()
    assert lines[0].startswith(f"error: {page}:2:26: bytes: ")
    assert lines[-1] == f"error: {page}: unverified: left unchanged: verification could not prove that only links change"


@pytest.mark.parametrize("place", [("-o", "out.html"), ("-o", "out/"), (), ("--diff",), ("--dry-run",)], ids=" ".join)
def test_a_rewrite_that_fails_verification_is_written_nowhere(
    absolve: Runner, page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: tuple[str, ...]
) -> None:
    monkeypatch.chdir(tmp_path)
    spoilt(monkeypatch)
    done = absolve("rewrite", "--verify", page, *place)
    assert (done.status, done.out) == (3, b"")
    assert ": unverified: " in done.err
    assert [path.name for path in tmp_path.iterdir()] == [page.name]


def test_a_page_with_an_ambiguous_finding_is_verified_without_the_option(absolve: Runner, page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def guessing(*given: Any) -> list[Any]:
        return [*walker.walk(*given), Finding(AMBIGUOUS, "a browser may see something else", 0)]

    monkeypatch.setattr("absolve.document.walk.walker", lambda _media_type: guessing)
    done = absolve("rewrite", page)
    assert (done.status, done.out) == (0, ABSOLUTE)
    assert done.err == f"warning: {page}:1:1: ambiguous: a browser may see something else\n"
    spoilt(monkeypatch)
    done = absolve("rewrite", page)
    assert (done.status, done.out) == (3, b"")
    assert ": unverified: " in done.err


CHANGES = [  # options that choose and change links
    ["--remap", "http://old.example=https://new.example"], ["--kind", "image", "--remap", "http://old.example=https://new.example"],
    ["--problem", "scheme-relative", "--url", "http://h/"], ["--remap", "@rules.csv", "--url", "http://h/"], ["--url-map", "urls.csv"],
]


@pytest.mark.parametrize("options", CHANGES)
def test_verify_takes_the_options_of_a_rewrite_that_choose_and_change_links(
    absolve: Runner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "urls.csv").write_text("a.html,http://h/\n")
    (tmp_path / "rules.csv").write_text("http://old.example/,https://new.example/,exact\n")
    (tmp_path / "a.html").write_text('<a href="http://old.example/">a</a><img src="http://old.example/i"><a href="//o/x">')
    absolve("rewrite", "a.html", "-o", "b.html", *options)
    assert absolve("verify", "a.html", "b.html", *options) == (0, b"", "")
    changed = (tmp_path / "b.html").read_text().replace("/i", "/j")
    (tmp_path / "b.html").write_text(changed)
    assert absolve("verify", "a.html", "b.html", *options).status == 1
