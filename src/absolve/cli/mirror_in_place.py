"""`absolve mirror --relative-only`: the links of a folder of pages, in place or in a copy.

Input: the options. Output: files, all of them complete.
"""

from __future__ import annotations

import shutil
import sys
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from absolve.cli import many, totals
from absolve.cli import options as shared
from absolve.cli.rewrite import diff_lines
from absolve.cli.terminal import colours, is_terminal
from absolve.cli.totals import of_possible_changes
from absolve.core import printable
from absolve.core.errors import Diagnostic, DocumentError, UsageError
from absolve.mirror import making, write
from absolve.mirror import map as maps
from absolve.mirror.capture import Captured
from absolve.mirror.files import FilesReader
from absolve.mirror.sources import FILES, Source
from absolve.mirror.survey import Choice, Survey
from absolve.mirror.task import MirrorOptions
from absolve.mirror.urls import Equivalences
from absolve.run import buckets, inputs, leftovers, outputs, plan, sources
from absolve.run.output_folder import Below, OutputFolder, created
from absolve.run.results import FilesReady, StdoutBytes

if TYPE_CHECKING:
    import argparse

    from absolve.cli.reporting import Report
    from absolve.run.inputs import Input


def in_place(options: argparse.Namespace, report: Report) -> None:
    """Make the links of a folder of pages relative, as `wget -k` does: names stay, and nothing but links changes.

    With -o the files are written there, and the folder stays.
    """
    if options.zip is not None:
        raise UsageError("--relative-only writes the files of a folder: give -o FOLDER")
    if len(options.inputs) != 1 or not inputs.is_folder(options.inputs[0]) or options.from_ is not None:
        raise UsageError("--relative-only takes one folder")
    if options.output is not None and buckets.is_bucket(options.output):
        raise UsageError("--relative-only writes to a disk: give -o FOLDER")
    folder = options.inputs[0]
    report.quiet, report.verbose = options.quiet, options.verbose
    if options.output is None:
        _relative(OutputFolder.of(folder), options, report)
        return
    plan.check_apart(Path(options.output), folder)
    write.check_folder(Path(options.output))
    if options.dry_run or options.diff:
        _relative(OutputFolder.of(folder), options, report)
        return
    plan.make_above(options.output)
    with created(options.output) as root:
        _relative(root, options, report)


def _relative(root: OutputFolder, options: argparse.Namespace, report: Report) -> None:
    reading = shared.reading(options)
    reading = reading._replace(settings=reading.settings._replace(base="empty"))
    found, odd = _with_text_names(options, report)
    source = Source(FILES, tuple(found))
    same = Equivalences.of(options.same)
    shows = options.dry_run or options.diff
    folder, copies = options.inputs[0], options.output is not None and not shows
    changed = 0
    with leftovers.temporary_folder() as temporary:
        path = Path(temporary) / maps.WORKING
        with closing(maps.Working(path)) as working:
            _plan_in_place(working, FilesReader(source.inputs, 0, reading), found, same, report)
            how = MirrorOptions(
                reading,
                (source,),
                str(path),
                root,
                same,
                options.absent == "sever",
                token=leftovers.token(),
                links_only=True,
                counts_only=shows,
                show=partial(diff_lines, is_terminal(sys.stdout), colours(sys.stdout)) if options.diff else None,
            )

            def put(piece: Any) -> int:
                nonlocal changed
                if isinstance(piece, FilesReady):
                    changed += (number := making.put_all(piece, report))
                    return number
                if isinstance(piece, StdoutBytes):
                    with outputs.stdout() as file:
                        file.write(piece.data)
                return 0

            options.output = options.output or folder
            with write.swept(root, how.token):
                course = many.course_of(options, report, of_possible_changes if shows else None)
                making.make(working, how, put, course)
                if copies:
                    rest = (one for one in found if not working.is_planned(one.place))
                    changed += sum(_copied(one, root, report) for one in (*rest, *odd))
            number = working.documents()[0]
    if not options.quiet and not shows:
        name = printable.printable(options.output)
        done = f"{totals.number(number, 'file')}, {changed:,} {'written' if copies else 'changed'}"
        print("; ".join([f"absolve: {name}: {done}", *report.totals.left_out()]), file=sys.stderr)


def _with_text_names(options: argparse.Namespace, report: Report) -> tuple[list[Input], list[Input]]:
    """Return the files of a folder: those that are worked on, and those whose names are no text, which are reported."""
    found: list[Input] = []
    odd: list[Input] = []
    for input_ in plan.without_backups(many.found(options, report, follow=False), None):
        if input_.place.isascii() or input_.place.encode("utf-8", "ignore").decode() == input_.place:
            found.append(input_)
        else:
            odd.append(input_)
            report.aside(Diagnostic("name", "its name is not UTF-8: it stays as it is", input_.name, failed=True))
    return found, odd


def _plan_in_place(
    working: maps.Working, reader: FilesReader, found: list[Input], same: Equivalences, report: Report
) -> None:
    """Write the plan of a mirror in which each file stays where it is."""
    places: dict[str, str] = {}
    for one in reader.captured(set()):
        if isinstance(one, Captured):
            places[one.url] = found[one.where.offset].place
    survey = Survey([reader], Choice(same=same), report.finding)
    working.add_places(survey.places)
    working.plan(survey.rows(), survey.store.forms(), [""], "host", places)


def _copied(input_: Input, root: OutputFolder, report: Report) -> int:
    """Copy a file that could not be worked on; return how many were copied."""
    target = Path(root.path) / input_.place
    try:
        with (
            sources.file_of(input_.name, root=input_.root) as source,
            outputs.preparing(target, below=Below(root, input_.place)) as (file, ready),
        ):
            shutil.copyfileobj(source, file)
    except OSError as error:
        report.failure(DocumentError(Diagnostic("unwritable", error.strerror or str(error), str(target))))
        return 0
    return making.put_all(FilesReady((ready,)), report)
