"""SQLite: the result tables with indexes, and a view of the findings. Lists are joined by spaces."""

from __future__ import annotations

import errno
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Final

from absolve.audit.tables import QUIET

if TYPE_CHECKING:
    from pathlib import Path

    from absolve.audit.outputs.source import Source

TYPES: Final = {"BIGINT": "INTEGER", "DOUBLE": "REAL"}
INDEXED: Final = {"links": ("document", "verdict", "cause", "target"), "urls": ("url", "verdict"), "causes": ("cause",)}
FINDINGS: Final = f"CREATE VIEW findings AS SELECT * FROM links WHERE verdict NOT IN {QUIET}"  # noqa: S608 - names of ours


def write(source: Source, path: Path) -> None:
    """Create the database at a new path. Raise OSError where it cannot be written."""
    try:
        with closing(sqlite3.connect(path)) as database:
            database.execute("PRAGMA journal_mode = OFF")  # an incomplete file is deleted
            database.execute("PRAGMA synchronous = OFF")  # the caller fsyncs the file before renaming it
            for table in source.tables:
                _fill(database, source, table)
            database.execute(FINDINGS)
            database.commit()
    except sqlite3.OperationalError as error:  # e.g. a full disk
        raise OSError(errno.EIO, str(error)) from error


def _fill(database: sqlite3.Connection, source: Source, table: str) -> None:
    columns = source.columns(table)
    described = ", ".join(f'"{name}" {TYPES.get(kind, "TEXT")}' for name, kind in columns.items())
    database.execute(f'CREATE TABLE "{table}" ({described})')
    insert = f'INSERT INTO "{table}" VALUES ({", ".join("?" * len(columns))})'  # noqa: S608 - names of ours
    for rows in source.rows(source.select(table, joined=True)).batches():
        database.executemany(insert, rows)
    for name in INDEXED.get(table, ()):
        database.execute(f'CREATE INDEX "{table}_{name}" ON "{table}" ("{name}")')
