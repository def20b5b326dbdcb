"""Load both sites into the working tables: inventories that were made before, lists of URLs, documents.

In: a DuckDB connection, names of files. Out: the tables new_links, new_documents, old_links, old_documents, with the
columns of `absolve links` and `absolve documents`. Documents that are read come as chunks of the DuckDB sink.
"""

from __future__ import annotations

import gzip
import re
import sqlite3
from contextlib import closing
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from absolve.core.errors import Diagnostic, DocumentError, UsageError, in_short
from absolve.inventory.columns import COLUMNS
from absolve.inventory.documents import DOCUMENT_COLUMNS
from absolve.run.inputs import escaped
from absolve.run.sources import unreadable
from absolve.urls.predicates import has_scheme, is_malformed

try:
    import duckdb

    from absolve.inventory import arrow_batches
    from absolve.inventory.sinks import duckdb as sink
except (ImportError, UsageError) as error:
    raise UsageError("an audit needs more packages: pip install 'absolve[audit]'") from error

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    Notify = Callable[[Diagnostic], None]

NEW: Final = "new"
OLD: Final = "old"
SIDES: Final = (NEW, OLD)
TABLES: Final = {"links": COLUMNS, "documents": DOCUMENT_COLUMNS}
_OPTIONAL: Final = {"alternates": "[]"}  # columns that inventories of earlier versions lack
_SQLITE: Final = b"SQLite format 3\0"
_PARQUET: Final = b"PAR1"
_DUCKDB: Final = b"DUCK"  # at byte 8
_HEAD: Final = 4096
_ROWS: Final = 10_000
_STEP: Final = 1 << 40  # between the numbers of the links of two files
_URL_LINE: Final = re.compile(rb"\s*(?:#[^\n]*\n\s*)*(?:https?://\S+|/\S*)\s*(?:\n|$)")
_SITEMAP: Final = re.compile(rb"<(?:\w+:)?(?:urlset|sitemapindex)[\s>]")


class Kinds(NamedTuple):
    """Names of inputs: inventories and lists by kind, and those that are read as documents."""

    inventories: list[tuple[str, str]]
    lists: list[tuple[str, str]]
    documents: list[str]


def connect(folder: str, jobs: int, memory: str, *, on_disk: bool) -> Any:
    """Return a connection that spills to a folder. `on_disk`: its tables are there, too, compressed.

    Raise UsageError if `memory` is no size.
    """
    path = str(Path(folder) / "audit.duckdb") if on_disk else ":memory:"
    spill = str(Path(folder) / "spill")
    config: dict[str, Any] = {"threads": str(jobs), "memory_limit": memory, "temp_directory": spill}
    try:
        return duckdb.connect(path, config=config)
    except duckdb.Error as error:
        raise UsageError(f"--memory {memory}: {str(error).partition(chr(10))[0]}") from error


def sorted_out(names: Iterable[str]) -> Kinds:
    """Tell inventories, lists of URLs and documents apart, by their first bytes."""
    found = Kinds([], [], [])
    for name in names:
        head = _head(name)
        if head.startswith(_SQLITE):
            found.inventories.append((name, "sqlite"))
        elif head.startswith(_PARQUET):
            found.inventories.append((name, "parquet"))
        elif head[8:12] == _DUCKDB:
            found.inventories.append((name, "duckdb"))
        elif _SITEMAP.search(head):
            found.lists.append((name, "sitemap"))
        elif Path(name).suffix.lower() in {".txt", ".lst", ".urls", ""} and _URL_LINE.match(head):
            found.lists.append((name, "list"))
        else:
            found.documents.append(name)
    return found


def _head(name: str) -> bytes:
    """Return the first bytes of a file, decompressed if it is a sitemap in gzip; b"" if it cannot be read."""
    path = Path(name)
    if name == "-" or not path.is_file():
        return b""
    try:
        with path.open("rb") as file:
            head = file.read(_HEAD)
        if head.startswith(b"\x1f\x8b") and path.name.lower().endswith(".xml.gz"):
            with gzip.open(path) as file:
                head = file.read(_HEAD)
    except (OSError, EOFError, ValueError):
        return b""
    return head


