"""Read result tables for the outputs: in order, in batches, with user information in URLs masked.

In: the DuckDB connection of an audit. Out: SQL, rows and streams of Arrow.
"""

from __future__ import annotations

import json
import re
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from absolve.audit.judge import batched, each, one
from absolve.audit.tables import TABLES
from absolve.audit.verdicts import FINE, QUIET
from absolve.core import printable
from absolve.core.printable import visible_json
from absolve.tables import FORMATS, Table, by_name
from absolve.tables.duckdb import add_function

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    import duckdb

    from absolve.audit.outputs import Style
    from absolve.tables import Format, Sink

AT_ONCE: Final = 1 << 14  # rows
_ORDER: Final = ("summary", "causes", "links", "urls", "pages", "rules")  # of the first sheets of a workbook
_INDEXED: Final = {
    "links": ("document", "verdict", "cause", "target"),
    "urls": ("url", "verdict"),
    "causes": ("cause",),
}
_FINDINGS: Final = f" WHERE verdict NOT IN {QUIET}"
_FOUND: Final = {  # the tables with findings, and a condition for these rows
    "summary": "",
    "causes": f" WHERE verdict NOT IN {(*QUIET, *FINE)}",
    "links": _FINDINGS,
    "urls": f" WHERE verdict NOT IN {FINE}",
    "pages": "",
    "rules": " WHERE cause IS NOT NULL",
    "baseline": "",
}
_COUNTS: Final = re.compile(r'count: "([^"]*)"')
_CLICKS: Final = re.compile(r"click|klick|clic|クリック", re.IGNORECASE)
_MASKED: Final = "absolve_masked"  # a function of the connection
_HELD: Final = """
SELECT table_name, column_name, data_type FROM duckdb_columns() WHERE NOT internal ORDER BY column_index
"""


class _Stream:
    """A relation of DuckDB as an Arrow stream: another connection does not accept the relation itself."""

    def __init__(self, relation: Any) -> None:
        self.relation = relation

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.relation.__arrow_c_stream__(requested_schema)


class Source:
    """The result tables of one audit. `tables`: their names; `summary`: the values of the table `summary` by name."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, style: Style) -> None:
        import duckdb

        self.connection = connection
        self.style = style
        with suppress(duckdb.NotImplementedException, duckdb.CatalogException):  # it is there: a look takes 20 ms
            add_function(connection, _MASKED, printable.masked)
        self._held: dict[str, dict[str, str]] = {}
        for table, name, kind in self.rows(_HELD):  # one query of the catalog: to ask for each table takes longer
            self._held.setdefault(table, {})[name] = TABLES.get(table, {}).get(name, kind)
        self._columns = {table: self._held[table] for table in (*TABLES, "baseline") if table in self._held}
        self.tables = [*self._columns]
        self.summary: dict[str, str | None] = dict(self.rows(f"SELECT name, value FROM ({self.select('summary')})"))  # noqa: S608 - names of ours

    def columns(self, table: str) -> dict[str, str]:
        """Return the columns of a result table with their types in DuckDB."""
        return self._columns[table]

    def has(self, table: str) -> bool:
        """Return whether the connection has a table of this name."""
        return table in self._held

    def masked(self, expression: str) -> str:
        """Return SQL for a text with masked user information. Only texts with an @ go through Python."""
        return f"CASE WHEN contains({expression}, '@') THEN {_MASKED}({expression}) ELSE {expression} END"

    def select(self, table: str) -> str:
        """Return the SELECT statement for a whole table."""
        found = []
        for name, kind in self._columns[table].items():
            column = f'"{name}"'
            found.append(f"{self.masked(column)} AS {column}" if kind == "VARCHAR" else column)
        return f'SELECT {", ".join(found)} FROM "{table}"'  # noqa: S608 - names of ours

    def write(self, names: Iterable[str], format_: str, file: Any, *, found: bool = False) -> None:
        """Write result tables in a format of `absolve.tables` to an open file, or as a database to a path.

        `found`: only findings, with their summary and causes. A workbook, whose sheets have a limit, has only the links
        with findings, and begins with its summary.
        """
        if found:
            names = [name for name in _FOUND if name in names]
        if format_ == "xlsx":
            names = sorted(names, key=lambda name: (_ORDER.index(name) if name in _ORDER else len(_ORDER), name))
        selects = {}
        for name in names:
            where = _FINDINGS if (name, format_) == ("links", "xlsx") else ""
            selects[name] = self.select(name) + (_FOUND[name] if found else where)
        form, sink = FORMATS[format_], by_name(format_)
        listed = [self._table(name, select if form.columns else None) for name, select in selects.items()]
        sink.write(listed, self._chunks(selects, form, sink), file)

    def _table(self, name: str, select: str | None) -> Table:
        views = {"findings": f"SELECT * FROM links{_FINDINGS}"} if name == "links" else {}  # noqa: S608 - names of ours
        rows = self.stream(f"{select} LIMIT 0") if select is not None else None
        return Table(name, self._columns[name], _INDEXED.get(name, ()), views, rows)

    def _chunks(self, selects: Mapping[str, str], form: Format, sink: Sink) -> Iterator[tuple[str, Any]]:
        """Yield the encoded rows of each table; rows of JSON name it, and have escapes for invisible characters."""
        is_json = form.several and form.text
        for name, select in selects.items():
            if form.columns:
                yield name, self.stream(select)
                continue
            columns = tuple(self._columns[name])
            for rows in batched(self.rows(select), AT_ONCE):
                if is_json:
                    chunk = sink.encode(("table", *columns), [(name, *row) for row in rows])
                    yield name, visible_json(chunk)
                else:
                    yield name, sink.encode(columns, rows)

    def rows(self, statement: str, parameters: Sequence[Any] = ()) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of a statement. Several may be open at once."""
        return each(self.connection, statement, parameters)

    def stream(self, statement: str) -> Any:
        """Return the rows of a statement as an object with `__arrow_c_stream__`."""
        return _Stream(self.connection.cursor().sql(statement))

    def value(self, statement: str, parameters: Sequence[Any] = ()) -> Any:
        """Return the first value of a statement that has one row."""
        return one(self.connection, statement, parameters)[0]

    @cached_property
    def news(self) -> frozenset[str] | None:
        """The identities of the findings that the baseline lacks; None without a baseline."""
        return frozenset(row[0] for row in self.rows("SELECT identity FROM news")) if self.has("news") else None

    @cached_property
    def asked(self) -> str:
        """The unit that lists of old URLs count: "click" for exports of Google Search Console, otherwise "request"."""
        read = "\n".join(json.loads(self.summary.get("read") or "[]"))
        counts = _COUNTS.findall(read)
        is_clicks = bool(counts) and all(_CLICKS.search(one) for one in counts) and "answers with" not in read  # a log
        return "click" if is_clicks else "request"

    def number(self, name: str) -> int:
        """Return a number of the summary; 0 if it is missing."""
        value = self.summary.get(name) or ""
        return int(value) if value.isdecimal() else 0
