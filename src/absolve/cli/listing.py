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
from absolve.cli.totals import number, of_links
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
from absolve.run.order import Cut, Order, parsed
from absolve.run.results import RowChunk
from absolve.run.safe_cells import Cells
from absolve.run.sources import STDIN

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Iterator, Sequence

    from absolve.cli.reporting import Report
    from absolve.cli.totals import Totals
    from absolve.run.inputs import Input
    from absolve.run.journal import Journal
    from absolve.run.order import Key
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
        if how.sort or how.limit:
            raise UsageError("--sort and --limit need --engine local: each task of a cluster writes a file of its own")
        _run_on_spark(options, how._replace(beside=False), found, report)
        return
    keeps_bytes = tables.FORMATS[how.format].text and how.format != tables.TABLE and not how.is_plain
    if table != LINKS:
        _list(how, sink, found, options, report, None)
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
    shown = Shown(how, stops=how.stops and not getattr(options, "fail_on", ()))
    run_ = many.run(
        partial(listed, how),
        apart,
        lambda input_: input_,
        options,
        report,
        ended,
        summed=partial(_summed, options, shown) if how.table == LINKS else None,
        counted=journal.count if journal is not None else None,
        stops=shown.is_full if shown.stops else None,
    )
    stream = tables.FORMATS[how.format].stream
    with shared.opened(options, many.names(options), stream=stream) as out, closing(run_) as pieces, closing(shown):
        _write(how, sink, shown.encoded(sink, _rows(pieces, journal, report)), out, options)
    if not shown.found and (selecting := shared.selecting(options)):
        report.note("empty-selection", f"no row is selected by {selecting}")
    if how.table != LINKS and not options.quiet:
        lines = [shown.ended("document", shown.rows), *report.totals.left_out()]
        report.summary("; ".join(filter(None, lines)), repeats=False)


class Shown:
    """The rows that are listed: without repetitions, in order, the first of them, as the options have it.

    `found` is the number of rows that were found so far, `rows` of those that --limit is about. `stops`: nothing more
    is read when there are more of them than --limit allows.
    """

    def __init__(self, how: ListOptions, *, stops: bool) -> None:
        self._how = how
        self.stops = stops
        self._columns = (*how.columns, COUNT) if how.counts else how.columns
        self._cut = Cut(how.limit)
        self._order = Order(how.sort, self._columns, how.limit)
        self.found = self.rows = 0

    def close(self) -> None:
        """Remove what is kept to be sorted."""
        self._order.close()

    def is_full(self) -> bool:
        """Return whether there are more rows than --limit lets through."""
        return self._cut.more

    def encoded(self, sink: Sink, pieces: Iterable[RowChunk]) -> Iterator[tuple[str, Any]]:
        """Yield the name of the table of each chunk, and its rows encoded."""
        how, unique, counted = self._how, Unique(), Counted()
        for piece in pieces:
            if piece.table != how.table:
                yield piece.table, piece.chunk
                continue
            self.found += piece.number
            if how.counts:
                counted.add(piece.chunk)
            elif how.is_plain:
                yield from self._listed(sink, unique.of(piece.chunk) if how.unique else piece.chunk)
            else:
                yield piece.table, piece.chunk
        for rows in counted.in_chunks():
            yield from self._listed(sink, rows)
        for rows in self._order.sorted():
            yield how.table, sink.encode(self._columns, self._cut.of(rows))

    def _listed(self, sink: Sink, rows: Sequence[Sequence[Any]]) -> Iterator[tuple[str, Any]]:
        self.rows += len(rows)
        if self._how.sort:
            self._order.add(rows)
        elif kept := self._cut.of(rows):
            yield self._how.table, sink.encode(self._columns, kept)

    def ended(self, noun: str, things: int, text: str = "") -> str:
        """Return the line that ends a list of so many things, `text`, with the part of them that --limit left."""
        if self.rows <= self._cut.number or self._cut.limit is None:
            return text
        if self._how.unique:
            noun, things = "row", -1
        if self.stops:
            return f"the first {number(self._cut.number, noun)}; what follows was not read (--limit)"
        if self.rows == things:
            return f"{self._cut.number:,} of {text or number(things, noun)}"
        return f"{self._cut.number:,} of {number(self.rows, 'row')}" + (f"; {text}" if text else "")


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


def _summed(options: argparse.Namespace, shown: Shown, totals: Totals) -> str:
    """Return the line that ends a list of links, with the problems of --fail-on that it has."""
    fatal = {code: totals.problems[code] for code in sorted(shared.fail_on(options)) if totals.problems[code]}
    failing = ", ".join(f"{count:,} {code}" for code, count in fatal.items())
    text = shown.ended("link", totals.links, of_links(totals))
    return text + (f" (--fail-on: {failing})" if failing else "")


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
    if options.sort is not None:
        raise UsageError(f"{format_} has an order of its own: leave out --sort")
    for name in ("kind", "scope", "problem", "fail_on", "resume"):
        if of != LINKS and getattr(options, name, None):
            raise UsageError(f"{format_} lists documents: leave out --{name.replace('_', '-')}")
    return of


def _order(options: argparse.Namespace, columns: tuple[str, ...], table: str) -> tuple[Key, ...]:
    """Return the columns of --sort. Raise UsageError for unknown ones."""
    if options.sort is None:
        return ()
    more = (COUNT,) if options.count else ()
    return parsed(options.sort, (*columns, *more), (*every_column(table), *more))


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
    usual_columns = form.needs or _usual(format_, table)
    if options.sort is not None and not form.needs:  # what it is sorted by is shown, too
        names = (word.strip().partition(":")[0] for word in options.sort.split(","))
        usual_columns += tuple(name for name in names if name in every_column(table) and name not in usual_columns)
    columns = shared.columns(options, usual_columns, every_column(table))
    how = ListOptions(
        shared.reading(options),
        columns,
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
        sort=_order(options, columns, table),
        limit=options.limit,
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
