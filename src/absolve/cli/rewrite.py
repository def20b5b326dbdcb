"""`absolve rewrite`: write documents with every link absolute, other bytes unchanged.

Input: the options. Output: a file for each input (or the standard output), the counts, a diff; failures in the report.
"""

from __future__ import annotations

import os
import re
import sys
from bisect import bisect_right
from contextlib import closing, contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from absolve.cli import intake, many, policies, terminal
from absolve.cli.reporting import changes_text, paint
from absolve.cli.terminal import colours, drawing, is_terminal
from absolve.core import printable
from absolve.core.errors import Diagnostic, DocumentError, UsageError, in_short
from absolve.core.model import Edit
from absolve.rewriting import rewriter
from absolve.rewriting.edits import splice
from absolve.run import buckets, folders, inputs, leftovers, outputs, plan
from absolve.run.load import walked
from absolve.run.output_folder import OutputFolder, created
from absolve.run.plan import Job, Publisher, RewriteOptions
from absolve.run.results import SELECTED, BytesRead, ChangeCounts, LogRows, Mentioned, StdoutBytes, counted, guarded
from absolve.run.rewrite_task import Written, date, document_results, new_bytes, rewritten, segments, tally_of
from absolve.run.sources import STDIN

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator, Sequence

    from absolve.cli.option_table import Options
    from absolve.cli.reporting import Report, Totals
    from absolve.run.filters import Cells
    from absolve.run.inputs import Input
    from absolve.run.results import Counts, TaskResult
    from absolve.run.state import State

    Show: TypeAlias = Callable[[str, bytes, Sequence[Edit]], Iterable[bytes]]


class _Outputs(NamedTuple):
    """The output: `path`, a file or a folder; None for the standard output, and for --in-place.

    In a folder, results have the relative paths of their inputs. `several`: there may be more than one input. `log`:
    the file of --log, None also for a run that writes nothing.
    """

    path: str | None
    is_folder: bool
    several: bool
    log: str | None


def run(options: Options, report: Report) -> None:
    log = _log_cells(options) if options.log is not None else None
    to = _outputs(options)
    policy = policies.policy(options, report.totals)
    for diagnostic in policies.rule_findings(policy):
        report.aside(diagnostic)
    how = RewriteOptions(
        intake.reading(options, policy),
        policy,
        verify=options.verify,
        in_place=options.in_place,
        backup=options.backup,
        token=leftovers.token(),
        log=log if options.writes else None,
    )
    jobs = _not_the_log(_jobs(to, options, report), to.log, options.backup)
    if options.dry_run:
        _run(how, partial(_counted, how), jobs, to, options, report)
    elif options.diff:
        # Worker processes cannot see the terminal.
        show = partial(diff_lines, is_terminal(sys.stdout), colours(sys.stdout))
        _run(how, partial(compared, show, how), jobs, to, options, report)
    else:
        with _opened(to) as inside:
            how = how._replace(inside=inside, sends=to.path is not None and buckets.is_bucket(to.path))
            _run(how, partial(rewritten, how), jobs, to, options, report)


@contextmanager
def _opened(to: _Outputs) -> Iterator[OutputFolder | None]:
    """Yield the folder for the results, a temporary one for a store; None for other outputs."""
    if to.path is None:
        yield None
    elif buckets.is_bucket(to.path):
        with leftovers.temporary_folder() as folder:
            yield OutputFolder.at_path(folder)
    else:
        plan.make_above(to.path)
        with created(to.path) if to.is_folder else nullcontext() as inside:
            yield inside


def _run(
    how: RewriteOptions,
    work: Callable[[Job], Iterable[TaskResult]],
    jobs: Iterable[Job],
    to: _Outputs,
    options: Options,
    report: Report,
) -> None:
    """Run the task `work` on all jobs, with the state of the run and a log."""
    report.totals.unread_are = "copied as is" if options.writes and not options.in_place else "left as is"
    if to.path is not None and to.several:
        report.totals.failed_are = f" (not in {printable.printable(to.path)})"
    summed = partial(changes_text, written=options.writes)
    with (
        many.state(options, report, kept=to.several and options.writes) as state,
        terminal.json_array(options) as add,
        closing(published(how, work, jobs, options, report, summed, state, add)) as changes,
    ):
        if to.log is not None:
            _write_log(to.log, changes)
        for _ in changes:
            pass
    if SELECTED not in report.totals.rules and not options.resume and (selecting := policies.selecting(options)):
        report.note("empty-selection", f"no link is selected by {selecting}")


