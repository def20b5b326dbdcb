"""`absolve browser`: what a headless Chromium resolves every link of pages to, and where absolve differs."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from absolve.cli import options as shared
from absolve.cli.reporting import is_terminal, visible_json
from absolve.core import printable
from absolve.core.errors import DocumentError
from absolve.inventory.sinks import jsonl
from absolve.run import load, outputs
from absolve.run.inputs import Input
from absolve.verifying import browser as browsing

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from absolve.cli.reporting import Report
    from absolve.document.entity import Entity
    from absolve.verifying.browser import Browser, View

EPILOG = """\
The browser gets each page as if it came from its own URL (--url, or what its saver wrote), with
scripts off; every other request is refused, and there is no network. A line of JSON tells the
character set and the base URI that it took, and the page's links in tree order: element,
attribute, value, and the URL, null where the value gives none. Contents of templates and of open
shadow roots are among them; lists (srcset), style sheets and documents inside are not.

examples:
  absolve browser page.html --url http://example.com/dir/page.html
  absolve browser saved/*.html -o links.jsonl
  absolve browser saved/*.html --compare    hold absolve (--profile whatwg) against it

--compare says of each page whether it is equal. An element that the parser cloned counts once.
Differences go to the standard error, as FILE:line:column: code: text.
codes:
  target        a link leads elsewhere
  only-absolve  absolve lists this link, the browser does not
  only-browser  the browser lists this link, absolve does not
  charset       the browser reads the page in another character encoding
  no-view       the browser cannot be given this, or did not get done with it

It takes Chromium (Debian: apt-get install chromium), Chrome or one of their kin, on Linux or macOS.
The superuser's has no sandbox.

exit status: 0 done, or equal; 1 done, but some inputs failed or are different; 2 used wrongly, or
no browser is there"""


def configure(parser: argparse.ArgumentParser) -> None:
    shared.add_inputs(parser)
    ways = parser.add_mutually_exclusive_group()
    shared.add_output(ways)
    ways.add_argument(
        "--compare", discovered=True, action="store_true", help="say where absolve differs, instead of listing"
    )
    shared.completes_files(
        parser.add_argument(
            "--browser", metavar="PROGRAM", help="the browser ($ABSOLVE_BROWSER, or the first that is found)"
        )
    )
    parser.add_argument(
        "--timeout",
        discovered=True,
        type=_seconds,
        default=30.0,
        metavar="SECONDS",
        help="give up a page after this (%(default)g)",
    )
    shared.add_limits(parser)


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0
    if not 0 < seconds <= 86_400:
        raise argparse.ArgumentTypeError(f"must be a number of seconds, a day at most, not {text!r}")
    return seconds


def run(options: argparse.Namespace, report: Report) -> None:
    names = shared.names(options)
    with browsing.Browser(options.browser, options.timeout) as browser:
        views = _views(names, options, browser, report)
        if options.compare:
            for entity, view in views:
                _compare(entity, view, report)
        else:
            columns = browsing.View._fields
            lines: Iterable[bytes] = (jsonl.encode(columns, [view]) for _, view in views)
            if not report.credentials:
                lines = (printable.masked(line.decode()).encode() for line in lines)
            if options.output in {None, outputs.STDOUT} and is_terminal(sys.stdout):
                lines = map(visible_json, lines)
            with shared.opened(options, names) as file:
                jsonl.write(columns, lines, file)


def _views(
    names: list[str], options: argparse.Namespace, browser: Browser, report: Report
) -> Iterator[tuple[Entity, View]]:
    how = shared.reading(options)
    how = how._replace(settings=how.settings._replace(profile="whatwg"))
    for name in names:
        with report.guard(name):
            document, entity, diagnostics = load.walked(Input(name, "", options.url), how)
            for diagnostic in diagnostics:
                report.finding(diagnostic)
            yield entity, browser.view(document, entity)


def _compare(entity: Entity, view: View, report: Report) -> None:
    found = browsing.differences(entity, view)
    for difference in found:
        report.failure(DocumentError(difference))
    count = len(view.links)
    name = printable.message(entity.name, credentials=report.credentials)
    print(f"{name}: {'different' if found else 'equal'}, {count} link{'' if count == 1 else 's'}")
