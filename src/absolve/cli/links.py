"""`absolve links`: list links, one row each, as JSON lines, CSV, Parquet or a table of SQLite or DuckDB.

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
from absolve.run.links_task import ListOptions, Unique, listed
from absolve.run.safe_cells import Cells
from absolve.run.segment_inputs import spread

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from absolve.cli.reporting import Report

EPILOG = """\
examples:
  absolve links page.html                  JSON lines on the standard output
  absolve links *.html -o links.csv        the suffix selects the format
  absolve links site/ --url http://example.com/ -o links.sqlite
  absolve links site/ --scope external --columns target --unique --format csv
  absolve links site/ --problem unresolved,malformed
  absolve links site/ --where "kind = 'image' AND base_layer <> 'embedded'"
  absolve links page.html | jq -r 'select(.scope == "external").target'
  absolve links site/ --engine spark --master spark://host:7077 -o links.parquet
  curl -s http://example.com/ | absolve links --url http://example.com/

columns: document, entity, line, column, start, end, element, attribute, kind,
rel, text, reference, base, base_layer, base_source, target, scope, problems"""


def configure(parser: argparse.ArgumentParser) -> None:
    many.add_inputs(parser)
    shared.add_output(parser)
    parser.add_argument(
        "--format",
        discovered=True,
        choices=sinks.FORMATS,
        help="output format (default: by the suffix of OUT, else jsonl)",
    )
    parser.add_argument(
        "--csv-safe",
        discovered=True,
        action="store_true",
        help="in CSV and other formats for spreadsheets, put ' before a cell that begins with =, +, -, @, a tab or a"
        " line end, so that a spreadsheet does not run it as a formula",
    )
    filters.add_table(filters.add_selection(parser, "selection of links and columns"))
    shared.add_settings(parser)
    shared.add_changes(parser)
    cluster.add_engine(many.add_run(parser))


def run(options: argparse.Namespace, report: Report) -> None:
    failures.check(options)
    to_stdout = options.output in {None, outputs.STDOUT}
    format_ = options.format or ("jsonl" if to_stdout else sinks.name_of(options.output))
    if to_stdout and not sinks.is_stream(format_):
        raise UsageError(f"{format_} cannot be written to the standard output: give -o FILE")
    on_terminal = to_stdout and is_terminal(sys.stdout)
    if on_terminal and not sinks.is_text(format_):
        raise UsageError(f"{format_} cannot be written to a terminal: give -o FILE")
    how = ListOptions(
        shared.reading(options),
        filters.columns(options),
        format_,
        filters.selection(options),
        options.where,
        options.unique,
        Cells(
            masked=not options.show_credentials,
            printable=on_terminal and sinks.is_spreadsheet(format_),
            literal=options.csv_safe and sinks.is_spreadsheet(format_),
        ),
    )
    sink = sinks.by_name(format_)
    if how.where is not None:
        from absolve.run import where  # imports DuckDB

        if not how.where.isascii() and how.where.encode("utf-8", "ignore").decode() != how.where:
            raise UsageError(f"--where: the condition is not UTF-8: {how.where!r}")
        where.check(how.where)
    found = failures.watched(many.found(options, report), lambda input_: (input_.name,), options)
    if cluster.is_wanted(options):
        cluster.run(options, how, found, report)
        return
    apart = spread(found, how.reading, many.processes(options))
    run_ = many.run(partial(listed, how), apart, lambda input_: input_, options, report, handoffs=True)
    with shared.opened(options, many.names(options), stream=sinks.is_stream(format_)) as out, closing(run_) as pieces:
        chunks: Iterator[Any] = (rows.chunk for _, rows in pieces)
        if how.unique:
            chunks = (sink.encode(how.columns, rows) for rows in map(Unique().of, chunks))
        if on_terminal and format_ == "jsonl":
            chunks = map(visible_json, chunks)
        sink.write(how.columns, chunks, out)
