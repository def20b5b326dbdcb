"""`absolve links`: list links, one row each, as JSON lines, CSV, Parquet or a table of SQLite or DuckDB.

Input: the options. Output: the rows in the sink, in the order of the inputs; diagnostics in the report.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from absolve.cli import listing
from absolve.run.links_task import LINKS

if TYPE_CHECKING:
    import argparse

    from absolve.cli.reporting import Report

EPILOG = """\
examples:
  absolve links page.html                  a table on a terminal, else JSON lines
  absolve links *.html -o links.csv        the suffix selects the format
  absolve links site/ --url http://example.com/ -o links.sqlite
  absolve links site/ --scope external --columns target --unique --format csv
  absolve links site/ --columns target --unique --count --format table
  absolve links site/ --fail-on unresolved,malformed -q -o links.jsonl
  absolve links site/ --where "kind = 'image' AND base_layer <> 'embedded'"
  absolve links site/ -o links.csv --resume       continue after an interruption
  absolve links page.html | jq -r 'select(.scope == "external").target'
  absolve links site/ --engine spark --master spark://host:7077 -o links.parquet
  curl -s http://example.com/ | absolve links --url http://example.com/

columns: document, entity, line, column, start, end, element, attribute, kind,
rel, text, reference, base, base_layer, base_source, target, scope, problems

A database (.sqlite, .duckdb) gets the table documents, too: see absolve documents."""


def run(options: argparse.Namespace, report: Report) -> None:
    listing.run(options, report, LINKS)
