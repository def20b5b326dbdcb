"""The run over many inputs: results in their order, diagnostics, progress, a summary, and the state for --resume.

Input: parsed options and a task. Output: the results of the task; messages on the standard error; the state of a run.
"""

from __future__ import annotations

import errno
import os
import sys
import time
from contextlib import closing, contextmanager
from copy import copy
from functools import partial
from itertools import chain
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

from absolve import __version__
from absolve.cli import asking, intake, terminal
from absolve.cli.reporting import Report
from absolve.cli.terminal import is_terminal
from absolve.core.caching import fingerprint
from absolve.core.errors import DocumentError, UsageError
from absolve.core.printable import number
from absolve.run import buckets, inputs, interrupts, results
from absolve.run.results import BytesRead, ChangeCounts, Counts, End, RunContext
from absolve.run.sources import is_read_once, of_option

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator

    from absolve.cli.option_table import Options
    from absolve.cli.reporting import Totals
    from absolve.run.inputs import Input
    from absolve.run.results import TaskResult
    from absolve.run.state import State

    Item = TypeVar("Item")

WORTH_A_POOL = 4 << 20  # bytes of inputs: fewer are done sooner than worker processes start
_MOMENT = 0.5  # seconds in which the inputs are counted after an interrupt
SCREEN = 20  # lines: after more messages than this the summary repeats the failures


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
) -> Generator[tuple[Item, Any]]:
    """Run the task `work` on all items, report diagnostics and failures, and yield the other results, in order.

    `ended` is called after the last result of each item, before the report leaves that item. `summed` returns the last
    line of the run; without it only a long run has one. `counted` is called with the counts of each item.
    """
    report.quiet, report.verbose = options.quiet, options.verbose
    streams = not options.in_place and options.path is None
    done = Progress()
    with (
        _interruptible(done, options, report),
        shown(quiet=options.quiet, streams=streams, count=partial(_total, options)) as clock,
    ):
        jobs, items = _processes(items, input_of, options)
        with (
            # Also closed after an error, because a thread makes the requests.
            closing(asking.with_answers(items, input_of, options, report)) as items,
            closing(results.reported(work, items, input_of, jobs, report)) as pieces,
        ):
            for item, piece in pieces:
                if isinstance(piece, Counts):
                    done.size += piece.read if isinstance(piece, BytesRead) else 0
                    if not (isinstance(piece, ChangeCounts) and report.is_unwritten(report.input)):
                        report.totals.add(piece)
                    if counted is not None:
                        counted(item, piece)
                elif not isinstance(piece, End):
                    yield item, piece
                else:
                    if ended is not None:
                        ended(item)
                    done.inputs += input_of(item).within.end == inputs.END
                done.failed = len(report.failures)
                clock.tick(done)
                report.took(clock.seconds)
    for diagnostic in chain.from_iterable(table.unmet() for table in report.totals.tables):
        if options.verbose or diagnostic.line is None:
            report.aside(diagnostic)
    report.rest()
    done.failed = len(report.failures)
    repeats = clock.was_seen or (report.failures and report.lines > SCREEN)
    if options.quiet:
        return
    if summed is None:
        if repeats:
            report.summary(f"{done} in {clock.seconds:.1f} s")
    else:
        report.end_with(partial(_ending, report, summed, done, clock), repeats=bool(repeats))


def _ending(report: Report, summed: Callable[[Totals], str], counts: Progress, clock: Clock) -> str:
    """Return the last line of a run, for example `2 links in 1 document; 1 input failed`; "" if its input failed."""
    failed = f"; {number(counts.failed, 'input')} failed{report.totals.failed_are}" if counts.failed else ""
    left_out = report.totals.left_out()
    if not report.totals.documents and failed and not left_out:
        return failed.removeprefix("; ") if counts.failed > 1 else ""
    took = f"; {counts.size / 1e6:,.1f} MB in {clock.seconds:.1f} s" if clock.was_seen else ""
    return "; ".join([f"{summed(report.totals)}{failed}{took}", *left_out])


@contextmanager
def _interruptible(done: Progress, options: Options, report: Report) -> Iterator[None]:
    """Print the progress of a run that a signal ended, for example `3 of 9 done; --resume goes on`."""
    try:
        yield
    except (KeyboardInterrupt, GeneratorExit) as error:
        is_signal = isinstance(error, KeyboardInterrupt) or interrupts.received() is not None
        total = _total(options, _MOMENT) if is_signal and not options.quiet else 0
        if total is None or total > 1:
            is_kept = options.resume or options.command in {"rewrite", "mirror"}
            resumes = is_kept and options.writes and (options.in_place or options.path is not None)
            text = f"{done.inputs:,} done" if total is None else f"{done.inputs:,} of {total:,} done"
            report.note("interrupted", f"{text}; --resume goes on" if resumes else text)
        raise


