"""Load both sites into the working tables: inventories of earlier runs, and documents.

In: a DuckDB connection, names of files. Out: the tables new_links, new_documents, old_links, old_documents, with the
columns of `absolve links` and `absolve documents`. Documents arrive as chunks of the DuckDB sink.
"""

from __future__ import annotations

import os
import re
import sqlite3
from contextlib import closing
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from absolve.core.arrow_stream import LISTS
from absolve.core.errors import Diagnostic, DocumentError, MissingPackageError, in_short
from absolve.document.companions import escaped
from absolve.formats import registry
from absolve.inventory import batches
from absolve.inventory.columns import COLUMNS
from absolve.inventory.documents import DOCUMENT_COLUMNS
from absolve.run.sources import local
from absolve.tables import Table, typed_table
from absolve.tables.duckdb import CLOSED, add_tables

try:
    import duckdb
except ImportError as error:
    raise MissingPackageError("this needs DuckDB: pip install 'duckdb>=2.0.1'") from error

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

NEW: Final = "new"
OLD: Final = "old"
SIDES: Final = (NEW, OLD)
TABLES: Final = {"links": COLUMNS, "documents": DOCUMENT_COLUMNS}
_TABLES: Final = [
    *(typed_table(name, columns) for name, columns in TABLES.items()),
    # The number of requests for a URL, where lists count them.
    Table("requests", {"url": "VARCHAR", "number": "BIGINT"}),
]
_OPTIONAL: Final = {"alternates": "[]"}  # columns that inventories of earlier versions lack
_GLOB: Final = re.compile(r"[*?\[]")
_ROWS: Final = 10_000
_STEP: Final = 1 << 40  # between the numbers of the links of two files
# robots.txt is read for its rules and mentions; a relative URL in it is a fault.
_JUDGED: Final = "element <> 'robots.txt' OR NOT regexp_matches(reference, '^[A-Za-z][A-Za-z0-9+.-]*:')"
_MEMORY: Final = "1GB"  # of the queries, before they use the disk
_SMALL: Final = 100  # documents: planning the queries takes longer than running them; with 400 it does not
_FEW: Final = 10_000  # links, likewise
_INTEGER: Final = re.compile("U?(?:TINY|SMALL|BIG|HUGE)?INT(?:EGER)?")


def connect(folder: str, jobs: int, *, on_disk: bool) -> Any:
    """Return a connection that spills to a folder. `on_disk`: its tables are also there, compressed."""
    path = str(Path(folder) / "audit.duckdb") if on_disk else ":memory:"
    spill = str(Path(folder) / "spill")
    config: dict[str, Any] = {"threads": str(jobs), "memory_limit": _MEMORY, "temp_directory": spill, **CLOSED}
    return duckdb.connect(path, config=config)


def tune_for_small_sites(connection: Any) -> None:
    """Turn off the optimizer for small sites, and use one thread: six pages take a seventh less time."""
    documents = "(SELECT count(*) FROM new_documents) + (SELECT count(*) FROM old_documents)"
    links = "(SELECT count(*) FROM new_all_links) + (SELECT count(*) FROM old_all_links)"
    ((number, link_count),) = connection.execute(f"SELECT {documents}, {links}").fetchall()
    if number < _SMALL and link_count < _FEW:
        connection.execute("SET threads = 1; PRAGMA disable_optimizer")


def seal(connection: Any, names: Iterable[str]) -> None:
    """Let further queries open no file but these, connect to nothing, and change no setting."""
    paths = ", ".join(quoted(path) for name in names for path in (absolute(name), _pattern(name)))
    connection.execute(f"SET allowed_paths = [{paths}]")
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")


def has_nothing(connection: Any, side: str, name: str) -> bool:
    """Return whether no document of a side has come from an input."""
    folder = f"{name.rstrip('/')}/"
    query = f"SELECT 1 FROM {side}_documents WHERE document = ? OR starts_with(document, ?) LIMIT 1"  # noqa: S608 - names of ours
    return not connection.execute(query, [name, "" if folder == "./" else folder]).fetchall()


def is_empty(connection: Any, side: str, *, has_links: bool) -> bool:
    """Return whether nothing of a side could be read: no URL; with `has_links` no document with links, and no list.

    Redirected URLs do not count for the old site.
    """
    which = f"url_source = 'list' OR media_type IN {tuple(registry.WALKERS)}" if has_links else "url IS NOT NULL"
    which = f"{which} AND (status IS NULL OR status < 300 OR status = 304)" if side == OLD else which
    links = f"FROM {side}_all_links{' WHERE element <> ' + quoted('header') if side == OLD else ''}"
    queries = (f"FROM {side}_documents WHERE {which}", links)
    return not any(connection.execute(f"SELECT 1 {query} LIMIT 1").fetchall() for query in queries)


