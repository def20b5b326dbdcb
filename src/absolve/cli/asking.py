"""Request the URLs among the inputs: one by one, or pages with their page requisites, for a mirror or an audit.

Input: the options. Output: the inputs with their answers; or the options with the name of a WARC that has all
answers, the file of --save or a temporary one.
"""

from __future__ import annotations

import os
import sys
import time
from contextlib import ExitStack, closing, contextmanager
from itertools import chain
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, Final, TypeVar
from urllib.parse import urlsplit

from absolve.cli import intake
from absolve.cli.option_table import ASKING
from absolve.core.errors import Diagnostic, DocumentError
from absolve.core.printable import number
from absolve.run import buckets, inputs, leftovers, outputs, plan, sources
from absolve.run.folders import Globs
from absolve.urls.identity import without_user

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator

    from absolve.cli.option_table import Options
    from absolve.cli.reporting import Report
    from absolve.run.inputs import Input
    from absolve.run.results import Reports
    from absolve.run.web.exchange import Answer, Asking
    from absolve.run.web.fetching import Bounds
    from absolve.run.web.store import Store

    Item = TypeVar("Item")

def with_answers(
    items: Iterable[Item], input_of: Callable[[Item], Input], options: Options, report: Report
) -> Generator[Item]:
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
    with saved(options, report) as store:
        how = request_options(options, store)
        with closing(fetching.answered(items, lambda one: input_of(one).asked or None, how)) as answers:
            for item, answer in answers:
                yield item if answer is None else _with_answer(item, answer)


def request_options(options: Options, store: Store | None) -> Asking:
    """Return the options for requests. Raise UsageError where libcurl cannot be loaded."""
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
        store=store,
        wait=options.wait,
        insecure=options.insecure,
    )


_EVERY: Final = 5.0  # seconds between lines about progress


def progress(*, quiet: bool) -> Callable[[int, int], None]:
    """Return a function that prints every few seconds how many URLs of those that are known were answered."""
    begun = last = time.monotonic()

    def done(count: int, total: int) -> None:
        nonlocal last
        now = time.monotonic()
        if not quiet and now - last >= _EVERY:
            last = now
            left = (now - begun) / count * (total - count)
            about = f"{left:.0f} s" if left < 90 else f"{left / 60:.0f} min"
            print(f"absolve: {count:,} of {number(total, 'URL')} answered, about {about} left", file=sys.stderr)

    return done


def say_ending(certificates: list[str], report: Reports) -> None:
    """Say which certificates end soon."""
    if certificates:
        more = f", and {number(len(certificates) - 3, 'more')}" if certificates[3:] else ""
        report.note("certificate", f"the certificate of {'; '.join(certificates[:3])}{more}")


def bounds(options: Options) -> Bounds:
    """Return what a crawl may ask for, by --include, --exclude, --ignore and --stop-after."""
    from absolve.run.web.fetching import Bounds

    globs = Globs(tuple(options.include), tuple(options.exclude)).checked()
    stops: dict[str, Any] = dict(options.stop_after)
    found = Bounds(globs, **stops)
    if options.ignore:
        from absolve.audit import ignoring

        first = ignoring.first_match(ignoring.parse_patterns(options.ignore))
        found = found._replace(is_ignored=lambda text: first(text) is not None)
    return found


def _with_answer(item: Item, answer: Answer) -> Item:
    """Return an input, or an item with an input, with the answer for its URL."""
    holder: Any = item
    if isinstance(holder, inputs.Input):
        return holder._replace(answer=answer)  # type: ignore[return-value]  # it is an Item
    return holder._replace(input=holder.input._replace(answer=answer))  # type: ignore[no-any-return]


