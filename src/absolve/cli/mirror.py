"""`absolve mirror`: a copy of a capture that works without a network; --check, --serve and --relative-only.

Input: the options. Output: a folder or a ZIP with one file for each URL and a map, the counts, or what is wrong.
"""

from __future__ import annotations

import os
import re
import sys
from collections import Counter
from contextlib import closing
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from absolve.cli import crawling, failures, hints, json_array, many, mirror_making, totals
from absolve.cli import options as shared
from absolve.cli.terminal import is_terminal
from absolve.core import printable
from absolve.core.errors import Diagnostic, UsageError
from absolve.mirror import map as maps
from absolve.mirror import packing, words, write
from absolve.mirror.capture import latest_of
from absolve.mirror.paths import index_name
from absolve.mirror.sources import sources_of
from absolve.mirror.survey import Choice
from absolve.mirror.task import MirrorOptions
from absolve.mirror.urls import Equivalences, wanted
from absolve.run import buckets, journal, leftovers, outputs, plan, special_files
from absolve.run.inputs import is_folder
from absolve.run.output_folder import created
from absolve.run.results import FilesReady
from absolve.run.sources import STDIN
from absolve.urls.identity import without_user

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterator

    from absolve.cli.reporting import Report
    from absolve.mirror.check import Checker, Fault
    from absolve.run.load import ReadOptions
    from absolve.run.output_folder import OutputFolder

_URL = re.compile(r"(?i:https?|ftp|file|package|cid):")
_SMALL = 16 << 20  # bytes of a capture that one process mirrors sooner than several start


def run(options: argparse.Namespace, report: Report) -> None:
    if options.check is not None or options.serve is not None:
        _look(options, report)
        return
    if options.open:
        raise UsageError("--browser needs --check DIR")
    if options.json and (options.relative_only or not options.dry_run):
        raise UsageError("--json needs --check DIR, or --dry-run of a new mirror")
    start = _start(options)
    failures.check(options)
    if options.relative_only:
        many.names(options)
        if start is not None:
            raise UsageError("--relative-only changes a whole folder: leave --from URL out")
        if options.banner:
            raise UsageError("--relative-only changes nothing but links: leave --banner out")
        with journal.unwritable("--relative-only"):
            mirror_making.in_place(options, report)
        return
    if options.diff:
        raise UsageError("--diff of a mirror needs --relative-only: --dry-run prints the paths of a new one")
    if options.output is None and options.zip is None and not options.dry_run:
        raise UsageError("a mirror needs -o DIR or --zip FILE", hints.output_meant(options.inputs))
    packing.form_of(options.output or "")  # before anything is asked for
    with crawling.captured(options, report, needs=True) as urls:
        if options.depth is not None and start is None and not urls:
            raise UsageError("--depth needs a URL as INPUT, or --from URL")
        _run(start, start or next(map(without_user, urls), None), options, report)


def _run(start: str | None, first: str | None, options: argparse.Namespace, report: Report) -> None:
    """Make a mirror of what `start` leads to, or of all; in a single file `first` is the page to begin with."""
    choice = Choice(
        latest_of(options.at) if options.at is not None else None,
        options.keep_errors,
        Equivalences.of(options.same),
        options.by,
        many.globs_of(options),
    )
    reading = shared.reading(options)
    settings = reading.settings._replace(base="empty", documents=True, lazy=True)
    reading = reading._replace(settings=settings, mirror_layout=options.mirror_layout)
    _check_outputs(options)
    report.quiet, report.verbose = options.quiet, options.verbose
    with journal.unwritable(options.output or options.zip or "mirror"):
        _make(reading, choice, start, first, options, report)


def _start(options: argparse.Namespace) -> str | None:
    """Return the URL of --from, of which the option is emptied; None for a list of files, and without it."""
    start: str | None = options.from_
    if start is not None and _URL.match(start):
        options.from_ = None
        return start
    return None


