"""Outputs of an audit: each is read by another program, hostile texts do no harm, files are whole or as they were."""

import csv
import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import duckdb
import jsonschema
import openpyxl
import pytest
from lxml import etree
from made_tables import HOSTILE, made
from pyarrow import parquet

from absolve.audit import outputs, tables, verdicts
from absolve.audit.outputs import baseline
from absolve.audit.outputs.findings import document_uri
from absolve.cli import main
from absolve.core.errors import UsageError

SCHEMAS = Path(__file__).parent / "schemas"
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")


@pytest.fixture(scope="module")
def audit() -> Iterator[duckdb.DuckDBPyConnection]:
    with closing(made(300, hostile=True)) as connection:
        yield connection


def written(audit: duckdb.DuckDBPyConnection, path: Path) -> bytes:
    assert outputs.write(audit, path) == [path]
    return path.read_bytes()


def count(audit: duckdb.DuckDBPyConnection, table: str) -> int:
    return int(audit.execute(f"SELECT count(*) FROM {table}").fetchall()[0][0])  # noqa: S608


FORMATS = {
    "a.SQLITE": "sqlite", "a.db": "sqlite", "a.duckdb": "duckdb", "a.parquet": "parquet", "a.csv": "csv", "a.sarif": "sarif",
    "a.sarif.json": "sarif", "a.xml": "junit", "a.md": "markdown", "a.github": "github", "a.xlsx": "xlsx", "a.jsonl": "jsonl",
    "a.json": "json", "a.tsv": "tsv", "report.html": "html",
}  # fmt: skip


def test_the_suffix_names_the_format(tmp_path: Path, audit: duckdb.DuckDBPyConnection) -> None:
    assert {name: outputs.detect_format(name) for name in FORMATS} == FORMATS
    with pytest.raises(UsageError, match="suffix"):
        outputs.write(audit, tmp_path / "a.ods")
    with pytest.raises(UsageError, match="standard output"):
        outputs.write(audit, Path("-"), outputs.Style(format="sqlite"))
    assert not list(tmp_path.iterdir())
    for name in ("a.sarif", "a.sqlite", "a.jsonl", "a.md", "a.xml", "a.github", "a.xlsx"):
        assert b"secret@" not in written(audit, tmp_path / name), "user information is masked"


@pytest.mark.parametrize("name", ["a.sqlite", "a.duckdb"])
def test_a_database_has_all_tables_with_all_rows_and_a_view_of_the_findings(tmp_path: Path, audit: duckdb.DuckDBPyConnection, name: str) -> None:
    written(audit, tmp_path / name)
    assert [file.name for file in tmp_path.iterdir()] == [name]
    with closing(duckdb.connect(str(tmp_path / name), read_only=True) if name == "a.duckdb" else sqlite3.connect(tmp_path / name)) as database:
        for table, columns in tables.TABLES.items():
            cursor = database.execute(f"SELECT * FROM {table}")  # noqa: S608
            assert [one for one, *_ in cursor.description] == list(columns)
            assert len(cursor.fetchall()) == count(audit, table), table
            if name == "a.duckdb":
                assert {row[0]: row[1] for row in database.execute(f"DESCRIBE {table}").fetchall()} == columns
        assert database.execute("SELECT count(*) FROM findings").fetchone() == (300,)


def test_parquet_has_a_file_for_each_table(tmp_path: Path, audit: duckdb.DuckDBPyConnection) -> None:
    files = outputs.write(audit, tmp_path / "a.parquet")
    assert [file.name for file in files] == [f"a.{table}.parquet" for table in tables.TABLES]
    assert {file.name for file in tmp_path.iterdir()} == {file.name for file in files}
    assert parquet.read_metadata(tmp_path / "a.links.parquet").num_rows == count(audit, "links")


