"""`absolve mirror`: a copy of a capture that works without a network; --check, --serve and --relative-only.

Input: the options. Output: a folder or a ZIP with one file for each URL and a map, the counts, or what is wrong.
"""

from __future__ import annotations

import os
import re
import sys
import zipfile
from collections import Counter
from contextlib import closing
from itertools import chain
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

from absolve.cli import crawling, failures, hints, json_array, many, mirror_in_place, totals
from absolve.cli import options as shared
from absolve.cli.terminal import is_terminal
from absolve.core import printable
from absolve.core.errors import Diagnostic, UsageError
from absolve.mirror import absent, making, packing, words, write
from absolve.mirror import map as maps
from absolve.mirror.capture import latest_of
from absolve.mirror.paths import index_name
from absolve.mirror.sources import sources_of
from absolve.mirror.survey import Choice
from absolve.mirror.task import MirrorOptions
from absolve.mirror.urls import Equivalences, wanted
from absolve.run import buckets, leftovers, outputs, plan, special_files
from absolve.run.inputs import is_folder
from absolve.run.sources import STDIN
from absolve.urls.identity import without_user

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from absolve.cli.reporting import Report
    from absolve.mirror.check import Checker, Fault
    from absolve.run.load import ReadOptions

_URL = re.compile(r"(?i:https?|ftp|file|package|cid):")


def run(options: argparse.Namespace, report: Report) -> None:
    if options.check is not None or options.serve is not None:
        _look(options, report)
        return
    if options.open:
        raise UsageError("--browser needs --check DIR")
    if options.json and (options.relative_only or not options.dry_run):
        raise UsageError("--json needs --check DIR, or --dry-run of a new mirror")
    options.zip, options.output = (options.output, None) if _is_zip(options.output) else (None, options.output)
    start = _start(options)
    failures.check(options)
    if options.relative_only:
        many.names(options)
        if start is not None:
            raise UsageError("--relative-only changes a whole folder: leave --from URL out")
        with failures.unwritable("--relative-only"):
            mirror_in_place.in_place(options, report)
        return
    if options.diff:
        raise UsageError("--diff of a mirror needs --relative-only: --dry-run prints the paths of a new one")
    if options.output is None and options.zip is None and not options.dry_run:
        raise UsageError("a mirror needs -o DIR, or -o FILE.zip", hints.output_meant(options.inputs))
    packing.form_of(options.output or "")  # before anything is asked for
    _check_outputs(options)
    with crawling.captured(options, report, needs=True) as urls:
        if urls is None:
            return
        if options.depth is not None and start is None and not urls:
            raise UsageError("--depth needs a URL as INPUT, or --from URL")
        _run(start, list(map(without_user, urls)), options, report)


def _is_zip(output: str | None) -> bool:
    """Return whether an output is a ZIP: a name with its suffix, and no folder that is there; the standard output."""
    if output is None:
        return False
    return special_files.is_stdout(output) or (output.lower().endswith(".zip") and not is_folder(output))


def _run(start: str | None, asked: list[str], options: argparse.Namespace, report: Report) -> None:
    """Make a mirror of what `start` leads to, or of all; `asked` are the URLs whose answers are the first input."""
    choice = Choice(
        latest_of(options.at) if options.at is not None else None,
        options.keep_errors,
        Equivalences.of(options.same),
        options.by,
        many.globs_of(options),
    )
    reading = shared.reading(options)
    settings = reading.settings._replace(base="empty", documents=True)
    reading = reading._replace(settings=settings, mirror_layout=options.mirror_layout)
    report.quiet, report.verbose = options.quiet, options.verbose
    with failures.unwritable(options.output or options.zip or "mirror"):
        _make(reading, choice, start, asked, options, report)


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
    asked: list[str],
    options: argparse.Namespace,
    report: Report,
) -> None:
    first = start or next(iter(asked), None)
    how = MirrorOptions(
        reading,
        tuple(sources_of(many.found(options, report, selects=False), reading, report.aside)),
        "",
        None,
        choice.same or Equivalences(),
        options.absent == "sever",
        options.for_ == "server",
        leftovers.token(),
        start=first,
        named=tuple(report.names.items()),
    )
    order = making.Order(how, choice, start, options.depth, first, options.resume, options.prune)
    if options.dry_run:
        _dry(making.chosen(order), options, report)
        return

    def done(working: maps.Working) -> None:
        report.rest()
        _finish_run(working, options, report, is_one=bool(asked) and options.depth is None)

    course = many.course_of(options, report)
    if options.zip is not None:
        options.output = options.zip
        making.into_zip(options.zip, making.chosen(order), course, done)
    else:
        making.into(options.output, making.chosen(order), course, done)


