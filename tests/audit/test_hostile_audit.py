"""Hostile inventories, queries and baselines: an audit opens no file that nobody named, and reports what it cannot read."""

import gzip
import json
import os
import re
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from audited import written
from made_tables import made
from pyarrow import parquet

from absolve.audit import outputs
from absolve.audit.outputs import baseline
from absolve.audit.tables import TABLES
from absolve.cli import audit as cli_audit
from absolve.cli import main, queries
from absolve.core.errors import UsageError
from absolve.core.printable import message as shown

URL = "https://new.example/"


class Audit:
    """A small site, inventories of it, and the command."""

    def __init__(self, folder: Path, capture: pytest.CaptureFixture[str]) -> None:
        self.folder, self._capture = folder, capture
        index, other = "<title>i</title><a href=a.html>a</a> <a href=missing.html>m</a>", "<title>a</title><p>text of a page that is long enough"
        self.new = written(folder / "new", {"index.html": index, "a.html": other})

    def inventory(self, name: str, command: str = "documents") -> Path:
        assert main([command, str(self.new), "--url", URL, "-o", str(self.folder / name)]) in {0, 1}
        return self.folder / name

    def __call__(self, *arguments: object) -> tuple[int, str, str]:
        self._capture.readouterr()
        status = main(["audit", *map(str, arguments)])
        out, err = self._capture.readouterr()
        assert "Traceback" not in err
        assert "internal-error" not in err
        return status, out, err