def published(
    how: RewriteOptions,
    work: Callable[[Job], Iterable[TaskResult]],
    jobs: Iterable[Job],
    options: Options,
    report: Report,
    summed: Callable[[Totals], str],
    state: State | None = None,
    add: Callable[[dict[str, Any]], None] | None = None,
) -> Generator[Sequence[Sequence[Any]]]:
    """Publish the files of the task `work`, print its data for the standard output, and yield changes for the log.

    `add` gets the counts of each input instead of these data.
    """
    with Publisher(how.token, state, how.inside) as publisher:

        def ended(job: Job) -> None:
            with report.guard(job.input.name):
                publisher.ended(job, failed=job.input.name in report.failures)

        def counted(job: Job, piece: Counts) -> None:
            if add is not None and isinstance(piece, ChangeCounts):
                add({"document": job.input.name, "links": piece.links, "changed": piece.changed})
            if add is not None and isinstance(piece, Mentioned):
                for row in piece.rows:
                    add({name: getattr(row, name) for name in ("document", "line", "column", "kind", "old", "new")})

        jobs = publisher.watched(jobs)
        run_ = many.run(work, jobs, lambda job: job.input, options, report, ended, summed=summed, counted=counted)
        with closing(run_) as results:
            for job, piece in results:
                if isinstance(piece, StdoutBytes) and add is not None:
                    continue
                if isinstance(piece, StdoutBytes):
                    with outputs.stdout() as file:
                        (drawing(file) if options.diff else file).write(piece.data)
                elif isinstance(piece, LogRows):
                    if not report.is_unwritten(job.input.name):
                        yield piece.rows
                else:
                    with report.guard(job.input.name):
                        publisher.put(job, piece)


# --- the log of the changes ------------------------------------------------------------------------------------------


def _log_cells(options: Options) -> Cells:
    """Return how the log changes the cells of its rows.

    Raise UsageError if the file of --log has no suitable suffix, is a file that the run reads or writes, under any
    name, or is in an input folder.
    """
    from absolve import tables  # imports the inventory, as the log does
    from absolve.run.filters import Cells

    name = options.log or ""
    form = tables.FORMATS[tables.format_name(name)]
    if not form.text or form.source:
        raise UsageError(f"--log {name}: give a file with the suffix .csv, .tsv, .json or .jsonl")
    path, named = Path(name), [*options.inputs, *_listed(options.from_)]
    try:
        plan.check_not_read([path], [*named, *intake.tables(options)])
        plan.check_not_led_out(path, named)
        plan.check_different([path, *([Path(out)] if (out := options.path) is not None else [])])
        if (folder := folders.folder_around(path, named)) is not None:
            raise UsageError(f"--log {path} is inside the input {folder}: choose another folder")
    except ValueError as error:  # NUL in a name
        raise UsageError(f"--log {name!r}: {error}") from error
    return Cells(masked=True)


def _listed(name: str | None) -> Iterator[str]:
    """Yield the names in a list if it can be read twice; `_not_the_log` checks names from a pipe."""
    if name is not None and name != STDIN and Path(name).is_file():
        try:
            yield from inputs.read_list(name)
        except DocumentError:
            return  # reported when the run reads the list


def _not_the_log(jobs: Iterable[Job], log: str | None, backup: str | None) -> Iterator[Job]:
    """Yield the jobs; raise UsageError before a job that reads or writes the file of --log.

    `_log_cells` cannot see names that come from a pipe or from the plan of the outputs.
    """
    key = inputs.key(os.path.realpath(log)) if log is not None else None
    for job in jobs:
        for name in _files(backup, job) if key is not None else ():
            if key in {inputs.key(name), inputs.key(os.path.realpath(name))}:
                raise UsageError(f"--log {log} is also a file of the run ({name}): choose another file")
        yield job


def _write_log(name: str, changes: Iterable[Sequence[Sequence[Any]]]) -> None:
    """Write the changes as they arrive, completely or not at all. Raise OSError if the file cannot be written."""
    from absolve import tables
    from absolve.run.change_log import COLUMNS
    from absolve.tables import typed_table

    sink = tables.by_name(tables.format_name(name))
    table = typed_table("changes", COLUMNS)
    with outputs.named(name) as file:
        sink.write([table], ((table.name, sink.encode(COLUMNS, rows)) for rows in changes), file)


# --- outputs ----------------------------------------------------------------------------------------------------------