def _make(
    reading: ReadOptions,
    choice: Choice,
    start: str | None,
    first: str | None,
    options: argparse.Namespace,
    report: Report,
) -> None:
    how = MirrorOptions(
        reading,
        tuple(sources_of(many.found(options, report, selects=False), reading, report.aside)),
        "",
        None,
        choice.same or Equivalences(),
        options.absent == "sever",
        options.for_ == "server",
        leftovers.token(),
        lazy=options.lazy,
        start=first,
        banner=options.banner,
    )
    if start is not None:
        choice = choice._replace(only=_reached(how, choice, start, options.depth))
    if options.dry_run:
        _dry(how, choice, options, report)
    elif options.zip is not None:
        _into_zip(how, choice, options, report)
    elif buckets.is_bucket(options.output):
        _into_store(how, choice, options, report)
    elif (packed := packing.form_of(options.output)) is not None:
        with leftovers.temporary_folder() as temporary, created(str(Path(temporary) / "mirror")) as folder:
            how = how._replace(folder=folder, map=str(Path(folder.path) / maps.WORKING))

            def pack() -> None:
                packed(packing.Mirror(Path(folder.path)), Path(options.output), first)

            _into(folder, how, choice, options, report, pack)
    else:
        write.check_folder(Path(options.output))
        plan.check_new_folder(options.output, "a mirror is a folder, a ZIP (--zip FILE), .html, .mhtml or .zim")
        shared.make_above(options.output)
        with created(options.output) as folder:
            how = how._replace(folder=folder, map=str(Path(folder.path) / maps.WORKING))
            _into(folder, how, choice, options, report)


def _reached(how: MirrorOptions, choice: Choice, start: str, depth: int | None) -> frozenset[str]:
    """Return the URLs of the part of a capture that a page leads to."""
    from absolve.mirror import reach

    with leftovers.temporary_folder() as temporary, closing(maps.Working(Path(temporary) / maps.WORKING)) as working:
        working.create({})
        write.planned(working, how, choice, lambda _: None)  # it is planned, and reported, once more
        return reach.reached(how._replace(map=str(working.path)), working, start, depth)


def _check_outputs(options: argparse.Namespace) -> None:
    """Raise UsageError if an output is also an input, another output, or a file of the mirror."""
    names = many.names(options)
    for name in names:
        if any(buckets.overlap(name, out) for out in (options.output, options.zip) if out is not None):
            raise UsageError(f"the output {options.output or options.zip} is also an input ({name}), or inside it")
    _check_stdout(options)
    given = (options.zip, options.missing, options.save)
    targets = [Path(path) for path in given if path not in {None, special_files.STDOUT}]
    shared.check_not_read(targets, [*names, *shared.tables(options)])
    shared.check_outside(targets, names)
    files = [*targets, *([Path(options.errors)] if options.errors is not None else [])]
    shared.check_different(files)
    if options.output is not None:
        for name in filter(is_folder, names):
            plan.check_apart(Path(options.output), name)
        for path in files:
            if Path(os.path.realpath(path)).is_relative_to(os.path.realpath(options.output)):
                raise UsageError(f"the output {path} is inside the mirror {options.output}: choose another folder")


def _check_stdout(options: argparse.Namespace) -> None:
    """Raise UsageError if two results would be mixed on the standard output, or a ZIP would be on a terminal."""
    zips = options.zip is not None and special_files.is_stdout(options.zip)
    if zips and options.missing is not None and special_files.is_stdout(options.missing):
        raise UsageError("--zip and --missing both write to the standard output: give one of them a file")
    if zips and is_terminal(sys.stdout):
        raise UsageError("a ZIP cannot be written to a terminal: give --zip FILE")


# --- into a folder ----------------------------------------------------------------------------------------------------


