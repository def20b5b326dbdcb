"""`--where`: a condition over the columns of a row, in DuckDB's SQL, asked of many rows at once."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from absolve.errors import Diagnostic, DocumentError, UsageError
from absolve.inventory import COLUMNS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

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


def kept(condition: str, rows: Sequence[Row], name: str) -> Iterator[list[Row]]:
    """The rows for which a condition holds, in their order; DocumentError behind them where it fails for a row."""
    places, error = _worked_out(condition, rows)
    yield [rows[place] for place in places]
    if error is not None:
        raise DocumentError(Diagnostic("where", str(error).partition("\n")[0], name)) from error


def _worked_out(condition: str, rows: Sequence[Row]) -> tuple[list[int], duckdb.Error | None]:
    """The places of the rows for which it holds, up to the first for which it fails; and how."""
    try:
        return _places(condition, rows), None
    except duckdb.Error as error:
        if len(rows) <= 1:
            return [], error
    middle = len(rows) // 2
    first, fault = _worked_out(condition, rows[:middle])
    if fault is not None:
        return first, fault
    rest, fault = _worked_out(condition, rows[middle:])
    return first + [middle + place for place in rest], fault


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
