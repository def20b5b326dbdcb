"""`-f json`: the answer of a command as one JSON value on the standard output, with the names that columns have.

Input: the options, fields of items as they come. Output: an array of objects in ASCII, an item a line. Tables are
written by `tables.json`.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from absolve.core import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from absolve.cli.option_table import Options
    from absolve.core.errors import Diagnostic


@contextmanager
def array(options: Options) -> Iterator[Callable[[dict[str, Any]], None] | None]:
    """Yield the function that writes an item of the array; None for text."""
    if options.format != "json":
        yield None
        return
    before = "[\n"

    def add(item: dict[str, Any]) -> None:
        nonlocal before
        print(before, text_of(item), sep="", end="")
        before = ",\n"

    yield add
    print("[]" if before == "[\n" else "\n]")


def text_of(value: Any) -> str:
    """Return a value as JSON in ASCII, without user information of URLs."""
    import json  # a run of another format does not need it

    return json.dumps(_masked(value), default=str)


def _masked(value: Any) -> Any:
    if isinstance(value, str):
        return printable.masked(value)
    if isinstance(value, dict):
        return {name: _masked(one) for name, one in value.items()}
    return [_masked(one) for one in value] if isinstance(value, list) else value


def of_diagnostic(found: Diagnostic) -> dict[str, Any]:
    """Return a diagnostic as an object."""
    place = {"document": found.name, "line": found.line, "column": found.column}
    return {**place, "code": found.code, "text": found.text}
