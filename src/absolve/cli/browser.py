"""`absolve browser`: list the links of pages as a headless Chromium resolves them, or compare them with absolve's.

Output: JSON lines, one for each page; with --compare a verdict for each page, and the differences as diagnostics.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from absolve.cli import json_array
from absolve.cli import options as shared
from absolve.cli.terminal import is_terminal
from absolve.cli.totals import number
from absolve.core import printable
from absolve.run import load, special_files
from absolve.tables.json import encode
from absolve.verifying import browser as browsing

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterable, Iterator

    from absolve.cli.reporting import Report
    from absolve.document.entity import Entity
    from absolve.verifying.browser import Browser, View


def run(options: argparse.Namespace, report: Report) -> None:
    names = shared.names(options)
    with browsing.Browser(options.browser, options.timeout) as browser:
        views = _views(names, options, browser, report)
        if options.compare:
            with json_array.array(options) as add:
                for entity, view in views:
                    _compare(entity, view, report, add)
        else:
            columns = browsing.View._fields
            lines: Iterable[bytes] = (encode(columns, [view]) for _, view in views)
            if not report.credentials:
                lines = (printable.masked(line.decode()).encode() for line in lines)
            if options.output in {None, special_files.STDOUT} and is_terminal(sys.stdout):
                lines = map(printable.visible_json, lines)
            with shared.opened(options, names) as file:
                file.writelines(lines)


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


def _compare(
    entity: Entity, view: View, report: Report, add: Callable[[dict[str, Any]], None] | None
) -> None:
    found = browsing.differences(entity, view)
    for difference in found:
        report.found(difference)
    count = len(view.links)
    if add is not None:
        add({"document": entity.name, "equal": not found, "links": count})
        return
    name = printable.message(entity.name, credentials=report.credentials)
    print(f"{name}: {'different' if found else 'equal'}, {number(count, 'link')}")
