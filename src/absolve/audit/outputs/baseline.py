"""Compare with the result of an earlier run (`--baseline`): which findings are new, and which are healed.

In: the connection with the result tables, the file of the earlier run (SQLite, DuckDB or Parquet). Out: the table
`baseline`. Lines and columns do not count, so a moved link is the same finding; repeated ones count one by one.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from contextlib import closing
from typing import TYPE_CHECKING, Any, Final

import duckdb

from absolve.audit import load
from absolve.audit.outputs import Options, format_of, path_of_table
from absolve.audit.outputs.source import Source
from absolve.audit.tables import FINE, QUIET, RULES_FOUND, SCHEMA_VERSION
from absolve.core.errors import UsageError, in_short
from absolve.inventory import arrow_batches

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

AT_ONCE: Final = 1 << 14  # rows
_LARGEST_CELL: Final = 1 << 26  # bytes
_LONGEST: Final = 300  # characters of a reason
COLUMNS: Final = ("verdict", "document", "entity", "reference", "url", "detail")  # what identifies a finding

# Findings of each table, in those columns; `{}` is the database with a dot.
FINDINGS: Final = {
    "links": f"SELECT verdict, document, entity, reference, '', '' FROM {{}}links WHERE verdict NOT IN {QUIET}",  # noqa: S608 - names of ours
    "urls": f"SELECT verdict, '', '', '', url, '' FROM {{}}urls WHERE verdict NOT IN {FINE}",  # noqa: S608 - names of ours
    "pages": "SELECT verdict, coalesce(document, ''), '', '', coalesce(url, ''), coalesce(detail, '') FROM {}pages",
    "rules": f"SELECT verdict, '', '', text, file, coalesce(problem, '') FROM ({RULES_FOUND.format('{}rules')}) r",  # noqa: S608 - names of ours
}
TABLES: Final = ("summary", *FINDINGS)
_CREATE: Final = (
    "CREATE OR REPLACE TABLE baseline (change VARCHAR, table_name VARCHAR, verdict VARCHAR, document VARCHAR,"
    " entity VARCHAR, reference VARCHAR, url VARCHAR, detail VARCHAR)"
)


def compare(connection: duckdb.DuckDBPyConnection, path: Path) -> tuple[int, int]:
    """Create the table `baseline`, and return how many findings are new, and how many are healed.

    Raise UsageError if the file is no result of an audit, or one of another version.
    """
    source = Source(connection, Options())
    connection = connection.cursor()
    _create(connection, "earlier")
    _create(connection, "current")
    try:
        done: Counter[str] = Counter()
        for table, rows in _earlier(path):
            _insert(connection, "earlier", table, rows, first=done[table] + 1)
            done[table] += len(rows)
    except (sqlite3.Error, duckdb.Error, OSError, TypeError, ValueError, OverflowError) as error:  # Arrow raises these
        reason = in_short(str(error).partition("\n")[0], _LONGEST)
        raise UsageError(f"{path}: cannot be read as the result of an earlier audit: {reason}") from error
    for table, select in FINDINGS.items():
        masked = f"SELECT {', '.join(map(source.masked, COLUMNS))} FROM ({select.format('')}) t({', '.join(COLUMNS)})"  # noqa: S608 - names of ours
        connection.execute(f"INSERT INTO temp.current SELECT '{table}', * FROM ({masked})")  # noqa: S608 - names of ours
    connection.execute(_CREATE)
    counts = []
    for change, one, other in (("new", "current", "earlier"), ("healed", "earlier", "current")):
        difference = f"SELECT * FROM temp.{one} EXCEPT ALL SELECT * FROM temp.{other}"  # noqa: S608 - names of ours
        connection.execute(f"INSERT INTO baseline SELECT '{change}', * FROM ({difference}) ORDER BY ALL")  # noqa: S608 - names of ours
        found = connection.execute("SELECT count(*) FROM baseline WHERE change = ?", [change]).fetchall()
        counts.append(int(found[0][0]))
    connection.execute("DROP TABLE temp.current; DROP TABLE temp.earlier")
    return counts[0], counts[1]


def _create(connection: duckdb.DuckDBPyConnection, name: str) -> None:
    described = ", ".join(f"{column} VARCHAR" for column in ("table_name", *COLUMNS))
    connection.execute(f"CREATE OR REPLACE TEMP TABLE {name} ({described})")


def _insert(
    connection: duckdb.DuckDBPyConnection, name: str, table: str, rows: list[tuple[Any, ...]], *, first: int
) -> None:
    """Insert findings. Raise TypeError with the place of a cell that is no text; `first` is the number of row one."""
    import pyarrow as pa

    schema = pa.schema([pa.field(column, pa.string()) for column in COLUMNS])
    try:
        batch = arrow_batches.typed(schema, rows)
    except (TypeError, ValueError, OverflowError) as error:
        wrong = (number for number, row in enumerate(rows, first) if not all(map(_is_text, row)))
        raise TypeError(f"table {table}, finding {next(wrong, first)}: {error}") from error
    connection.register("more", pa.Table.from_batches([batch]))
    connection.execute(f"INSERT INTO temp.{name} SELECT '{table}', * FROM more")  # noqa: S608 - names of ours
    connection.unregister("more")


def _is_text(cell: object) -> bool:
    return cell is None or isinstance(cell, str)


def _earlier(path: Path) -> Iterator[tuple[str, list[tuple[Any, ...]]]]:
    """Yield the name of a table and some of its findings."""
    how = format_of(path.name)
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
        with closing(duckdb.connect(config=load.CLOSED)) as database:
            for table in TABLES:
                _check_file(path_of_table(path, table))
                found = load.parquet(str(path_of_table(path, table)))
                database.execute(f"CREATE VIEW {table} AS FROM {found}")
            yield from _findings(database, path, "")
    else:
        raise UsageError(f"{path}: a baseline is the SQLite, DuckDB or Parquet result of an earlier audit")


def _check_file(path: Path) -> None:
    """Raise FileNotFoundError for what is no regular file: to open a pipe would wait for a writer."""
    if not path.is_file():
        raise FileNotFoundError(f"no such file: {path}")


def _check_tables(found: list[tuple[str]], path: Path) -> None:
    """Raise UsageError unless all tables are there: a view of this name could read any file."""
    missing = [table for table in TABLES if (table,) not in found]
    if missing:
        raise UsageError(f"{path}: this is not the result of an audit: it has no table {missing[0]}")


def _findings(database: Any, path: Path, where: str) -> Iterator[tuple[str, list[tuple[Any, ...]]]]:
    _check(database, path, where)
    for table, select in FINDINGS.items():
        cursor = database.execute(select.format(where))
        while rows := cursor.fetchmany(AT_ONCE):
            yield table, rows


def _check(database: Any, path: Path, where: str) -> None:
    summary = dict(database.execute(f"SELECT name, value FROM {where}summary").fetchall())  # noqa: S608 - names of ours
    version = summary.get("schema_version")
    if version != str(SCHEMA_VERSION):
        found = "no version" if version is None else f"version {in_short(str(version), 20)}"
        raise UsageError(f"{path}: the result of {found} of an audit, not {SCHEMA_VERSION}: audit again")
