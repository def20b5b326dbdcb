"""Options of `absolve rewrite` and `absolve links`, which accept many inputs, and the run over them.

Input: parsed options and a task. Output: the results of the task in the order of the inputs; diagnostics, progress and
a summary on the standard error.
"""

from __future__ import annotations

import errno
import os
import time
from contextlib import closing, contextmanager
from functools import partial
from itertools import chain
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

from absolve.cli import options as shared
from absolve.cli import progress
from absolve.cli.option_table import ASKING, OF_SITES, ON_LINE
from absolve.cli.reporting import Report
from absolve.cli.totals import FoundGlobs, Table
from absolve.core.errors import Diagnostic, UsageError
from absolve.run import buckets, inputs, interrupts, outputs, plan, results
from absolve.run.globs import Globs
from absolve.run.results import BytesRead, ChangeCounts, Counts, Course, End
from absolve.run.sources import STDIN, is_read_once

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator

    from absolve.cli.option_table import Options
    from absolve.cli.totals import Totals
    from absolve.run.inputs import Input
    from absolve.run.results import TaskResult
    from absolve.run.web.client import Answer, Asking

    Item = TypeVar("Item")

WORTH_A_POOL = 4 << 20  # bytes of inputs: fewer are done sooner than worker processes start
_MOMENT = 0.5  # seconds in which the inputs are counted after an interrupt
SCREEN = 20  # lines: after more messages than this the summary repeats the failures


def names(options: Options) -> list[str]:
    """Return the inputs on the command line; with --from the list may be empty."""
    if options.from_ is None:
        return shared.names(options)
    if options.from_ == STDIN and STDIN in options.inputs:
        raise UsageError("the standard input (-) can be read only once")
    return shared.names(options) if options.inputs else []


def globs_of(options: Options, totals: Totals) -> Globs:
    """Return the globs of --include and --exclude. Raise UsageError for a malformed one."""
    globs = Globs(tuple(options.include), tuple(options.exclude), options.hidden).checked()
    if totals.of_globs:
        totals.globs = globs = FoundGlobs(*globs)
    return globs


def found(
    options: Options, report: Report, *, follow: bool = True, selects: bool = True
) -> Iterator[Input]:
    """Return an iterator over all inputs, in order; `selects`: the globs are about files of folders.

    Raise UsageError for options that do not fit the inputs.
    """
    given = names(options)
    globs = globs_of(options, report.totals) if selects else Globs(hidden=options.hidden)
    if (globs.include or globs.exclude) and not any(map(inputs.is_many, given)):
        raise UsageError("--include and --exclude need a folder as INPUT")
    if options.url is not None and any(map(inputs.is_many, given)) and set("?#") & set(options.url):
        raise UsageError(f"--url of a folder can have no query and no fragment: {options.url!r}")
    met: set[str] = set()
    by_path, lines = shared.url_map(options)
    if lines and options.url_map is not None:
        report.totals.tables.append(Table(options.url_map, "input", lines, met))
    asks_plainly = options.command in ON_LINE.split() and not asks_otherwise(options)
    if asks_plainly:
        buckets.settings.update(timeout=options.timeout, retries=options.retries)
    is_site = options.command in OF_SITES.split()
    origins = inputs.Origins(options.url, by_path, is_site, met, asks_plainly)
    on_line = inputs.named(given, origins, globs, report.aside, follow=follow)
    if options.from_ is not None:
        on_line = chain(on_line, _listed(options.from_, origins, report))
    return _noted(on_line, options, report)


def asks_otherwise(options: Options) -> bool:
    """Return whether an option is about requests: archives of the web are then asked for as pages are, as a whole."""
    return any((options.header, options.cookies, options.deny_private, options.save, options.cache))


def _noted(found_: Iterator[Input], options: Options, report: Report) -> Iterator[Input]:
    """Yield the inputs, and report it if there are none."""
    first = next(found_, None)
    if first is None:
        from shlex import quote

        given = ("include", options.include), ("exclude", options.exclude)
        globs = " ".join(f"--{name} {quote(glob)}" for name, several in given for glob in several)
        text = f"no file in it is selected by {globs}" if globs else "it holds no input"
        name = next((name for name in options.inputs if inputs.is_many(name)), options.from_ or STDIN)
        report.aside(Diagnostic("no-input", text, name))
        return
    yield first
    yield from found_


def asked(items: Iterable[Item], input_of: Callable[[Item], Input], options: Options) -> Generator[Item]:
    """Yield the items; inputs that are URLs with what came for them. Nothing else in a run uses the network."""
    rest = iter(items)
    for item in rest:
        if input_of(item).asked and options.command in ASKING.split():  # of others a URL is a file that is not there
            yield from _asked(chain([item], rest), input_of, options)
            return
        yield item


