"""Compare with the result of an earlier run (`--baseline`): which findings are new, and which are healed.

In: the connection with the result tables, an output of the earlier run with its findings. Out: the tables `baseline`,
and `news` with the new findings. Lines and columns do not count, nor does the name of a renamed file: for example, a
broken link `b.html` stays known ten lines below, and a second one is new.
"""

from __future__ import annotations

import csv
import json
import sqlite3
from collections import Counter
from contextlib import closing
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final
from zipfile import BadZipFile

import duckdb

from absolve.audit import load
from absolve.audit.judge import insert
from absolve.audit.outputs import Style, detect_format, table_path
from absolve.audit.outputs.findings import document_uri, found
from absolve.audit.outputs.source import Source
from absolve.audit.tables import SCHEMA_VERSION
from absolve.audit.tables import TABLES as RESULTS
from absolve.audit.verdicts import FINE, QUIET, RULES_FOUND
from absolve.core.errors import UsageError, in_short
from absolve.core.printable import masked, original, printable
from absolve.rules.cells import long_cells
from absolve.tables.duckdb import CLOSED

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    Rows = list[tuple[Any, ...]]

AT_ONCE: Final = 1 << 14  # rows
_LARGEST_CELL: Final = 1 << 26  # bytes
_LONGEST: Final = 300  # characters of a reason
_COMPARED: Final = 32_000  # characters of a text; a cell of XLSX has few more
COLUMNS: Final = ("verdict", "document", "entity", "reference", "url", "detail")  # they identify a finding
PRINTS: Final = ("identity", "uri", "message")  # the same in SARIF
FORMS: Final = ("sqlite", "duckdb", "parquet", "csv", "jsonl", "xlsx", "sarif")

# Findings of each table, in those columns; `{}` is the database with a dot.
FINDINGS: Final = {
    "links": f"SELECT verdict, document, entity, reference, '', '' FROM {{}}links WHERE verdict NOT IN {QUIET}",  # noqa: S608 - names of ours
    "urls": f"SELECT verdict, '', '', '', url, '' FROM {{}}urls WHERE verdict NOT IN {FINE}",  # noqa: S608 - names of ours
    "pages": "SELECT verdict, coalesce(document, ''), '', '', coalesce(url, ''), coalesce(detail, '') FROM {}pages",
    "rules": f"SELECT verdict, '', '', text, file, coalesce(problem, '') FROM ({RULES_FOUND.format('{}rules')}) r",  # noqa: S608 - names of ours
}
TABLES: Final = ("summary", *FINDINGS)
_GONE: Final = "table_name IN ('links', 'pages') AND document NOT IN (FROM {})"
_RENAMED: Final = _GONE.format("earlier_documents"), _GONE.format("documents_now")
# Passes by the columns that must be equal: all, then fewer for findings that cannot be equal, as in renamed files.
_PASSES: Final = (
    (("table_name", *COLUMNS), "true", "true"),
    (("verdict", "document", "url"), "table_name = 'pages'", "table_name = 'pages'"),
    (("verdict", "reference", "detail"), "table_name = 'rules'", "table_name = 'rules'"),
    (("table_name", "verdict", "entity", "reference"), *_RENAMED),
)
_FINGERPRINT_PASSES: Final = (
    (("identity",), "true", "true"),
    (("verdict", "message"), "uri NOT IN (SELECT uri FROM earlier)", "uri NOT IN (SELECT uri FROM current)"),
)
_PAIR: Final = """
CREATE OR REPLACE TEMP TABLE pairs AS
WITH c AS (SELECT rowid AS one, {keys}, row_number() OVER (PARTITION BY {keys} ORDER BY start, rowid) AS nth
    FROM current WHERE NOT is_known AND {now}),
e AS (SELECT rowid AS other, {keys}, row_number() OVER (PARTITION BY {keys} ORDER BY rowid) AS nth
    FROM earlier WHERE NOT is_known AND {then})
SELECT one, other FROM c JOIN e USING ({keys}, nth);
UPDATE current SET is_known = true WHERE rowid IN (SELECT one FROM pairs);
UPDATE earlier SET is_known = true WHERE rowid IN (SELECT other FROM pairs);
"""
_TEXTS: Final = ", ".join(f"{column} VARCHAR" for column in ("table_name", *COLUMNS, *PRINTS))
_WRONG: Final = (
    *(sqlite3.Error, duckdb.Error, csv.Error, BadZipFile, OSError, LookupError, TypeError, ValueError, OverflowError),
    *(AttributeError, RecursionError),
)
_DOCUMENTS_NOW: Final = """
CREATE OR REPLACE TABLE documents_now AS SELECT DISTINCT document FROM links WHERE document IS NOT NULL
"""
_PLACES: Final = ("subject VARCHAR", "line BIGINT", "start BIGINT", "is_sure BOOLEAN")
_LISTED: Final = ", ".join(("table_name", *COLUMNS))
_RESULTS: Final = f"""
CREATE OR REPLACE TABLE baseline AS
SELECT 'new' AS change, {_LISTED} FROM current WHERE NOT is_known
UNION ALL SELECT 'healed', {_LISTED} FROM earlier WHERE NOT is_known ORDER BY ALL;
CREATE OR REPLACE TABLE news AS SELECT * FROM current WHERE NOT is_known;
DROP TABLE current; DROP TABLE earlier; DROP TABLE earlier_documents; DROP TABLE documents_now;
"""  # noqa: S608 - names of ours


