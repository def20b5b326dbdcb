"""SQLite: a new database with tables, indexes, and views for the most common questions.

In: rows as tuples, and a path. Out: the database file. Lists are joined by spaces; white space in them is escaped.
"""

from __future__ import annotations

import errno
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any, Final

from absolve.inventory.columns import Columns
from absolve.tables import SCHEMA_VERSION, Sink, defined
from absolve.tables.plain import cell_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from absolve.tables import Table

_TYPES: Final = {"BIGINT": "INTEGER", "DOUBLE": "REAL"}

# The authority of `target`: between `://` and the first slash, question mark or number sign (RFC 3986 3.2).
BEHIND: Final = "replace(replace(substr(target, instr(target, ':') + 3), '?', '/'), '#', '/') || '/'"
AUTHORITY: Final = f"substr({BEHIND}, 1, instr({BEHIND}, '/') - 1)"
HOST: Final = (
    "CASE WHEN substr(target, instr(target, ':'), 3) = '://'"
    f" THEN lower(substr({AUTHORITY}, instr({AUTHORITY}, '@') + 1)) ELSE '' END"
)
HAS_PROBLEM: Final = {code: f"' ' || problems || ' ' LIKE '% {code} %'" for code in ("unresolved", "malformed")}


def encode(columns: Sequence[str], rows: Iterable[Sequence[Any]] | Columns) -> list[tuple[Any, ...]]:
    """Return rows as tuples; lone surrogates in text become question marks."""
    if isinstance(rows, Columns):  # their own texts, unlike shared ones, have no surrogates
        return list(zip(*[rows.cells(name, _cell, changed=b"") for name in columns], strict=True))
    return [tuple([_cell(cell) for cell in row]) for row in rows]


def _cell(cell: Any) -> Any:
    if isinstance(cell, (list, tuple)):
        cell = cell_text(cell)
    if isinstance(cell, str) and not cell.isascii():
        return cell.encode("utf-8", "replace").decode("utf-8")
    return cell


def write(tables: Sequence[Table], chunks: Iterable[tuple[str, Iterable[Sequence[Any]]]], path: Path) -> None:
    """Create a database with these tables, their indexes and views, for example `links` and `by_host`."""
    try:
        with closing(sqlite3.connect(path)) as database:
            _fill(database, tables, chunks)
    except sqlite3.OperationalError as error:  # e.g. a full disk
        raise OSError(errno.EIO, str(error)) from error


def _fill(
    database: sqlite3.Connection, tables: Sequence[Table], chunks: Iterable[tuple[str, Iterable[Sequence[Any]]]]
) -> None:
    database.execute("PRAGMA journal_mode = OFF")  # an incomplete file is deleted
    database.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
    database.execute("PRAGMA synchronous = OFF")  # the caller fsyncs the file before renaming it
    inserts = {}
    for table in tables:
        described = defined({name: _TYPES.get(kind, "TEXT") for name, kind in table.columns.items()})
        database.execute(f"CREATE TABLE {table.name} ({described})")
        places = ", ".join("?" * len(table.columns))
        inserts[table.name] = f"INSERT INTO {table.name} VALUES ({places})"  # noqa: S608 - names of ours
    for name, rows in chunks:
        database.executemany(inserts[name], rows)
    for table in tables:
        for name in table.indexed:
            database.execute(f'CREATE INDEX "{table.name}_{name}" ON {table.name} ("{name}")')
        for name, select in table.views.items():
            database.execute(f"CREATE VIEW {name} AS {select.format(host=HOST, **HAS_PROBLEM)}")
    database.commit()


SQLITE: Final = Sink(encode, write)