@pytest.fixture
def audit(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Audit:
    monkeypatch.chdir(tmp_path)
    return Audit(tmp_path, capsys)


QUERIES = [
    "SELECT * FROM read_csv('{secret}')", "FROM read_text('{secret}')", "FROM '{secret}.csv'", "FROM glob('/*')",
    "ATTACH '{secret}.db'", "COPY links TO '{secret}.out'", "INSTALL httpfs", "LOAD httpfs", "DROP TABLE urls",
    "SELECT 1; SELECT 2", "", ";", "SELECT error('x')", "SELECT ?", "SET memory_limit = '1GB'", "SELECT '",
    "FROM options", "FROM read_parquet('https://x.invalid/a.parquet')", "SELEC", "FROM scopes",
]


def test_a_query_reads_the_tables_and_nothing_else(audit: Audit, monkeypatch: pytest.MonkeyPatch) -> None:
    secret = audit.folder / "secret"
    secret.write_text("a,b\n1,2\n")
    before = sorted(audit.folder.iterdir())
    refused: list[str] = []
    ask = cli_audit._ask

    def checked(connection: Any, sql: str, options: Any) -> None:
        queries.check(sql, {*TABLES, "documents", "findings"})
        ask(connection, sql, options)

    def ask_all(connection: Any, sql: str, options: Any) -> None:
        for query in (one.format(secret=secret) for one in QUERIES):
            with pytest.raises(UsageError, match="--sql"):
                checked(connection, query, options)
            refused.append(query)
        ask(connection, sql, options)

    monkeypatch.setattr(cli_audit, "_ask", ask_all)
    status, out, _ = audit(audit.new, "--url", URL, "--sql", "SELECT count(*) FROM links")
    assert (status, len(refused), "1\t2" in out, out.splitlines()[-1]) == (1, len(QUERIES), False, "2")
    assert sorted(audit.folder.iterdir()) == before
    assert "no result table" in audit(audit.new, "--url", URL, "--sql", "FROM shut")[2]


def test_a_query_may_read_links_that_stay_in_a_parquet_file(audit: Audit) -> None:
    names = audit.inventory("l'i[n]ks*.parquet", "links"), audit.inventory("documents.parquet")
    _, out, _ = audit(*names, "--sql", "SELECT reference FROM links ORDER BY 1")
    assert out == "reference\na.html\nmissing.html\n"


def test_a_view_in_an_inventory_is_not_run(audit: Audit) -> None:
    path = audit.inventory("made.duckdb")
    hostile = audit.folder / "hostile.duckdb"
    secret = audit.folder / "secret"
    secret.write_text("secret words")
    with closing(duckdb.connect(str(hostile))) as database:
        database.execute(f"ATTACH '{path}' AS made (READ_ONLY)")
        database.execute("CREATE SCHEMA other; CREATE TABLE other.documents AS FROM made.documents")
        database.execute("CREATE TABLE kept AS FROM made.documents; DETACH made")
        title = f"(SELECT content FROM read_text('{secret}')) AS title"  # noqa: S608
        database.execute(f"CREATE VIEW documents AS SELECT * REPLACE ({title}) FROM kept")  # noqa: S608
    status, out, err = audit(hostile, "--sql", "SELECT title FROM documents")
    assert status == 2
    assert "no-table" in err
    assert "secret" not in out


@pytest.mark.parametrize("change", ["url = x'ff00'", "size = 'abc'", "anchors = 5"])
def test_wrong_types_in_sqlite_are_reported(audit: Audit, change: str) -> None:
    path = audit.inventory("made.sqlite")
    with closing(sqlite3.connect(path)) as database:
        database.execute(f"UPDATE documents SET {change}")  # noqa: S608
        database.commit()
    status, _, err = audit(path, audit.new, "--url", URL)
    is_readable = change.startswith("anchors")
    assert (status, "made.sqlite: unreadable" in err) == ((1, False) if is_readable else (3, True))


@pytest.mark.parametrize("column", ["problems", "line"])
def test_wrong_types_in_parquet_are_reported_and_the_rest_is_judged(audit: Audit, column: str) -> None:
    path = audit.inventory("links.parquet", "links")
    table = parquet.read_table(path)
    wrong = pa.array([1.5] * len(table))
    parquet.write_table(table.set_column(table.column_names.index(column), column, wrong), path)
    status, out, err = audit(path, audit.new, "--url", URL)
    assert status == 3
    assert f"links.parquet: other-version: its table links is of another version of absolve: {column} is" in err
    assert "broken" in out


def test_a_damaged_parquet_file_is_named(audit: Audit) -> None:
    path = audit.inventory("links.parquet", "links")
    parquet.write_table(parquet.read_table(path), path, compression="none", use_dictionary=False)
    data = bytearray(path.read_bytes())
    at = data.index(b"missing.html")
    data[at - 300 : at + 300] = b"\xff" * 600
    path.write_bytes(data)
    status, _, err = audit(path, audit.new, "--url", URL)
    assert (status in {1, 2}, "links.parquet" in err) == (True, True)


def test_files_that_an_inventory_names_are_opened_only_below_the_working_folder(audit: Audit) -> None:
    old = audit.inventory("old.sqlite")
    with closing(sqlite3.connect(old)) as database:
        database.execute("UPDATE documents SET document = '/dev/zero', digest = 'x' || digest")
        database.commit()
    status, _, err = audit(audit.new, "--url", URL, "--old", old, "--old-url", "http://old.example/")
    assert status == 3
    assert "no document of OLD" in err
    with closing(sqlite3.connect(old)) as database:
        database.execute("UPDATE documents SET url = replace(url, 'https://new', 'http://old')")
        database.commit()
    status, _, err = audit(audit.new, "--url", URL, "--old", old, "--old-url", "http://old.example/")
    assert status == 1
    assert "/dev/zero: outside: the contents of 1 files that an inventory names are not read" in err


FORGED = [
    ("UPDATE summary SET value = '\x1b]0;x\x07' WHERE name = 'schema_version'", "the result of version \\x1b]0;x\\x07 of an audit"),
    ("UPDATE summary SET value = printf('%.*c', 1000000, 'x') WHERE name = 'schema_version'", "the result of version xxx"),
    ("DELETE FROM summary", "the result of no version of an audit"),
    ("DROP TABLE summary", "it has no table summary"),
    ("DROP TABLE links; CREATE TABLE links (a)", "no such column: verdict"),
    ("UPDATE links SET verdict = 'broken', reference = CAST(x'ff' AS TEXT)", "Could not decode to UTF-8"),
    ("UPDATE links SET verdict = 'broken', reference = x'00ff'", "table links, finding 1: a cell of a text column"),
    ("ALTER TABLE links ADD COLUMN more AS (zeroblob(900000000)); UPDATE rules SET text = ''", None),
    (
        """DROP TABLE rules; CREATE TABLE rules (file, text AS (hex(zeroblob(40000000))), problem, line, finding);
        INSERT INTO rules (file, problem) VALUES ('f', 'p')""",
        "string or blob too big",
    ),
]


@pytest.mark.parametrize(("statements", "message"), FORGED, ids=range(len(FORGED)))
def test_a_forged_baseline_is_a_short_usage_error(tmp_path: Path, statements: str, message: str | None) -> None:
    with closing(made(5)) as connection:
        outputs.write(connection, tmp_path / "a.sqlite")
        with closing(sqlite3.connect(tmp_path / "a.sqlite")) as database:
            database.executescript(statements)
        if message is None:
            baseline.compare(connection, tmp_path / "a.sqlite")
            return
        with pytest.raises(UsageError) as error:
            baseline.compare(connection, tmp_path / "a.sqlite")
    assert "a.sqlite: " in str(error.value)
    assert message in shown(str(error.value))
    assert len(str(error.value)) < 900


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
def test_a_baseline_that_is_no_result_of_an_audit_is_a_usage_error(audit: Audit) -> None:
    """A pipe is not waited for, a view is not run, deep JSON takes no stack."""
    for name in ("p.sqlite", "p.duckdb", "p.summary.parquet"):
        os.mkfifo(audit.folder / name)
    for name in ("a.sarif", "a.jsonl"):
        (audit.folder / name).write_text("[" * 200_000)
    (audit.folder / "secret").write_text("secret words")
    with closing(duckdb.connect(str(audit.folder / "hostile.duckdb"))) as database:
        for table in ("links", "urls", "pages", "rules", "summary"):
            database.execute(f"CREATE VIEW {table} AS FROM read_text('{audit.folder}/secret')")
    wrong = {
        "p.sqlite": "no such file: p.sqlite", "p.duckdb": "no such file: p.duckdb", "p.parquet": "no such file: p.summary.parquet",
        "a.sarif": "a.sarif: ", "a.jsonl": "a.jsonl: ", "hostile.duckdb": "this is not the result of an audit",
    }  # fmt: skip
    with closing(made(5)) as connection:
        for name, message in wrong.items():
            with pytest.raises(UsageError, match=re.escape(message)):
                baseline.compare(connection, Path(name))
    status, _, err = audit(audit.new, "--url", URL, "--baseline", "hostile.duckdb")
    assert (status, "this is not the result of an audit" in err) == (2, True)


def test_each_line_that_is_no_url_is_named_and_the_rest_is_judged(audit: Audit) -> None:
    path = audit.folder / "old.txt"
    path.write_bytes(
        b"\xef\xbb\xbfhttp://old.example/a.html\r\n# comment\njavascript:alert(1)\nmailto:a@b.example\nC:\\x\n"
        b"http://old.example/\xff\n\x1b[31mred\nhttp://old.example/b\x0bc\n//x/y\nhttp://old.example/"
        + b"y" * (3 << 20)
        + b"\nhttp://old.example/last\n"
    )
    status, out, err = audit(audit.new, "--url", URL, "--old", path, "--old-url", "http://old.example/", "--sql", "SELECT url FROM urls")
    assert status == 3
    for line in (3, 4, 5, 6, 7, 10):
        assert f"old.txt:{line}: no-url: " in err
    assert "\x1b" not in err
    assert "http://old.example/last" in out


def test_a_compressed_sitemap_is_read_up_to_a_limit(audit: Audit, limited: Callable[..., list[str]]) -> None:
    path = audit.folder / "bomb.xml.gz"
    with gzip.open(path, "wb") as file:
        file.write(b"<urlset>" + b" " * (64 << 20))
    arguments = (audit.new, "--url", URL, "--old", path, "--old-url", "http://old.example/")
    status, _, err = audit(*arguments, *limited(max_decompressed=1 << 20))
    assert status == 2
    assert "bomb.xml.gz: too-large: this list has more than" in err
    path.write_bytes(path.read_bytes()[:8000] + b"\0" * 400)
    assert "bomb.xml.gz: unreadable" in audit(*arguments)[2]


def test_a_url_with_very_many_folders_takes_no_quadratic_time(audit: Audit) -> None:
    deep = "/b" * 200_000
    (audit.new / "deep.html").write_text(f"<a href='{deep}/x'>1</a><a href='{deep}/y'>2</a>")
    started = time.process_time()
    _, out, _ = audit(audit.new, "--url", URL, "--sql", "SELECT count(DISTINCT cause) FROM links WHERE cause <> ''")
    assert time.process_time() - started < 20
    assert out.splitlines()[1] == "2"


def test_a_sitemap_loc_that_cannot_be_read_is_named_and_the_rest_is_judged(audit: Audit) -> None:
    path = audit.folder / "old.xml"
    path.write_text(
        "<!DOCTYPE urlset [<!ENTITY e SYSTEM 'file:///etc/passwd'><!ENTITY i 'http://old.example/i'>]>\n"
        "<urlset><url><loc>http://old.example/a</loc></url>\n<url><loc>http://old.example/&e;</loc></url>\n"
        "<url><loc>&i;</loc></url></urlset>"
    )
    arguments = (audit.new, "--url", URL, "--old", path, "--old-url", "http://old.example/", "--sql", "SELECT url FROM urls")
    status, out, err = audit(*arguments)
    assert status == 3
    assert out.splitlines() == ["url", "http://old.example/a", "http://old.example/i"]
    assert "old.xml:3:11: no-url: the entity &e; is not known here" in err
    assert "root:" not in err


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="there is no device without an end")
def test_a_map_is_read_up_to_a_limit(audit: Audit) -> None:
    started = time.process_time()
    status, _, err = audit(audit.new, "--url", URL, "--map", "/dev/zero", "--max-size", 1 << 20)
    assert status == 2
    assert "/dev/zero: too-large: this file has more than 1,048,576 bytes (--max-size)" in err
    assert time.process_time() - started < 20


