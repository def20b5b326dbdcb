"""Outputs of an audit: its tables in each format of `absolve.tables`, and reports.

In: the DuckDB connection with the result tables, a path. Out: complete files, or none. The suffix of the file name
selects the format. User information in URLs is masked in every format; cells of spreadsheets are never formulas.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from absolve.audit.tables import TABLES as TABLES_OF_AUDIT
from absolve.audit.verdicts import TOLERATED, VERDICTS
from absolve.core.errors import UsageError
from absolve.run import outputs
from absolve.tables import FORMATS as FORMATS_OF_TABLES
from absolve.tables import OTHERWISE, TABLE, by_name

if TYPE_CHECKING:
    import duckdb

    from absolve.audit.outputs.source import Source


REPORTS: Final = {  # formats only for the findings of an audit, each with the module and the function that writes it
    "html": "report.page.write",
    **{name: f"outputs.build_servers.{name}" for name in ("sarif", "junit", "github", "markdown")},
}
_NONE: Final = {TABLE, "md", "html"}  # of the tables of an audit
TABLES: Final = {name: form for name, form in FORMATS_OF_TABLES.items() if name not in _NONE and not form.source}
FORMATS: Final = (*TABLES, *REPORTS)
ALIASES: Final = {**OTHERWISE, "markdown": "markdown", "md": "markdown"}  # other names of formats
# The ends of file names, longer ones first.
SUFFIXES: Final = {
    ".sarif.json": "sarif", ".junit.xml": "junit",
    **{f".{name}": name for name in TABLES},
    **{f".{alias}": name for alias, name in OTHERWISE.items() if name in TABLES},
    ".html": "html", ".htm": "html", ".sarif": "sarif", ".xml": "junit", ".github": "github",
    ".md": "markdown", ".markdown": "markdown",
}


class Style(NamedTuple):
    """How results are written.

    `fail_on`: verdicts that are errors; others are warnings.
    `format`: one of FORMATS; without it, the suffix of the path decides. `roots`: files and folders whose source lines
    the report may show: inputs that the run has read itself.
    """

    fail_on: frozenset[str] = frozenset(VERDICTS) - frozenset(TOLERATED)
    format: str | None = None
    roots: tuple[Path, ...] = ()


def detect_format(name: str) -> str:
    """Return the format for a file name, for example "sarif" for `a.sarif.json`. Raise UsageError if unknown."""
    for suffix, found in SUFFIXES.items():
        if name.lower().endswith(suffix):
            return found
    raise UsageError(f"{name}: no format of an audit has this suffix: choose from {', '.join(SUFFIXES)}")


def load(name: str) -> Any:
    """Return the function that writes a report, or the sink of a table. Raise UsageError if a package is missing."""
    if name not in REPORTS:
        return by_name(name)
    module, _, function = REPORTS[name].rpartition(".")
    return getattr(import_module(f"absolve.audit.{module}"), function)


def is_split(name: str) -> bool:
    """Return whether a format (one of FORMATS) has one file a table."""
    return name in TABLES and not TABLES[name].several


def is_stream(name: str) -> bool:
    """Return whether a format (one of FORMATS) can be written to the standard output."""
    return name in REPORTS or (TABLES[name].several and TABLES[name].stream)


def write(connection: duckdb.DuckDBPyConnection, path: Path, style: Style | None = None) -> list[Path]:
    """Write the results to a path in the format of its suffix, and return the paths of the files.

    Formats with one file a table write NAME.TABLE.SUFFIX. The standard output gets only the findings with their summary
    and causes. Raise OSError if a file cannot be written (then all stay as they were), UsageError for an unknown suffix
    or if a package is missing.
    """
    from absolve.audit.outputs.source import Source

    style = style or Style()
    name = style.format or detect_format(path.name)
    to_stdout = str(path) == outputs.STDOUT
    if to_stdout and not is_stream(name):
        raise UsageError(f"{name} cannot be written to the standard output: give -o FILE")
    source = Source(connection, style)
    if is_split(name):
        return _write_each(source, name, path)
    with outputs.opened(str(path)) if is_stream(name) else outputs.replacing(path) as file:
        if name in REPORTS:
            load(name)(source, file)
        else:
            source.write(source.tables, name, file, found=outputs.is_stdout(str(path)))
    return [] if to_stdout else [path]


def _write_each(source: Source, name: str, path: Path) -> list[Path]:
    """Write a file for each table; rename them only when all are complete. Devices and pipes are written directly."""
    prepared = []
    targets = {table: table_path(path, table) for table in source.tables}
    try:
        for table, target in targets.items():
            if outputs.is_device(target):
                with outputs.writing(target) as file:
                    source.write([table], name, file)
                continue
            with outputs.preparing(target) as (file, one):
                source.write([table], name, file)
            prepared.append(one)
        for one in prepared:
            outputs.flush(one)
    except BaseException:
        for one in prepared:
            outputs.discard(one)
        raise
    for one in prepared:
        outputs.put(one)
    return [*targets.values()]


def paths(name: str, form: str | None = None) -> list[Path]:
    """Return the paths of the files that `write` creates for an output."""
    if name == outputs.STDOUT:
        return []
    path = Path(name)
    if not is_split(form or detect_format(name)):
        return [path]
    return [table_path(path, table) for table in (*TABLES_OF_AUDIT, "baseline")]


def table_path(path: Path, table: str) -> Path:
    """Return the path of one table's file: for example `audit.links.csv` for `audit.csv`."""
    return path.with_name(f"{path.stem}.{table}{path.suffix}")