def _outputs(options: Options) -> _Outputs:
    """Return the output. Raise UsageError if options contradict each other, or an output is also an input."""
    names, path = intake.names(options), options.path
    listed = options.from_ is not None
    several = len(names) > 1 or listed or any(map(inputs.is_many, names))
    if options.resume and options.log is not None:
        raise UsageError("--log cannot be continued: what an earlier run changed would be missing; leave out --resume")
    if options.resume and not (several and options.writes):
        raise UsageError("--resume needs several inputs, and -o FOLDER or --in-place")
    if options.backup is not None and not options.in_place:
        raise UsageError("--backup needs --in-place")
    if options.format == "json" and not options.dry_run:
        raise UsageError("--format json needs --dry-run", "--log FILE.json lists each change of a rewrite")
    if options.backup is not None and (not options.backup or Path(options.backup).name != options.backup):
        raise UsageError(f"--backup needs a suffix for file names, such as .orig, not {options.backup!r}")
    if options.in_place and (url := next(filter(inputs.is_url, names), None)) is not None:
        raise UsageError(f"--in-place cannot replace {in_short(url)}: leave --in-place out, or give -o OUT")
    if options.in_place and (url := next(filter(buckets.is_bucket, names), None)) is not None:
        raise UsageError(f"--in-place replaces files of a disk, and {in_short(url)} is none: give -o OUT")
    if options.in_place and STDIN in names:
        raise UsageError("--in-place cannot replace the standard input (-): name files, or leave --in-place out")
    if path is not None:
        plan.check(names, path, listed=listed)
        plan.check_not_read([Path(path)], intake.tables(options))
    elif several and options.writes and not options.in_place:
        from absolve.cli import hints

        raise UsageError("several inputs need -o FOLDER or --in-place", hints.output_meant(options.inputs))
    is_folder = path is not None and not plan.is_file(names, path, listed=listed)
    return _Outputs(path, is_folder, several, options.log if options.writes else None)


def _jobs(to: _Outputs, options: Options, report: Report) -> Iterator[Job]:
    found = intake.found(options, report, follow=not options.in_place)
    if options.in_place:
        return map(Job, plan.without_backups(plan.once(_only_files(found, report)), options.backup))
    if to.path is None or not to.is_folder:
        return (Job(input_, to.path) for input_ in found)
    return plan.jobs(found, to.path, report.aside)


def _only_files(found: Iterable[Input], report: Report) -> Iterator[Input]:
    """Yield the inputs that are files; report a URL of a list, which cannot be replaced."""
    for input_ in found:
        if input_.asked or buckets.is_bucket(input_.name):
            report.aside(Diagnostic("unwritable", "a URL cannot be replaced (--in-place)", input_.name, failed=True))
        else:
            yield input_


def _files(backup: str | None, job: Job) -> Iterator[str]:
    """Yield the names of the files that a job reads or writes."""
    yield job.input.name
    if job.target is not None:
        yield job.target
    if backup is not None:
        yield job.input.name + backup


# --- --dry-run and --diff ---------------------------------------------------------------------------------------------


def _counted(how: RewriteOptions, job: Job) -> Iterator[TaskResult]:
    return guarded(job.input.name, document_results(how, job, _count))


def compared(show: Show, how: RewriteOptions, job: Job) -> Iterator[TaskResult]:
    """Yield the diff of one input: a task."""
    return guarded(job.input.name, document_results(how, job, partial(_difference, show)))


def diff_lines(for_people: bool, colour: bool, name: str, data: bytes, changes: Sequence[Edit]) -> Iterable[bytes]:
    """Return the lines of the diff of one input: for `patch`, or for a terminal."""
    lines = unified(name, data, changes)
    return on_terminal(lines, colour=colour) if for_people else lines


def _count(how: RewriteOptions, job: Job, _head: bytes | None) -> Iterator[TaskResult]:
    for piece in segments(how, job):
        if isinstance(piece, ChangeCounts):
            yield from counted(job.input.name, piece)
        elif isinstance(piece, Mentioned):
            for one in piece.rows:
                line = f"{one.document}:{one.line}:{one.column}: {one.kind}: {one.old} -> {one.new}"
                yield StdoutBytes(f"{printable.message(line)}\n".encode())
            yield piece
        elif not isinstance(piece, Written):
            yield piece


def _difference(show: Show, how: RewriteOptions, job: Job, _head: bytes | None) -> Iterator[TaskResult]:
    found = walked(job.input, how.reading, how.policy)
    yield from found.diagnostics
    date(how.policy, found.entity, job.input.name)
    tally = rewriter.Tally()
    data, faults = new_bytes(how, found, tally)
    yield from faults
    if not faults:
        from absolve.run.change_log import hosts_left  # imports the inventory

        yield from hosts_left(how.policy, found.entity, data)
        yield tally_of(how, tally)
        yield BytesRead(len(found.document.data), 1)
        changes = rewriter.edits(found.entity, how.policy)
        yield StdoutBytes(b"".join(show(job.input.name, found.entity.data, changes)))


# --- unified diff (POSIX `diff -u`) from the edits: one pass over the file, no comparison of lines --------------------

CONTEXT = 3


class Block(NamedTuple):
    """Adjacent lines that change: line numbers `first` to `end` (exclusive, from 0), and the new lines."""

    first: int
    end: int
    new: list[bytes]