def _total(options: Options, seconds: float = inf) -> int | None:
    """Return the number of inputs; None if counting takes longer than `seconds`, or for a list, which may be a pipe."""
    if options.from_ is not None:
        return None
    end = time.monotonic() + seconds
    number = 0
    for number, _ in enumerate(intake.found(options, silent(), follow=not options.in_place), 1):  # noqa: B007
        if time.monotonic() > end:
            return None
    return number


def silent() -> Report:
    """Return a report that prints only failures, for a folder that is read once more."""
    report = Report()
    report.quiet = True
    return report


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
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return options.jobs or cores or 1


def run_context(options: Options, report: Report, summed: Callable[[Totals], str] | None = None) -> RunContext:
    """Return the run context of a command that shares its work with the library."""

    def run_(work: Any, items: Any, input_of: Any, *, small: bool = False) -> Generator[tuple[Any, Any]]:
        if small and options.jobs is None:
            options.jobs = 1
        yield from run(work, items, input_of, options, report, summed=summed)

    def found_(names: list[str], url: str | None, *, plain: bool = False, follow: bool = True) -> Iterator[Input]:
        own = copy(options)
        own.inputs, own.url = names, url
        if plain:
            own.from_ = own.url_map = None
            own.include = own.exclude = []
        return intake.found(own, report, follow=follow)

    return RunContext(report, intake.reading(options), run_, found_, processes(options))


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


# --- progress: a bar on a terminal, otherwise a line every five seconds; nothing for short runs -----------------------

PATIENCE = 1.0  # seconds before the bar appears
EVERY = 5.0  # seconds between two lines


class Progress:
    """Counts so far: inputs done, bytes read from them, inputs that failed."""

    def __init__(self, inputs: int = 0) -> None:
        self.inputs = inputs
        self.size = self.failed = 0

    def __str__(self) -> str:
        return self.out_of(0)

    def out_of(self, total: int) -> str:
        """Return the counts, for example `1,925 of 4,381 inputs, 12.0 MB`; `total` is 0 if unknown."""
        failed = f", {self.failed:,} failed" if self.failed else ""
        done = f"{self.inputs:,} of {number(total, 'input')}" if total else number(self.inputs, "input")
        return f"{done}, {self.size / 1e6:,.1f} MB{failed}"

    def in_short(self, total: int) -> str:
        """Return the number of inputs and of all inputs, for example `1,925/4,381`."""
        return f"{self.inputs:,}/{total:,}" if total else f"{self.inputs:,}"


class Clock:
    """Measure the time of a run and show nothing; `was_seen`: progress was shown."""

    def __init__(self) -> None:
        self.begun = time.monotonic()
        self.was_seen = False

    @property
    def seconds(self) -> float:
        return time.monotonic() - self.begun

    def tick(self, counts: Progress) -> None:
        """Update the progress with the counts so far."""

    def close(self) -> None:
        """End the progress display."""


class Lines(Clock):
    """Print a line after an input is done, every five seconds at most."""

    def __init__(self) -> None:
        super().__init__()
        self._last = self.begun

    def tick(self, counts: Progress) -> None:
        now = time.monotonic()
        if now - self._last >= EVERY:
            self._last = now
            self.was_seen = True
            print(f"absolve: {counts} in {self.seconds:.0f} s so far", file=sys.stderr)


