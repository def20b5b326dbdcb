"""The run of `absolve links` and `absolve documents`: from options to a table in a sink.

Input: the options. Output: the rows in the sink, in the order of the inputs; diagnostics in the report.
"""

from __future__ import annotations

import sys
from contextlib import closing
from functools import partial
from typing import TYPE_CHECKING, Any

from absolve.cli import cluster, failures, filters, many
from absolve.cli import options as shared
from absolve.cli.reporting import is_terminal, visible_json
from absolve.core.errors import UsageError
from absolve.inventory import sinks
from absolve.run import outputs
from absolve.run.filters import Selection
from absolve.run.links_task import LINKS, ListOptions, Unique, columns_of, listed
from absolve.run.safe_cells import Cells
from absolve.run.segment_inputs import spread

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Iterator

    from absolve.cli.reporting import Report
    from absolve.core.protocols import Sink
    from absolve.run.results import RowChunk


def add_format(parser: argparse.ArgumentParser) -> None:
    """Add -o OUT, --format and --csv-safe."""
    group = parser.add_argument_group("output")
    shared.add_output(group)
    group.add_argument(
        "-f",
        "--format",
        discovered=True,
        choices=sinks.FORMATS,
        help="output format (default: by the suffix of OUT, else jsonl)",
    )
    group.add_argument(
        "--csv-safe",
        discovered=True,
        action="store_true",
        help="in CSV and other formats for spreadsheets, put ' before a cell that begins with =, +, -, @, a tab or a"
        " line end, so that a spreadsheet does not run it as a formula",
    )


def run(options: argparse.Namespace, report: Report, table: str) -> None:
    """List the table "links" or "documents"; a database of links gets the other one, too."""
    failures.check(options)
    how = _how(options, table)
    sink = sinks.by_name(how.format)
    found = failures.watched(many.found(options, report), lambda input_: (input_.name,), options)
    if cluster.is_wanted(options):
        cluster.run(options, how._replace(beside=False), found, report)
        return
    apart = spread(found, how.reading, many.processes(options))
    run_ = many.run(partial(listed, how), apart, lambda input_: input_, options, report, handoffs=True)
    stream = sinks.is_stream(how.format)
    with shared.opened(options, many.names(options), stream=stream) as out, closing(run_) as pieces:
        found_rows = Rows(how.table)
        chunks = _encoded(how, sink, found_rows.counted(rows for _, rows in pieces))
        if not stream:
            sinks.writer_of_tables(how.format)(how.tables, chunks, out)
        else:
            rows: Iterator[Any] = (chunk for _, chunk in chunks)
            if how.format == "jsonl" and _is_on_terminal(options):
                rows = map(visible_json, rows)
            sink.write(how.columns, rows, out)
    if not found_rows.number:
        from absolve.cli import hints

        if selecting := hints.selecting(options):
            report.note("empty-selection", f"no row is selected by {selecting}")


class Rows:
    """The number of rows of a table so far."""

    def __init__(self, table: str) -> None:
        self.table = table
        self.number = 0

    def counted(self, pieces: Iterable[RowChunk]) -> Iterator[RowChunk]:
        for piece in pieces:
            if piece.table == self.table:
                self.number += piece.number
            yield piece


def _encoded(how: ListOptions, sink: Sink, pieces: Iterable[RowChunk]) -> Iterator[tuple[str, Any]]:
    """Yield the name of the table of each chunk, and its rows encoded, without repetitions with `unique`."""
    unique = Unique()
    for piece in pieces:
        chunk = piece.chunk
        if how.unique and piece.table == how.table:
            chunk = sink.encode(how.columns, unique.of(chunk))
        yield piece.table, chunk


def _is_on_terminal(options: argparse.Namespace) -> bool:
    return options.output in {None, outputs.STDOUT} and is_terminal(sys.stdout)


def _how(options: argparse.Namespace, table: str) -> ListOptions:
    """Return the options of the task. Raise UsageError for options that exclude each other."""
    to_stdout = options.output in {None, outputs.STDOUT}
    format_ = options.format or ("jsonl" if to_stdout else sinks.name_of(options.output))
    if to_stdout and not sinks.is_stream(format_):
        raise UsageError(f"{format_} cannot be written to the standard output: give -o FILE")
    on_terminal = _is_on_terminal(options)
    if on_terminal and not sinks.is_text(format_):
        raise UsageError(f"{format_} cannot be written to a terminal: give -o FILE")
    how = ListOptions(
        shared.reading(options),
        filters.columns(options, columns_of(table)),
        format_,
        filters.selection(options) if table == LINKS else Selection(),
        options.where,
        options.unique,
        Cells(
            masked=not options.show_credentials,
            printable=on_terminal and sinks.is_spreadsheet(format_),
            literal=options.csv_safe and sinks.is_spreadsheet(format_),
        ),
        table,
        beside=table == LINKS and not sinks.is_stream(format_),
    )
    if how.where is not None:
        from absolve.run import where  # imports DuckDB

        if not how.where.isascii() and how.where.encode("utf-8", "ignore").decode() != how.where:
            raise UsageError(f"--where: the condition is not UTF-8: {how.where!r}")
        where.check(how.where, columns_of(table))
    return how
