"""`--where`: a condition over the columns of a row, in DuckDB's SQL, asked of many rows at once."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from absolve.errors import Diagnostic, DocumentError, UsageError
from absolve.inventory import COLUMNS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from absolve.inventory import Row

try:
    import duckdb
    import pyarrow as pa

    from absolve import arrow
except (ImportError, UsageError) as error:
    raise UsageError("--where needs duckdb and pyarrow: pip install 'absolve[duckdb]'") from error


def check(condition: str) -> None:
    """UsageError where a condition is none, or speaks of what is no column."""
    try:
        _places(condition, ())
    except duckdb.Error as error:
        raise UsageError(f"--where: {str(error).partition(chr(10))[0]}") from error


def kept(condition: str, rows: Sequence[Row], name: str) -> list[Row]:
    """The rows for which a condition holds, in their order; DocumentError where it cannot be worked out for one."""
    try:
        return [rows[place] for place in _places(condition, rows)]
    except duckdb.Error as error:
        raise DocumentError(Diagnostic("where", str(error).partition("\n")[0], name)) from error


_PLACE = "place of the row"  # no column of ours, and none that a condition would name


def _places(condition: str, rows: Sequence[Row]) -> list[int]:
    table = pa.Table.from_batches([arrow.batch(COLUMNS, rows)])
    table = table.append_column(_PLACE, pa.array(range(len(rows)), pa.int64()))
    database = _database()
    database.register("links", table)
    # On a line of its own, so that a comment at its end comments nothing else out.
    found = database.execute(f'SELECT "{_PLACE}" FROM links WHERE (\n{condition}\n) ORDER BY 1').fetchall()  # noqa: S608
    return [place for (place,) in found]


@lru_cache(maxsize=1)
def _database() -> Any:
    """One for each process; a condition reads no file."""
    return duckdb.connect(config={"enable_external_access": "false", "threads": "1"})
