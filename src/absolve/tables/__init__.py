r"""Tables in files: one sink a format, which all commands share. Imported when a table is written.

In: tables by name (`Table`), their rows in chunks. Out: bytes in an open file, or a database at a path. Sinks write the
texts of rows as they are; `run.filters` masks and escapes them before.

    >>> by_name("csv").encode(("target", "line"), [("http://h/?a,b", 3)])
    b'"http://h/?a,b",3\n'
"""

from __future__ import annotations

from importlib import import_module
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

from absolve.core.errors import UsageError, closest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence


SCHEMA_VERSION: Final = 1  # of all tables; a column that goes, or has another meaning, adds one


class Table(NamedTuple):
    """A table that is written: its name, and its columns with their types: VARCHAR, VARCHAR[], BIGINT or DOUBLE.

    For databases, `indexed` are columns with an index, and `views` SELECT statements by name; `{unresolved}` and
    `{malformed}` in them are conditions on `problems`, `{host}` is the host of `target`. `rows`: a stream of Arrow
    with its fields, if its rows come in such streams.
    """

    name: str
    columns: Mapping[str, str]
    indexed: tuple[str, ...] = ()
    views: Mapping[str, str] = {}
    rows: Any = None


def defined(columns: Mapping[str, str]) -> str:
    """Return the columns of a CREATE TABLE statement, for example `"a" TEXT, "b" INTEGER`."""
    quoted = ((name.replace('"', '""'), kind) for name, kind in columns.items())
    return ", ".join(f'"{name}" {kind}' for name, kind in quoted)


class Sink(NamedTuple):
    """A table format: rows are encoded in chunks, in any process; the parent process writes the chunks in order.

    `encode` gets the names of columns, and rows with a value for each: str, number, None, or a list of str; or
    `inventory.Columns`. It returns a value that can be pickled. Lone surrogates are replaced.

    `write` gets the tables, chunks with the name of their table, and a binary file, which it leaves open; a format that
    is not a stream gets the path of a file that does not exist yet. It raises OSError.
    """

    encode: Callable[[Sequence[str], Iterable[Sequence[Any]]], Any]
    write: Callable[[Sequence[Table], Iterable[tuple[str, Any]], Any], None]


class Format(NamedTuple):
    """The sink of a format, as MODULE.NAME in this room, and its properties.

    `stream`: it writes to any open file, also to a pipe; otherwise it requires the path of a new file. `several`: one
    file holds several tables. `columns`: its chunks may also be `inventory.Columns` and streams of Arrow, which are not
    encoded. `text`: it may be written to a terminal. `raw`: its cells have no escapes for control characters. `source`
    and `needs`: it is not a table, but derived from these columns of this table alone, for example a sitemap.
    `has_suffix`: its name is a suffix.
    """

    sink: str
    stream: bool = True
    several: bool = False
    columns: bool = False
    text: bool = False
    raw: bool = False
    source: str = ""
    needs: tuple[str, ...] = ()
    has_suffix: bool = True


TABLE: Final = "table"
_SITEMAP_COLUMNS: Final = ("url", "status", "media_type", "canonical", "robots")
# The name of a format is its suffix without the dot.
FORMATS: Final[dict[str, Format]] = {
    "jsonl": Format("plain.JSONL", several=True, text=True),
    "json": Format("plain.JSON", several=True, text=True),
    "csv": Format("plain.CSV", text=True, raw=True),
    "tsv": Format("plain.TSV", text=True, raw=True),
    "md": Format("plain.MARKDOWN", text=True),
    "html": Format("plain.HTML", text=True),
    TABLE: Format("terminal.TABLE", columns=True, text=True, has_suffix=False),  # for people
    "parquet": Format("parquet.PARQUET", columns=True),
    "sqlite": Format("sqlite.SQLITE", stream=False, several=True),
    "duckdb": Format("duckdb.DUCKDB", stream=False, several=True, columns=True),
    "xlsx": Format("xlsx.XLSX", stream=False, several=True),
    "sitemap": Format("plain.SITEMAP", text=True, source="documents", needs=_SITEMAP_COLUMNS, has_suffix=False),
}
# Aliases of suffixes, and of formats.
OTHERWISE: Final = {"ndjson": "jsonl", "db": "sqlite", "sqlite3": "sqlite", "markdown": "md"}
_SUFFIX_HINTS: Final = {  # hints for suffixes that are not formats
    "": "-o takes one file for all inputs: its suffix selects the format, as in links.csv",
    "xml": "--format sitemap writes a sitemap of documents",
    "txt": "a name with another suffix, or --format csv (or jsonl), selects the format",
}
SUFFIXES: Final = tuple(f".{name}" for name, form in FORMATS.items() if form.has_suffix)


def by_name(name: str) -> Sink:
    """Return the sink of a format (one of FORMATS). Raise UsageError for any other, or if a package is missing."""
    if name not in FORMATS:
        raise UsageError(f"unknown format {name!r}: choose from {', '.join(FORMATS)}")
    module, _, sink = FORMATS[name].sink.partition(".")
    return cast("Sink", getattr(import_module(f"absolve.tables.{module}"), sink))


def format_name(path: str) -> str:
    """Return the format for a file name, for example "jsonl" for `a.ndjson`. Raise UsageError for an unknown suffix."""
    suffix = PurePath(path).suffix.lower().removeprefix(".")
    name = OTHERWISE.get(suffix, suffix)
    if f".{name}" not in SUFFIXES:
        text = f"{path}: no format has this suffix: choose from {', '.join(SUFFIXES)}, or give --format"
        raise UsageError(text, _SUFFIX_HINTS.get(name) or _similar_suffix(path, name))
    return name


def _similar_suffix(path: str, suffix: str) -> str:
    """Return a hint for a wrong suffix, for example `did you mean links.csv?` for `links.cvs`; or ""."""
    found = closest(f".{suffix}", [*SUFFIXES, *(f".{name}" for name in OTHERWISE)])
    return f"did you mean {PurePath(path).with_suffix(found)}?" if found is not None else ""


# --- the tables `links` and `documents` ------------------------------------------------------------------------------

TYPES: Final = {
    **dict.fromkeys(("line", "column", "start", "end", "status", "size", "links", "count"), "BIGINT"),
    **dict.fromkeys(("file_start", "file_end"), "BIGINT"),
    **dict.fromkeys(("problems", "anchors", "alternates"), "VARCHAR[]"),
}
INDEXED: Final = {"links": ("document", "target", "reference"), "documents": ("document", "url")}
# Name -> the required columns, and the SELECT statement.
VIEWS: Final = {
    "broken": ({"problems"}, "SELECT * FROM links WHERE {unresolved} OR {malformed}"),
    "by_host": (
        {"document", "target"},
        """SELECT host, count(*) AS links, count(DISTINCT document) AS documents
        FROM (SELECT document, {host} AS host FROM links) AS hosts WHERE host <> ''
        GROUP BY host ORDER BY links DESC, host""",
    ),
    "by_base_layer": (
        {"base_layer", "document"},
        """SELECT base_layer, count(*) AS links, count(DISTINCT document) AS documents
        FROM links GROUP BY base_layer ORDER BY links DESC, base_layer""",
    ),
}


def typed_table(name: str, columns: Sequence[str]) -> Table:
    """Return the table `links` or `documents` with these columns, or another table with columns of these names."""
    indexed = tuple(column for column in INDEXED.get(name, ()) if column in columns)
    views = {view: select for view, (needed, select) in VIEWS.items() if name == "links" and needed <= set(columns)}
    return Table(name, {column: TYPES.get(column, "VARCHAR") for column in columns}, indexed, views)
