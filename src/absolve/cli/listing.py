"""The run of `absolve links` and `absolve documents`: from options to a table in a sink.

Input: the options. Output: the rows in the sink, in the order of the inputs; diagnostics in the report.
"""

from __future__ import annotations

import sys
from contextlib import closing
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from absolve import tables
from absolve.cli import failures, many, progress, resuming, terminal
from absolve.cli import options as shared
from absolve.cli.terminal import is_terminal
from absolve.cli.totals import of_links
from absolve.core.errors import Diagnostic, UsageError, in_short
from absolve.core.printable import visible_json
from absolve.run import special_files
from absolve.run.filters import Selection
from absolve.run.links_task import (
    COUNT,
    DOCUMENTS,
    LINKS,
    Counted,
    ListOptions,
    Unique,
    columns_of,
    every_column,
    listed,
)
from absolve.run.load import spread
from absolve.run.results import RowChunk
from absolve.run.safe_cells import Cells
from absolve.run.sources import STDIN

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Iterator

    from absolve.cli.reporting import Report
    from absolve.cli.totals import Totals
    from absolve.run.inputs import Input
    from absolve.run.journal import Journal
    from absolve.tables import Sink


def run(options: argparse.Namespace, report: Report) -> None:
    """List the table that the command is named after; a database of links gets the other one, too."""
    table = options.command
    failures.check(options)
    how = _how(options, table)
    table = how.table
    fatal = shared.fail_on(options) if table == LINKS else frozenset()
    sink = tables.by_name(how.format)
    found = failures.watched(many.found(options, report), lambda input_: (input_.name,), options)
    if _on_spark(options):
        if fatal or how.counts:
            raise UsageError("--fail-on and --count need --engine local: tasks of a cluster do not count links")
        _run_on_spark(options, how._replace(beside=False), found, report)
        return
    keeps_bytes = tables.FORMATS[how.format].text and how.format != tables.TABLE and not how.unique
    if table != LINKS:
        _list(how, sink, found, options, report, None)
        if not options.quiet:
            report.summary("; ".join(report.totals.left_out()), repeats=False)
    else:
        with resuming.list_journal(options, keeps_bytes=keeps_bytes) as journal:
            _list(how, sink, found, options, report, journal)
            if journal is not None:
                if journal.skipped and not options.quiet:
                    print(f"absolve: {journal.skipped:,} skipped: done by an earlier run", file=sys.stderr)
                if not report.failures:
                    journal.remove()
    if fatal and any(report.totals.problems[code] for code in fatal):
        report.has_findings = True


def _list(
    how: ListOptions,
    sink: Sink,
    found: Iterable[Input],
    options: argparse.Namespace,
    report: Report,
    journal: Journal | None,
) -> None:
    def ended(input_: Input) -> None:
        if journal is not None:
            journal.ended(input_, failed=input_.name in report.failures)

    # With a journal an archive is one task.
    apart = spread(found, how.reading, many.processes(options)) if journal is None else journal.unlisted(found)
    run_ = many.run(
        partial(listed, how),
        apart,
        lambda input_: input_,
        options,
        report,
        ended,
        summed=partial(_summed, options) if how.table == LINKS else None,
        counted=journal.count if journal is not None else None,
    )
    stream = tables.FORMATS[how.format].stream
    with shared.opened(options, many.names(options), stream=stream) as out, closing(run_) as pieces:
        found_rows = Rows(how.table)
        _write(how, sink, _encoded(how, sink, found_rows.counted(_rows(pieces, journal, report))), out, options)
    if not found_rows.number and (selecting := shared.selecting(options)):
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


def _rows(
    pieces: Iterable[tuple[Input, RowChunk]], journal: Journal | None, report: Report
) -> Iterator[RowChunk]:
    """Yield the rows of all inputs; those of inputs that are done come from the journal, with their counts."""
    if journal is None:
        yield from (piece for _, piece in pieces)
        return
    for piece in journal.merged(pieces):
        if isinstance(piece, RowChunk):
            yield piece
        else:
            report.totals.add(piece)


def _write(
    how: ListOptions, sink: Sink, chunks: Iterator[tuple[str, Any]], out: Any, options: argparse.Namespace
) -> None:
    if how.format == tables.TABLE:
        from absolve.tables.terminal import write

        to_stdout = options.output in {None, special_files.STDOUT}
        write(how.tables, chunks, terminal.drawing(out), terminal.screen(sys.stdout) if to_stdout else None)
        return
    if how.format in {"json", "jsonl"} and _is_on_terminal(options):
        chunks = ((name, visible_json(chunk)) for name, chunk in chunks)
    sink.write(how.tables, chunks, out)


def _summed(options: argparse.Namespace, totals: Totals) -> str:
    """Return the line that ends a list of links, with the problems of --fail-on that it has."""
    fatal = {code: totals.problems[code] for code in sorted(shared.fail_on(options)) if totals.problems[code]}
    failing = ", ".join(f"{count:,} {code}" for code, count in fatal.items())
    return of_links(totals) + (f" (--fail-on: {failing})" if failing else "")


def _encoded(how: ListOptions, sink: Sink, pieces: Iterable[RowChunk]) -> Iterator[tuple[str, Any]]:
    """Yield the name of the table of each chunk, and its rows encoded, without repetitions with `unique`."""
    unique, counted = Unique(), Counted()
    for piece in pieces:
        chunk = piece.chunk
        if how.counts and piece.table == how.table:
            counted.add(chunk)
            continue
        if how.unique and piece.table == how.table:
            chunk = sink.encode(how.columns, unique.of(chunk))
        yield piece.table, chunk
    if how.counts:
        for rows in counted.in_chunks():
            yield how.table, sink.encode((*how.columns, COUNT), rows)


