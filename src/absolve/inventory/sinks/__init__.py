"""The sinks of tables: one module each, one row here by suffix; a module is imported when its format is wanted."""

from __future__ import annotations

from importlib import import_module
from pathlib import PurePath
from typing import TYPE_CHECKING, Final, NamedTuple, cast

from absolve.core.errors import UsageError

if TYPE_CHECKING:
    from absolve.core.protocols import Sink


class Format(NamedTuple):
    """A sink's module.

    `stream`: it writes to any file that is open, a pipe too; else it wants a file of its own. `columns`: of the
    inventory's own columns nothing is to be encoded, they are written as they are.
    """

    module: str
    stream: bool = True
    columns: bool = False


# A format's name is its suffix without the dot.
SINKS: Final[dict[str, Format]] = {
    ".jsonl": Format("absolve.inventory.sinks.jsonl"),
    ".csv": Format("absolve.inventory.sinks.csv"),
    ".parquet": Format("absolve.inventory.sinks.parquet", columns=True),
    ".sqlite": Format("absolve.inventory.sinks.sqlite", stream=False),
    ".duckdb": Format("absolve.inventory.sinks.duckdb", stream=False, columns=True),
}
OTHERWISE: Final = {".ndjson": ".jsonl", ".db": ".sqlite", ".sqlite3": ".sqlite"}  # other suffixes of the same
FORMATS: Final = tuple(suffix.removeprefix(".") for suffix in SINKS)


def by_name(name: str) -> Sink:
    """The sink of a format (one of FORMATS); UsageError for any other, and where a package that it needs is missing."""
    if name not in FORMATS:
        raise UsageError(f"unknown format {name!r}: choose from {', '.join(FORMATS)}")
    return cast("Sink", import_module(SINKS[f".{name}"].module))


def name_of(path: str) -> str:
    """The name of the format that a file's name asks for; UsageError where it asks for none."""
    suffix = PurePath(path).suffix.lower()
    suffix = OTHERWISE.get(suffix, suffix)
    if suffix not in SINKS:
        raise UsageError(f"{path}: no format has this suffix: choose from {', '.join(SINKS)}, or give --format")
    return suffix.removeprefix(".")


def is_stream(name: str) -> bool:
    """Whether a format (one of FORMATS) can go to the standard output."""
    return SINKS[f".{name}"].stream


def takes_columns(name: str) -> bool:
    """Whether the sink of a format (one of FORMATS) writes `inventory.Columns` among its chunks."""
    return SINKS[f".{name}"].columns
