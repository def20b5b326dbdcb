"""The run of `absolve links` and `absolve documents`: from options to a table in a sink.

Input: the options. Output: the rows in the sink, in the order of the inputs; diagnostics in the report.
"""

from __future__ import annotations

import sys
from contextlib import closing, nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from absolve import tables
from absolve.cli import intake, many, policies, terminal
from absolve.cli.reporting import links_text
from absolve.cli.terminal import is_terminal
from absolve.core.errors import UsageError
from absolve.core.printable import visible_json
from absolve.run import leftovers
from absolve.run.filters import Cells, Selection
from absolve.run.links_task import (
    DOCUMENTS,
    LINKS,
    ListOptions,
    columns_of,
    every_column,
    listed,
)
from absolve.run.load import split_archives
from absolve.run.plan import Job
from absolve.run.results import RowChunk
from absolve.run.sources import STDIN

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from absolve.cli.option_table import Options
    from absolve.cli.reporting import Report, Totals
    from absolve.run.inputs import Input
    from absolve.run.state import State
    from absolve.tables import Sink


def run(options: Options, report: Report) -> None:
    """List the command's table, links or documents; a database of links gets both tables."""
    how = _how(options, options.command)
    fatal = policies.fail_on(options) if how.table == LINKS else frozenset()
    form = tables.FORMATS[how.format]
    if options.resume:
        if options.path is None or options.sql is not None or not form.text or how.format == tables.TABLE:
            raise UsageError("--resume needs -o FILE in jsonl, json, csv, tsv, md or html, and no --sql")
        if STDIN in options.inputs or not (options.inputs or options.from_):
            raise UsageError("--resume cannot read the standard input (-) again: name files or folders")
    if options.sql is not None:
        _ask(options.sql, how, options, report)
    else:
        with many.state(options, report, lists=True, kept=options.resume) as state:
            _list(how, options, report, state)
    report.has_findings = report.has_findings or any(report.totals.problems[code] for code in fatal)


def _ask(query: str, how: ListOptions, options: Options, report: Report) -> None:
    """Print the result of a query over all rows and columns, which are first written to a temporary database."""
    from absolve.cli import queries  # imports DuckDB

    queries.check(query, {how.table, DOCUMENTS})
    columns = tuple(name for name in every_column(how.table) if name not in {"file_start", "file_end"})
    cells = Cells(masked=how.cells.masked)
    whole = how._replace(columns=columns, format="duckdb", cells=cells, beside=how.table == LINKS)
    with leftovers.temporary_folder() as folder:
        path = Path(folder, "rows.duckdb")
        _list(whole, options, report, path=path)
        with closing(queries.opened(path)) as database:
            if options.format is None and options.path is None:
                queries.say(database, query)
                return
            stream = tables.FORMATS[how.format].stream
            with intake.opened(options, stream=stream) as out:
                queries.write(database, query, how.format, how.cells, out)


def _list(
    how: ListOptions,
    options: Options,
    report: Report,
    state: State | None = None,
    path: Path | None = None,
) -> None:
    """Write the rows to the output of the options, or into a database at `path`."""

    def ended(input_: Input) -> None:
        if state is not None:
            state.ended(input_, is_done=input_.name not in report.failures)

    apart = split_archives(intake.found(options, report), how.reading, many.processes(options))
    run_ = many.run(
        partial(listed, how),
        apart if state is None else state.remaining(apart, Job),
        lambda input_: input_,
        options,
        report,
        ended,
        summed=partial(_summed, options) if how.table == LINKS else None,
        counted=state.count if state is not None else None,
    )
    sink, stream = tables.by_name(how.format), tables.FORMATS[how.format].stream
    to = intake.opened(options, stream=stream) if path is None else nullcontext(path)
    number = 0

    def chunks(pieces: Iterable[RowChunk]) -> Iterator[tuple[str, Any]]:
        nonlocal number
        for piece in pieces:
            number += piece.number if piece.table == how.table else 0
            yield piece.table, piece.chunk

    with to as out, closing(run_) as pieces:
        _write(how, sink, chunks(_rows(pieces, state, report)), out, options)
    if not number and (selecting := policies.selecting(options)):
        report.note("empty-selection", f"no row is selected by {selecting}")
    if how.table != LINKS and not options.quiet:
        report.summary("; ".join(report.totals.left_out()), repeats=False)


