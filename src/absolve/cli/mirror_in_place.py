"""`absolve mirror --relative-only FOLDER`: make the links of a folder of pages relative, in place.

Input: the options. Output: the files whose links change; links to URLs that no file of the folder has become absolute.
What `wget -k` does, for files that it no longer has its hands on: names stay, and nothing but links changes.
"""

from __future__ import annotations

import sys
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from absolve.cli import many
from absolve.cli import options as shared
from absolve.cli.totals import of_possible_changes
from absolve.core import printable
from absolve.core.errors import Diagnostic, DocumentError, UsageError
from absolve.mirror import map as maps
from absolve.mirror import write
from absolve.mirror.capture import Captured
from absolve.mirror.sources import FILES, Source, reader_of
from absolve.mirror.survey import Choice, Survey
from absolve.mirror.task import MirrorOptions, made
from absolve.mirror.urls import Equivalences
from absolve.run import inputs, leftovers, outputs, plan
from absolve.run.output_folder import OutputFolder
from absolve.run.results import FilesReady, StdoutBytes

if TYPE_CHECKING:
    import argparse
    from collections.abc import Generator

    from absolve.cli.reporting import Report


def run(options: argparse.Namespace, report: Report) -> None:
    if options.output is not None or options.zip is not None:
        raise UsageError("--relative-only changes files in place: leave -o and --zip out")
    if len(options.inputs) != 1 or not inputs.is_folder(options.inputs[0]) or options.from_ is not None:
        raise UsageError("--relative-only takes one folder")
    folder = options.inputs[0]
    reading = shared.reading(options)
    reading = reading._replace(settings=reading.settings._replace(base="empty"))
    report.quiet, report.verbose = options.quiet, options.verbose
    found = []
    for input_ in plan.without_backups(many.found(options, report, follow=False), None):
        if input_.place.isascii() or input_.place.encode("utf-8", "ignore").decode() == input_.place:
            found.append(input_)
        else:
            report.aside(Diagnostic("name", "its name is not UTF-8: it stays as it is", input_.name, failed=True))
    source = Source(FILES, tuple(found))
    same = Equivalences.of(options.same)
    changed = 0
    with leftovers.temporary_folder() as temporary:
        path = Path(temporary) / maps.WORKING
        with closing(maps.Working(path)) as working:
            working.create({})
            reader = reader_of(source, 0, reading)
            places: dict[str, str] = {}
            for one in reader.captured(set()):
                if isinstance(one, Captured):
                    places[one.url] = found[one.where.offset].place
            survey = Survey([reader], Choice(same=same), report.finding)
            working.plan_in_place(survey.rows(), survey.store.forms(), [source.name], places)
            root = OutputFolder.of(folder)
            how = MirrorOptions(
                reading,
                (source,),
                str(path),
                root,
                same,
                options.absent == "sever",
                token=leftovers.token(),
                links_only=True,
                counts_only=options.dry_run,
            )

            def results() -> Generator[tuple[Any, Any]]:
                options.output = folder
                found = write.batches(working, [source])
                summed = of_possible_changes if options.dry_run else None
                return many.run(partial(made, how), found, lambda batch: batch.input, options, report, summed=summed)

            def put(piece: Any) -> None:
                nonlocal changed
                if isinstance(piece, FilesReady):
                    changed += put_all(piece, report)
                elif isinstance(piece, StdoutBytes):
                    with outputs.stdout() as file:
                        file.write(piece.data)

            with write.swept(root, how.token):
                write.run_batches(working, results, put)
            number = working.documents()[0]
    if not options.quiet and not options.dry_run:
        name = printable.printable(folder)
        print(f"absolve: {name}: {number:,} files, {changed:,} changed", file=sys.stderr)


def put_all(ready: FilesReady, report: Report) -> int:
    """Rename files that are on the disk into place; return how many."""
    number = 0
    for file in ready.made:
        try:
            outputs.put(file)
            number += 1
        except OSError as error:
            report.failure(DocumentError(Diagnostic("unwritable", error.strerror or str(error), file.target)))
    return number
