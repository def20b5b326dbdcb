"""The files of both sites of `absolve audit`: read into the working tables in one run, and repaired (`--fix`).

Input: the options, a connection, a database of repairs. Output: the tables of `absolve.audit.load`, files in place.
"""

from __future__ import annotations

import copy
import sys
from contextlib import closing
from functools import partial
from itertools import chain, groupby
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from absolve.audit import load, repair, url_lists
from absolve.cli import many
from absolve.cli import options as shared
from absolve.cli.rewrite import compared, diff_lines, published
from absolve.cli.terminal import colours, is_terminal
from absolve.core.errors import Diagnostic, DocumentError, UsageError
from absolve.document.resolved import shown
from absolve.formats import registry
from absolve.run import inputs, leftovers, sources
from absolve.run.inputs import WHOLE
from absolve.run.links_task import ListOptions, Sided, listed_of
from absolve.run.load import spread
from absolve.run.plan import Job, RewriteOptions
from absolve.run.rewrite_task import rewritten
from absolve.run.sources import STDIN
from absolve.urls.archives import original

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterable, Iterator

    from absolve.audit.load import Kinds
    from absolve.cli.reporting import Report
    from absolve.run.inputs import Input
    from absolve.run.results import TaskResult

PLACE: Final = "http://localhost/"  # the root of a folder without --url
# Files whose first bytes are not looked at for a container: most files of a site.
_PLAIN: Final = tuple(
    ".html .htm .xhtml .txt .css .js .json .png .jpg .jpeg .gif .svg .webp .ico .woff .woff2 .pdf".split()
)
_SITES: Final = "give a folder, an archive, an inventory, a sitemap, a log, or a list with a URL a line or in a table"
_WACZ: Final = "application/wacz"
_CONTAINERS: Final = frozenset({registry.WARC, registry.HAR, _WACZ, *registry.MAIL})


class Sites(NamedTuple):
    """The inputs of both sites, by kind; `urls` has the URL of each, as far as it is given or assumed."""

    kinds: dict[str, Kinds]
    urls: dict[str, str | None]


def sites(options: argparse.Namespace) -> Sites:
    """Return what the two sites are made of. Raise UsageError if nothing can be read from the files of one.

    The URLs in `options` become those of which a web archive has captures.
    """
    names = {load.NEW: many.names(options) if options.inputs else [], load.OLD: options.old}
    kinds = {side: load.sorted_out(found, side) for side, found in names.items()}
    for side, kind in kinds.items():
        other = None if kind.inventories or kind.lists else load.unread(kind.documents, side)
        if other is not None:
            name, what = other
            raise UsageError(f"{name}: it is {what}, and no URL of the {side} site can be read from it: {_SITES}")
    found = Sites(kinds, {load.NEW: options.url, load.OLD: next(iter(options.old_urls), None)})
    options.url = original(options.url) if options.url else None
    options.old_urls = [original(url) for url in options.old_urls]
    return found


def read(connection: Any, options: argparse.Namespace, found: Sites, report: Report) -> None:
    """Fill the working tables."""
    settings = shared.reading(options).settings
    connection.execute("CREATE TABLE read_as (name VARCHAR, words VARCHAR)")
    for side in load.SIDES:
        load.begin(connection, side)
        parquet = []
        for name, kind in found.kinds[side].inventories:
            with report.guard(name):
                if load.add_inventory(connection, side, name, kind) == {"links"} and kind == "parquet":
                    parquet.append(name)
        load.end(connection, side, parquet)
        for name, kind in found.kinds[side].lists:
            with report.guard(name):
                words = url_lists.add(connection, side, name, kind, settings, report.finding, found.urls[side])
                if words:
                    connection.execute("INSERT INTO read_as VALUES (?, ?)", [name, words])
                    if options.verbose:
                        report.note("table", f"{name}: {words}")
    how = ListOptions(shared.reading(options), format="duckdb", beside=True)
    items = _items(options, found, report)
    run_ = many.run(partial(listed_of, how), items, _input, options, report, summed=str)  # ends later
    with closing(run_) as pieces:
        for side, group in groupby(pieces, lambda piece: piece[0].side):
            load.add_chunks(connection, side, ((rows.table, rows.chunk) for _, rows in group))
    for side in load.SIDES:
        _check(connection, side, found.kinds[side], options, report)


