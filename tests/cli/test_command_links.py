"""`absolve links`: the inventory, to stdout or a file."""

import json
from pathlib import Path

import pytest
from command_runner import FIXTURES, PAGE, Runner

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
        ("out.jsonl", (), '{"document"'), ("out.CSV", (), "document,"), ("out.txt", ("--format", "csv"), "document,"),
        ("other.csv", ("--format", "jsonl"), '{"document"'),
    ):
        assert absolve("links", page, "-o", tmp_path / name, *options) == (0, b"", "")
        assert (tmp_path / name).read_text("utf-8").startswith(start)


def test_an_internal_error_in_one_document_does_not_end_the_run(absolve: Runner, page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def faulty(document: library.Document, settings: Settings) -> Entity:
        if document.name == "-":
            raise IndexError("out of range")
        return walk(document, settings)

    monkeypatch.setattr("absolve.run.load.walk", faulty)
    done = absolve("links", "-", page, stdin=PAGE)
    assert (done.status, len(done.lines)) == (3, 2)
    assert done.err.startswith("error: -: internal-error: a fault of absolve, please report it")