@contextmanager
def saved(options: Options, report: Reports, *, max_age: float = 0.0) -> Iterator[Store | None]:
    """Yield the file of --save, which is the memory of later runs; None without it. `max_age`: without --max-age."""
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
    from absolve.run.web.store import Store

    age = max_age if options.max_age is None else options.max_age
    with ExitStack() as held:
        path = str(held.enter_context(buckets.writing(name))) if buckets.is_bucket(name) else name
        store = held.enter_context(Store(path, age, intake.settings(options)))
        if store.lost:
            report.note("answers", f"{name}: its last record was half there, and is cut off ({store.lost:,} bytes)")
        try:
            yield store
        except KeyboardInterrupt:
            report.note("answers", f"{name}: those that came so far are saved: the next run asks for the others")
            raise
        if store.used:
            report.note("answers", f"{name}: {number(store.used, 'answer')} of earlier runs: not asked for again")


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
        with saved(options, report) as store:  # opened before the first request
            how = request_options(options, store)
            paths = {url: _download(url, folder, how, report) for url in archives}
            path = Path(folder) / "asked.warc.gz"
            archive = path if urls and _ask(urls, path, options, how, report, needs=needs) else None
            report.names[str(path)] = ", ".join(map(without_user, urls))
        if archive is None and not any(paths.values()):
            yield None
            return
        files = [paths.get(name, name) for name in options.inputs if name not in urls]
        options.inputs = list(map(str, filter(None, [archive, *files])))
        if not files:
            options.include, options.exclude = [], []  # they were for the crawl
        yield urls


def _download(url: str, folder: str, how: Asking, report: Report) -> Path | None:
    """Download a whole archive and return its file; None if that fails."""
    from absolve.run.web import fetching

    (answer,) = (one for _, one in fetching.answered([url], lambda one: one, how) if one is not None)
    if answer.problem is not None:
        report.failure(DocumentError(answer.problem))
        return None
    path = Path(folder, f"{len(os.listdir(folder))}-{PurePosixPath(urlsplit(url).path).name}")  # noqa: PTH208 - a text
    path.write_bytes(answer.body)
    report.names[str(path)] = answer.url
    return path


def _ask(urls: list[str], path: Path, options: Options, how: Asking, report: Report, *, needs: bool) -> bool:
    """Write the answers to a path, and return whether there is any."""
    from absolve.run.web import fetching
    from absolve.run.web.store import Writer

    named = set(map(without_user, urls))
    with path.open("wb") as file:
        writer = Writer(file, compressed=True)
        writer.begin()

        def keep(answer: Answer) -> None:
            is_endless = answer.problem is not None and answer.problem.code == "redirects"
            writer.add(answer._replace(responses=()) if is_endless else answer)  # its redirects are no pages
            if answer.problem is None:
                return
            if answer.url in named:
                report.failure(DocumentError(answer.problem))
            elif answer.problem.code not in {"http-status", "left-out"}:
                report.finding(answer.problem)

        told = progress(quiet=options.quiet)
        done = fetching.crawl(urls, options.depth or 0, how, keep, told, bounds(options), needs=needs)
    options.crawl = done
    if len(report.failures) >= len(urls):
        return False
    if done.is_cut:
        left = f"{number(done.left_out, 'page')} and {number(done.others_left_out, 'other URL')} left out"
        how_far = f"it ended after {number(done.pages, 'page')}"
        chosen = " (--stop-after)" if options.stop_after else "; --stop-after 1000000pages goes on"
        text = f"{how_far}{chosen}: {left}"
        report.aside(Diagnostic("too-many-pages", text, urls[0], failed=not options.stop_after))
    if not options.quiet:
        others = f", {number(len(done.seen) - done.pages, 'other URL')}" if len(done.seen) > done.pages else ""
        ignored = f"; {number(len(done.ignored), 'URL')} not asked (--ignore)" if done.ignored else ""
        unsafe = "; any certificate was trusted (--insecure)" if options.insecure else ""
        say_ending(done.ending, report)
        report.note("asked", f"{number(done.pages, 'page')}{others}{ignored}{unsafe}")
    return True
