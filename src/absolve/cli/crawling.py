"""URLs among the inputs of a mirror or an audit: the pages with what they need, in a WARC that takes their place.

Input: the options. Output: the options with the name of a WARC, that of --save or a temporary one.
"""

from __future__ import annotations

import shutil
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from absolve.cli import many
from absolve.cli.hints import check_no_url, is_url
from absolve.cli.totals import number
from absolve.core.errors import Diagnostic, DocumentError
from absolve.run import buckets, leftovers, outputs, sources
from absolve.urls.identity import without_user

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from absolve.cli.reporting import Report
    from absolve.run.web.client import Answer

_OTHERS: Final = "wget --recursive --page-requisites --warc-file=crawl URL, or a crawler such as Browsertrix"


@contextmanager
def captured(options: argparse.Namespace, report: Report, *, needs: bool) -> Iterator[list[str] | None]:
    """Ask for the URLs among the inputs and put a WARC with the answers there; yield the URLs, None if none came.

    `needs`: what pages load is asked for, too. Inputs that can be read only once are copied, as `sources.spooled` does.
    """
    options.inputs = many.names(options)
    with ExitStack() as stack:
        try:
            stack.enter_context(sources.spooled([*options.inputs, *vars(options).get("old", ())], options.max_size))
        except DocumentError as error:
            report.failure(error)
            yield None
            return
        yield from _asked(options, report, needs=needs)


def _asked(options: argparse.Namespace, report: Report, *, needs: bool) -> Iterator[list[str] | None]:
    urls = [name for name in options.inputs if is_url(name) and not Path(name).exists() and not buckets.is_web(name)]
    if not urls:
        yield urls
        return
    for url in urls:
        check_no_url(url, options.command)  # of FTP
    with leftovers.temporary_folder() as folder:
        path = Path(folder) / "asked.warc.gz"
        if not _ask(urls, path, options, report, needs=needs):
            yield None
            return
        if options.save is not None:
            with path.open("rb") as made, outputs.writing(Path(options.save)) as file:
                shutil.copyfileobj(made, file)
        options.inputs = [str(path), *(name for name in options.inputs if name not in urls)]
        yield urls


def _ask(urls: list[str], path: Path, options: argparse.Namespace, report: Report, *, needs: bool) -> bool:
    """Write the answers to a path, and return whether there is one."""
    asking = many.asking_of(options)
    from absolve.run.web import crawl, saving

    named = set(map(without_user, urls))
    with path.open("wb") as file:
        writer = saving.Writer(file, compressed=True)

        def keep(answer: Answer) -> None:
            writer.add(answer)
            if answer.problem is None:
                return
            if answer.url in named:
                report.failure(DocumentError(answer.problem))
            elif answer.problem.code != "http-status":
                report.finding(answer.problem)

        done = crawl.crawl(urls, options.depth or 0, asking, keep, needs=needs)
    if len(report.failures) >= len(urls):
        return False
    if done.left_out:
        left = number(done.left_out, "page")
        text = f"more than {crawl.MOST_PAGES:,} pages: {left} left out; for large sites: {_OTHERS}"
        report.aside(Diagnostic("too-many-pages", text, urls[0], failed=True))
    if done.others_left_out:
        left = f"{done.others_left_out:,} left out"
        text = f"pages that need more than {crawl.MOST_OTHERS:,} other URLs: {left}; for large sites: {_OTHERS}"
        report.aside(Diagnostic("too-many-pages", text, urls[0], failed=True))
    if not options.quiet:
        others = f", {number(done.asked - done.pages, 'other URL')}" if done.asked > done.pages else ""
        report.note("asked", f"{number(done.pages, 'page')}{others}")
    return True
