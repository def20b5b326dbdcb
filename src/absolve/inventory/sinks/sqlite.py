"""SQLite sink: a new database with the tables `links` and `documents`, indexes, views for the most common questions.

In: rows as tuples, and a path. Out: the database file. Lists are joined by spaces; white space in them is escaped.
"""

from __future__ import annotations

import errno
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any, Final

from absolve.inventory.columns import NUMBERS, Columns
from absolve.inventory.sinks.rows import text_of
from absolve.inventory.sinks.views import views

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

INDEXED: Final = {"links": ("document", "target", "reference"), "documents": ("document", "url")}
INTEGERS: Final = NUMBERS | {"status", "size", "links", "count"}

# The authority of `target`: between `://` and the first slash, question mark or number sign (RFC 3986 3.2).
BEHIND: Final = "replace(replace(substr(target, instr(target, ':') + 3), '?', '/'), '#', '/') || '/'"
AUTHORITY: Final = f"substr({BEHIND}, 1, instr({BEHIND}, '/') - 1)"
HOST: Final = (
    "CASE WHEN substr(target, instr(target, ':'), 3) = '://'"
    f" THEN lower(substr({AUTHORITY}, instr({AUTHORITY}, '@') + 1)) ELSE '' END"
)
HAS_PROBLEM: Final = "' ' || problems || ' ' LIKE '% {} %'"


def encode(columns: Sequence[str], rows: Iterable[Sequence[Any]] | Columns) -> list[tuple[Any, ...]]:
    """Return rows as tuples; lone surrogates in text become question marks."""
    if isinstance(rows, Columns):  # whose texts, which are not shared, have no surrogates
        return list(zip(*[rows.cells(name, _cell, changed=b"") for name in columns], strict=True))
    return [tuple([_cell(cell) for cell in row]) for row in rows]


def _cell(cell: Any) -> Any:
    if isinstance(cell, (list, tuple)):
        cell = text_of(cell)
    if isinstance(cell, str) and not cell.isascii():
        return cell.encode("utf-8", "replace").decode("utf-8")
    return cell


def write(columns: Sequence[str], chunks: Iterable[list[tuple[Any, ...]]], path: Path) -> None:
    """Create the database with the table `links` at a new path. Raise OSError where it cannot be written."""
    write_tables({"links": columns}, (("links", chunk) for chunk in chunks), path)


def write_tables(
    tables: Mapping[str, Sequence[str]], chunks: Iterable[tuple[str, list[tuple[Any, ...]]]], path: Path
) -> None:
    """Create a database with several tables, by name with their columns, likewise; each chunk has the name of its."""
    try:
        with closing(sqlite3.connect(path)) as database:
            _fill(database, tables, chunks)
    except sqlite3.OperationalError as error:  # e.g. a full disk
        raise OSError(errno.EIO, str(error)) from error


def _fill(
    database: sqlite3.Connection,
    tables: Mapping[str, Sequence[str]],
    chunks: Iterable[tuple[str, list[tuple[Any, ...]]]],
) -> None:
    database.execute("PRAGMA journal_mode = OFF")  # an incomplete file is deleted
    database.execute("PRAGMA synchronous = OFF")  # the caller fsyncs the file before renaming it
    inserts: dict[str, str] = {}
    for table, columns in tables.items():
        described = ", ".join(f'"{name}" {"INTEGER" if name in INTEGERS else "TEXT"}' for name in columns)
        database.execute(f"CREATE TABLE {table} ({described})")
        inserts[table] = f"INSERT INTO {table} VALUES ({', '.join('?' * len(columns))})"  # noqa: S608 - placeholders only
    for table, chunk in chunks:
        database.executemany(inserts[table], chunk)
    for table, columns in tables.items():
        for name in INDEXED[table]:
            if name in columns:
                database.execute(f'CREATE INDEX "{table}_{name}" ON {table} ("{name}")')
    for statement in views(tables.get("links", ()), HAS_PROBLEM, HOST):
        database.execute(statement)
    database.commit()