class Bar(Clock):
    """Show a bar below all output after one second; a thread counts the inputs for the total."""

    def __init__(self, count: Callable[[], int | None]) -> None:
        super().__init__()
        self._count = count
        self._last = 0.0
        self._inputs = 0  # as soon as they are counted

    def tick(self, counts: Progress) -> None:
        now = time.monotonic()
        if now - self.begun < PATIENCE or now - self._last < _BETWEEN:
            return
        self._last = now
        if not self.was_seen:
            self.was_seen = True
            from threading import Thread

            Thread(target=self._total, daemon=True).start()
        terminal.below(self.line(counts, terminal.width(sys.stderr) or terminal.WIDTH))

    def line(self, counts: Progress, columns: int) -> str:
        """Return the line, for example `[====      ] 4 of 10 inputs, 0.1 MB, 2/s 0:03 left`."""
        rate = counts.inputs / max(self.seconds, _BETWEEN)
        left = f" {_clock((self._inputs - counts.inputs) / rate)} left" if self._inputs and rate else ""
        if columns < _WIDE:
            return f"{counts.in_short(self._inputs)} {rate:,.0f}/s{left}"[: columns - 1]
        room = min(columns - _WIDE, _BAR) + _BAR
        done = room * counts.inputs // self._inputs if self._inputs else 0
        bar = f"[{'=' * min(done, room):{room}}] "
        return f"{bar}{counts.out_of(self._inputs)}, {rate:,.0f}/s{left}"[: columns - 1]

    def _total(self) -> None:
        number = self._count() or 0
        if number > 1:  # a single input has no progress
            self._inputs = number

    def close(self) -> None:
        if self.was_seen:
            terminal.below("")


def _clock(seconds: float) -> str:
    minutes, rest = divmod(max(0, round(seconds)), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{rest:02}" if minutes >= 60 else f"{minutes}:{rest:02}"


_WIDE = 70  # columns of the counts and a small bar
_BAR = 10
_BETWEEN = 0.1  # seconds from one line to the next


@contextmanager
def shown(*, quiet: bool, streams: bool, count: Callable[[], int | None]) -> Iterator[Clock]:
    """Yield the progress display of a run, and close it.

    `streams`: results go to the standard output, where a display would mix with them; `count` returns the number of
    inputs, None if it is not known.
    """
    clock: Clock
    if quiet or (streams and is_terminal(sys.stdout)):
        clock = Clock()
    elif terminal.has_below():
        clock = Bar(count)
    else:
        clock = Lines()
    try:
        yield clock
    finally:
        clock.close()


# --- --resume: the state of a run is kept until the run is complete ---------------------------------------------------

# Options that do not affect the result for one input; the state has an input's own URL (--url, --url-map) beside it.
_ASIDE: Final = frozenset(
    "color command config exclude from_ include inputs jobs log output quiet resume url url_map verbose".split()
)


@contextmanager
def state(options: Options, report: Report, *, kept: bool, lists: bool = False) -> Iterator[State | None]:
    """Yield the state of a run, None unless it is `kept` and possible. Remove the state when everything is done.

    Raise UsageError if the same run is at work, and with --resume if the state cannot be opened, or files would be
    rewritten in place again.
    """
    found = _state(options, lists=lists) if kept else None
    if found is None:
        yield None
        return
    with closing(found):
        yield found
    if found.skipped and not options.quiet:
        print(f"absolve: {found.skipped:,} skipped: done by an earlier run", file=sys.stderr)
    if not report.failures:
        from absolve.run.state import removed

        removed(found.path)


def _state(options: Options, *, lists: bool) -> State | None:
    import sqlite3  # 1 MB of memory that a run over one file does not need

    from absolve.run.state import State

    # The identity of a run: its command, its inputs and its output.
    paths = [*options.inputs, options.from_ or "", options.output or ""]
    real = [path if not path or buckets.is_bucket(path) else os.path.realpath(path) for path in paths]
    identity = options.command, options.from_ is None, options.in_place, real
    path = _folder() / f"{fingerprint(repr(identity)).hex()}.sqlite"
    values = sorted((name, value) for name, value in vars(options).items() if name not in _ASIDE)
    tables = intake.rule_tables(options)
    if not all(map(os.path.isfile, tables)):  # a pipe has been read
        if options.resume:
            raise UsageError("--resume: rules from a pipe cannot be compared with those of a run before: name a file")
        return None
    if options.resume and options.in_place and not path.exists():
        raise UsageError("--resume: no run over these inputs was interrupted, or has failures: leave --resume out")
    try:
        how = repr((__version__, values, [*map(of_option, tables)]))
        return State(path, how, resume=options.resume, lists=lists)
    except (OSError, sqlite3.Error, DocumentError) as error:
        if options.resume:
            raise UsageError(f"--resume: the state {path} of the run cannot be opened: {error}") from error
        return None


def _folder() -> Path:
    """Return the folder of states (XDG Base Directory; %LOCALAPPDATA% on Windows)."""
    base = os.environ.get("XDG_STATE_HOME") or os.environ.get("LOCALAPPDATA")
    return (Path(base) if base else Path.home() / ".local" / "state") / "absolve"
