"""The JSON Schemas: every JSON that a command writes is valid, a row with another member is not."""

import json
from pathlib import Path
from typing import Any

import pytest

import absolve
from absolve.cli import main

jsonschema = pytest.importorskip("jsonschema")

ROOT = Path(__file__).parents[2]
FIXTURES = str(ROOT / "fixtures")
NEW = str(ROOT / "examples/move/new")
OLD = ["--old", str(ROOT / "examples/move/old"), "--old-url", "http://old.bay.example/"]
ON_DEMAND = "document,line,host,url,hreflang,file_start,file_end,problems"
SCHEMAS = ("links", "documents", "audit", "base", "changes")
RUNS = {  # arguments -> the schema of what they write
    ("links", FIXTURES, "--url", "http://h/", "-o", "rows.jsonl"): "links",
    ("links", FIXTURES, "--url", "http://h/", "--columns", ON_DEMAND, "-o", "rows.jsonl"): "links",
    ("links", FIXTURES, "--columns", "kind,scope", "-o", "rows.jsonl"): "links",
    ("documents", FIXTURES, "-o", "rows.jsonl"): "documents",
    ("documents", NEW, "--url", "http://h/", "-o", "rows.json"): "documents",
    ("audit", NEW, "--url", "https://bay.example/", *OLD, "--map", str(ROOT / "examples/move/redirects.csv"), "-o", "rows.jsonl"): "audit",
    ("base", f"{FIXTURES}/saved-page.html", f"{FIXTURES}/journal.warc", "--format", "json"): "base",
    ("rewrite", FIXTURES, "--url", "http://h/", "-o", "out", "--log", "rows.jsonl"): "changes",
}


def validator(name: str) -> Any:
    schema = absolve.schema(name)
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


@pytest.mark.parametrize("arguments", RUNS, ids=lambda arguments: f"{arguments[0]} {arguments[-1]}")
def test_what_a_command_writes_is_valid(arguments: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "broken.xml").write_text("<a>\n<b")
    main([*arguments, *(["-q"] if arguments[0] != "base" else [])])
    name = RUNS[arguments]
    text = (tmp_path / arguments[-1]).read_text("utf-8") if arguments[-1].startswith("rows") else capfd.readouterr().out
    found = [json.loads(line) for line in text.splitlines()] if arguments[-1].endswith("l") else json.loads(text)
    assert found
    rows, schema = [found] if name == "base" else found, validator(name)
    assert [error.message for row in rows for error in schema.iter_errors(row)] == []


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_member_that_no_column_has_is_invalid(name: str) -> None:
    wrong = {"table": "links", "other": 1}
    assert not validator(name).is_valid([wrong] if name == "base" else wrong)
    assert absolve.schema(name)["version"] == 1


def test_a_word_that_no_column_has_is_invalid() -> None:
    row = absolve.links(b"<a href=http://h/>")[0]._asdict() | {"base_layer": "default"}
    assert validator("links").is_valid(row)
    assert not validator("links").is_valid(row | {"kind": "imag"})
    assert not validator("links").is_valid(row | {"problems": ["other"]})


def test_an_unknown_schema_names_those_that_there_are() -> None:
    with pytest.raises(absolve.UsageError, match="choose from links, documents, audit"):
        absolve.schema("rows")


def test_each_format_with_a_place_for_it_has_the_version(tmp_path: Path) -> None:
    files = [tmp_path / f"l.{suffix}" for suffix in ("sqlite", "duckdb", "parquet")]
    for file in files:
        assert main(["links", FIXTURES, "-o", str(file), "-q"]) == 0
    import sqlite3

    assert sqlite3.connect(files[0]).execute("PRAGMA user_version").fetchone() == (1,)
    duckdb = pytest.importorskip("duckdb")
    comments = duckdb.connect(str(files[1])).execute("SELECT comment FROM duckdb_tables()").fetchall()
    assert {comment for (comment,) in comments} == {"absolve schema 1"}
    assert pytest.importorskip("pyarrow.parquet").read_schema(files[2]).metadata[b"absolve.schema"] == b"1"
    assert absolve.arrow.links(b"<a href=x>").schema.metadata == {b"absolve.schema": b"1"}
