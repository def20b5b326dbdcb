"""Options of the commands that work on many inputs, and the run over them."""

from __future__ import annotations

import argparse
import os
from contextlib import closing
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from absolve.cli import failures, progress
from absolve.cli import options as shared
from absolve.cli.reporting import Report
from absolve.core.errors import Diagnostic, DocumentError, UsageError
from absolve.run import fsync, inputs, interrupts, outputs
from absolve.run.archive_ranges import WHOLE
from absolve.run.globs import Globs
from absolve.run.pool import tasks
from absolve.run.results import BytesRead, Failure
from absolve.run.sources import STDIN

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator

    from absolve.run.inputs import Input
    from absolve.run.results import FilesReady, TaskResult

    Item = TypeVar("Item")

WORTH_A_POOL = 4 << 20  # bytes of inputs: what fewer take is less than what starting processes does
SCREEN = 20  # lines; what was said before more than that is said again at the end


def add_inputs(parser: argparse.ArgumentParser) -> None:
    """INPUT..., folders and lists, and what the user knows of them."""
    shared.completes_files(
        parser.add_argument(
            "inputs",
            nargs="*",
            metavar="INPUT",
            help="a file, a folder with all in it, or - for the standard input (the default)",
        )
    )
    group = parser.add_argument_group("folders and lists")
    shared.completes_files(
        group.add_argument(
            "--from",
            dest="from_",
            metavar="FILE",
            help="work on the files that are named in FILE (- is the standard input), one a line or NULs between them",
        )
    )
    group.add_argument(
        "--include",
        discovered=True,
        action="append",
        default=[],
        metavar="GLOB",
        help="of folders only such files: '*.html' by name, 'docs/**' by path",
    )
    group.add_argument(
        "--exclude",
        discovered=True,
        action="append",
        default=[],
        metavar="GLOB",
        help="not such files, nor such folders",
    )
    shared.completes_files(
        group.add_argument("--url-map", metavar="FILE", help="the URLs of single files, as CSV: path, URL")
    )
    group.add_argument(
        "--mirror-layout",
        discovered=True,
        action="store_true",
        help="a folder has host/path in it, as wget and HTTrack write: that is the URL, unless a page says another",
    )
    shared.add_known(parser)


def add_run(parser: argparse.ArgumentParser) -> argparse._ArgumentGroup:
    """How the run goes."""
    group = parser.add_argument_group("how the run goes")
    group.add_argument(
        "--jobs",
        "-j",
        discovered=True,
        type=_jobs,
        default=None,
        metavar="N",
        help="so many processes (one for each core; a few small inputs: one)",
    )
    shared.completes_files(
        group.add_argument("--errors", metavar="FILE", help="write what failed there, too, as JSON lines")
    )
    said = group.add_mutually_exclusive_group()
    said.add_argument("--quiet", "-q", discovered=True, action="store_true", help="say only what failed")
    said.add_argument(
        "--verbose",
        "-v",
        discovered=True,
        action="store_true",
        help="say each thing of each input (what many share is summed up)",
    )
    return group


