"""DuckDB: a new database with the result tables, and a view of the findings."""

from __future__ import annotations

import errno
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

import duckdb

from absolve.audit import load
from absolve.audit.tables import QUIET

if TYPE_CHECKING:
    from absolve.audit.outputs.source import Source

_OUT: Final = "absolve_out"  # the name of the database in the connection


def write(source: Source, path: Path) -> None:
    """Create the database at a new path. Raise OSError where it cannot be written."""
    connection = source.connection.cursor()
    try:
        connection.execute(f"ATTACH {load.quoted(str(path))} AS {_OUT}")
        try:
            for table in source.tables:
                connection.execute(f'CREATE TABLE {_OUT}."{table}" AS {source.select(table)}')
            connection.execute(f"CREATE VIEW {_OUT}.findings AS SELECT * FROM links WHERE verdict NOT IN {QUIET}")  # noqa: S608 - names of ours
        finally:
            connection.execute(f"DETACH {_OUT}")
    except (duckdb.IOException, duckdb.TransactionException, duckdb.FatalException) as error:  # e.g. a full disk
        raise OSError(errno.EIO, str(error).partition("\n")[0].rpartition(": ")[2]) from error
    finally:
        with suppress(OSError):
            Path(f"{path}.wal").unlink()  # left behind after a failure
