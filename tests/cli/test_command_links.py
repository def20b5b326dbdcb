"""`absolve links`: the inventory, to stdout or a file."""

import csv
import io
import json
from pathlib import Path

import pytest
from command_runner import FIXTURES, PAGE, PROFILE_WORDS, Runner

import absolve as library
from absolve.document.entity import Entity
from absolve.document.walk import Settings, walk
from absolve.inventory.columns import COLUMNS


def test_an_empty_file_has_no_rows_and_its_table_is_a_header(absolve: Runner, tmp_path: Path) -> None:
    (tmp_path / "empty.html").touch()
    assert absolve("links", tmp_path / "empty.html").out == b""
    assert absolve("links", tmp_path / "empty.html", "--format", "csv").lines == [",".join(COLUMNS)]


def test_json_lines_are_the_rows_of_the_library(absolve: Runner) -> None:
    path = FIXTURES / "saved-page.html"
    rows = [row._asdict() for row in library.links(path.read_bytes(), name=str(path))]
    assert [json.loads(line) for line in absolve("links", path).lines] == rows
    assert len(rows) > 30


def test_the_suffix_selects_the_format_and_the_option_overrides_it(absolve: Runner, page: Path, tmp_path: Path) -> None:
    for name, options, start in (
        ("out.jsonl", (), '{"document"'),
        ("out.CSV", (), "document,"),
        ("out.txt", ("--format", "csv"), "document,"),
        ("other.csv", ("--format", "jsonl"), '{"document"'),
    ):
        assert absolve("links", page, "-o", tmp_path / name, *options) == (0, b"", "")
        assert (tmp_path / name).read_text("utf-8").startswith(start)


def test_the_rows_of_all_inputs_are_in_one_table(absolve: Runner, page: Path) -> None:
    done = absolve("links", page, "-", "--format", "csv", stdin=PAGE)
    assert [row["document"] for row in csv.DictReader(io.StringIO(done.out.decode()))] == [str(page)] * 2 + ["-"] * 2


def test_unreadable_inputs_are_reported_and_the_rest_is_listed(absolve: Runner, page: Path, tmp_path: Path) -> None:
    (tmp_path / "binary").write_bytes(b"\x7fELF\x02\x01\x01\x00\x00\x00")
    done = absolve("links", tmp_path / "binary", tmp_path / "none", page)
    assert (done.status, len(done.lines)) == (3, 2)
    assert [line.split(": ")[2] for line in done.err.splitlines()] == ["unknown-media-type", "not-found"]


@pytest.mark.parametrize(
    ("command", "option"),
    [*((one, option) for one in ("links", "documents", "rewrite") for option in ("--from", "--url-map")), ("rewrite", "--remap=@table")],
)
def test_a_list_or_a_table_that_is_read_is_no_output(
    absolve: Runner, page: Path, monkeypatch: pytest.MonkeyPatch, command: str, option: str
) -> None:
    monkeypatch.chdir(page.parent)
    Path("table").write_text("page.html\n" if option == "--from" else "page.html,http://h/\n")
    before = Path("table").read_bytes()
    given = {"--from": ["table"], "--url-map": ["table", "page.html"]}.get(option, ["page.html"])
    done = absolve(command, option, *given, "-o", "table", *(["-f", "csv"] if command != "rewrite" else []))
    assert (done.status, Path("table").read_bytes()) == (2, before)
    assert "table" in done.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("-o", "links.xls"), "links.xls: no format has this suffix"),
        (("--format", "xls"), "--format takes jsonl, json, csv,"),
        (("-o", "page.html", "--format", "csv"), "is also an input"),
        (("-o", "link.csv"), "is also an input"),
        (("--charset", "klingon"), "unknown charset 'klingon'"),
        (("--url", "page.html"), "absolute URL, not 'page.html'"),
        (("--url", "http://["), "absolute URL, not 'http://['"),
        (("--url", ""), "absolute URL, not ''"),
        (("--profile", "rfc2396"), f"--profile takes {PROFILE_WORDS}"),
        (("--prof", "rfc1808"), "unknown option --prof"),
    ],
    ids=str,
)
def test_wrong_usage_writes_nothing(
    absolve: Runner, page: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], message: str
) -> None:
    monkeypatch.chdir(page.parent)
    Path("link.csv").symlink_to(page)
    done = absolve("links", page, *arguments)
    assert (done.status, done.out) == (2, b"")
    assert message in done.err
    assert page.read_bytes() == PAGE


@pytest.mark.parametrize("command", ["links", "documents"])
@pytest.mark.parametrize("name", ["out.csv", "out.sqlite"])
def test_no_output_follows_a_link_in_an_input_folder(absolve: Runner, tmp_path: Path, command: str, name: str) -> None:
    """The folder may come from others, and the link lead anywhere."""
    (tmp_path / "site").mkdir()
    (tmp_path / "site/page.html").write_bytes(PAGE)
    (tmp_path / "mine.txt").write_text("mine")
    (tmp_path / "site" / name).symlink_to(tmp_path / "mine.txt")
    done = absolve(command, tmp_path / "site", "-o", tmp_path / "site" / name)
    assert done.status == 2
    assert "is behind a symbolic link in the input" in done.err
    assert (tmp_path / "mine.txt").read_text() == "mine"


@pytest.mark.parametrize(
    ("target", "place", "is_refused"),
    [
        ("elsewhere", "site/to/out.csv", True),
        ("elsewhere", "site/sub/../to/deep/out.csv", True),
        ("site/sub", "site/to/out.csv", False),
        ("elsewhere/deep", "site/to/../out.csv", True),
        ("elsewhere", "mine/out.csv", False),  # a link of the user's own
    ],
)
def test_no_list_passes_a_link_that_leads_out_of_an_input_folder(
    absolve: Runner, tmp_path: Path, target: str, place: str, is_refused: bool
) -> None:
    for folder in ("site/sub", "elsewhere/deep"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "site/page.html").write_bytes(PAGE)
    (tmp_path / "site/to").symlink_to(tmp_path / target)
    (tmp_path / "mine").symlink_to(tmp_path / "elsewhere")
    done = absolve("links", tmp_path / "site", "-o", tmp_path / place)
    assert (done.status, "is behind a symbolic link in the input" in done.err) == ((2, True) if is_refused else (0, False))
    assert [path.name for path in (tmp_path / "elsewhere").rglob("*.csv")] == (["out.csv"] if place == "mine/out.csv" else [])


def test_an_output_that_cannot_be_written_is_reported_by_name(absolve: Runner, page: Path, tmp_path: Path) -> None:
    done = absolve("links", page, "-o", tmp_path / "none" / "out.csv")
    assert (done.status, done.err) == (3, f"error: {tmp_path / 'none' / 'out.csv'}: unwritable: No such file or directory\n")


def test_an_internal_error_in_one_document_does_not_end_the_run(
    absolve: Runner, page: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def faulty(document: library.Document, settings: Settings) -> Entity:
        if document.name == "-":
            raise IndexError("out of range")
        return walk(document, settings)

    monkeypatch.setattr("absolve.run.load.walk", faulty)
    done = absolve("links", "-", page, stdin=PAGE)
    assert (done.status, len(done.lines)) == (3, 2)
    assert done.err.startswith("error: -: internal-error: a fault of absolve, please report it")
