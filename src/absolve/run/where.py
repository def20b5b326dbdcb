"""`--where`: filter rows of a table by an SQL condition over their columns, evaluated by DuckDB for many rows at once.

Input: the text of a condition, rows of the inventory. Output: the rows for which it is true.
"""

from __future__ import annotations

import json
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from absolve.core.errors import Diagnostic, DocumentError, MissingPackageError, UsageError
from absolve.inventory.columns import COLUMNS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import TypeVar

    Row = TypeVar("Row", bound=tuple[Any, ...])

try:
    import duckdb
    import pyarrow as pa

    from absolve.inventory import arrow_batches
except (ImportError, UsageError) as error:
    raise MissingPackageError("--where needs duckdb and pyarrow: pip install 'absolve[duckdb]'") from error


def check(condition: str, columns: Sequence[str] = COLUMNS) -> None:
    """Raise UsageError if a text is not exactly one SQL expression, or refers to an unknown column."""
    try:
        _is_one(condition)
        _places(condition, (), columns)
    except duckdb.Error as error:
        raise UsageError(f"--where: {str(error).partition(chr(10))[0]}") from error


def kept(
    condition: str, rows: Sequence[Row], name: str, columns: Sequence[str] = COLUMNS
) -> Iterator[list[Row]]:
    """Yield the list of rows for which a condition is true, in order. Raise DocumentError after it if a row failed."""
    _is_one(condition)
    places, error = _worked_out(condition, rows, columns)
    yield [rows[place] for place in places]
    if error is not None:
        raise DocumentError(Diagnostic("where", str(error).partition("\n")[0], name)) from error


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
def _is_one(condition: str) -> None:
    """Raise UsageError unless DuckDB's parser reads the text as exactly one expression.

    The text is parsed twice, in the parentheses of WHERE and in the brackets of a list. A text that closes one of them
    does not close the other, so a text read as the same expression in both closes neither; a second expression would be
    a second element.
    """
    try:
        condition.encode()  # DuckDB accepts UTF-8 only
        is_one = _is_one_expression(condition)
    except UnicodeEncodeError:
        raise UsageError("--where: the condition is not UTF-8") from None
    except RecursionError:
        raise UsageError("--where: the condition is nested too deep") from None
    if not is_one:
        raise UsageError("--where needs exactly one SQL expression")


def _is_one_expression(condition: str) -> bool:
    where = _read(f"SELECT 1 FROM links WHERE (\n{condition}\n)")  # noqa: S608 - parsed only
    try:
        listed = _read(f"SELECT [\n{condition}\n]")
    except UsageError:
        listed = []
    expression = where[0]["node"].get("where_clause") if len(where) == 1 else None
    shapes = (where, "SELECT 1 FROM links WHERE (absolve)"), (listed, "SELECT [absolve]")
    return expression is not None and all(found == _filled(_read(shape), expression) for found, shape in shapes)


def _read(statement: str) -> list[Any]:
    """Return DuckDB's syntax tree of a text, without positions. Raise UsageError for a syntax error."""
    ((text,),) = _database().execute("SELECT json_serialize_sql(?::VARCHAR)", [statement]).fetchall()
    found = json.loads(text)
    if found["error"]:
        raise UsageError(f"--where: {found['error_message'].partition(chr(10))[0]}")
    statements: list[Any] = _without_places(found["statements"])
    return statements


def _without_places(node: Any) -> Any:
    if isinstance(node, dict):
        return {key: _without_places(child) for key, child in node.items() if not key.startswith("query_location")}
    return [_without_places(child) for child in node] if isinstance(node, list) else node


def _filled(node: Any, expression: Any) -> Any:
    """Return the tree with the column `absolve` replaced by an expression."""
    if isinstance(node, dict):
        if node.get("column_names") == ["absolve"]:
            return expression
        return {key: _filled(child, expression) for key, child in node.items()}
    return [_filled(child, expression) for child in node] if isinstance(node, list) else node


_PLACE = "place of the row"  # not a column of the inventory, nor a name that a condition would use


def _places(condition: str, rows: Sequence[Any], columns: Sequence[str]) -> list[int]:
    table = pa.Table.from_batches([arrow_batches.batch(columns, rows)])
    table = table.append_column(_PLACE, pa.array(range(len(rows)), pa.int64()))
    database = _database()
    database.register("links", table)
    # On a line of its own, so that a comment at its end ends there.
    found = database.execute(f'SELECT "{_PLACE}" FROM links WHERE (\n{condition}\n) ORDER BY 1').fetchall()  # noqa: S608
    return [place for (place,) in found]


@lru_cache(maxsize=1)
def _database() -> Any:
    """Return the connection of this process; a condition cannot read files."""
    return duckdb.connect(config={"enable_external_access": "false", "threads": "1"})
