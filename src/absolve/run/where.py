"""`--where`: filter rows of a table by an SQL condition over their columns, evaluated by DuckDB for many rows at once.

Input: the text of a condition, rows of the inventory. Output: the rows for which it is true.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from absolve.core.arrow_stream import NUMBER, Field
from absolve.core.errors import Diagnostic, DocumentError, MissingPackageError, UsageError, similar
from absolve.inventory import batches
from absolve.inventory.columns import COLUMNS

try:
    import duckdb
except ImportError as error:
    raise MissingPackageError("this needs DuckDB: pip install 'duckdb>=2.0.1'") from error

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import TypeVar

    Row = TypeVar("Row", bound=tuple[Any, ...])


def check(condition: str, columns: Sequence[str] = COLUMNS) -> None:
    """Raise UsageError if a text is not exactly one SQL expression, or refers to an unknown column."""
    try:
        _check_one(condition)
        _places(condition, (), columns)
    except duckdb.Error as error:
        raise _wrong(error, columns) from error


def _wrong(error: duckdb.Error, columns: Sequence[str] = ()) -> UsageError:
    """Return an error of DuckDB about a condition, in words."""
    if (found := _NO_COLUMN.match(str(error))) is None:
        return UsageError(f"--where: {_in_words(error)}")
    name = found[1]
    return UsageError(f"--where: {name!r} is no column, and a text is in quotes: '{name}'", similar(name, columns))


def _in_words(error: duckdb.Error) -> str:
    return _SORT.sub("", str(error).partition("\n")[0])


_NO_COLUMN: Final = re.compile(r'Binder Error: Referenced column "([^"\n]*)" not found')
_SORT: Final = re.compile(r"\A[A-Z]\w+ Error: ")


def kept(
    condition: str, rows: Sequence[Row], name: str, columns: Sequence[str] = COLUMNS
) -> Iterator[list[Row]]:
    """Yield the list of rows for which a condition is true, in order. Raise DocumentError after it if a row failed."""
    _check_one(condition)
    places, error = _worked_out(condition, rows, columns)
    yield [rows[place] for place in places]
    if error is not None:
        raise DocumentError(Diagnostic("where", _in_words(error), name)) from error


def _worked_out(
    condition: str, rows: Sequence[Any], columns: Sequence[str]
) -> tuple[list[int], duckdb.Error | None]:
    """Return the indexes of the rows for which it is true, up to the first row for which it fails, and the error."""
    try:
        return _places(condition, rows, columns), None
    except duckdb.Error as error:
        if len(rows) <= 1:
            return [], error
    middle = len(rows) // 2
    first, fault = _worked_out(condition, rows[:middle], columns)
    if fault is not None:
        return first, fault
    rest, fault = _worked_out(condition, rows[middle:], columns)
    return first + [middle + place for place in rest], fault


@lru_cache(maxsize=16)
def _check_one(condition: str) -> None:
    """Raise UsageError unless a text is exactly one SQL expression: no text that closes the parentheses of WHERE is."""
    try:
        condition.encode()  # DuckDB accepts UTF-8 only
        duckdb.SQLExpression(condition)
    except UnicodeEncodeError:
        raise UsageError("--where: the condition is not UTF-8") from None
    except duckdb.InvalidInputException:
        raise UsageError("--where needs exactly one SQL expression") from None
    except duckdb.Error as error:
        raise _wrong(error) from error


_PLACE = "place of the row"  # not a column of the inventory, nor a name that a condition would use


def _places(condition: str, rows: Sequence[Any], columns: Sequence[str]) -> list[int]:
    fields, arrays = batches.batch(columns, rows)
    places = batches.typed([Field(_PLACE, NUMBER)], [(place,) for place in range(len(rows))])
    links = batches.stream([batches.Batch((*fields, *places.fields), [*arrays, *places.arrays])])
    database = _database()
    database.register("links", links)
    # On a line of its own, so that a comment at its end ends there.
    found = database.execute(f'SELECT "{_PLACE}" FROM links WHERE (\n{condition}\n) ORDER BY 1').fetchall()  # noqa: S608
    database.unregister("links")
    return [place for (place,) in found]


@lru_cache(maxsize=1)
def _database() -> Any:
    """Return the connection of this process; a condition cannot read files."""
    return duckdb.connect(config={"enable_external_access": "false", "threads": "1"})
