"""DuckDB sink: a new database with the tables `links` and `documents`, and views for the most common questions.

In: Arrow batches or `Columns`, and a path. Out: the database file.
"""

from __future__ import annotations

import errno
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from absolve.core.errors import MissingPackageError, UsageError
from absolve.inventory.sinks.views import views

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

try:
    import duckdb

    from absolve.inventory import arrow_batches
except (ImportError, UsageError) as error:
    raise MissingPackageError("DuckDB needs duckdb and pyarrow: pip install 'absolve[duckdb]'") from error

AT_ONCE: Final = 1 << 16  # rows

HOST: Final = "lower(regexp_extract(target, '^[A-Za-z][A-Za-z0-9+.-]*://(?:[^/?#@]*@)?([^/?#]*)', 1))"
HAS_PROBLEM: Final = "list_contains(problems, '{}')"

encode = arrow_batches.batch


def write(columns: Sequence[str], chunks: Iterable[Any], path: Path) -> None:
    """Create the database with the table `links` at a new path. Raise OSError where it cannot be written."""
    write_tables({"links": columns}, (("links", chunk) for chunk in chunks), path)


def write_tables(tables: Mapping[str, Sequence[str]], chunks: Iterable[tuple[str, Any]], path: Path) -> None:
    """Create a database with several tables, by name with their columns, likewise; each chunk has the name of its."""
    try:
        with closing(duckdb.connect(str(path))) as database:
            add_tables(database, tables, chunks)
            for statement in views(tables.get("links", ()), HAS_PROBLEM, HOST):
                database.execute(statement)
    except (duckdb.IOException, duckdb.TransactionException, duckdb.FatalException) as error:  # e.g. a full disk
        raise OSError(errno.EIO, str(error).partition("\n")[0].rpartition(": ")[2]) from error
    finally:
        with suppress(OSError):
            Path(f"{path}.wal").unlink()  # left behind after a failure


def add_tables(
    database: Any, tables: Mapping[str, Sequence[str]], chunks: Iterable[tuple[str, Any]], prefix: str = ""
) -> None:
    """Create tables, with a prefix before their names, in an open database, and insert the chunks."""
    schemas = {table: arrow_batches.schema(columns) for table, columns in tables.items()}
    for table, schema in schemas.items():
        described = ", ".join(f'"{field.name}" {_type(field.type)}' for field in schema)
        database.execute(f"CREATE TABLE IF NOT EXISTS {prefix}{table} ({described})")
    first = next(iter(tables))
    _insert(database, prefix + first, _first(database, first, schemas, chunks, prefix), schemas[first])


def _first(
    database: Any, first: str, schemas: Mapping[str, Any], chunks: Iterable[tuple[str, Any]], prefix: str
) -> Iterator[Any]:
    """Yield the chunks of the first table, and insert those of the others: many at once, since an insert is slow.

    A chunk of another table may be a list of rows, which are encoded here.
    """
    waiting: dict[str, list[Any]] = {table: [] for table in schemas}
    rows: dict[str, list[Any]] = {table: [] for table in schemas}

    def flush(name: str) -> None:
        if rows[name]:
            waiting[name].append(arrow_batches.batch(schemas[name].names, rows[name]))
            rows[name].clear()
        _insert(database, prefix + name, waiting[name], schemas[name])
        waiting[name].clear()

    size = 0
    for table, chunk in chunks:
        if table == first:
            yield chunk
            continue
        if isinstance(chunk, list):
            rows[table] += chunk
            size += sum(map(_size, chunk))
        else:
            waiting[table].append(chunk)
            size += chunk.nbytes
        if size >= arrow_batches.MOST_BYTES or len(waiting[table]) + len(rows[table]) >= AT_ONCE:
            for name in waiting:
                flush(name)
            size = 0
    for name in waiting:
        flush(name)


def _size(row: Sequence[Any]) -> int:
    """Return an estimate of the bytes of a row: texts, and lists of texts."""
    return 8 * len(row) + sum(
        len(cell) if isinstance(cell, str) else sum(map(len, cell)) for cell in row if isinstance(cell, (str, list))
    )


def _insert(database: Any, table: str, chunks: Iterable[Any], schema: Any) -> None:
    for rows in arrow_batches.gathered(chunks, schema, AT_ONCE):
        database.register("more", rows)
        database.execute(f"INSERT INTO {table} SELECT * FROM more")  # noqa: S608 - the name of a table of ours
        database.unregister("more")


def _type(kind: Any) -> str:
    if kind == arrow_batches.TYPES["problems"]:
        return "VARCHAR[]"
    return "BIGINT" if kind == arrow_batches.TYPES["line"] else "VARCHAR"