def _asked(items: Iterator[Item], input_of: Callable[[Item], Input], options: Options) -> Iterator[Item]:
    from absolve.run.web import fetching

    asking = asking_of(options)
    with (
        saved(options) as save,
        closing(fetching.answered(items, lambda item: input_of(item).asked or None, asking)) as answers,
    ):
        for item, answer in answers:
            if save is not None and answer is not None:
                save(answer)
            yield item if answer is None else _with_answer(item, answer)


def asking_of(options: Options) -> Asking:
    """Return how URLs are asked for. Raise UsageError without the packages for it."""
    from absolve.run.web import client

    return client.Asking(
        tuple(options.header),
        options.cookies,
        options.timeout,
        options.retries,
        options.concurrency,
        private=not options.deny_private,
        robots=not options.ignore_robots,
        settings=shared.settings(options),
        resolved=tuple(options.resolve),
        cache=options.cache if _writes(options) else None,
    )


def _writes(options: Options) -> bool:
    return not (options.dry_run or options.diff)


def _with_answer(item: Item, answer: Answer) -> Item:
    """Return an input, or an item that has one, with what came for its URL."""
    given: Any = item
    if isinstance(given, inputs.Input):
        return given._replace(answer=answer)  # type: ignore[return-value]  # it is an Item
    return given._replace(input=given.input._replace(answer=answer))  # type: ignore[no-any-return]


@contextmanager
def saved(options: Options) -> Iterator[Callable[[Answer], None] | None]:
    """Yield the function that keeps an answer in the file of --save, which is complete or unchanged; None without."""
    name = options.save
    if name is None:
        yield None
        return
    plan.check_not_read([Path(name)], [*names(options), *shared.tables(options)])
    others = options.output, options.log
    plan.check_different([Path(name), *(Path(one) for one in others if one not in {None, outputs.STDOUT})])
    if not _writes(options):
        yield None
        return
    from absolve.run.web import saving

    with outputs.named(name) as file:
        yield saving.Writer(file, compressed=name.endswith(".gz")).add


def _listed(name: str, origins: inputs.Origins, report: Report) -> Iterator[Input]:
    with report.guard(name):
        yield from inputs.listed(inputs.read_list(name), origins, report.aside)


def run(
    work: Callable[..., Iterable[TaskResult]],
    items: Iterable[Item],
    input_of: Callable[[Item], Input],
    options: Options,
    report: Report,
    ended: Callable[[Item], None] | None = None,
    *,
    summed: Callable[[Totals], str] | None = None,
    counted: Callable[[Item, Counts], None] | None = None,
    stops: Callable[[], bool] | None = None,
) -> Generator[tuple[Item, Any]]:
    """Run the task `work` on all items, report diagnostics and failures, and yield the other results, in order.

    `ended` is called after the last result of each item, before the report leaves that item. `summed` returns the line
    with which the run ends; without it only a long run has one. `counted` is called with the counts of each item. The
    run ends after a result for which `stops` returns true.
    """
    report.quiet, report.verbose = options.quiet, options.verbose
    streams = not options.in_place and options.output in {None, outputs.STDOUT}
    done = _Done()
    with (
        _interruptible(done, options, report),
        progress.shown(quiet=options.quiet, streams=streams, count=partial(_total, options)) as clock,
    ):
        jobs, items = _processes(items, input_of, options)
        size = 0
        with (
            closing(asked(items, input_of, options)) as items,  # after an error, too: URLs are asked in a thread
            closing(results.reported(work, items, input_of, jobs, report)) as pieces,
        ):
            for item, piece in pieces:
                if isinstance(piece, Counts):
                    size += piece.read if isinstance(piece, BytesRead) else 0
                    if not (isinstance(piece, ChangeCounts) and report.is_unwritten(report.input)):
                        report.totals.add(piece)
                    if counted is not None:
                        counted(item, piece)
                elif not isinstance(piece, End):
                    yield item, piece
                    if stops is not None and stops():
                        break
                else:
                    if ended is not None:
                        ended(item)
                    done.number += input_of(item).within.end == inputs.END
                clock.tick(progress.Counts(done.number, size, len(report.failures)))
                report.took(clock.seconds)
    if options.verbose:
        for diagnostic in report.totals.unmet():
            report.aside(diagnostic)
    report.rest()
    counts = progress.Counts(done.number, size, len(report.failures))
    repeats = clock.was_seen or (report.failures and report.lines > SCREEN)
    if options.quiet:
        return
    if summed is None:
        if repeats:
            report.summary(f"{counts} in {clock.seconds:.1f} s")
    else:
        report.end_with(partial(_ending, report, summed, counts, clock), repeats=bool(repeats))


