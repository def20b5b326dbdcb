"""`absolve browser`: list the links of pages as a headless Chromium resolves them, or compare them with absolve's.

Output: JSON lines, one for each page; with --compare a verdict for each page, and the differences as diagnostics.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from absolve.cli import options as shared
from absolve.cli.reporting import visible_json
from absolve.cli.terminal import is_terminal
from absolve.core import printable
from absolve.core.errors import DocumentError
from absolve.inventory.sinks import jsonl
from absolve.run import load, special_files
from absolve.verifying import browser as browsing

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Iterator

    from absolve.cli.reporting import Report
    from absolve.document.entity import Entity
    from absolve.verifying.browser import Browser, View

EPILOG = """\
The browser loads each page under the page's own URL (--url, or the URL recorded
when it was saved), with scripts off. Every other request is refused: there is
no network. Each page gives one line of JSON: the character encoding and the
base URI that the browser uses, and the links in tree order, each with element,
attribute, value and URL (null if the value has no URL). Contents of templates
and of open shadow roots are included; lists (srcset), style sheets and inner
documents are not.

examples:
  absolve browser page.html --url http://example.com/dir/page.html
  absolve browser saved/*.html -o links.jsonl
  absolve browser saved/*.html --compare     compare with --profile whatwg

--compare prints for each page whether it is equal. An element that the parser
cloned counts once. Differences are written to the standard error as
FILE:line:column: code: text.
codes:
  target        absolve and the browser resolve this link to different URLs
  only-absolve  absolve lists this link, the browser does not
  only-browser  the browser lists this link, absolve does not
  charset       the browser reads the page in another character encoding
  no-view       the browser cannot load this page, or did not finish in time

Needs Chromium (Debian: apt-get install chromium), Chrome or a browser derived
from them, on Linux or macOS. Run by root, it has no sandbox.

exit status: 0 success, or all pages equal; 1 completed, but an input failed or
a page differs; 2 usage error, or no browser found"""


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
            if options.output in {None, special_files.STDOUT} and is_terminal(sys.stdout):
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
            document, entity, diagnostics = load.walked(shared.one_input(name, options), how)
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