def _check(connection: Any, side: str, kinds: Kinds, options: argparse.Namespace, report: Report) -> None:
    """Report each input from which nothing came. Raise UsageError if nothing came from any of them."""
    names = [name for name, _ in (*kinds.inventories, *kinds.lists)] + kinds.documents
    is_alone = side == load.NEW and not options.old  # nothing but its links is judged
    if (names or side == load.NEW) and load.is_empty(connection, side, has_links=is_alone):
        given = names[0] if names else "--from"
        raise UsageError(f"{given}: no URL of the {side} site can be read from it: {_SITES}")
    if side == load.NEW and (options.include or options.exclude):
        return
    for name in kinds.documents:
        if name not in {STDIN, "-", *report.failures} and load.nothing_of(connection, side, name):
            report.failure(DocumentError(Diagnostic("no-input", "no document is in it", name)))


def _input(item: Sided) -> Input:
    return item.input


def _items(options: argparse.Namespace, found: Sites, report: Report) -> Iterator[Sided]:
    return chain.from_iterable(
        (Sided(side, input_) for input_ in inputs_of(options, found, side, report)) for side in load.SIDES
    )


def inputs_of(
    options: argparse.Namespace, found: Sites, side: str, report: Report, *, follow: bool = True
) -> Iterator[Input]:
    """Yield the documents of a site, with their URLs: a folder without --url is at PLACE."""
    names = found.kinds[side].documents
    if not names and (side == load.OLD or options.from_ is None):
        return
    own = copy.copy(options)
    own.inputs = names
    own.url = found.urls[side]
    if side == load.OLD:
        own.from_ = own.url_map = own.default_url = None
        own.include = own.exclude = []
    reading = shared.reading(options)
    for input_ in spread(many.found(own, report, follow=follow), reading, many.processes(options)):
        yield _placed(input_, options)


def _placed(input_: Input, options: argparse.Namespace) -> Input:
    """Return an input with a URL, unless it is a container, whose documents have their own."""
    if input_.name == STDIN:
        return input_
    kind = None
    if not input_.name.lower().endswith(_PLAIN):
        try:
            kind = registry.sniff(sources.head(input_.name), input_.name)
        except DocumentError:
            return input_
    if kind in _CONTAINERS:
        return input_._replace(url=None)
    if kind in registry.PACKAGES:  # a folder: its members have no URLs of their own, but in a WACZ
        return input_ if input_.url is not None and input_.url.endswith("/") else input_._replace(url=PLACE)
    if input_.url is None and not input_.claims and not options.file_urls:
        return input_._replace(url=PLACE + inputs.escaped(input_.place))
    return input_


# --- repairs ----------------------------------------------------------------------------------------------------------


def fix(path: str, options: argparse.Namespace, found: Sites, report: Report) -> None:
    """Write the repairs of a database into the files of the new site, or print a diff; only link bytes change."""
    own = copy.copy(options)
    own.errors = None  # has the failures of the audit
    policy = repair.RepairPolicy(path)
    token = leftovers.token()
    how = RewriteOptions(shared.reading(options), policy, verify=options.verify, in_place=True, token=token)
    work: Callable[[Job], Iterable[TaskResult]] = partial(rewritten, how)
    if options.diff:
        work = partial(compared, partial(diff_lines, is_terminal(sys.stdout), colours(sys.stdout)), how)
    jobs = _jobs(path, options, found, report)
    with closing(published(how, work, jobs, own, report, str)) as changes:
        for _ in changes:
            pass


def _jobs(path: str, options: argparse.Namespace, found: Sites, report: Report) -> Iterator[Job]:
    wanted = repair.documents(path)
    seen: set[str] = set()
    for input_ in inputs_of(options, found, load.NEW, report, follow=False):
        if shown(input_.name) in wanted and input_.name not in seen:
            seen.add(input_.name)
            yield Job(input_._replace(within=WHOLE))
