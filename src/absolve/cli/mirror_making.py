"""The documents of a mirror as they are made: into a folder, into one ZIP, or in place (`--relative-only`).

Input: the plan, in the working copy of the map, and the options. Output: files, all of them complete.
"""

from __future__ import annotations

import shutil
import struct
import sys
import zipfile
from contextlib import closing
from functools import partial
from pathlib import Path
from time import gmtime
from typing import IO, TYPE_CHECKING, Any, Final

from absolve.cli import many, totals
from absolve.cli import options as shared
from absolve.cli.rewrite import diff_lines
from absolve.cli.terminal import colours, is_terminal
from absolve.cli.totals import of_possible_changes
from absolve.core import printable
from absolve.core.errors import Diagnostic, DocumentError, UsageError
from absolve.mirror import extensions, index, write
from absolve.mirror import map as maps
from absolve.mirror.capture import Captured, seconds_of
from absolve.mirror.files import FilesReader
from absolve.mirror.paths import MAP, index_name
from absolve.mirror.sources import FILES, Source
from absolve.mirror.survey import Choice, Survey
from absolve.mirror.task import Made, MirrorOptions, made
from absolve.mirror.urls import Equivalences
from absolve.run import buckets, inputs, leftovers, outputs, plan
from absolve.run.output_folder import Below, OutputFolder, created
from absolve.run.results import FilesReady, StdoutBytes

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from absolve.cli.reporting import Report
    from absolve.cli.totals import Totals
    from absolve.run.inputs import Input


def make(
    working: maps.Working,
    how: MirrorOptions,
    put: Callable[[Any], None],
    options: argparse.Namespace,
    report: Report,
    summed: Callable[[Totals], str] | None = None,
) -> None:
    """Make the documents of the plan; `put` takes what each task yields."""
    batches = write.batches(working, how.sources)
    results = many.run(partial(made, how), batches, lambda batch: batch.input, options, report, summed=summed)
    write.run_batches(working, results, put)


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


# --- in place ---------------------------------------------------------------------------------------------------------


def in_place(options: argparse.Namespace, report: Report) -> None:
    """Make the links of a folder of pages relative, as `wget -k` does: names stay, and nothing but links changes.

    With -o the files are written there, and the folder stays.
    """
    if options.zip is not None:
        raise UsageError("--relative-only writes the files of a folder: leave --zip out")
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
    shared.make_above(options.output)
    with created(options.output) as root:
        _relative(root, options, report)


def _relative(root: OutputFolder, options: argparse.Namespace, report: Report) -> None:
    reading = shared.reading(options)
    reading = reading._replace(settings=reading.settings._replace(base="empty", lazy=True))
    found, odd = _with_text_names(options, report)
    source = Source(FILES, tuple(found))
    same = Equivalences.of(options.same)
    shows = options.dry_run or options.diff
    folder, copies = options.inputs[0], options.output is not None and not shows
    changed = 0
    with leftovers.temporary_folder() as temporary:
        path = Path(temporary) / maps.WORKING
        with closing(maps.Working(path)) as working:
            working.create({})
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
                lazy=options.lazy,
                show=partial(diff_lines, is_terminal(sys.stdout), colours(sys.stdout)) if options.diff else None,
            )

            def put(piece: Any) -> None:
                nonlocal changed
                if isinstance(piece, FilesReady):
                    changed += put_all(piece, report)
                elif isinstance(piece, StdoutBytes):
                    with outputs.stdout() as file:
                        file.write(piece.data)

            options.output = options.output or folder
            with write.swept(root, how.token):
                make(working, how, put, options, report, of_possible_changes if shows else None)
                if copies:
                    rest = (one for one in found if not working.is_planned(one.place))
                    changed += sum(_copied(one, root, report) for one in (*rest, *odd))
            number = working.documents()[0]
    if not options.quiet and not shows:
        name = printable.printable(options.output)
        done = f"{totals.number(number, 'file')}, {changed:,} {'written' if copies else 'changed'}"
        print(f"absolve: {name}: {done}", file=sys.stderr)


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
            Path(input_.name).open("rb") as source,
            outputs.preparing(target, below=Below(root, input_.place)) as (file, ready),
        ):
            shutil.copyfileobj(source, file)
    except OSError as error:
        report.failure(DocumentError(Diagnostic("unwritable", error.strerror or str(error), str(target))))
        return 0
    return put_all(FilesReady((ready,)), report)


# --- one ZIP ----------------------------------------------------------------------------------------------------------

_FIRST: Final = (1980, 1, 1, 0, 0, 0)  # the first date that a ZIP can have,
_LAST: Final = (2106, 1, 1, 0, 0, 0)  # and one that has as many seconds as an entry can note
_MODE: Final = 0o100644 << 16
_UNIX: Final = 3  # "version made by" (APPNOTE.TXT 4.4.2)
# Media types whose files are compressed already.
_COMPRESSED: Final = (
    *("image/png", "image/jpeg", "image/gif", "image/webp", "image/avif", "video/", "audio/", "font/woff"),
)
_ARCHIVES: Final = (".gz", ".zip", ".bz2", ".xz", ".zst", ".7z", ".pdf", ".epub", ".docx", ".xlsx", ".pptx", ".jar")


def into_zip(
    file: IO[bytes],
    working: maps.Working,
    how: MirrorOptions,
    choice: Choice,
    options: argparse.Namespace,
    report: Report,
) -> None:
    """Write the documents in the order of their payloads, the entry page and the map: the same bytes for a capture."""
    with zipfile.ZipFile(file, "w", allowZip64=True) as package:

        def put(piece: Any) -> None:
            if isinstance(piece, Made):
                _add(package, piece.path, piece.data, piece.date)

        make(working, how, put, options, report)
        newest = next(working.rows("SELECT max(date) FROM plan WHERE path IS NOT NULL"))[0] or ""
        _add(package, index_name(choice.layout), index.page(working, how.start), newest)
        final = working.path.with_name(MAP)
        working.write(final)
        with final.open("rb") as one, package.open(_entry(MAP, newest), "w", force_zip64=True) as other:
            shutil.copyfileobj(one, other)  # as large as all URLs together


def _add(package: zipfile.ZipFile, path: str, data: bytes, date: str) -> None:
    package.writestr(_entry(path, date), data)


def _entry(path: str, date: str) -> zipfile.ZipInfo:
    """Return the entry of a file, with the date of its capture: in UTC, and once more as seconds (0x5455)."""
    seconds = seconds_of(date)
    info = zipfile.ZipInfo(path, _FIRST)
    if seconds is not None and _FIRST <= (when := gmtime(seconds)[:6]) < _LAST:
        info.date_time = when
        info.extra = struct.pack("<HHBI", 0x5455, 5, 1, seconds)
    info.create_system = _UNIX
    info.external_attr = _MODE
    is_compressed = extensions.by_name(path).startswith(_COMPRESSED) or path.lower().endswith(_ARCHIVES)
    info.compress_type = zipfile.ZIP_STORED if is_compressed else zipfile.ZIP_DEFLATED
    return info
