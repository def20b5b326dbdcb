"""The report of an audit: one HTML file that needs no network, with its data as compressed JSON inside.

In: a `Source` of result tables. Out: the page. Texts of audited pages reach it as data only: jinja2 escapes what is in
the markup, scripts set `textContent`, and a Content-Security-Policy with hashes forbids every other script.
"""

from __future__ import annotations

from typing import IO, TYPE_CHECKING

from absolve.audit.report import data, page

if TYPE_CHECKING:
    from absolve.audit.outputs.source import Source


def write(source: Source, file: IO[bytes]) -> None:
    """Write the report to an open file."""
    file.write(page.rendered(source, data.collected(source)))