def compare(connection: duckdb.DuckDBPyConnection, path: Path) -> tuple[int, int]:
    """Create the tables, and return how many findings are new, and how many are healed.

    Raise UsageError if the file is not the result of an audit by this version.
    """
    source = Source(connection, Style())
    connection = connection.cursor()
    for name in ("current", "earlier"):
        connection.execute(f"CREATE OR REPLACE TABLE {name} ({_TEXTS}, {', '.join(_PLACES)}, is_known BOOLEAN)")
    connection.execute("CREATE OR REPLACE TABLE earlier_documents (document VARCHAR)")
    connection.execute(_DOCUMENTS_NOW)
    try:
        done: Counter[str] = Counter()
        for table, rows in _earlier(path):
            if table == "documents":
                insert(connection, "earlier_documents", [tuple(map(_normal, row)) for row in rows])
            else:
                _insert(connection, table, rows, first=done[table] + 1)
                done[table] += len(rows)
    except _WRONG as error:
        reason = in_short(str(error).partition("\n")[0], _LONGEST)
        raise UsageError(f"{path}: cannot be read as the result of an earlier audit: {reason}") from error
    form = detect_format(path.name)
    insert(connection, "current", _current(source))
    for keys, now, then in _FINGERPRINT_PASSES if form == "sarif" else _PASSES:
        connection.execute(_PAIR.format(keys=", ".join(keys), now=now, then=then))
    connection.execute(_RESULTS)
    counts = dict(connection.execute("SELECT change, count(*) FROM baseline GROUP BY change").fetchall())
    return counts.get("new", 0), counts.get("healed", 0)


def _current(source: Source) -> Iterator[tuple[Any, ...]]:
    for finding in found(source):
        texts = (finding.table, *finding.key, finding.identity, document_uri(finding.document), finding.message)
        place = (finding.document, finding.line, finding.start, finding.fix is not None)
        yield (*map(_normal, texts), *place, False)


def _normal(cell: Any) -> Any:
    """Return a text in the form that all formats share: masked, escaped, cut; "" for null."""
    return printable(masked(cell))[:_COMPARED] if isinstance(cell, str) else "" if cell is None else cell


def _insert(connection: duckdb.DuckDBPyConnection, table: str, rows: Rows, *, first: int) -> None:
    """Insert findings. Raise TypeError with the place of a cell that is not text; `first` is the number of row one."""
    rest = [None] * (len(_PLACES) + len(PRINTS) * bool(table))
    try:
        insert(connection, "earlier", ((table, *map(_normal, row), *rest, False) for row in rows))
    except (TypeError, ValueError, OverflowError) as error:
        wrong = (number for number, row in enumerate(rows, first) if not all(map(_is_text, row)))
        raise TypeError(f"table {table}, finding {next(wrong, first)}: {error}") from error


def _is_text(cell: object) -> bool:
    return cell is None or isinstance(cell, str)


