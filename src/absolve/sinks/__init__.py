"""The sinks of tables: one module each, one row here by suffix; a module is imported when its format is wanted."""

from __future__ import annotations

from importlib import import_module
from pathlib import PurePath
from typing import TYPE_CHECKING, Final

from absolve.errors import UsageError

if TYPE_CHECKING:
    from absolve.typing import Sink

# Suffix -> the module whose `write` is the sink; a format's name is its suffix without the dot.
SINKS: Final[dict[str, str]] = {
    ".jsonl": "absolve.sinks.jsonl",
    ".csv": "absolve.sinks.csv",
}
FORMATS: Final = tuple(suffix.removeprefix(".") for suffix in SINKS)


def by_name(name: str) -> Sink:
    """The sink of a format (one of FORMATS); UsageError for any other."""
    if name not in FORMATS:
        raise UsageError(f"unknown format {name!r}: choose from {', '.join(FORMATS)}")
    sink: Sink = import_module(SINKS[f".{name}"]).write
    return sink


def by_suffix(path: str) -> Sink:
    """The sink that a file's name asks for; UsageError where it asks for none."""
    suffix = PurePath(path).suffix.lower()
    if suffix not in SINKS:
        raise UsageError(f"{path}: no format has this suffix: choose from {', '.join(SINKS)}, or give --format")
    return by_name(suffix.removeprefix("."))
