"""URLs among the inputs of a mirror or an audit: the pages with what they need, in a WARC that takes their place.

Input: the options. Output: the options with the name of a WARC, that of --save or a temporary one.
"""

from __future__ import annotations

import os
from contextlib import ExitStack, contextmanager
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from absolve.cli import many
from absolve.cli.hints import check_no_url, is_url
from absolve.cli.totals import number
from absolve.core.errors import Diagnostic, DocumentError
from absolve.run import buckets, leftovers, sources
from absolve.urls.identity import without_user

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from absolve.cli.option_table import Options
    from absolve.cli.reporting import Report
    from absolve.run.web.client import Answer

    Save = Callable[[Answer], None] | None

_OTHERS: Final = "wget --recursive --page-requisites --warc-file=crawl URL, or a crawler such as Browsertrix"


@contextmanager
def captured(options: Options, report: Report, *, needs: bool) -> Iterator[list[str] | None]:
    """Ask for the URLs among the inputs and put a WARC with the answers there; yield the URLs, None if none came.

    `needs`: what pages load is asked for, too. Then archives of which ranges may not be asked for are files, too.
    Inputs that can be read only once are copied, as `sources.spooled` does.
    """
    options.inputs = many.names(options)
    with ExitStack() as stack:
        try:
            stack.enter_context(sources.spooled([*options.inputs, *options.old], options.max_size))
        except DocumentError as error:
            report.failure(error)
            yield None
            return
        yield from _asked(options, report, needs=needs)


def _asked(options: Options, report: Report, *, needs: bool) -> Iterator[list[str] | None]:
    given = [name for name in options.inputs if is_url(name) and not Path(name).exists()]
    archives = list(filter(buckets.is_web, given))
    urls = [name for name in given if name not in archives]
    archives = archives if needs and many.asks_otherwise(options) else []
    for url in urls:
        check_no_url(url, options.command)  # of FTP
    if not urls and not archives:
        yield urls
        return
    with leftovers.temporary_folder() as folder:
        with many.saved(options) as save:  # opened before the first request
            paths = {url: _whole(url, folder, options, report, save) for url in archives}
            path = Path(folder) / "asked.warc.gz"
            asked = path if urls and _ask(urls, path, options, report, save, needs=needs) else None
            report.names[str(path)] = ", ".join(map(without_user, urls))
        if asked is None and not any(paths.values()):
            yield None
            return
        files = [paths.get(name, name) for name in options.inputs if name not in urls]
        options.inputs = list(map(str, filter(None, [asked, *files])))
        yield urls


def _whole(url: str, folder: str, options: Options, report: Report, save: Save) -> Path | None:
    """Return the file with a whole archive of the web; None if it does not come."""
    from absolve.run.web import fetching

    found = fetching.answered([url], lambda one: one, many.asking_of(options))
    (answer,) = (one for _, one in found if one is not None)
    if save is not None:
        save(answer)
    if answer.problem is not None:
        report.failure(DocumentError(answer.problem))
        return None
    path = Path(folder, f"{len(os.listdir(folder))}-{PurePosixPath(urlsplit(url).path).name}")  # noqa: PTH208 - a text
    path.write_bytes(answer.body)
    report.names[str(path)] = answer.url
    return path


def _ask(
    urls: list[str], path: Path, options: Options, report: Report, save: Save, *, needs: bool
) -> bool:
    """Write the answers to a path, and return whether there is one."""
    asking = many.asking_of(options)
    from absolve.run.web import crawl, saving

    named = set(map(without_user, urls))
    with path.open("wb") as file:
        writer = saving.Writer(file, compressed=True)

        def keep(answer: Answer) -> None:
            is_endless = answer.problem is not None and answer.problem.code == "redirects"
            writer.add(answer._replace(responses=()) if is_endless else answer)  # its redirects are no pages
            if save is not None:
                save(answer)
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