def begin(connection: Any, side: str) -> None:
    """Create the empty tables of a side."""
    add_tables(connection, _TABLES, (), f"{side}_")


def end(connection: Any, side: str, files: Sequence[str]) -> None:
    """Create the view of all links of a side, with a number for each; links in Parquet files stay in these files.

    The documents so far come from inventories: their names are in SIDE_foreign.
    """
    connection.execute(f"CREATE TABLE {side}_foreign AS SELECT DISTINCT document FROM {side}_documents")  # noqa: S608 - names of ours
    columns = ", ".join(f'"{column}"' for column in COLUMNS)
    parts = [f"SELECT rowid AS id, {columns} FROM {side}_links"]  # noqa: S608 - names of ours
    parts += [
        f"SELECT {number} + file_row_number AS id, {_columns(name, 'links', _names(connection, name))}"  # noqa: S608
        f" FROM {parquet(name, ', file_row_number = true')}"
        for number, name in zip(count(_STEP, _STEP), files, strict=False)
    ]
    found = f"SELECT * FROM ({' UNION ALL '.join(parts)}) WHERE {_JUDGED}"  # noqa: S608 - likewise
    connection.execute(f"CREATE VIEW {side}_all_links AS {found}")


_RECORD: Final = r"^record\[[0-9]+\](?:/body\[1\])?/?"  # the part of an entity path that names a record's document
_RENAME: Final = """
CREATE OR REPLACE TEMP TABLE renamed AS
    SELECT split_part(entity, '/', 1) AS record, any_value(url) AS url FROM new_documents
    WHERE document = $name AND url IS NOT NULL GROUP BY record;
UPDATE causes SET example_document = r.url FROM renamed r WHERE starts_with(example_document, $name || '/')
    AND split_part(substr(example_document, length($name) + 2), '/', 1) = r.record;
UPDATE pages SET document = url WHERE document = $name;
""" + "".join(  # noqa: S608 - names of ours
    f"""
UPDATE {table} t SET document = r.url, entity = regexp_replace(t.entity, '{_RECORD}', '') FROM renamed r
    WHERE t.document = $name AND split_part(t.entity, '/', 1) = r.record;
"""  # noqa: S608 - names of ours
    for table in ("fixed_findings", "places", "new_links", "mentions")
)


def name_by_url(connection: Any, name: str) -> None:
    """Name the documents of an archive by their URLs in the result tables, because it is a temporary file."""
    for statement in filter(str.strip, _RENAME.split(";")):
        connection.execute(statement, {"name": name} if "$name" in statement else None)


def name_files(connection: Any, names: Mapping[str, str]) -> None:
    """Name the documents of temporary files as the caller knows them, in the result tables."""
    for table in ("fixed_findings", "places", "new_links", "mentions", "pages"):
        for path, shown in names.items():
            connection.execute(f"UPDATE {table} SET document = ? WHERE document = ?", [shown, path])  # noqa: S608 - names of ours
    for path, shown in names.items():
        connection.execute(
            "UPDATE causes SET example_document = ? || substr(example_document, ?)"
            " WHERE example_document = ? OR starts_with(example_document, ?)",
            [shown, len(path) + 1, path, f"{path}/"],
        )


def add_chunks(connection: Any, side: str, chunks: Iterable[tuple[str, Any]]) -> None:
    """Insert rows of documents; each chunk has the name of its table."""
    add_tables(connection, _TABLES, chunks, f"{side}_")


# --- inventories ------------------------------------------------------------------------------------------------------


def add_inventory(connection: Any, side: str, name: str, kind: str) -> set[str]:
    """Insert the rows of an inventory; return the names of its tables. Raise DocumentError if it cannot be read."""
    add = {"sqlite": _add_sqlite, "parquet": _add_parquet, "duckdb": _add_duckdb}[kind]
    try:
        return add(connection, side, name)
    except (duckdb.Error, sqlite3.Error, OSError, TypeError, ValueError, OverflowError) as error:  # of cells
        raise DocumentError(_unreadable(name, error)) from error


