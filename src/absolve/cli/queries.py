"""`--sql`: the result of one query over the tables of results, which it can only read.

In: a DuckDB connection with the tables, and the options. Out: lines with tab-separated cells on the standard output
(`document	links`, `a.html	3`), or the format that -f or the suffix of -o selects.
"""

from __future__ import annotations

from contextlib import closing
from functools import partial
from itertools import chain, islice, zip_longest
from typing import TYPE_CHECKING, Any, Final

import duckdb

from absolve import tables
from absolve.cli import json_array
from absolve.core import printable
from absolve.core.errors import UsageError
from absolve.tables import Table
from absolve.tables.duckdb import CLOSED

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from absolve.run.safe_cells import Cells

ROWS: Final = 1000  # read at once
_READS: Final = (duckdb.StatementType.SELECT, duckdb.StatementType.EXPLAIN)


def check(query: str) -> None:
    """Raise UsageError unless a text is one query that reads: before the inputs are read."""
    with closing(duckdb.connect(config=CLOSED)) as database:
        _statement(database, query)


def opened(path: Path) -> Any:
    """Return a connection to a database; its queries open no file but this, and change nothing."""
    return duckdb.connect(str(path), read_only=True, config={**CLOSED, "enable_external_access": "false"})


def say(connection: Any, query: str, options: argparse.Namespace) -> None:
    """Print the result as lines of cells, or as JSON with --json. Raise UsageError for a wrong query."""
    names, rows = _answered(connection, query)
    shown = partial(printable.message, credentials=options.show_credentials)
    with json_array.array(options) as add:
        if add is None:
            print("\t".join(map(shown, names)))
        for row in rows:
            if add is not None:
                add(dict(zip(names, row, strict=True)))
            else:
                print("\t".join("" if cell is None else shown(str(cell)) for cell in row))


def write(connection: Any, query: str, format_: str, cells: Cells, out: Any) -> None:
    """Write the result to an open file, or to a path, in a format of tables. Raise UsageError for a wrong query."""
    names, rows = _answered(connection, query)
    sink = tables.by_name(format_)
    first = next(rows, ())
    table = Table("result", {name: _kind(cell) for name, cell in zip_longest(names, first)})
    all_rows = chain([first] if first else (), rows)

    def chunks() -> Iterator[tuple[str, Any]]:
        while some := [[_plain(cell) for cell in row] for row in islice(all_rows, ROWS)]:
            yield table.name, sink.encode(names, cells.of(names, some))

    sink.write([table], chunks(), out)


def _answered(connection: Any, query: str) -> tuple[list[str], Iterator[Sequence[Any]]]:
    """Return the names of the columns, and the rows."""
    cursor = connection.cursor()
    try:
        cursor.execute(_statement(cursor, query))
    except duckdb.Error as error:
        raise _wrong(error) from error
    return [column[0] for column in cursor.description or ()], _rows(cursor)


def _rows(cursor: Any) -> Iterator[Sequence[Any]]:
    try:
        while rows := cursor.fetchmany(ROWS):
            yield from rows
    except duckdb.Error as error:
        raise _wrong(error) from error


def _statement(connection: Any, query: str) -> Any:
    try:
        statements = connection.extract_statements(query)
    except (duckdb.Error, TypeError) as error:  # TypeError: text that is not UTF-8
        raise _wrong(error) from error
    if len(statements) != 1 or statements[0].type not in _READS:
        raise UsageError("--sql takes one query: SELECT, FROM, DESCRIBE, SUMMARIZE or EXPLAIN")
    return statements[0]


def _wrong(error: Exception) -> UsageError:
    return UsageError(f"--sql: {str(error).partition(chr(10))[0]}")


def _kind(cell: Any) -> str:
    """Return the type of a column, by a value in it; a type of DuckDB that no format has is text."""
    if isinstance(cell, list):
        return "VARCHAR[]"
    return {int: "BIGINT", float: "DOUBLE"}.get(type(cell), "VARCHAR")


def _plain(cell: Any) -> Any:
    return cell if cell is None or isinstance(cell, (str, int, float, list)) else str(cell)
