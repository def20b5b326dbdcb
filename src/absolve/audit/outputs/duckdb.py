"""DuckDB: a new database with the result tables, and a view of the findings."""

from __future__ import annotations

import errno
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

import duckdb

from absolve.audit import load
from absolve.audit.tables import QUIET

if TYPE_CHECKING:
    from absolve.audit.outputs.source import Source

_ROWS: Final = "absolve_rows"  # the name of the rows of a table while they are copied


def write(source: Source, path: Path) -> None:
    """Create the database at a new path. Raise OSError where it cannot be written.

    It has a connection of its own: that of the audit may open no more files.
    """
    try:
        with closing(duckdb.connect(str(path), config=load.CLOSED)) as database:
            for table in source.tables:
                database.register(_ROWS, source.arrow(source.select(table)))
                columns = ", ".join(f'"{name}" {kind}' for name, kind in source.columns(table).items())
                database.execute(f'CREATE TABLE "{table}" ({columns})')
                database.execute(f'INSERT INTO "{table}" FROM {_ROWS}')
                database.unregister(_ROWS)
            database.execute(f"CREATE VIEW findings AS SELECT * FROM links WHERE verdict NOT IN {QUIET}")  # noqa: S608 - names of ours
    except (duckdb.IOException, duckdb.TransactionException, duckdb.FatalException) as error:  # e.g. a full disk
        raise OSError(errno.EIO, str(error).partition("\n")[0].rpartition(": ")[2]) from error
    finally:
        with suppress(OSError):
            Path(f"{path}.wal").unlink()  # left behind after a failure