def begin(connection: Any, side: str) -> None:
    """Create the empty tables of a side."""
    sink.add_tables(connection, TABLES, (), f"{side}_")


def end(connection: Any, side: str, parquet: Sequence[str]) -> None:
    """Create the view of all links of a side, with a number for each: those in Parquet files stay there."""
    columns = ", ".join(f'"{column}"' for column in COLUMNS)
    parts = [f"SELECT rowid AS id, {columns} FROM {side}_links"]  # noqa: S608 - names of ours
    parts += [
        f"SELECT {number} + file_row_number AS id, {_columns(name, 'links', _names(connection, name))}"  # noqa: S608
        f" FROM read_parquet({_quoted(name)}, file_row_number = true)"
        for number, name in zip(count(_STEP, _STEP), parquet, strict=False)
    ]
    connection.execute(f"CREATE VIEW {side}_all_links AS {' UNION ALL '.join(parts)}")


def add_chunks(connection: Any, side: str, chunks: Iterable[tuple[str, Any]]) -> None:
    """Insert rows of documents that are read: each chunk has the name of its table."""
    sink.add_tables(connection, TABLES, chunks, f"{side}_")


# --- inventories ------------------------------------------------------------------------------------------------------


def add_inventory(connection: Any, side: str, name: str, kind: str) -> set[str]:
    """Insert the rows of an inventory; return the names of the tables that it has. Raise DocumentError."""
    try:
        if kind == "sqlite":
            return _add_sqlite(connection, side, name)
        if kind == "parquet":
            return {_add_parquet(connection, side, name)}
        return _add_duckdb(connection, side, name)
    except (duckdb.Error, sqlite3.Error, OSError) as error:
        text = f"this inventory cannot be read: {in_short(str(error).partition(chr(10))[0])}"
        raise DocumentError(Diagnostic("unreadable", text, name)) from error


def _add_parquet(connection: Any, side: str, name: str) -> str:
    """Insert documents; links stay in their file (`end`)."""
    names = _names(connection, name)
    table = "links" if "reference" in names else "documents"
    columns = _columns(name, table, names)
    if table == "documents":
        connection.execute(
            f"INSERT INTO {side}_{table} SELECT {columns} FROM read_parquet({_quoted(name)})"  # noqa: S608 - names of ours
        )
    return table


def _names(connection: Any, name: str) -> list[str]:
    query = f"DESCRIBE SELECT * FROM read_parquet({_quoted(name)})"  # noqa: S608 - quoted
    return [row[0] for row in connection.execute(query).fetchall()]


def _add_duckdb(connection: Any, side: str, name: str) -> set[str]:
    connection.execute(f"ATTACH {_quoted(name)} AS inventory (READ_ONLY)")
    try:
        found = set()
        for table in TABLES:
            rows = connection.execute(
                "SELECT column_name FROM duckdb_columns() JOIN duckdb_tables() USING (database_name, table_oid)"
                " WHERE database_name = 'inventory' AND duckdb_columns.table_name = ?",
                [table],
            ).fetchall()
            if rows:
                columns = _columns(name, table, [row[0] for row in rows])
                connection.execute(
                    f"INSERT INTO {side}_{table} SELECT {columns} FROM inventory.{table}"  # noqa: S608 - names of ours
                )
                found.add(table)
    finally:
        connection.execute("DETACH inventory")
    return _complete(name, found)


def _add_sqlite(connection: Any, side: str, name: str) -> set[str]:
    """Insert the rows of an SQLite database by Python's own module: DuckDB would load an extension for it."""
    found = set()
    path = escaped(str(Path(name).absolute()))
    with closing(sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)) as database:
        database.execute("PRAGMA trusted_schema = OFF")
        for table, columns in TABLES.items():
            kinds = database.execute("SELECT type FROM sqlite_master WHERE name = ?", [table]).fetchall()
            if kinds != [("table",)]:
                continue
            names = [row[1] for row in database.execute(f"PRAGMA table_info({table})")]
            _columns(name, table, names)
            listed = ", ".join(f'"{column}"' if column in names else "''" for column in columns)
            cursor = database.execute(f"SELECT {listed} FROM {table}")  # noqa: S608 - names of ours
            add_chunks(connection, side, _chunks(cursor, table, columns))
            found.add(table)
    return _complete(name, found)


