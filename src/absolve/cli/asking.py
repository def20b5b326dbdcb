"""Request the URLs among the inputs: one by one, or pages with their page requisites, for a mirror or an audit.

Input: the options. Output: the inputs with their answers; or the options with the name of a WARC that has all
answers, the file of --save or a temporary one.
"""

from __future__ import annotations

import os
from contextlib import ExitStack, closing, contextmanager
from functools import partial
from itertools import chain
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, Final, TypeVar
from urllib.parse import urlsplit

from absolve.cli import intake
from absolve.cli.option_table import ASKING
from absolve.core.errors import Diagnostic, DocumentError
from absolve.core.printable import number
from absolve.run import buckets, inputs, leftovers, outputs, plan, sources
from absolve.urls.identity import without_user

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator

    from absolve.cli.option_table import Options
    from absolve.cli.reporting import Report
    from absolve.run.inputs import Input
    from absolve.run.web.exchange import Answer, Asking

    Item = TypeVar("Item")
    Save = Callable[[Answer], None] | None

_OTHERS: Final = "wget --recursive --page-requisites --warc-file=crawl URL, or a crawler such as Browsertrix"


def with_answers(items: Iterable[Item], input_of: Callable[[Item], Input], options: Options) -> Generator[Item]:
    """Yield the items, and add its answer to each input that is a URL. Nothing else in a run uses the network."""
    rest = iter(items)
    for item in rest:
        if input_of(item).asked and options.command in ASKING.split():  # for other commands, a URL is a missing file
            break
        yield item
    else:
        return
    from absolve.run.web import fetching

    items = chain([item], rest)
    with (
        saved(options) as save,
        closing(fetching.answered(items, lambda one: input_of(one).asked or None, request_options(options))) as answers,
    ):
        for item, answer in answers:
            if save is not None and answer is not None:
                save(answer)
            yield item if answer is None else _with_answer(item, answer)


def request_options(options: Options) -> Asking:
    """Return the options for requests. Raise UsageError without the packages for them."""
    import absolve.run.web.client  # noqa: F401 - raises UsageError without its packages
    from absolve.run.web.exchange import Asking

    return Asking(
        tuple(options.header),
        options.cookies,
        options.timeout,
        options.retries,
        options.concurrency,
        private=not options.deny_private,
        robots=not options.ignore_robots,
        settings=intake.settings(options),
        resolved=tuple(options.resolve),
        cache=options.cache if options.writes else None,
    )


def _with_answer(item: Item, answer: Answer) -> Item:
    """Return an input, or an item with an input, with the answer for its URL."""
    holder: Any = item
    if isinstance(holder, inputs.Input):
        return holder._replace(answer=answer)  # type: ignore[return-value]  # it is an Item
    return holder._replace(input=holder.input._replace(answer=answer))  # type: ignore[no-any-return]


@contextmanager
def saved(options: Options) -> Iterator[Callable[[Answer], None] | None]:
    """Yield a function that adds an answer to the file of --save, which is complete or unchanged; None without it."""
    name = options.save
    if name is None:
        yield None
        return
    plan.check_not_read([Path(name)], [*intake.names(options), *intake.tables(options)])
    others = options.output, options.log
    plan.check_different([Path(name), *(Path(one) for one in others if one not in {None, outputs.STDOUT})])
    if not options.writes:
        yield None
        return
    from absolve.run.web import exchange

    with outputs.named(name) as file:
        yield exchange.Writer(file, compressed=name.endswith(".gz")).add


@contextmanager
def captured(options: Options, report: Report, *, needs: bool) -> Iterator[list[str] | None]:
    """Request the URLs among the inputs, and replace them by a WARC with the answers; yield the URLs, None on failure.

    `needs`: page requisites are requested, too, and archives on the web become files if requests for ranges are not
    possible. Inputs that can be read only once are copied, as `sources.spooled` does.
    """
    options.inputs = intake.names(options)
    with ExitStack() as stack:
        try:
            stack.enter_context(sources.spooled([*options.inputs, *options.old], options.max_size))
        except DocumentError as error:
            report.failure(error)
            yield None
            return
        yield from _asked(options, report, needs=needs)


def _asked(options: Options, report: Report, *, needs: bool) -> Iterator[list[str] | None]:
    from absolve.cli import hints  # few runs need them

    from_web = [name for name in options.inputs if hints.is_url(name) and not Path(name).exists()]
    archives = list(filter(buckets.is_web, from_web))
    urls = [name for name in from_web if name not in archives]
    archives = archives if needs and intake.asks_otherwise(options) else []
    for url in urls:
        hints.check_no_url(url, options.command)  # such as a URL of FTP
    if not urls and not archives:
        yield urls
        return
    with leftovers.temporary_folder() as folder:
        with saved(options) as save:  # opened before the first request
            paths = {url: _download(url, folder, options, report, save) for url in archives}
            path = Path(folder) / "asked.warc.gz"
            archive = path if urls and _ask(urls, path, options, report, save, needs=needs) else None
            report.names[str(path)] = ", ".join(map(without_user, urls))
        if archive is None and not any(paths.values()):
            yield None
            return
        files = [paths.get(name, name) for name in options.inputs if name not in urls]
        options.inputs = list(map(str, filter(None, [archive, *files])))
        yield urls


def _download(url: str, folder: str, options: Options, report: Report, save: Save) -> Path | None:
    """Download a whole archive and return its file; None if that fails."""
    from absolve.run.web import fetching

    found = fetching.answered([url], lambda one: one, request_options(options))
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


def _ask(urls: list[str], path: Path, options: Options, report: Report, save: Save, *, needs: bool) -> bool:
    """Write the answers to a path, and return whether there is any."""
    asking = request_options(options)
    from absolve.run.web import exchange, fetching

    named = set(map(without_user, urls))
    with path.open("wb") as file:
        writer = exchange.Writer(file, compressed=True)

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

        done = fetching.run(partial(fetching.crawl, urls, options.depth or 0, asking, keep, needs=needs))
    if len(report.failures) >= len(urls):
        return False
    if done.left_out:
        left = number(done.left_out, "page")
        text = f"more than {fetching.MOST_PAGES:,} pages: {left} left out; for large sites: {_OTHERS}"
        report.aside(Diagnostic("too-many-pages", text, urls[0], failed=True))
    if done.others_left_out:
        left = f"{len(done.others_left_out):,} left out"
        text = f"pages that need more than {fetching.MOST_OTHERS:,} other URLs: {left}; for large sites: {_OTHERS}"
        report.aside(Diagnostic("too-many-pages", text, urls[0], failed=True))
    if not options.quiet:
        others = f", {number(len(done.seen) - done.pages, 'other URL')}" if len(done.seen) > done.pages else ""
        report.note("asked", f"{number(done.pages, 'page')}{others}")
    return True
