"""`absolve documents`: list documents, one row each, in the formats of `absolve links`.

Input: the options. Output: the rows in the sink, in the order of the inputs; diagnostics in the report.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from absolve.cli import listing
from absolve.run.links_task import DOCUMENTS

if TYPE_CHECKING:
    import argparse

    from absolve.cli.reporting import Report

EPILOG = """\
examples:
  absolve documents crawl.warc.gz                JSON lines on the standard output
  absolve documents site/ --url http://example.com/ -o documents.csv
  absolve documents crawl.warc.gz --where "status >= 400" --columns url,status
  absolve documents book.epub --columns entity,title,anchors
  absolve links crawl.warc.gz -o crawl.sqlite    both tables in one database

columns: document, entity, url, url_source, status, date, media_type, charset,
size, digest, title, lang, canonical, robots, base, base_layer, links, problems,
anchors, alternates"""


def run(options: argparse.Namespace, report: Report) -> None:
    listing.run(options, report, DOCUMENTS)
