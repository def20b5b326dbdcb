"""The line that ends an audit on the standard error: what was found, what was repaired, which files were written.

Input: the connection with the result tables, the report with the counts of repairs, paths. Output: text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from absolve.audit.tables import FINE, QUIET, RULES_FOUND
from absolve.cli.totals import number
from absolve.core import printable

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence
    from pathlib import Path

    from absolve.cli.reporting import Report

_FOUND: Final = f"""
SELECT (SELECT coalesce(sum(links), 0)::BIGINT FROM tallies),
    (SELECT count(*) FROM fixed_findings WHERE verdict NOT IN {QUIET}),
    (SELECT count(*) FROM urls), (SELECT count(*) FROM urls WHERE verdict NOT IN {FINE}), (SELECT count(*) FROM pages),
    (SELECT count(problem) FROM rules), (SELECT count(*) FROM ({RULES_FOUND.format("rules")}) WHERE problem IS NULL),
    (SELECT count(fix) FROM fixed_findings)
"""  # noqa: S608 - names of ours


def line(connection: Any, report: Report, options: argparse.Namespace, wrote: Sequence[Path]) -> str:
    """Return `8 of 30 links and 3 of 6 old URLs have findings; 5 fixes in 4 files written; wrote report.html`."""
    *counts, fixes = connection.execute(_FOUND).fetchall()[0]
    parts = [_found(*counts, is_whole=not report.failures)]
    if options.fix:
        parts.append(_fixed(report, is_diff=options.diff))
    elif fixes:
        parts.append(f"--fix writes {number(fixes, 'repair')}")
    if report.failures:
        parts.append(f"{number(len(report.failures), 'input')} failed")
    parts += report.totals.left_out()
    if wrote:
        names = [printable.message(str(path), credentials=options.show_credentials) for path in wrote]
        parts.append(f"wrote {', '.join(names)}")
    return "; ".join(parts)


def _found(
    links: int, of_links: int, urls: int, of_urls: int, pages: int, unread: int, wrong: int, *, is_whole: bool
) -> str:
    """Return the counts of findings; `no findings` only where all was read that was given (`is_whole`)."""
    found = [f"{of_links:,} of {number(links, 'link')}"]
    if urls:
        found.append(f"{of_urls:,} of {number(urls, 'old URL')}")
    others = ((pages, "page"), (unread, "unread rule"), (wrong, "wrong rule"))
    found += [number(count, noun) for count, noun in others if count]
    if is_whole and not of_links + of_urls + pages + unread + wrong:
        return f"no findings in {number(links, 'link')}" + (f" and {number(urls, 'old URL')}" if urls else "")
    *first, last = found
    return f"findings: {', '.join(first)} and {last}" if first else f"findings: {last}"


def _fixed(report: Report, *, is_diff: bool) -> str:
    changed, files = report.totals.changed, report.totals.changed_documents
    if not changed:
        return "no repair is sure" if not report.failures else "no repair written"
    return f"{number(changed, 'repair')} in {number(files, 'file')} {'would be written' if is_diff else 'written'}"