@pytest.mark.parametrize(("arguments", "message"), [
    ("-o none/r.html", "there is no folder none"), ("-o none/r.csv", "there is no folder none"), ("-o r.html -o ./r.html", "are the same file"),
    ("-o r.csv -o r.links.csv --format jsonl", None), ("-o r.csv --map r.rules.csv", "is also an input"),
    ("-o r.csv --write-map r.rules.csv", "are the same file"), ("-o r.html --old r.rules.csv --map r.html", "is also an input"),
    ("-o r.html --ignore @r.html", "is also an input"), ("-o r.html --live external --cookies r.html", "is also an input"),
])
def test_outputs_that_would_destroy_something_are_refused_before_the_run(audit: Audit, arguments: str, message: str | None) -> None:
    for name in ("r.rules.csv", "r.html"):
        (audit.folder / name).write_text("/a,/b\n")
    status, _, err = audit(audit.new, "--url", URL, *arguments.split())
    if message is None:
        assert status == 1
        return
    assert status == 2
    assert message in err
    assert (audit.folder / "r.rules.csv").read_text() == (audit.folder / "r.html").read_text() == "/a,/b\n"


@pytest.mark.parametrize("form", ["sqlite", "duckdb"])
def test_a_database_never_replaces_a_device(audit: Audit, form: str) -> None:
    pipe = audit.folder / "pipe"
    os.mkfifo(pipe)
    status, _, err = audit(audit.new, "--url", URL, "-o", pipe, "--format", form)
    assert status == 3
    assert "pipe: unwritable: this is not a regular file" in err
    assert pipe.is_fifo()