def unified(name: str, data: bytes, edits: Sequence[Edit]) -> Iterator[bytes]:
    r"""Yield the lines of a unified diff (POSIX `diff -u`) for `edits` of `data`, in order; only LF ends a line.

    >>> b"".join(unified("a.html", b"<a href=b>\n", [Edit(8, 9, b"/c")])).splitlines()[2:]
    [b'@@ -1,1 +1,1 @@', b'-<a href=b>', b'+<a href=/c>']
    """
    if not edits:
        return
    starts = [0, *(found.end() for found in re.finditer(b"\n", data))]
    if starts[-1] == len(data):
        starts.pop()
    label = quoted(name)
    yield b"--- " + label + b"\n"
    yield b"+++ " + label + b"\n"
    starts.append(len(data))
    shift = 0
    for hunk in _hunks(_blocks(data, starts, edits)):
        first = max(0, hunk[0].first - CONTEXT)
        end = min(len(starts) - 1, hunk[-1].end + CONTEXT)
        grown = sum(len(block.new) - (block.end - block.first) for block in hunk)
        old = end - first
        yield b"@@ -%d,%d +%d,%d @@\n" % (first + 1, old, first + 1 + shift, old + grown)
        shift += grown
        for block in hunk:
            yield from _marked(b" ", _lines(data, starts, first, block.first))
            yield from _marked(b"-", _lines(data, starts, block.first, block.end))
            yield from _marked(b"+", block.new)
            first = block.end
        yield from _marked(b" ", _lines(data, starts, first, end))


def quoted(name: str) -> bytes:
    """Return a file name as git and GNU patch read it, with C escapes in quotes where necessary.

    Invisible characters are escaped, so that a name cannot end its line or pass for another name.
    """
    if printable.printable(name) == name and not re.search(r'\A |["\\]', name):
        return os.fsencode(name) + (b"\t" if " " in name else b"")  # a tab ends a name that contains spaces
    return b'"' + b"".join(map(_quoted_character, name)) + b'"'


def _quoted_character(character: str) -> bytes:
    if character in _ESCAPES:
        return _ESCAPES[character]
    raw = os.fsencode(character)
    return raw if printable.printable(character) == character else b"".join(b"\\%03o" % byte for byte in raw)


_ESCAPES = {'"': b'\\"', "\\": b"\\\\", "\n": b"\\n", "\t": b"\\t", "\r": b"\\r"}


def _blocks(data: bytes, starts: list[int], edits: Iterable[Edit]) -> Iterator[Block]:
    """Group the edits by the lines that they touch; adjacent lines form one block."""
    inside: list[Edit] = []
    first = end = 0
    for edit in edits:
        line = bisect_right(starts, edit.start, hi=len(starts) - 1) - 1
        if inside and line > end:
            yield _block(data, starts, first, end, inside)
            inside = []
        if not inside:
            first = line
        end = max(line, bisect_right(starts, max(edit.start, edit.end - 1), hi=len(starts) - 1) - 1) + 1
        inside.append(edit)
    yield _block(data, starts, first, end, inside)


def _block(data: bytes, starts: list[int], first: int, end: int, edits: list[Edit]) -> Block:
    start = starts[first]
    shifted = [Edit(edit.start - start, edit.end - start, edit.new) for edit in edits]
    return Block(first, end, re.findall(rb"[^\n]*\n|[^\n]+\Z", splice(data[start : starts[end]], shifted)))


def _hunks(blocks: Iterable[Block]) -> Iterator[list[Block]]:
    hunk: list[Block] = []
    for block in blocks:
        if hunk and block.first - hunk[-1].end > 2 * CONTEXT:
            yield hunk
            hunk = []
        hunk.append(block)
    yield hunk


def _lines(data: bytes, starts: list[int], first: int, end: int) -> Iterator[bytes]:
    return (data[starts[line] : starts[line + 1]] for line in range(first, end))


def _marked(mark: bytes, lines: Iterable[bytes]) -> Iterator[bytes]:
    for line in lines:
        yield mark + line if line.endswith(b"\n") else mark + line + b"\n\\ No newline at end of file\n"


_STYLES = {b"-": "red", b"+": "green", b"@": "cyan"}


def on_terminal(lines: Iterator[bytes], *, colour: bool) -> Iterator[bytes]:
    """Yield the lines of a diff for a terminal: invisible characters except tabs escaped, coloured if `colour`.

    For people only: `patch` needs the unescaped lines, which go to a file or a pipe.
    """
    for line in lines:
        text = printable.printable(line.rstrip(b"\n").decode("utf-8", "backslashreplace"), keep="\t")
        style = _STYLES.get(line[:1])
        yield f"{paint(text, style, on=colour) if style else text}\n".encode()