def _is_on_terminal(options: argparse.Namespace) -> bool:
    return options.output in {None, special_files.STDOUT} and is_terminal(sys.stdout)


def _usual(format_: str, table: str) -> tuple[str, ...]:
    """Return the columns of a table by default: of documents, for people, those that a line has room for."""
    return _FOR_PEOPLE if format_ == tables.TABLE and table == DOCUMENTS else columns_of(table)


def _made_of(options: argparse.Namespace, format_: str, table: str) -> str:
    """Return the table that a graph or a sitemap is made of. Raise UsageError for options that it has no place for."""
    of = tables.FORMATS[format_].of
    if of == LINKS and table != LINKS:
        raise UsageError(f"{format_} shows links: absolve links --format {format_}")
    if options.columns is not None:
        raise UsageError(f"{format_} has columns of its own: leave out --columns")
    for name in ("kind", "scope", "problem", "fail_on", "resume"):
        if of != LINKS and getattr(options, name, None):
            raise UsageError(f"{format_} lists documents: leave out --{name.replace('_', '-')}")
    return of


_FOR_PEOPLE: Final = ("document", "url", "status", "media_type", "links", "title")


def _how(options: argparse.Namespace, table: str) -> ListOptions:
    """Return the options of the task. Raise UsageError for options that exclude each other."""
    to_stdout = options.output in {None, special_files.STDOUT}
    on_terminal = _is_on_terminal(options)
    usual = tables.TABLE if on_terminal else "jsonl"
    format_ = options.format or (usual if to_stdout else tables.name_of(options.output))
    form = tables.FORMATS[format_]
    if form.of:
        table = _made_of(options, format_, table)
    if to_stdout and not form.stream:
        raise UsageError(f"{format_} cannot be written to the standard output: give -o FILE")
    if on_terminal and not form.text:
        raise UsageError(f"{format_} cannot be written to a terminal: give -o FILE")
    is_links = table == LINKS
    how = ListOptions(
        shared.reading(options),
        shared.columns(options, form.needs or _usual(format_, table), every_column(table)),
        format_,
        shared.selection(options) if is_links else Selection(),
        options.where,
        options.unique,
        Cells(
            masked=not options.show_credentials,
            printable=on_terminal and (form.spreadsheet or bool(form.of)),
            literal=options.csv_safe and form.spreadsheet,
        ),
        table,
        beside=is_links and not form.stream,
        counts=options.count,
    )
    if how.where is not None:
        from absolve.run import where  # imports DuckDB

        if not how.where.isascii() and how.where.encode("utf-8", "ignore").decode() != how.where:
            raise UsageError(f"--where: the condition is not UTF-8: {how.where!r}")
        where.check(how.where, how.whole)
    return how


# --- `--engine spark` -------------------------------------------------------------------------------------------------

_LOCAL: Final = "local"
_CLUSTERS: Final = ("spark://", "k8s://", "local[", "local-cluster[")
_CONFIGURED: Final = "spark"  # the cluster of Spark's own configuration
_FORMATS: Final = tuple(name for name, form in tables.FORMATS.items() if form.cluster)  # that tasks write


def _on_spark(options: argparse.Namespace) -> bool:
    """Return whether to run on Spark. Raise UsageError if another option excludes the engine."""
    if options.engine == _LOCAL:
        return False
    if options.engine not in {_CONFIGURED, "yarn"} and not options.engine.startswith(_CLUSTERS):
        raise UsageError(f"--engine takes local, spark or the URL of a Spark cluster, not {in_short(options.engine)!r}")
    if options.jobs is not None:
        raise UsageError("--jobs needs --engine local: the cluster has its own number of tasks at once")
    if STDIN in many.names(options):
        raise UsageError("--engine spark cannot read the standard input (-): name files or folders")
    return True


def _run_on_spark(options: argparse.Namespace, how: ListOptions, found: Iterator[Input], report: Report) -> None:
    """List the inputs on Spark. Diagnostics and failures are reported here, when all tasks are done."""
    if options.output in {None, special_files.STDOUT} or how.format not in _FORMATS:
        formats = " or ".join(_FORMATS)
        raise UsageError(f"--engine spark writes {formats}: give -o FOLDER with such a suffix, or --format")
    whole = list(found)
    if any(input_.asked for input_ in whole):
        raise UsageError("--engine spark reads files only: leave it out for URLs")
    from absolve import spark as cluster  # imports pyspark

    report.quiet, report.verbose = options.quiet, options.verbose
    master = options.engine if options.engine != _CONFIGURED else None
    resume = getattr(options, "resume", False)  # `documents` has none
    with failures.written(options, report), cluster.session(f"absolve {how.table}", master) as spark:
        for report.input, piece in cluster.written(spark, whole, how, options.output, resume=resume):
            if isinstance(piece, Diagnostic):
                report.finding(piece)
            else:
                report.failure(piece.error)
        report.input = None
    report.rest()
    if not options.quiet:
        failed = f"; {progress.inputs(len(report.failures))} failed" if report.failures else ""
        report.summary(f"{progress.inputs(len(whole))} read, rows written to {options.output}{failed}", repeats=False)