def _add_parquet(connection: Any, side: str, name: str) -> set[str]:
    """Insert documents; links stay in their file (`end`)."""
    names = _names(connection, name)
    table = "links" if "reference" in names else "documents"
    columns = _columns(name, table, names)
    if table == "documents":
        connection.execute(f"INSERT INTO {side}_{table} SELECT {columns} FROM {parquet(name)}")  # noqa: S608 - names of ours
    else:
        _check_types(connection, side, name)
    return {table}


def _names(connection: Any, name: str) -> list[str]:
    return [column for column, _ in _described(connection, name)]


def _described(connection: Any, name: str) -> list[tuple[str, str]]:
    """Return the columns of a Parquet file with their types."""
    query = f"DESCRIBE SELECT * FROM {parquet(name)}"  # noqa: S608 - quoted
    return [row[:2] for row in connection.execute(query).fetchall()]


def _check_types(connection: Any, side: str, name: str) -> None:
    """Raise DocumentError if a column of links that stay in their file has another type."""
    wanted = dict(row[:2] for row in connection.execute(f"DESCRIBE {side}_links").fetchall())
    for column, kind in _described(connection, name):
        if column in wanted and kind != '"NULL"' and _kind(kind) != _kind(wanted[column]):
            text = f"its table links is of another version of absolve: {column} is {kind}, not {wanted[column]}"
            raise DocumentError(Diagnostic("other-version", text, name))


def _kind(kind: str) -> str:
    """Return a type of DuckDB without the size of numbers and the words of enumerations: BIGINT for UINTEGER."""
    return "VARCHAR" if kind.startswith("ENUM(") else "BIGINT" if _INTEGER.fullmatch(kind) else kind


def unreadable_links(connection: Any, names: Iterable[str]) -> Iterator[Diagnostic]:
    """Yield why Parquet files with links cannot be read: a query checks only the pages of a file that it needs."""
    hashes = ", ".join(f'max(hash("{column}"))' for column in COLUMNS)
    for name in names:
        try:
            connection.execute(f"SELECT {hashes} FROM {parquet(name)}").fetchall()  # noqa: S608 - names of ours
        except duckdb.Error as error:
            yield _unreadable(name, error)


def _unreadable(name: str, error: Exception) -> Diagnostic:
    text = f"this inventory cannot be read: {in_short(str(error).partition(chr(10))[0])}"
    return Diagnostic("unreadable", text, name)


def _add_duckdb(connection: Any, side: str, name: str) -> set[str]:
    connection.execute(f"ATTACH {quoted(absolute(name))} AS inventory (TYPE duckdb, READ_ONLY)")
    try:
        found = set()
        for table in TABLES:
            rows = connection.execute(
                "SELECT column_name FROM duckdb_columns() JOIN duckdb_tables() USING (database_name, table_oid)"
                " WHERE database_name = 'inventory' AND duckdb_tables.schema_name = 'main'"
                " AND duckdb_tables.table_name = ?",
                [table],
            ).fetchall()
            if rows:
                columns = _columns(name, table, [row[0] for row in rows])
                connection.execute(
                    f"INSERT INTO {side}_{table} SELECT {columns} FROM inventory.main.{table}"  # noqa: S608 - names of ours
                )
                found.add(table)
    finally:
        connection.execute("DETACH inventory")
    return _complete(name, found)


def _add_sqlite(connection: Any, side: str, name: str) -> set[str]:
    """Insert the rows of an SQLite database by Python's own module: DuckDB would load an extension for it."""
    found = set()
    path = escaped(absolute(name))
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
    lists = [place for place, column in enumerate(columns) if batches.KINDS.get(column) == LISTS]
    while rows := cursor.fetchmany(_ROWS):
        changed = [list(row) for row in rows]
        for row in changed:
            for place in lists:
                row[place] = str(row[place] or "").split()
        yield table, batches.batch(columns, changed)


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


def quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def absolute(name: str) -> str:
    """Return an absolute path, which DuckDB does not take for a URL, or for the name of an extension with a colon."""
    return os.path.abspath(local(name))  # noqa: PTH100 - a text


def _pattern(name: str) -> str:
    """Return a pattern for DuckDB that only this path matches: for example `/a/[*].parquet`."""
    return _GLOB.sub(r"[\g<0>]", absolute(name))


def parquet(name: str, more: str = "") -> str:
    """Return the table function that reads exactly this file: no pattern of names, no columns from its path."""
    return f"read_parquet({quoted(_pattern(name))}, hive_partitioning = false{more})"
