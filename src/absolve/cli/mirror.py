"""`absolve mirror`: a copy of a capture that works without a network; --check and --serve.

Input: the options. Output: a folder or a ZIP with one file for each URL and a map, the counts, or the faults.
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

from absolve.cli import asking, hints, intake, many, terminal
from absolve.cli.terminal import is_terminal
from absolve.core import printable
from absolve.core.errors import Diagnostic, UsageError, in_short
from absolve.mirror import making, packing, words
from absolve.mirror import map as maps
from absolve.mirror.lookup import Equivalences, wanted
from absolve.mirror.paths import INDEX_PAGE
from absolve.mirror.payloads import latest_of
from absolve.mirror.sources import sources_of
from absolve.mirror.survey import Choice
from absolve.run import buckets, outputs, plan
from absolve.run.sources import STDIN
from absolve.urls.identity import without_user

if TYPE_CHECKING:
    from collections.abc import Iterator

    from absolve.cli.option_table import Options
    from absolve.cli.reporting import Report
    from absolve.mirror.check import Checker

_URL = re.compile(r"(?i:https?|ftp|file|package|cid):")


def run(options: Options, report: Report) -> None:
    if options.check is not None:
        _check(options.check, options, report)
        return
    if options.serve is not None:
        from absolve.mirror import serve

        serve.run(options.serve, options.port, lambda url: print(url, flush=True))
        return
    if options.open:
        raise UsageError("--browser needs --check DIR")
    if options.format == "json" and not options.dry_run:
        raise UsageError("--format json needs --check DIR, or --dry-run of a new mirror")
    if options.start is not None and not _URL.match(options.start):
        raise UsageError(f"--start needs the URL of a page, not {in_short(options.start)!r}")
    if options.output is None and not options.dry_run:
        raise UsageError("a mirror needs -o DIR, or -o FILE.zip", hints.output_meant(options.inputs))
    packing.form_of(options.output or "")  # before anything is asked for
    _check_outputs(options)
    with asking.captured(options, report, needs=True) as urls:
        if urls is None:
            return
        if options.depth is not None and options.start is None and not urls:
            raise UsageError("--depth needs a URL as INPUT, or --start URL")
        _run(list(map(without_user, urls)), options, report)


def _run(asked: list[str], options: Options, report: Report) -> None:
    """Make a mirror; `asked`: the URLs with their answers in the first input."""
    choice = Choice(
        latest_of(options.at) if options.at is not None else None,
        options.keep_errors,
        Equivalences.from_words(options.same),
        globs := intake.make_globs(options, report.totals),
        unmet={*globs.include, *globs.exclude},
    )
    reading = intake.reading(options)
    reading = reading._replace(settings=reading.settings._replace(base="empty", documents=True))
    report.quiet, report.verbose = options.quiet, options.verbose

    def done(working: maps.Working) -> None:
        globs.report_unmet(choice.unmet, report.aside)
        report.rest()
        _finish_run(working, options, report, is_one=bool(asked) and options.depth is None)

    with many.unwritable(options.output or "mirror"):
        job = making.Job(
            reading,
            tuple(sources_of(intake.found(options, report, selects=False), reading, report.aside)),
            choice,
            severs=options.absent == "sever",
            start=options.start,
            depth=options.depth,
            first=options.start or next(iter(asked), None),
            resume=options.resume,
            prune=options.prune,
            named=tuple(report.names.items()),
        )
        if options.output is None or options.dry_run:
            _dry(making.chosen(job), options, report)
            globs.report_unmet(choice.unmet, report.aside)
        else:
            making.into(options.output, job, many.run_context(options, report), done)


def _check_outputs(options: Options) -> None:
    """Raise UsageError if an output is also an input, another output, or a file of the mirror."""
    names = intake.names(options)
    zip_ = options.output if options.output is not None and making.is_zip(options.output) else None
    if options.output is not None:
        making.check_output(options.output, names)
    if zip_ is not None and outputs.is_stdout(zip_):
        if options.missing is not None and outputs.is_stdout(options.missing):
            raise UsageError("the ZIP and --missing both write to the standard output: give one of them a file")
        if is_terminal(sys.stdout):
            raise UsageError("a ZIP cannot be written to a terminal: give -o FILE.zip")
    output_names = (zip_, options.missing, options.save)
    targets = [Path(path) for path in output_names if path is not None and path != outputs.STDOUT]
    plan.check_not_read(targets, [*names, *intake.tables(options)])
    plan.check_outside(targets, names)
    plan.check_different(targets)
    if options.output is not None and zip_ is None:
        for path in targets:
            if Path(os.path.realpath(path)).is_relative_to(os.path.realpath(options.output)):
                raise UsageError(f"the output {path} is inside the mirror {options.output}: choose another folder")


def _finish_run(working: maps.Working, options: Options, report: Report, *, is_one: bool = False) -> None:
    """Write the list of missing URLs, and print the counts; report a mirror without a document.

    `is_one`: URLs were requested without the pages that they link to.
    """
    name = options.output or next(iter(options.inputs), STDIN)
    if not (working.documents()[0] or working.unwritten()):
        text = "the capture holds no document: nothing is written"
        report.finding(Diagnostic("no-document", text, name, failed=True))
    else:
        aside = []
        if options.missing is not None and (left_out := _missing(working, options.missing)):
            aside.append(f"{left_out:,} not in {printable.printable(options.missing)}: no public address")
        if is_one and not packing.is_page(options.output or "") and working.lacking.linked:
            aside.append("--depth 1 also fetches the pages that this links to")
        _summary(working, aside, options, report)


def _missing(working: maps.Working, name: str) -> int:
    """Write a list of URLs for a crawler, the most needed ones first. Return the number of URLs left out.

    As on the entry page, links to sites that were not captured are not missing.
    """
    lacking = words.lacking_in(working.rows, next(working.rows("SELECT count(*) FROM missing"))[0])
    listed = [wanted(one.url) for one in lacking.files]
    with outputs.opened(name) as file:
        file.write("".join(f"{url}\n" for url in dict.fromkeys(listed) if url is not None).encode("ascii"))
    return listed.count(None)


def _summary(working: maps.Working, aside: list[str], options: Options, report: Report) -> None:
    if options.quiet or (output := options.output) is None:
        return
    report.totals.unread_are = "copied as is"
    name = "standard output" if output == outputs.STDOUT else printable.printable(output)
    is_folder_ = not making.is_zip(output) and not buckets.is_bucket(output) and packing.form_of(output) is None
    entry = Path(output) / INDEX_PAGE
    opened = [f"open {Path(name) / entry.name}"] if is_folder_ and entry.is_file() else []
    aside = [*aside, f"{printable.number(len(report.failures), 'input')} failed"] if report.failures else aside
    found = ", ".join(words.summary(working, is_page=packing.is_page(output)))
    report.summary("; ".join([f"{name}: {found}", *aside, *report.totals.left_out(), *opened]), repeats=False)


# --- without writing --------------------------------------------------------------------------------------------------


def _dry(job: making.Job, options: Options, report: Report) -> None:
    """Print the path of each URL that would be written, for example `http://h/a` and `h/a.html`."""
    with closing(maps.Working(Path(":memory:"))) as working:
        making.planned(working, job, report.finding)
        with terminal.json_array(options) as add:
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
    print(f"{printable.number(held, 'document')}, {printable.number(others, 'other URL')}", file=sys.stderr)


def _faults(folder: Path, checker: Checker, counts: Counter[str], *, browser: bool) -> Iterator[Diagnostic]:
    """Yield the faults of a mirror, with `browser` also those that a browser finds in its pages, and count them."""
    from absolve.mirror.check import opened

    for fault in chain(checker.faults(), opened(folder, checker.pages) if browser else ()):  # the pages it has read
        counts[fault.code] += 1
        yield fault


def _check(folder_name: str, options: Options, report: Report) -> None:
    """Print a line for each page and cause of faults in any tool's mirror, or for each fault (-v), and the counts."""
    if options.inputs:
        raise UsageError("--check takes no INPUT: name the folder of the mirror after it")
    folder = Path(folder_name)
    if not folder.is_dir():
        name = quote(folder_name)
        is_zip = folder.is_file() and zipfile.is_zipfile(folder)  # a device may have no end
        hint = f"unzip {name} -d mirror; absolve mirror --check mirror" if is_zip else ""
        raise UsageError(f"--check {folder_name}: this is {'a ZIP, and ' if hint else ''}no folder", hint)
    from absolve.mirror.check import WRONG, Checker

    checker = Checker(folder, intake.settings(options)._replace(profile="whatwg"))
    counts: Counter[str] = Counter()
    shown: Counter[str] = Counter()
    with terminal.json_array(options) as add:
        faults = _faults(folder, checker, counts, browser=options.open)
        for fault in faults if add is not None or options.verbose else checker.causes(faults):
            shown[fault.code] += 1
            if add is not None:
                add(terminal.diagnostic_json(fault))
            elif not options.quiet or fault.code in WRONG:
                print(fault)
    report.has_findings = not WRONG.isdisjoint(counts)
    if not options.quiet:
        listed = ", ".join(words.count_faults(*count) for count in sorted(counts.items())) or "nothing is wrong"
        if checker.lacking is not None and checker.lacking.missing:
            listed += f"; {', '.join(words.lacking(checker.lacking))}"
        listed += "; --verbose lists each" if shown != counts else ""
        name = printable.printable(folder_name)
        looked_at = f"{printable.number(checker.files, 'file')}, {printable.number(checker.links, 'link')}"
        report.summary(f"{name}: {looked_at}: {listed}", repeats=False)