def _rows(pieces: Iterable[tuple[Input, RowChunk]], state: State | None, report: Report) -> Iterator[RowChunk]:
    """Yield the rows of all inputs; rows of inputs that an earlier run finished come from the state."""
    if state is None:
        yield from (piece for _, piece in pieces)
        return
    for piece in state.listed(pieces):
        if isinstance(piece, RowChunk):
            yield piece
        else:
            report.totals.add(piece)


def _write(how: ListOptions, sink: Sink, chunks: Iterator[tuple[str, Any]], out: Any, options: Options) -> None:
    if how.format == tables.TABLE:
        from absolve.tables.terminal import write

        screen = terminal.screen(sys.stdout) if options.path is None else None
        write(how.tables, chunks, terminal.drawing(out), screen)
        return
    if how.format in {"json", "jsonl"} and _is_on_terminal(options):
        chunks = ((name, visible_json(chunk)) for name, chunk in chunks)
    sink.write(how.tables, chunks, out)


def _summed(options: Options, totals: Totals) -> str:
    """Return the last line of a list of links, for example `2 links in 1 document (--fail-on: 1 malformed)`."""
    fatal = {code: totals.problems[code] for code in sorted(policies.fail_on(options)) if totals.problems[code]}
    failing = ", ".join(f"{count:,} {code}" for code, count in fatal.items())
    return links_text(totals) + (f" (--fail-on: {failing})" if failing else "")


def _is_on_terminal(options: Options) -> bool:
    return options.path is None and is_terminal(sys.stdout)


def _source_table(options: Options, format_: str, table: str) -> str:
    """Return the table for a graph or a sitemap. Raise UsageError for options that do not apply to it."""
    source = tables.FORMATS[format_].source
    if source == LINKS and table != LINKS:
        raise UsageError(f"{format_} shows links: absolve links --format {format_}")
    if options.columns is not None:
        raise UsageError(f"{format_} has columns of its own: leave out --columns")
    for name in ("kind", "scope", "problem", "fail_on", "resume"):
        if source != LINKS and getattr(options, name):
            raise UsageError(f"{format_} lists documents: leave out --{name.replace('_', '-')}")
    return source


# The columns of documents for people: as many as a line has room for.
_FOR_PEOPLE: Final = ("document", "url", "status", "media_type", "links", "title")


def _how(options: Options, table: str) -> ListOptions:
    """Return the options of the task. Raise UsageError for options that exclude each other."""
    path, on_terminal = options.path, _is_on_terminal(options)
    usual_format = tables.TABLE if on_terminal else "jsonl"
    format_ = options.format or (usual_format if path is None else tables.format_name(path))
    form = tables.FORMATS[format_]
    if form.source:
        table = _source_table(options, format_, table)
    if path is None and not form.stream:
        raise UsageError(f"{format_} cannot be written to the standard output: give -o FILE")
    if on_terminal and not form.text:
        raise UsageError(f"{format_} cannot be written to a terminal: give -o FILE")
    is_links = table == LINKS
    usual = _FOR_PEOPLE if format_ == tables.TABLE and table == DOCUMENTS else columns_of(table)
    columns = policies.columns(options, form.needs or usual, every_column(table))
    return ListOptions(
        intake.reading(options),
        columns,
        format_,
        policies.selection(options) if is_links else Selection(),
        Cells(masked=True, printable=on_terminal and (form.raw or bool(form.source))),
        table,
        beside=is_links and not form.stream,
    )