def _check_outputs(options: argparse.Namespace) -> None:
    """Raise UsageError if an output is also an input, another output, or a file of the mirror."""
    names = many.names(options)
    if options.output is not None:
        making.check_output(options.output, names, zipped=False)
    if options.zip is not None:
        making.check_output(options.zip, names, zipped=True)
    _check_stdout(options)
    given = (options.zip, options.missing, options.save)
    targets = [Path(path) for path in given if path not in {None, special_files.STDOUT}]
    plan.check_not_read(targets, [*names, *shared.tables(options)])
    plan.check_outside(targets, names)
    files = [*targets, *([Path(options.errors)] if options.errors is not None else [])]
    plan.check_different(files)
    if options.output is not None:
        for path in files:
            if Path(os.path.realpath(path)).is_relative_to(os.path.realpath(options.output)):
                raise UsageError(f"the output {path} is inside the mirror {options.output}: choose another folder")


def _check_stdout(options: argparse.Namespace) -> None:
    """Raise UsageError if two results would be mixed on the standard output, or a ZIP would be on a terminal."""
    zips = options.zip is not None and special_files.is_stdout(options.zip)
    if zips and options.missing is not None and special_files.is_stdout(options.missing):
        raise UsageError("the ZIP and --missing both write to the standard output: give one of them a file")
    if zips and is_terminal(sys.stdout):
        raise UsageError("a ZIP cannot be written to a terminal: give -o FILE.zip")


def _finish_run(
    working: maps.Working, options: argparse.Namespace, report: Report, *, is_one: bool = False
) -> None:
    """Write the list of what is missing, and print the counts; without a document report that.

    `is_one`: URLs were asked for without what they link to.
    """
    name = options.output or options.zip or next(iter(options.inputs), STDIN)
    if not making.report_empty(working, name, report):
        left_out = _missing(working, options)
        aside = [f"{left_out:,} not in {options.missing}: no public address"] if left_out else []
        if is_one and not packing.is_page(options.output or "") and working.lacking.linked:
            aside.append("--depth 1 also fetches the pages that this links to")
        _summary(working, aside, options, report)


def _missing(working: maps.Working, options: argparse.Namespace) -> int:
    """Write the list that a crawler takes: what most pages need comes first. Return the number of URLs left out.

    As on the entry page, links to sites that were not captured are not missing.
    """
    if options.missing is None:
        return 0
    lacking = absent.of(working.rows, next(working.rows("SELECT count(*) FROM missing"))[0])
    listed = [wanted(one.url) for one in lacking.files]
    with outputs.opened(options.missing) as file:
        file.write("".join(f"{url}\n" for url in dict.fromkeys(listed) if url is not None).encode("ascii"))
    return listed.count(None)


def _summary(working: maps.Working, aside: list[str], options: argparse.Namespace, report: Report) -> None:
    if options.quiet:
        return
    report.totals.unread_are = "held unchanged"
    given = options.output or options.zip
    name = "standard output" if given == special_files.STDOUT else printable.printable(given)
    is_folder_ = options.zip is None and not buckets.is_bucket(given) and packing.form_of(given) is None
    entry = Path(given) / index_name(options.by)
    opened = [f"open {Path(name) / entry.name}"] if is_folder_ and entry.is_file() else []
    aside = [*aside, f"{totals.number(len(report.failures), 'input')} failed"] if report.failures else aside
    found = ", ".join(words.summary(working, is_page=packing.is_page(options.output or "")))
    report.summary("; ".join([f"{name}: {found}", *aside, *report.totals.left_out(), *opened]), repeats=False)


# --- without writing --------------------------------------------------------------------------------------------------


def _dry(order: making.Order, options: argparse.Namespace, report: Report) -> None:
    """Print the path of each URL that would be held."""
    with closing(maps.Working(Path(":memory:"))) as working:
        write.planned(working, order.how, order.choice, report.finding)
        with json_array.array(options) as add:
            for url, path in working.rows("SELECT url, path FROM plan WHERE path IS NOT NULL ORDER BY url"):
                if add is not None:
                    add({"url": url, "path": path})
                    continue
                shown = (printable.message(text) for text in (url, path))
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
        name = quote(options.check)
        hint = f"unzip {name} -d mirror; absolve mirror --check mirror" if zipfile.is_zipfile(folder) else ""
        raise UsageError(f"--check {options.check}: this is {'a ZIP, and ' if hint else ''}no folder", hint)
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
                print(found)
    report.has_findings = not WRONG.isdisjoint(counts)
    if not options.quiet:
        listed = ", ".join(words.of_fault(*count) for count in sorted(counts.items())) or "nothing is wrong"
        if checker.lacking is not None and checker.lacking.missing:
            listed += f"; {', '.join(words.lacking(checker.lacking))}"
        name = printable.printable(options.check)
        looked_at = f"{totals.number(checker.files, 'file')}, {totals.number(checker.links, 'link')}"
        report.summary(f"{name}: {looked_at}: {listed}", repeats=False)