def _into(
    folder: OutputFolder,
    how: MirrorOptions,
    choice: Choice,
    options: argparse.Namespace,
    report: Report,
    pack: Callable[[], None] | None = None,
) -> None:
    """Make the mirror in a folder; `pack` makes one file of it, before the counts are printed."""
    more = options.absent, options.for_, repr((how.reading, how.lazy, how.banner))
    state = write.state_of(how.sources, choice, more)
    has_failed = bool(report.failures)
    was_killed = any((Path(folder.path) / f"{maps.WORKING}{suffix}").is_file() for suffix in ("", ".old"))

    def put(piece: Any) -> None:
        if isinstance(piece, FilesReady):
            mirror_making.put_all(piece, report)

    working, is_new = _working(folder, state, resume=options.resume)
    with write.swept(folder, how.token), closing(working):
        if is_new:
            write.planned(working, how, choice, report.finding)
            write.see_foreign(working, folder.path)
        if options.jobs is None and working.documents()[1] < _SMALL:
            options.jobs = 1
        mirror_making.make(working, how, put, options, report)
        is_empty = not working.documents()[0]
        if not is_empty:
            has_failed = has_failed or working.is_unread()
            _finish(working, folder, how, choice, options, report, has_failed=has_failed)
            if pack is not None:
                pack()
        _finish_run(working, options, report)
    if not (is_empty and was_killed):  # its working copy has what the killed run made
        maps.removed(Path(folder.path))


def _finish(
    working: maps.Working,
    folder: OutputFolder,
    how: MirrorOptions,
    choice: Choice,
    options: argparse.Namespace,
    report: Report,
    *,
    has_failed: bool,
) -> None:
    """Write the map and the entry page, and name the files that stay. After a failure no file is removed."""
    why = "--prune removes what an earlier run made and nobody changed"
    if options.prune and has_failed:
        why = "nothing is removed in a run in which an input failed"
    prunes = options.prune and not has_failed
    stays = write.finish(working, folder, choice.layout, report.aside, prunes=prunes, start=how.start)
    for path in stays:
        text = f"not part of this mirror; it stays ({why})"
        report.finding(Diagnostic("stays", text, str(Path(folder.path) / path)))
    report.rest()


def _working(folder: OutputFolder, state: dict[str, str], *, resume: bool) -> tuple[maps.Working, bool]:
    """Return the working copy of the map, and whether it is new. That of a run that was killed is read first."""
    maps.check_own(Path(folder.path))
    path = Path(folder.path) / maps.WORKING
    old = path.with_name(f"{maps.WORKING}.old")
    working = maps.working_copy(path) if path.is_file() else None
    if working is not None:
        if resume and working.is_of(state):
            return working, False
        working.close()
        if not old.is_file():  # else a run was killed before it had read that one, and made nothing
            path.replace(old)
    maps.removed(path.parent)
    working = maps.Working(path)
    working.create(state)
    write.see_before(working, folder.path, old)
    working.commit()
    for suffix in maps.BESIDE:  # a reader of a database in WAL mode leaves two files beside it
        old.with_name(f"{old.name}{suffix}").unlink(missing_ok=True)
    return working, True


def _into_store(how: MirrorOptions, choice: Choice, options: argparse.Namespace, report: Report) -> None:
    """Make the mirror on the disk for temporary files, and upload it when it is complete."""
    if options.resume:
        raise UsageError("--resume goes on with a mirror on a disk: leave it out for the URL of a store")
    with leftovers.temporary_folder() as temporary, created(f"{temporary}/mirror") as folder:
        how = how._replace(folder=folder, map=str(Path(folder.path) / maps.WORKING))
        _into(folder, how, choice, options, report)
        buckets.send_all(folder.path, options.output)


def _into_zip(how: MirrorOptions, choice: Choice, options: argparse.Namespace, report: Report) -> None:
    """Write the ZIP, completely or not at all."""
    with leftovers.temporary_folder() as temporary, closing(maps.Working(Path(temporary) / maps.WORKING)) as working:
        working.create({})
        write.planned(working, how, choice, report.finding)
        if working.documents()[0]:
            with outputs.opened(options.zip) as file:
                options.output = options.zip
                mirror_making.into_zip(file, working, how._replace(map=str(working.path)), choice, options, report)
        _finish_run(working, options, report)


def _finish_run(working: maps.Working, options: argparse.Namespace, report: Report) -> None:
    """Write the list of what is missing, and print the counts; without a document report that."""
    number = working.documents()[0]
    if number:
        _summary(working, _missing(working, options), options, report)
    else:
        name = options.output or options.zip or next(iter(options.inputs), STDIN)
        text = "the capture holds no document: nothing is written"
        report.finding(Diagnostic("no-document", text, name, failed=True))


