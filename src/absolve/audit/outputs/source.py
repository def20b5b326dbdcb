"""Read result tables for the outputs: in order, in batches, with user information in URLs masked.

In: the DuckDB connection of an audit. Out: SQL, rows and Arrow batches.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from absolve.audit.tables import TABLES
from absolve.core import printable

if TYPE_CHECKING:
    from collections.abc import Iterator

    import duckdb

    from absolve.audit.outputs import Options

AT_ONCE: Final = 1 << 14  # rows
_MASKED: Final = "absolve_masked"  # a function of the connection
_FIND_FUNCTION: Final = "SELECT count(*) FROM duckdb_functions() WHERE function_name = ?"
_FIND_COLUMNS: Final = (
    "SELECT column_name, data_type FROM information_schema.columns"
    " WHERE table_schema = 'main' AND table_name = ? ORDER BY ordinal_position"
)


class Source:
    """The result tables of one audit. `tables` are those that the connection has, `summary` is that table by name."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, options: Options) -> None:
        self.connection = connection
        self.options = options
        if self.value(_FIND_FUNCTION, [_MASKED]) == 0:
            connection.create_function(_MASKED, printable.masked, ["VARCHAR"], "VARCHAR")
        self._columns = {table: self._typed(table) for table in (*TABLES, "baseline")}
        self.tables = [table for table, columns in self._columns.items() if columns]
        self.summary: dict[str, str | None] = dict(self.rows(f"SELECT name, value FROM ({self.select('summary')})"))  # noqa: S608 - names of ours

    def _typed(self, table: str) -> dict[str, str]:
        return {name: TABLES.get(table, {}).get(name, kind) for name, kind in self.rows(_FIND_COLUMNS, [table])}

    def columns(self, table: str) -> dict[str, str]:
        """Return the columns of a result table with their types in DuckDB."""
        return self._columns[table]

    def has(self, table: str) -> bool:
        """Return whether the connection has a table of this name."""
        return bool(list(self.rows(_FIND_COLUMNS, [table])))

    def masked(self, expression: str) -> str:
        """Return SQL for a text with masked user information. Only texts with an @ are looked at by Python."""
        if self.options.credentials:
            return expression
        return f"CASE WHEN contains({expression}, '@') THEN {_MASKED}({expression}) ELSE {expression} END"

    def select(self, table: str, *, joined: bool = False) -> str:
        """Return the SELECT statement of a whole table. `joined`: lists are texts with spaces between their items."""
        found = []
        for name, kind in self._columns[table].items():
            column = f'"{name}"'
            if kind == "VARCHAR":
                found.append(f"{self.masked(column)} AS {column}")
            elif kind.endswith("[]") and joined:
                found.append(f"array_to_string({column}, ' ') AS {column}")
            else:
                found.append(column)
        return f'SELECT {", ".join(found)} FROM "{table}"'  # noqa: S608 - names of ours

    def rows(self, statement: str, parameters: list[Any] | None = None) -> Rows:
        """Return the rows of a statement, read in batches. Several may be open at once."""
        return Rows(self.connection.cursor().execute(statement, parameters or []))

    def arrow(self, statement: str) -> Any:
        """Return a reader of Arrow batches with the rows of a statement."""
        relation = self.connection.cursor().sql(statement)
        reader = getattr(relation, "to_arrow_reader", None) or relation.fetch_record_batch  # before DuckDB 2
        return reader(1 << 16)

    def value(self, statement: str, parameters: list[Any] | None = None) -> Any:
        """Return the first value of a statement that has one."""
        return self.connection.cursor().execute(statement, parameters or []).fetchall()[0][0]

    @cached_property
    def news(self) -> frozenset[str] | None:
        """The identities of the findings that the baseline lacks; None without a baseline."""
        return frozenset(one for (one,) in self.rows("SELECT identity FROM news")) if self.has("news") else None

    def number(self, name: str) -> int:
        """Return a number of the summary; 0 where it has none."""
        value = self.summary.get(name) or ""
        return int(value) if value.isdecimal() else 0


class Rows:
    """The rows of an executed statement: iterate, or take one."""

    def __init__(self, cursor: duckdb.DuckDBPyConnection) -> None:
        self._cursor = cursor

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        while found := self._cursor.fetchmany(AT_ONCE):
            yield from found

    def batches(self) -> Iterator[list[tuple[Any, ...]]]:
        """Yield lists of at most AT_ONCE rows."""
        while found := self._cursor.fetchmany(AT_ONCE):
            yield found