def _jobs(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= 1024:
        raise argparse.ArgumentTypeError(f"must be a number from 1 to 1024, not {text!r}")
    return int(text)


def names(options: argparse.Namespace) -> list[str]:
    """The inputs that stand on the command line; with a list there need not be any."""
    if options.from_ is None:
        return shared.names(options)
    if options.from_ == STDIN and STDIN in options.inputs:
        raise UsageError("the standard input (-) can be read once only")
    return shared.names(options) if options.inputs else []


def found(options: argparse.Namespace, report: Report, *, follow: bool = True) -> Iterator[Input]:
    """All inputs, in their order; UsageError for options that say something else than what there is."""
    given = names(options)
    globs = Globs(tuple(options.include), tuple(options.exclude)).checked()
    if (globs.include or globs.exclude) and not any(map(inputs.is_folder, given)):
        raise UsageError("--include and --exclude go with folders")
    if options.url is not None and any(map(inputs.is_folder, given)) and set("?#") & set(options.url):
        raise UsageError(f"the URL of a folder's root has no query and no fragment: {options.url!r}")
    try:
        by_path = inputs.read_url_map(options.url_map) if options.url_map else {}
    except DocumentError as error:
        raise UsageError(error.message) from error
    origins = inputs.Origins(options.url, by_path, options.mirror_layout)
    on_line = inputs.named(given, origins, globs, report.aside, follow=follow)
    if options.from_ is None:
        return on_line
    return chain(on_line, _listed(options.from_, origins, report))


def _listed(name: str, origins: inputs.Origins, report: Report) -> Iterator[Input]:
    with report.guard(name):
        yield from inputs.listed(inputs.read_list(name), origins, report.aside)


def run(
    work: Callable[..., Iterable[TaskResult]],
    items: Iterable[Item],
    input_of: Callable[[Item], Input],
    options: argparse.Namespace,
    report: Report,
    ended: Callable[[Item], None] | None = None,
    expect: Callable[[list[tuple[Item, FilesReady]]], None] | None = None,
    *,
    handoffs: bool = False,
) -> Generator[tuple[Item, Any]]:
    """Work on all items and report what is said of them; what else they come to is the caller's, in their order.

    `ended` is told of each item that nothing more comes of, while a failure is still that item's; `expect` of what is
    ready to be put and comes next. `handoffs` as of `tasks.run`.
    """
    report.quiet, report.verbose = options.quiet, options.verbose
    streams = not getattr(options, "in_place", False) and options.output in {None, outputs.STDOUT}
    with (
        failures.written(options, report),
        progress.shown(quiet=options.quiet, streams=streams, count=_counting(options)) as clock,
    ):
        jobs, items = _processes(items, input_of, options)
        number = size = 0
        with (
            closing(tasks.run(work, items, jobs, handoffs=handoffs)) as done,
            closing(fsync.flushed(_unbroken(done, input_of) if handoffs else done, expect)) as told,
        ):
            for item, piece in told:
                interrupts.check()
                report.input = input_of(item).name
                if isinstance(piece, Diagnostic):
                    report.finding(piece)
                elif isinstance(piece, Failure):
                    report.failure(piece.error)
                elif isinstance(piece, BytesRead):
                    size += piece.read
                elif not isinstance(piece, tasks.End):
                    yield item, piece
                else:
                    if piece.lost:
                        report.failure(DocumentError(Diagnostic("lost", piece.lost, report.input)))
                    if ended is not None:
                        ended(item)
                    number += input_of(item).within.end == WHOLE.end
                report.input = None
                clock.tick(progress.So(number, size, len(report.failures)))
                report.took(clock.seconds)
    report.rest()
    if not options.quiet and (clock.was_seen or (report.failures and report.said > SCREEN)):
        report.summary(f"{progress.So(number, size, len(report.failures))} in {clock.seconds:.1f} s")


def _unbroken(done: Iterable[tuple[Item, Any]], input_of: Callable[[Item], Input]) -> Iterator[tuple[Item, Any]]:
    from absolve.run import archive_turns  # and with it the inventory: a rewrite needs none

    return archive_turns.unbroken(done, input_of)


def _counting(options: argparse.Namespace) -> Callable[[], int] | None:
    """What counts the inputs, beside the run; a list may be a pipe, and is read once only."""
    if options.from_ is not None or not any(map(inputs.is_folder, options.inputs)):
        return None
    unheard = Report()
    unheard.quiet = True
    return lambda: sum(1 for _ in found(options, unheard, follow=not getattr(options, "in_place", False)))


def _processes(
    items: Iterable[Item], input_of: Callable[[Item], Input], options: argparse.Namespace
) -> tuple[int, Iterable[Item]]:
    """How many processes the items are worth, and the items: none of its own for what is done before it has started."""
    jobs = processes(options)
    if jobs == 1 or STDIN in options.inputs or not (options.inputs or options.from_):
        return 1, items  # only this process has the standard input
    items = iter(items)
    first: list[Item] = []
    size = 0
    for item in items:
        first.append(item)
        try:
            size += Path(input_of(item).name).stat().st_size
        except (OSError, ValueError):
            continue
        if size >= WORTH_A_POOL and len(first) > 1:
            return jobs, chain(first, items)
    return 1, first


def processes(options: argparse.Namespace) -> int:
    """How many the user wants: those cores that this process may use, where nothing is said."""
    return options.jobs or _cores()


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
