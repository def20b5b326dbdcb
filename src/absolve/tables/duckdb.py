"""DuckDB: a new database with tables, and views for the most common questions.

In: rows as Arrow batches, `Columns` or lists, and a path. Out: the database file.
"""

from __future__ import annotations

import errno
from contextlib import closing, suppress
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from absolve.core.errors import MissingPackageError, UsageError
from absolve.tables import SCHEMA_VERSION, Sink

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from absolve.tables import Table

try:
    import duckdb
    import pyarrow as pa

    from absolve.inventory import arrow_batches
except (ImportError, UsageError) as error:
    raise MissingPackageError("DuckDB needs duckdb and pyarrow: pip install 'absolve[duckdb]'") from error

AT_ONCE: Final = 1 << 16  # rows
_CHUNKS: Final = 256  # that wait at most: many are inserted at once, since an insert is slow
# No extension is fetched or loaded, and the name of a variable of Python is no table.
CLOSED: Final[dict[str, Any]] = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "python_enable_replacements": "false",
}

HOST: Final = "lower(regexp_extract(target, '^[A-Za-z][A-Za-z0-9+.-]*://(?:[^/?#@]*@)?([^/?#]*)', 1))"
HAS_PROBLEM: Final = {code: f"list_contains(problems, '{code}')" for code in ("unresolved", "malformed")}


def write(tables: Sequence[Table], chunks: Iterable[tuple[str, Any]], path: Path) -> None:
    """Create a database with these tables and their views."""
    try:
        with closing(duckdb.connect(str(path), config=CLOSED)) as database:
            add_tables(database, tables, chunks)
            for table in tables:
                database.execute(f"COMMENT ON TABLE {table.name} IS 'absolve schema {SCHEMA_VERSION}'")
                for name, select in table.views.items():
                    database.execute(f"CREATE VIEW {name} AS {select.format(host=HOST, **HAS_PROBLEM)}")
    except (duckdb.IOException, duckdb.TransactionException, duckdb.FatalException) as error:  # e.g. a full disk
        raise OSError(errno.EIO, str(error).partition("\n")[0].rpartition(": ")[2]) from error
    finally:
        with suppress(OSError):
            Path(f"{path}.wal").unlink()  # left behind after a failure


def add_tables(database: Any, tables: Sequence[Table], chunks: Iterable[tuple[str, Any]], prefix: str = "") -> None:
    """Create tables, with a prefix before their names, in an open database, and insert the chunks."""
    for table in tables:
        described = ", ".join(f'"{name}" {kind}' for name, kind in table.columns.items())
        database.execute(f"CREATE TABLE IF NOT EXISTS {prefix}{table.name} ({described})")
    waiting: dict[str, list[Any]] = {table.name: [] for table in tables}
    number = size = 0
    for name, chunk in chunks:
        waiting[name].append(chunk)
        number += 1
        size += _size(chunk)
        if number >= _CHUNKS or size >= arrow_batches.MOST_BYTES:
            _insert(database, tables, waiting, prefix)
            number = size = 0
    _insert(database, tables, waiting, prefix)


def _size(chunk: Any) -> int:
    """Return an estimate of the bytes of a chunk."""
    if isinstance(chunk, list):
        return sum(len(str(row)) for row in chunk)
    return int(chunk.nbytes if isinstance(chunk, pa.RecordBatch) else chunk.weight())


def _insert(database: Any, tables: Sequence[Table], waiting: dict[str, list[Any]], prefix: str) -> None:
    """Insert the chunks that wait, and forget them."""
    for table in tables:
        schema = table.schema or arrow_batches.schema(tuple(table.columns))
        chunks, waiting[table.name] = waiting[table.name], []
        if chunks and isinstance(chunks[0], list):  # few rows each
            chunks = [arrow_batches.batch(schema.names, list(chain.from_iterable(chunks)))]
        for some in arrow_batches.gathered(chunks, schema, AT_ONCE):
            database.register("more", some)
            database.execute(f"INSERT INTO {prefix}{table.name} SELECT * FROM more")  # noqa: S608 - names of ours
            database.unregister("more")


DUCKDB: Final = Sink(arrow_batches.batch, write)