def _missing(working: maps.Working, options: argparse.Namespace) -> int:
    """Write the list that a crawler takes: what most pages need comes first. Return the number of URLs left out."""
    if options.missing is None:
        return 0
    query = "SELECT url FROM missing ORDER BY count DESC, url, kind"
    urls = dict.fromkeys(url for (url,) in working.rows(query))
    listed = [wanted(url) for url in urls]
    with outputs.opened(options.missing) as file:
        file.write("".join(f"{url}\n" for url in dict.fromkeys(listed) if url is not None).encode("ascii"))
    return listed.count(None)


def _summary(working: maps.Working, left_out: int, options: argparse.Namespace, report: Report) -> None:
    if options.quiet:
        return
    report.totals.unread_are = "held unchanged"
    aside = [f"{left_out:,} not in {options.missing}: no public address"] if left_out else []
    given = options.output or options.zip
    name = "standard output" if given == special_files.STDOUT else printable.printable(given)
    is_folder_ = options.zip is None and not buckets.is_bucket(given) and packing.form_of(given) is None
    opened = [f"open {Path(name) / index_name(options.by)}"] if is_folder_ else []
    found = ", ".join(words.summary(working))
    parts = [f"absolve: {name}: {found}", *aside, *report.totals.left_out(), *opened]
    print("; ".join(parts), file=sys.stderr)


# --- without writing --------------------------------------------------------------------------------------------------


def _dry(how: MirrorOptions, choice: Choice, options: argparse.Namespace, report: Report) -> None:
    """Print the path of each URL that would be held."""
    with closing(maps.Working(Path(":memory:"))) as working:
        working.create({})
        write.planned(working, how, choice, report.finding)
        with json_array.array(options) as add:
            for url, path in working.rows("SELECT url, path FROM plan WHERE path IS NOT NULL ORDER BY url"):
                if add is not None:
                    add({"url": url, "path": path})
                    continue
                shown = (printable.message(text, credentials=report.credentials) for text in (url, path))
                print("\t".join(shown))
        held, others = next(working.rows("SELECT count(path), count(*) - count(path) FROM plan"))
        if not held:
            _finish_run(working, options, report)
            return
    print(f"{totals.number(held, 'document')}, {totals.number(others, 'other URL')}", file=sys.stderr)


def _look(options: argparse.Namespace, report: Report) -> None:
    """Check or serve a mirror that is there."""
    if options.check is not None:
        _check(options, report)
    else:
        from absolve.mirror import serve

        serve.run(options.serve, options.port, lambda url: print(url, flush=True), network=options.network)


def _opened(folder: Path, checker: Checker) -> Iterator[Fault]:
    """Yield what a browser finds wrong in the pages, which are known when the checker has ended."""
    from absolve.mirror import opened

    yield from opened.faults(folder, checker.pages)


def _check(options: argparse.Namespace, report: Report) -> None:
    """Print a line for each fault of a mirror, that of any tool, and the counts."""
    if options.inputs:
        raise UsageError("--check takes no INPUT: name the folder of the mirror after it")
    folder = Path(options.check)
    if not folder.is_dir():
        raise UsageError(f"--check {options.check}: this is no folder")
    from absolve.mirror.check import WRONG, Checker

    checker = Checker(folder, shared.settings(options)._replace(profile="whatwg"))
    counts: Counter[str] = Counter()
    with json_array.array(options) as add:
        for fault in chain(checker.faults(), _opened(folder, checker) if options.open else ()):
            counts[fault.code] += 1
            found = Diagnostic(fault.code, fault.text, fault.path, fault.line, fault.column)
            if add is not None:
                add(json_array.of_diagnostic(found))
            elif not options.quiet or fault.code in WRONG:
                print(found.printed(credentials=options.show_credentials))
    if wrong := [code for code in counts if code in WRONG]:
        report.failures.setdefault(options.check, Diagnostic(wrong[0], "see the standard output", options.check))
    if not options.quiet:
        listed = ", ".join(words.of_fault(*count) for count in sorted(counts.items())) or "nothing is wrong"
        name = printable.printable(options.check)
        looked_at = f"{totals.number(checker.files, 'file')}, {totals.number(checker.links, 'link')}"
        print(f"absolve: {name}: {looked_at}: {listed}", file=sys.stderr)