def _earlier(path: Path) -> Iterator[tuple[str, Rows]]:
    """Yield the name of a table and some of its findings; "" for findings with fingerprints."""
    how = detect_format(path.name)
    if how == "sqlite":
        _check_file(path)
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro&immutable=1", uri=True)) as database:
            database.execute("PRAGMA trusted_schema = OFF")
            database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LARGEST_CELL)  # a generated column may be of any size
            _check_tables(database.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall(), path)
            yield from _findings(database, path, "")
    elif how == "duckdb":
        _check_file(path)
        with closing(duckdb.connect()) as database:
            database.execute(f"ATTACH {load.quoted(load.absolute(str(path)))} AS earlier (TYPE duckdb, READ_ONLY)")
            load.seal(database, [])
            tables = "SELECT table_name FROM duckdb_tables() WHERE database_name = 'earlier' AND schema_name = 'main'"
            _check_tables(database.execute(tables).fetchall(), path)
            yield from _findings(database, path, "earlier.main.")
    elif how == "parquet":
        with closing(duckdb.connect(config=CLOSED)) as database:
            for table in TABLES:
                _check_file(table_path(path, table))
                found = load.parquet(str(table_path(path, table)))
                database.execute(f"CREATE VIEW {table} AS FROM {found}")
            yield from _findings(database, path, "")
    elif how in {"csv", "jsonl", "xlsx"}:
        with closing(sqlite3.connect(":memory:")) as database:
            _fill(database, {"csv": _csv_rows, "jsonl": _jsonl_rows, "xlsx": _xlsx_rows}[how](path))
            yield from _findings(database, path, "")
    elif how in FORMS:
        _check_file(path)
        yield "", list(_results(json.loads(path.read_text("utf-8"))))
    else:
        raise UsageError(f"{path}: a baseline is an earlier output with all findings: {', '.join(FORMS)}")


def _fill(database: sqlite3.Connection, rows: Iterable[tuple[str, dict[str, Any]]]) -> None:
    """Insert the rows of tables, each with its name, into an empty database; an empty text becomes NULL."""
    for table in TABLES:
        database.execute(f"CREATE TABLE {table} ({', '.join(map(_column, RESULTS[table]))})")
    for table, some in groupby(rows, lambda row: row[0]):
        if table in TABLES:
            names = [name for name, kind in RESULTS[table].items() if kind == "VARCHAR"]
            insertion = f"INSERT INTO {table} ({', '.join(map(_column, names))}) VALUES ({', '.join('?' * len(names))})"  # noqa: S608 - names of ours
            database.executemany(insertion, ([row.get(name) or None for name in names] for _, row in some))


def _column(name: str) -> str:
    return f'"{name}"'


def _csv_rows(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    for table in TABLES:
        _check_file(table_path(path, table))
        with table_path(path, table).open(encoding="utf-8", newline="") as file, long_cells(_LARGEST_CELL):
            for row in csv.DictReader(file):
                yield table, {name: original(cell) for name, cell in row.items() if isinstance(cell, str)}


def _jsonl_rows(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    _check_file(path)
    with path.open("rb") as file:
        for line in file:
            row = json.loads(line)
            yield str(row["table"]), row


def _xlsx_rows(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    from openpyxl import load_workbook

    _check_file(path)
    with closing(load_workbook(path, read_only=True)) as book:
        for sheet in book.worksheets:
            rows = sheet.iter_rows(values_only=True)
            names = next(rows, ())
            yield from ((sheet.title.partition(" ")[0], dict(zip(names, row, strict=False))) for row in rows)


def _results(log: Any) -> Iterator[tuple[Any, ...]]:
    """Yield the findings in a SARIF log: for example, `ruleId` "broken" with its `partialFingerprints`."""
    for result in (result for run in log["runs"] for result in run["results"]):
        if result.get("baselineState") != "absent":
            uri = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
            verdict, message = result["ruleId"], result["message"]["text"]
            identity = result["partialFingerprints"]["absolveFinding/v1"]
            yield verdict, uri, "", "", "", message, identity, uri, message


def _check_file(path: Path) -> None:
    """Raise FileNotFoundError unless a path is a regular file: to open a pipe would wait for a writer."""
    if not path.is_file():
        raise FileNotFoundError(f"no such file: {path}")


def _check_tables(found: list[tuple[str]], path: Path) -> None:
    """Raise UsageError unless all tables are there: a view of this name could read any file."""
    missing = [table for table in TABLES if (table,) not in found]
    if missing:
        raise UsageError(f"{path}: this is not the result of an audit: it has no table {missing[0]}")


def _findings(database: Any, path: Path, where: str) -> Iterator[tuple[str, Rows]]:
    _check(database, path, where)
    for table, select in {**FINDINGS, "documents": "SELECT DISTINCT document FROM {}links"}.items():
        cursor = database.execute(select.format(where))
        while rows := cursor.fetchmany(AT_ONCE):
            yield table, rows


def _check(database: Any, path: Path, where: str) -> None:
    summary = dict(database.execute(f"SELECT name, value FROM {where}summary").fetchall())  # noqa: S608 - names of ours
    version = summary.get("schema_version")
    if version != str(SCHEMA_VERSION):
        found = "no version" if version is None else f"version {in_short(str(version), 20)}"
        raise UsageError(f"{path}: the result of {found} of an audit, not {SCHEMA_VERSION}: audit again")