def test_no_cell_of_a_csv_file_is_a_formula_and_no_password_is_in_it(tmp_path: Path, audit: duckdb.DuckDBPyConnection) -> None:
    outputs.write(audit, tmp_path / "a.csv")
    with (tmp_path / "a.links.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == count(audit, "links")
    assert not [cell for row in rows for cell in row.values() if cell.startswith(FORMULA) and not cell.lstrip("-").isdecimal()]
    assert "'=HYPERLINK(\"http://evil\",\"x\")" in {row["text"] for row in rows}
    assert not any("secret" in cell for row in rows for cell in row.values())


def test_json_lines_name_their_table(tmp_path: Path, audit: duckdb.DuckDBPyConnection) -> None:
    rows = [json.loads(line) for line in written(audit, tmp_path / "a.jsonl").decode().split("\n")[:-1]]
    assert json.loads(written(audit, tmp_path / "a.json")) == rows
    assert len(rows) == sum(count(audit, table) for table in tables.TABLES)
    assert {row["table"] for row in rows} == {table for table in tables.TABLES if count(audit, table)}


def test_a_workbook_opens_and_has_no_formula(tmp_path: Path, audit: duckdb.DuckDBPyConnection) -> None:
    written(audit, tmp_path / "a.xlsx")
    book = openpyxl.load_workbook(tmp_path / "a.xlsx")
    assert book.sheetnames[:3] == ["summary", "causes", "links"]
    assert book["links"].max_row == 301
    assert book["links"].freeze_panes == "A2"
    texts = set()
    for sheet in book:
        for row in sheet.iter_rows():
            for cell in row:
                assert cell.data_type in {"s", "n", "inlineStr"}
                texts.add(cell.value)
    assert HOSTILE[4] in texts  # =HYPERLINK, as text
    assert r"\x1b[2J\x1b[31mred\x1b]0;title\x07" in texts


def sarif(path: Path) -> dict[str, Any]:
    log = json.loads(path.read_bytes())
    schema = json.loads((SCHEMAS / "sarif-2.1.0.json").read_bytes())
    jsonschema.Draft4Validator(schema).validate(log)
    run: dict[str, Any] = log["runs"][0]
    return run


def test_sarif_is_valid_with_a_rule_a_verdict_and_a_result_a_finding(tmp_path: Path, audit: duckdb.DuckDBPyConnection) -> None:
    written(audit, tmp_path / "a.sarif")
    run = sarif(tmp_path / "a.sarif")
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert set(rules) == set(verdicts.VERDICTS) - {*verdicts.QUIET, *verdicts.FINE}
    assert all(rules[result["ruleIndex"]] == result["ruleId"] for result in run["results"])
    assert sum(1 for result in run["results"] if result["ruleId"] in verdicts.LINK_VERDICTS) == 300
    fixes = [result["fixes"][0]["artifactChanges"][0] for result in run["results"] if "fixes" in result]
    assert fixes
    assert all(change["replacements"][0]["deletedRegion"]["byteLength"] > 0 for change in fixes)


def test_a_sarif_log_without_results_is_valid(tmp_path: Path) -> None:
    with closing(duckdb.connect()) as empty:
        for table in tables.TABLES:
            empty.execute(tables.created(table))
        for name in ("a.sarif", "a.xml", "a.md", "a.github", "a.xlsx"):
            written(empty, tmp_path / name)
        assert sarif(tmp_path / "a.sarif")["results"] == []


def test_fingerprints_are_unique_and_do_not_depend_on_lines(tmp_path: Path) -> None:
    def fingerprints(connection: duckdb.DuckDBPyConnection) -> list[str]:
        written(connection, tmp_path / "a.sarif")
        return [result["partialFingerprints"]["absolveFinding/v1"] for result in sarif(tmp_path / "a.sarif")["results"]]

    with closing(made(200)) as connection:
        before = fingerprints(connection)
        connection.execute("UPDATE links SET line = line + 7, start = start + 99, \"end\" = \"end\" + 99, document = 'x/' || document")
        connection.execute("UPDATE places SET document = 'x/' || document")
        connection.execute("UPDATE pages SET document = 'x/' || document")
        assert fingerprints(connection) == before
    assert len(set(before)) == len(before)


def test_the_fixes_of_sarif_write_what_the_command_writes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    body = '<a href="About.html">x</a><a href=About.html>ü</a><img srcset="logo(1).png 1x, About.html 2x">&amp;'
    files = {"index.html": f"<!DOCTYPE html><meta charset=utf-8><title>x</title>{body}<p style='background:url(About.html)'>", "about.html": "", "logo(1).png": ""}
    files["a&b.html"] = '<!DOCTYPE html><a href="A&amp;b.html">x</a><a href="Logo(1).png">y</a>'
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
        for file, text in files.items():
            (tmp_path / name / file).write_text(text, "utf-8")
    for arguments in (("one", "-o", "a.sarif"), ("other", "--fix")):
        main(["audit", "--quiet", "--url", "https://h.example/", *arguments])
    applied = 0
    for result in reversed(sarif(tmp_path / "a.sarif")["results"]):  # from the end of each file
        for change in (change for fix in result.get("fixes", ()) for change in fix["artifactChanges"]):
            path = tmp_path / unquote(change["artifactLocation"]["uri"])
            for replacement in change["replacements"]:
                start, length = (replacement["deletedRegion"][name] for name in ("byteOffset", "byteLength"))
                data = path.read_bytes()
                path.write_bytes(data[:start] + replacement["insertedContent"]["text"].encode() + data[start + length :])
                applied += 1
    assert applied >= 4
    assert (tmp_path / "one/index.html").read_bytes() != files["index.html"].encode()
    left = (tmp_path / "one/a&b.html").read_bytes().replace(b"A&amp;b.html", b"a&amp;b.html")  # written by the command only
    assert left == (tmp_path / "other/a&b.html").read_bytes()
    assert (tmp_path / "one/index.html").read_bytes() == (tmp_path / "other/index.html").read_bytes()


URIS = {
    "new/a b.html": "new/a%20b.html", "./new/ü.html": "new/%C3%BC.html", "https://h/a?b": "https://h/a?b",
    "a:b.html": "a%3Ab.html", "/nowhere/a#b.html": "file:///nowhere/a%23b.html",
}  # fmt: skip


def test_documents_are_uris() -> None:
    assert {document: document_uri(document) for document in URIS} == URIS


def test_junit_is_valid_and_its_numbers_agree(tmp_path: Path, audit: duckdb.DuckDBPyConnection) -> None:
    root = etree.fromstring(written(audit, tmp_path / "a.xml"))
    etree.XMLSchema(etree.parse(SCHEMAS / "junit-10.xsd")).assertValid(root)
    suites = root.findall("testsuite")
    assert {"/docs/", "/blog/"} <= {suite.get("name") for suite in suites}
    for suite in suites:
        assert int(suite.get("tests", "")) == len(suite.findall("testcase"))
        assert int(suite.get("failures", "")) == len(suite.findall("testcase/failure"))
    assert root.findall(".//failure")
    assert not [case for case in root.iterfind(".//testcase[failure]") if case.get("name") in {"insecure", "orphan"}]


def test_github_annotations_cannot_be_forged(tmp_path: Path, audit: duckdb.DuckDBPyConnection) -> None:
    lines = written(audit, tmp_path / "a.github").decode().split("\n")[:-1]
    assert len(lines) == count(audit, "causes")
    assert all(line.startswith(("::error file=", "::warning file=", "::notice file=")) for line in lines)
    assert not any("\x1b" in line or "\r" in line for line in lines)


def test_texts_of_pages_are_no_markup_in_markdown(tmp_path: Path, audit: duckdb.DuckDBPyConnection) -> None:
    text = written(audit, tmp_path / "a.md").decode()
    assert text.startswith("## ❌ This site cannot switch yet.")
    assert "`` `a` \\| <b>b</b> [x](javascript:1) ``" in text
    assert "\x1b" not in text
    assert "\u202e" not in text
    rows = [line for line in text.split("\n") if line.startswith("| `")]
    assert all(line.replace("\\|", "").count("|") == 6 for line in rows)


@pytest.mark.parametrize("name", [f"l'i[n]k?*.{form}" for form in ("sqlite", "duckdb", "parquet", "csv", "jsonl", "xlsx", "sarif")])
def test_a_run_against_itself_has_nothing_new(tmp_path: Path, audit: duckdb.DuckDBPyConnection, name: str) -> None:
    outputs.write(audit, tmp_path / name)
    assert baseline.compare(audit.cursor(), tmp_path / name) == (0, 0)
    assert count(audit, "baseline") == 0
    audit.execute("DROP TABLE baseline; DROP TABLE news")


@pytest.mark.parametrize("form", ["sqlite", "csv", "jsonl", "xlsx", "sarif"])
def test_a_finding_in_a_renamed_file_is_not_new(tmp_path: Path, form: str) -> None:
    with closing(made(50, ok=40)) as connection:
        outputs.write(connection, tmp_path / f"a.{form}")
        (first,) = connection.execute("SELECT min(document) FROM links WHERE verdict = 'broken'").fetchall()[0]
        for table in ("links", "pages", "places"):
            connection.execute(f"UPDATE {table} SET document = 'renamed.html' WHERE document = ?", [first])  # noqa: S608 - names of ours
        assert baseline.compare(connection, tmp_path / f"a.{form}") == (0, 0)


def test_formats_list_what_is_new_first_and_apart_and_the_baseline_has_what_is_healed(tmp_path: Path) -> None:
    with closing(made(50, ok=40)) as connection:
        outputs.write(connection, tmp_path / "a.sqlite")
        (last,) = connection.execute("SELECT max(rowid) FROM links WHERE verdict = 'external'").fetchall()[0]
        connection.execute("UPDATE links SET verdict = 'broken', reference = 'new.html' WHERE rowid = ?", [last])
        connection.execute("UPDATE links SET verdict = 'ok' WHERE rowid = (SELECT min(rowid) FROM links WHERE verdict = 'broken')")
        connection.execute("UPDATE links SET line = line + 1")
        assert baseline.compare(connection, tmp_path / "a.sqlite") == (1, 1)
        results = json.loads(written(connection, tmp_path / "b.sarif"))["runs"][0]["results"]
        assert [result["baselineState"] for result in results] == ["new", *["unchanged"] * (len(results) - 2), "absent"]
        root = etree.fromstring(written(connection, tmp_path / "b.xml"))
        assert [case.get("name") for case in root.iterfind(".//testcase[failure]")] == ["broken"]
        assert {line[:7] for line in written(connection, tmp_path / "b.github").decode().splitlines()} <= {"::error", "::notic"}
        text = written(connection, tmp_path / "b.md").decode()
        assert text.startswith("## ❌ 1 finding is new")
        assert "| new | 1 |" in text
        assert text.index("new.html") < text.index("### Verdicts")
        outputs.write(connection, tmp_path / "b.sqlite")
    with closing(sqlite3.connect(tmp_path / "b.sqlite")) as database:
        found = database.execute("SELECT change, table_name, verdict FROM baseline ORDER BY change").fetchall()
        assert found == [("healed", "links", "broken"), ("new", "links", "broken")]


@pytest.mark.parametrize("name", ["no.sqlite", "a.md", "text.sqlite", "text.duckdb", "old.sqlite", "no.parquet"])
def test_what_is_no_earlier_result_is_a_usage_error(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    if name.startswith("text"):
        path.write_text("no database")
    if name.startswith("old"):
        with closing(sqlite3.connect(path)) as database:
            database.executescript("CREATE TABLE summary (name, value); INSERT INTO summary VALUES ('schema_version', '0')")
    with closing(made(5)) as connection, pytest.raises(UsageError, match=name):
        baseline.compare(connection, path)


@pytest.mark.parametrize("name", ["a.sqlite", "a.sarif", "a.parquet"])
def test_a_failed_write_leaves_the_earlier_files(tmp_path: Path, name: str) -> None:
    with closing(made(20)) as connection:
        files = outputs.write(connection, tmp_path / name)
        before = {file: file.read_bytes() for file in files}
        connection.execute("DROP TABLE links")
        connection.execute("CREATE VIEW links AS SELECT CAST('x' AS INT) AS \"line\", 'x' AS verdict")
        with pytest.raises(duckdb.Error):
            outputs.write(connection, tmp_path / name)
        assert {file: file.read_bytes() for file in tmp_path.iterdir()} == before