@contextmanager
def unwritable(name: str) -> Iterator[None]:
    """Raise OSError, with this name, where a database of SQLite cannot be written: a full disk."""
    import sqlite3  # 1 MB of memory that a run over one file does not need

    try:
        yield
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode & 0xFF not in _OF_THE_DISK:
            raise
        is_full = error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_FULL
        code, text = (errno.ENOSPC, os.strerror(errno.ENOSPC)) if is_full else (errno.EIO, str(error))
        raise OSError(code, text, name) from error


# SQLITE_READONLY, SQLITE_IOERR, SQLITE_FULL, SQLITE_CANTOPEN: primary result codes of SQLite
_OF_THE_DISK: Final = frozenset({8, 10, 13, 14})


def course_of(options: Options, report: Report, summed: Callable[[Totals], str] | None = None) -> Course:
    """Return the course of a command that shares its work with the library."""

    def run_(work: Any, items: Any, input_of: Any, *, small: bool = False) -> Generator[tuple[Any, Any]]:
        if small and options.jobs is None:
            options.jobs = 1
        yield from run(work, items, input_of, options, report, summed=summed)

    def found_(own: Options, *, follow: bool = True) -> Iterator[Input]:
        return found(own, report, follow=follow)

    return Course(report, shared.reading(options), run_, found_, processes(options))


def _ending(report: Report, summed: Callable[[Totals], str], counts: progress.Counts, clock: progress.Clock) -> str:
    """Return the line that ends a run; "" if all that there is to say is that its inputs failed."""
    failed = f"; {progress.inputs(counts.failed)} failed{report.totals.failed_are}" if counts.failed else ""
    left_out = report.totals.left_out()
    if not report.totals.documents and failed and not left_out:
        return failed.removeprefix("; ") if counts.failed > 1 else ""
    took = f"; {counts.size / 1e6:,.1f} MB in {clock.seconds:.1f} s" if clock.was_seen else ""
    return "; ".join([f"{summed(report.totals)}{failed}{took}", *left_out])


class _Done:
    """How many inputs of a run are done."""

    number = 0


@contextmanager
def _interruptible(done: _Done, options: Options, report: Report) -> Iterator[None]:
    """Print how far a run over several inputs came when a signal ended it, and whether it can go on."""
    try:
        yield
    except (KeyboardInterrupt, GeneratorExit) as error:
        if not options.quiet and (isinstance(error, KeyboardInterrupt) or interrupts.received() is not None):
            _report_interrupted(done.number, _total(options, _MOMENT), options, report)
        raise


def _report_interrupted(done: int, total: int | None, options: Options, report: Report) -> None:
    """Print how far a run over several inputs came, and that --resume goes on where its state is kept."""
    if total is not None and total < 2:
        return
    writes = options.in_place or options.output not in {None, outputs.STDOUT}
    is_kept = options.resume or options.command in {"rewrite", "mirror"}
    resumes = is_kept and writes and _writes(options)
    text = f"{done:,} done" if total is None else f"{done:,} of {total:,} done"
    report.note("interrupted", f"{text}; --resume goes on" if resumes else text)


def _total(options: Options, seconds: float = inf) -> int | None:
    """Return the number of inputs; None if they are not counted in these seconds, or from a list: it may be a pipe."""
    if options.from_ is not None:
        return None
    silent = Report()
    silent.quiet = True
    end = time.monotonic() + seconds
    number = 0
    for number, _ in enumerate(found(options, silent, follow=not options.in_place), 1):  # noqa: B007
        if time.monotonic() > end:
            return None
    return number


def _processes(
    items: Iterable[Item], input_of: Callable[[Item], Input], options: Options
) -> tuple[int, Iterable[Item]]:
    """Return the number of processes, and the items: one process if the work is shorter than the start of a pool."""
    jobs = processes(options)
    if jobs == 1 or any(map(is_read_once, options.inputs)) or not (options.inputs or options.from_):
        return 1, items  # only the parent process has the standard input, and other open files
    items = iter(items)
    first: list[Item] = []
    size = 0
    for item in items:
        first.append(item)
        size += input_of(item).size
        if size >= WORTH_A_POOL and len(first) > 1:
            return jobs, chain(first, items)
    return 1, first


def processes(options: Options) -> int:
    """Return --jobs, or by default the number of cores that this process may use."""
    return options.jobs or _cores()


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
