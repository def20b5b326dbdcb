"""DuckDB sink: a new database with the table `links` (`problems` is a list) and views for the most common questions.

In: Arrow batches or `Columns`, and a path. Out: the database file.
"""

from __future__ import annotations

import errno
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from absolve.core.errors import UsageError
from absolve.inventory.sinks.views import views

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

try:
    import duckdb

    from absolve.inventory import arrow_batches
except (ImportError, UsageError) as error:
    raise UsageError("DuckDB needs duckdb and pyarrow: pip install 'absolve[duckdb]'") from error

AT_ONCE: Final = 1 << 16  # rows

HOST: Final = "lower(regexp_extract(target, '^[A-Za-z][A-Za-z0-9+.-]*://(?:[^/?#@]*@)?([^/?#]*)', 1))"
HAS_PROBLEM: Final = "list_contains(problems, '{}')"

encode = arrow_batches.batch


def write(columns: Sequence[str], chunks: Iterable[Any], path: Path) -> None:
    """Create the database at a new path. Raise OSError where it cannot be written."""
    schema = arrow_batches.schema(columns)
    try:
        with closing(duckdb.connect(str(path))) as database:
            described = ", ".join(f'"{field.name}" {_type(field.type)}' for field in schema)
            database.execute(f"CREATE TABLE links ({described})")
            for table in arrow_batches.gathered(chunks, schema, AT_ONCE):
                database.register("more", table)
                database.execute("INSERT INTO links SELECT * FROM more")
                database.unregister("more")
            for statement in views(columns, HAS_PROBLEM, HOST):
                database.execute(statement)
    except (duckdb.IOException, duckdb.TransactionException, duckdb.FatalException) as error:  # e.g. a full disk
        raise OSError(errno.EIO, str(error).partition("\n")[0].rpartition(": ")[2]) from error
    finally:
        with suppress(OSError):
            Path(f"{path}.wal").unlink()  # left behind after a failure


def _type(kind: Any) -> str:
    if kind == arrow_batches.TYPES["problems"]:
        return "VARCHAR[]"
    return "BIGINT" if kind == arrow_batches.TYPES["line"] else "VARCHAR"
