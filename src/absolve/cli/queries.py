"""`--sql`: the result of one query over the tables of results, which it can only read.

In: a DuckDB connection with the tables, and the options. Out: lines with tab-separated cells on the standard output
(`document	links`, `a.html	3`), or the format that -f or the suffix of -o selects.
"""

from __future__ import annotations

from collections import Counter
from contextlib import closing, suppress
from functools import partial
from itertools import islice
from math import isfinite
from typing import TYPE_CHECKING, Any, Final

import duckdb

from absolve import tables
from absolve.core import printable
from absolve.core.arrow_stream import DOUBLE, LISTS, NUMBER, TEXT, Field
from absolve.core.errors import UsageError, in_short
from absolve.inventory import batches
from absolve.tables import Table
from absolve.tables.duckdb import CLOSED

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence
    from pathlib import Path

    from absolve.core.arrow_stream import Stream
    from absolve.run.filters import Cells

ROWS: Final = 1000  # read at once
_READS: Final = (duckdb.StatementType.SELECT, duckdb.StatementType.EXPLAIN)


def check(query: str, known: Collection[str]) -> None:
    """Raise UsageError unless a text is one query that only reads these tables: for example `FROM links`."""
    with closing(duckdb.connect(config=CLOSED)) as database:
        _statement(database, query)
        named: set[str] = set()
        with suppress(duckdb.Error):  # it knows no columns: an error in USING is reported when the query runs
            named = {name.lower() for name in database.get_table_names(query)}
    for name in sorted(named.difference(known)):
        raise UsageError(f"--sql: {in_short(name)!r} is no result table: choose from {', '.join(sorted(known))}")


def opened(path: Path) -> Any:
    """Return a connection to a database; its queries open no file but this, and change nothing."""
    return duckdb.connect(str(path), read_only=True, config={**CLOSED, "enable_external_access": "false"})


def say(connection: Any, query: str) -> None:
    """Print the result as lines of cells. Raise UsageError for a wrong query."""
    kinds, rows = _answered(connection, query)
    print("\t".join(printable.message(name) for name, _ in kinds))
    for row in rows:
        print("\t".join("" if cell is None else printable.message(str(cell)) for cell in row))


def write(connection: Any, query: str, format_: str, cells: Cells, out: Any) -> None:
    """Write the result to an open file, or to a path, in a format of tables. Raise UsageError for a wrong query."""
    kinds, rows = _answered(connection, query)
    names = [name for name, _ in kinds]
    form, sink = tables.FORMATS[format_], tables.by_name(format_)
    in_file = Counter(names if form.text else map(str.lower, names))  # databases take a and A for one
    if (twice := next((name for name, number in in_file.items() if number > 1), None)) is not None:
        raise UsageError(f"--sql: two columns are named {in_short(twice)!r}: give one of them another name with AS")
    table = Table("result", dict(kinds))
    text = _json if format_ in {"json", "jsonl"} else _text_cell
    converters = [text if form.text else _TYPED.get(kind, str) for _, kind in kinds]
    encode = partial(sink.encode, names)
    if form.columns and not form.text:  # the sink alone knows only the types of our own columns
        encode = partial(_stream, [Field(name, _FIELDS.get(kind, TEXT)) for name, kind in kinds])
        table = table._replace(rows=encode([]))

    def chunks() -> Iterator[tuple[str, Any]]:
        while some := list(islice(rows, ROWS)):
            pairs = (zip(converters, row, strict=True) for row in some)
            plain = [[None if cell is None else convert(cell) for convert, cell in row] for row in pairs]
            yield table.name, encode(cells.applied(names, plain))

    sink.write([table], chunks(), out)


def _answered(connection: Any, query: str) -> tuple[list[tuple[str, str]], Iterator[Sequence[Any]]]:
    """Return the names of the columns with their types in tables, and the rows."""
    cursor = connection.cursor()
    try:
        cursor.execute(_statement(cursor, query))
    except duckdb.Error as error:
        raise _wrong(error) from error
    return [(name, _kind(str(kind))) for name, kind, *_ in cursor.description or ()], _rows(cursor)


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


def _stream(fields: Sequence[Field], rows: Sequence[Sequence[Any]]) -> Stream:
    return batches.stream([batches.typed(fields, rows)])


def _kind(kind: str) -> str:
    """Return the type in tables for a type of DuckDB, for example BIGINT for UTINYINT; VARCHAR for any unknown type."""
    if kind in {"BOOLEAN", "HUGEINT", "UHUGEINT"} or kind.endswith(("INT", "INTEGER")):
        return "BIGINT"
    if kind in {"DOUBLE", "FLOAT"}:
        return "DOUBLE"
    return "VARCHAR[]" if kind == "VARCHAR[]" else "VARCHAR"


def _json(cell: Any) -> Any:
    """Return a cell as a value of JSON: for example `["2020-01-02", null]` for `[DATE '2020-01-02', 'NaN'::DOUBLE]`."""
    if isinstance(cell, list):
        return list(map(_json, cell))
    if isinstance(cell, dict):
        return {str(name): _json(one) for name, one in cell.items()}
    if isinstance(cell, float) and not isfinite(cell):
        return None
    return cell if cell is None or isinstance(cell, (str, int, float)) else str(cell)


def _text_cell(cell: Any) -> Any:
    """Return a cell for another text format, in which only a list of texts stays a list."""
    is_words = isinstance(cell, list) and all(isinstance(one, str) for one in cell)
    return cell if is_words or isinstance(cell, (str, int, float)) else str(cell)


def _in_64_bits(cell: int) -> int:
    """Return a number. Raise UsageError for a number of more than 64 bits."""
    if not -(1 << 63) <= cell < 1 << 63:
        raise UsageError(f"--sql: {cell} is too large for a column of whole numbers: cast it to VARCHAR")
    return cell


_FIELDS: Final = {"BIGINT": NUMBER, "DOUBLE": DOUBLE, "VARCHAR[]": LISTS}
# For formats whose columns have a type.
_TYPED: Final[dict[str, Callable[[Any], Any]]] = {
    "BIGINT": _in_64_bits,
    "DOUBLE": float,
    "VARCHAR[]": lambda words: [word or "" for word in words],
}
