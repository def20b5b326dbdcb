"""`rewrite --log FILE`: write each changed link to a table, completely or not at all.

Input: the changes while the run goes on. Output: the file, in the format of its suffix.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from absolve import tables
from absolve.cli import failures
from absolve.core.errors import UsageError
from absolve.run import outputs
from absolve.run.change_log import COLUMNS
from absolve.run.safe_cells import Cells
from absolve.tables.inventory import typed_table

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Sequence


def cells(options: argparse.Namespace) -> Cells:
    """Return the changes to the text of rows.

    Raise UsageError if FILE has no suitable suffix, or is a file that the run reads or writes.
    """
    form = tables.FORMATS[tables.name_of(options.log)]
    if not form.text:
        raise UsageError(f"--log {options.log}: give a file with the suffix .csv, .tsv, .json or .jsonl")
    failures.check(options, "log")
    if options.errors is not None and failures.is_same(Path(os.path.realpath(options.log)), options.errors):
        raise UsageError(f"--log {options.log} is also the file of --errors: choose another file")
    return Cells(masked=not options.show_credentials, literal=options.csv_safe and form.spreadsheet)


def write(name: str, changes: Iterable[Sequence[Sequence[Any]]]) -> None:
    """Write the changes as they come. Raise OSError if the file cannot be written."""
    sink = tables.by_name(tables.name_of(name))
    table = typed_table("changes", COLUMNS)
    with outputs.writing(Path(name)) as file:
        sink.write([table], ((table.name, sink.encode(COLUMNS, rows)) for rows in changes), file)
