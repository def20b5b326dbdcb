"""Outputs of an audit: one module a format, chosen by the suffix of the file name and imported when it is used.

In: the DuckDB connection with the result tables, a path. Out: complete files, or none. User information in URLs is
masked in every format; cells of spreadsheets are never formulas.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from absolve.audit.tables import TOLERATED, VERDICTS
from absolve.core.errors import UsageError
from absolve.run import outputs, special_files

if TYPE_CHECKING:
    from pathlib import Path

    import duckdb


class Format(NamedTuple):
    """The module of a format. `how` is what its `write` gets after the `Source`.

    "stream": an open file, the standard output, too. "file": the path of a new file. "tables": a function that opens
    the file of each table.
    """

    module: str
    how: str = "stream"


_HERE: Final = "absolve.audit.outputs."
FORMATS: Final = {
    "sqlite": Format(f"{_HERE}sqlite", "file"),
    "duckdb": Format(f"{_HERE}duckdb", "file"),
    "parquet": Format(f"{_HERE}parquet", "tables"),
    "csv": Format(f"{_HERE}csv", "tables"),
    "jsonl": Format(f"{_HERE}jsonl"),
    "xlsx": Format(f"{_HERE}xlsx"),
    "html": Format("absolve.audit.report"),
    "sarif": Format(f"{_HERE}sarif"),
    "junit": Format(f"{_HERE}junit"),
    "github": Format(f"{_HERE}github"),
    "gitlab": Format(f"{_HERE}gitlab"),
    "markdown": Format(f"{_HERE}markdown"),
}
# The ends of file names, longer ones first.
SUFFIXES: Final = {
    ".gitlab.json": "gitlab", ".sarif.json": "sarif", ".junit.xml": "junit", ".sqlite3": "sqlite",
    ".sqlite": "sqlite", ".db": "sqlite", ".duckdb": "duckdb", ".parquet": "parquet", ".csv": "csv",
    ".jsonl": "jsonl", ".ndjson": "jsonl", ".xlsx": "xlsx", ".html": "html", ".htm": "html", ".sarif": "sarif",
    ".xml": "junit", ".github": "github", ".gitlab": "gitlab", ".md": "markdown", ".markdown": "markdown",
}
BINARY: Final = frozenset({"sqlite", "duckdb", "parquet", "xlsx"})


class Options(NamedTuple):
    """How results are written.

    `fail_on`: verdicts that are errors; others are warnings. `credentials`: write user information of URLs as it is.
    `format`: one of FORMATS, else the suffix of the path decides. `roots`: files and folders whose source lines the
    report may show: inputs that the run has read itself.
    """

    fail_on: frozenset[str] = frozenset(VERDICTS) - frozenset(TOLERATED)
    credentials: bool = False
    format: str | None = None
    roots: tuple[Path, ...] = ()


def format_of(name: str) -> str:
    """Return the name of the format for a file name. Raise UsageError for an unknown suffix."""
    for suffix, found in SUFFIXES.items():
        if name.lower().endswith(suffix):
            return found
    raise UsageError(f"{name}: no format of an audit has this suffix: choose from {', '.join(SUFFIXES)}")


def is_stream(name: str) -> bool:
    """Return whether a format (one of FORMATS) can be written to the standard output."""
    return FORMATS[name].how == "stream" and name != "xlsx"


def write(connection: duckdb.DuckDBPyConnection, path: Path, options: Options | None = None) -> list[Path]:
    """Write the results to a path in the format of its suffix, and return the paths of the files.

    Formats with one file a table write NAME.TABLE.SUFFIX. Raise OSError where a file cannot be written (then all are as
    they were before), UsageError for an unknown suffix or if a package is missing.
    """
    from absolve.audit.outputs.source import Source

    options = options or Options()
    name = options.format or format_of(path.name)
    form = FORMATS[name]
    module: Any = import_module(form.module)
    source = Source(connection, options)
    if str(path) == special_files.STDOUT:
        if not is_stream(name):
            raise UsageError(f"{name} cannot be written to the standard output: give -o FILE")
        with outputs.stdout() as file:
            module.write(source, file)
        return []
    if form.how == "tables":
        return _write_tables(module, source, path)
    if form.how == "file":
        with outputs.replacing(path) as temporary:
            module.write(source, temporary)
    else:
        with outputs.writing(path) as file:
            module.write(source, file)
    return [path]


def _write_tables(module: Any, source: Any, path: Path) -> list[Path]:
    """Write a file for each table; rename them only when all are complete. Devices and pipes are written directly."""
    made = []
    try:
        for table in source.tables:
            target = path_of_table(path, table)
            if special_files.is_device(target):
                with outputs.writing(target) as file:
                    module.write(source, table, file)
                continue
            with outputs.preparing(target) as (file, one):
                module.write(source, table, file)
            made.append(one)
        for one in made:
            outputs.flush(one)
    except BaseException:
        for one in made:
            outputs.discard(one)
        raise
    for one in made:
        outputs.put(one)
    return [path_of_table(path, table) for table in source.tables]


def path_of_table(path: Path, table: str) -> Path:
    """Return the path of the file of one table: `audit.csv` has `audit.links.csv` beside it."""
    return path.with_name(f"{path.stem}.{table}{path.suffix}")