def _chunks(cursor: sqlite3.Cursor, table: str, columns: Sequence[str]) -> Iterator[tuple[str, Any]]:
    lists = [place for place, column in enumerate(columns) if arrow_batches.TYPES.get(column) == arrow_batches.LISTS]
    while rows := cursor.fetchmany(_ROWS):
        changed = [list(row) for row in rows]
        for row in changed:
            for place in lists:
                row[place] = (row[place] or "").split()
        yield table, arrow_batches.batch(columns, changed)


def _columns(name: str, table: str, present: Sequence[str]) -> str:
    """Return the columns of a table for a SELECT clause. Raise DocumentError if one is missing."""
    missing = [column for column in TABLES[table] if column not in present and column not in _OPTIONAL]
    if missing:
        text = f"its table {table} is of another version of absolve, or has only some columns: without {missing[0]}"
        raise DocumentError(Diagnostic("other-version", text, name))
    return ", ".join(f'"{column}"' if column in present else _OPTIONAL[column] for column in TABLES[table])


def _complete(name: str, found: set[str]) -> set[str]:
    if not found:
        text = "this database has no table of links or documents: make one with absolve links -o"
        raise DocumentError(Diagnostic("no-table", text, name))
    return found


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


# --- lists of URLs ----------------------------------------------------------------------------------------------------


def add_list(connection: Any, side: str, name: str, kind: str, notify: Notify) -> None:
    """Insert a row for each URL of a list or sitemap: only that these exist is known. Raise DocumentError."""
    try:
        data = Path(name).read_bytes()
        if data.startswith(b"\x1f\x8b"):
            data = gzip.decompress(data)
    except (OSError, EOFError, ValueError) as error:
        raise unreadable(name, error) from error
    found = _of_sitemap(name, data) if kind == "sitemap" else _of_lines(data)
    add_chunks(connection, side, _listed(name, found, notify))


def _of_lines(data: bytes) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(data.decode("utf-8-sig", "replace").splitlines(), 1):
        text = line.strip()
        if text and not text.startswith("#"):
            yield number, text


def _of_sitemap(name: str, data: bytes) -> Iterator[tuple[int, str]]:
    from absolve import api

    for row in api.links(data, name=name, media_type="application/xml"):
        if row.element == "loc":
            yield row.line, row.reference


def _listed(name: str, found: Iterable[tuple[int, str]], notify: Notify) -> Iterator[tuple[str, Any]]:
    rows: list[tuple[Any, ...]] = []
    for line, url in found:
        if not has_scheme(url) or is_malformed(url):
            text = f"{in_short(url)!r} is not an absolute URL: skipped"
            notify(Diagnostic("no-url", text, name, line, failed=True))
            continue
        rows.append(_row(name, line, url))
        if len(rows) == _ROWS:
            yield "documents", arrow_batches.batch(DOCUMENT_COLUMNS, rows)
            rows = []
    if rows:
        yield "documents", arrow_batches.batch(DOCUMENT_COLUMNS, rows)


def _row(name: str, line: int, url: str) -> tuple[Any, ...]:
    """Return the row of a document of which only the URL is known; its entity is the line of the list."""
    known: dict[str, Any] = {
        **dict.fromkeys(DOCUMENT_COLUMNS),
        "document": name,
        "entity": f"line {line}",
        "url": url,
        "url_source": "list",
        "base": url,
        "base_layer": "retrieval",
        "links": 0,
        "problems": [],
        "anchors": [],
        "alternates": [],
    }
    return tuple(known[column] for column in DOCUMENT_COLUMNS)
