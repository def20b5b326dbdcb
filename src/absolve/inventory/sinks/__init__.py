"""Sinks: the output formats of tables, one module each, registered here by file name suffix and imported lazily.

In: the name of a format or of a file. Out: the sink (`core.protocols.Sink`), which encodes rows and writes the chunks.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import PurePath
from typing import TYPE_CHECKING, Final, NamedTuple, cast

from absolve.core.errors import UsageError, closest

if TYPE_CHECKING:
    from absolve.core.protocols import Sink, WriterOfTables


class Format(NamedTuple):
    """The module of a sink, and its properties.

    `stream`: it writes to any open file, also to a pipe; else it requires the path of a new file. `columns`: it writes
    `inventory.Columns` without encoding them to chunks first. `text`: it may be written to a terminal. `spreadsheet`:
    programs that open it may run a cell as a formula, and its cells have no escapes for control characters. `cluster`:
    the tasks of a cluster write it.
    """

    module: str
    stream: bool = True
    columns: bool = False
    text: bool = False
    spreadsheet: bool = False
    cluster: bool = False


# The name of a format is its suffix without the dot.
SINKS: Final[dict[str, Format]] = {
    ".jsonl": Format("absolve.inventory.sinks.jsonl", text=True, cluster=True),
    ".json": Format("absolve.inventory.sinks.json", text=True),
    ".csv": Format("absolve.inventory.sinks.csv", text=True, spreadsheet=True, cluster=True),
    ".tsv": Format("absolve.inventory.sinks.tsv", text=True, spreadsheet=True),
    ".md": Format("absolve.inventory.sinks.md", text=True),
    ".html": Format("absolve.inventory.sinks.html", text=True),
    ".table": Format("absolve.inventory.sinks.table", columns=True, text=True),  # for people; no suffix of a file
    ".parquet": Format("absolve.inventory.sinks.parquet", columns=True, cluster=True),
    ".sqlite": Format("absolve.inventory.sinks.sqlite", stream=False),
    ".duckdb": Format("absolve.inventory.sinks.duckdb", stream=False, columns=True),
}
OTHERWISE: Final = {".ndjson": ".jsonl", ".db": ".sqlite", ".sqlite3": ".sqlite"}  # aliases of suffixes
TABLE: Final = "table"
_MEANT: Final = {  # hints for suffixes of which none is a format
    "": "-o takes one file for all inputs: its suffix selects the format, as in links.csv",
    ".txt": "a name with another suffix, or --format csv (or jsonl), selects the format",
    ".xlsx": "a spreadsheet opens .csv; --csv-safe keeps cells from being formulas",
    ".xls": "a spreadsheet opens .csv; --csv-safe keeps cells from being formulas",
}
FORMATS: Final = tuple(suffix.removeprefix(".") for suffix in SINKS)
_SUFFIXES: Final = tuple(suffix for suffix in SINKS if suffix != f".{TABLE}")


def by_name(name: str) -> Sink:
    """Return the sink of a format (one of FORMATS). Raise UsageError for any other, or if a package is missing."""
    if name not in FORMATS:
        raise UsageError(f"unknown format {name!r}: choose from {', '.join(FORMATS)}")
    return cast("Sink", import_module(SINKS[f".{name}"].module))


def writer_of_tables(name: str) -> WriterOfTables:
    """Return the function that writes several tables to a format that is no stream: a database."""
    return cast("WriterOfTables", import_module(SINKS[f".{name}"].module).write_tables)


def name_of(path: str) -> str:
    """Return the name of the format for the suffix of a file name. Raise UsageError for an unknown suffix."""
    suffix = PurePath(path).suffix.lower()
    suffix = OTHERWISE.get(suffix, suffix)
    if suffix not in _SUFFIXES:
        text = f"{path}: no format has this suffix: choose from {', '.join(_SUFFIXES)}, or give --format"
        raise UsageError(text, _MEANT.get(suffix) or _meant(path, suffix))
    return suffix.removeprefix(".")


def _meant(path: str, suffix: str) -> str:
    """Return the question for the same name with the suffix that is most like a wrong one; empty if none is."""
    found = closest(suffix.removeprefix("."), [one.removeprefix(".") for one in (*_SUFFIXES, *OTHERWISE)])
    return f"did you mean {PurePath(path).with_suffix(f'.{found}')}?" if found is not None else ""


def is_stream(name: str) -> bool:
    """Return whether a format (one of FORMATS) can be written to the standard output."""
    return SINKS[f".{name}"].stream


def is_text(name: str) -> bool:
    """Return whether a format (one of FORMATS) can be written to a terminal."""
    return SINKS[f".{name}"].text


def is_spreadsheet(name: str) -> bool:
    """Return whether cells of a format (one of FORMATS) may be read as formulas, or as control characters."""
    return SINKS[f".{name}"].spreadsheet


def takes_columns(name: str) -> bool:
    """Return whether the sink of a format (one of FORMATS) accepts `inventory.Columns` among its chunks."""
    return SINKS[f".{name}"].columns


def is_for_clusters(name: str) -> bool:
    """Return whether the tasks of a cluster write a format (one of FORMATS)."""
    return SINKS[f".{name}"].cluster
