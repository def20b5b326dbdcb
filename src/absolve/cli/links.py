"""`absolve links`: the inventory, a row for each link."""

from __future__ import annotations

from typing import TYPE_CHECKING

from absolve import inventory, outputs, sinks
from absolve.cli import options as shared

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from absolve.cli.reporting import Report
    from absolve.inventory import Row
    from absolve.walk import Settings

EPILOG = """\
examples:
  absolve links page.html                     to the standard output, as JSON lines
  absolve links *.html -o links.csv           a table: the suffix says which format
  absolve links page.html | jq -r 'select(.scope == "external").target'
  curl -s http://example.com/ | absolve links - --url http://example.com/ --format csv

columns: document, entity, line, column, start, end, element, attribute, kind, rel, text,
reference, base, base_layer, base_source, target, scope, problems"""


def configure(parser: argparse.ArgumentParser) -> None:
    shared.add_inputs(parser)
    shared.add_output(parser)
    parser.add_argument(
        "--format", choices=sinks.FORMATS, help="the format, where OUT's suffix does not say it (jsonl)"
    )
    shared.add_settings(parser)
    shared.add_changes(parser)


def run(options: argparse.Namespace, report: Report) -> None:
    chosen = shared.settings(options)
    names = shared.names(options)
    to_stdout = options.output in {None, outputs.STDOUT}
    sink = sinks.by_name(options.format or "jsonl") if options.format or to_stdout else sinks.by_suffix(options.output)
    with shared.opened(options, names) as file:
        sink(inventory.COLUMNS, _rows(names, options, chosen, report), file)


def _rows(names: list[str], options: argparse.Namespace, chosen: Settings, report: Report) -> Iterator[Row]:
    for name in names:
        with report.guard(name):
            _, entity = shared.walked(name, options, chosen, report)
            yield from inventory.rows(entity, name)