def test_no_output_has_a_password_or_a_link_of_its_own_or_moves_the_cursor_of_a_terminal(audit: Audit) -> None:
    hostile = "x\x9b31m\u202e\x7f\xe9"
    links = f"<a href='{hostile}'>{hostile}</a><a href='[c](javascript:alert(1))'>x</a>"
    (audit.new / f"{hostile}.html").write_text(f"<meta charset=utf-8><title>{hostile}</title>{links}")
    names = [f"r.{suffix}" for suffix in ("html", "md", "sqlite", "jsonl", "json", "github", "sarif", "xml")]
    audit(audit.new, "--url", "https://user:passw@new.example/", *(word for name in names for word in ("-o", name)))
    for name in names:
        data = (audit.folder / name).read_bytes()
        assert b"passw@" not in data, name
        assert name.endswith("sqlite") or not set("\x1b\x9b\u202e\x7f") & set(data.decode()), name
    results = json.loads((audit.folder / "r.sarif").read_text())["runs"][0]["results"]
    assert any(r"\[c\](javascript:alert(1))" in result["message"]["text"] for result in results)
    assert not any(re.search(r"(?<!\\)\](?=\()", result["message"]["text"]) for result in results)
    lines = (audit.folder / "r.jsonl").read_text().split("\n")[:-1]
    assert hostile in {json.loads(line).get("reference") for line in lines}
    assert any(r"x\u009b31m\u202e\u007fé" in line for line in lines)
