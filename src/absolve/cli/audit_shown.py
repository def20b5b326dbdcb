"""The printed result of `absolve audit`: the causes of its findings, and its last line on the standard error.

Input: the connection with the result tables, a `Screen`, the counts of repairs. Output: lines. Causes beyond the first
`MOST` are counted, not listed: a report in a file has them all. Causes with lost URLs are always listed.
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any, Final

from absolve.audit.outputs.findings import Cause, cause_message, causes, counts
from absolve.audit.outputs.source import Source
from absolve.audit.verdicts import WITHOUT_EFFECT, counted, fix_options
from absolve.cli.totals import number
from absolve.core import printable
from absolve.core.drawing import folded

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from absolve.audit.outputs import Style
    from absolve.cli.option_table import Options
    from absolve.cli.reporting import Report
    from absolve.core.drawing import Screen

MOST: Final = 50  # causes that are listed
_STYLES: Final = {"error": "red", "warning": "yellow", "note": "cyan"}
_INDENT: Final = "  "
_ALL: Final = "-o report.html, or -f jsonl"


def lines(connection: Any, how: Style, view: Screen, *, fixed: bool, hint: bool) -> Iterator[str]:
    """Yield a line for each cause. `fixed`: repairs were written. `hint`: no output has all findings."""
    source = Source(connection, how)
    found = list(causes(source, repaired=fixed))
    listed = [one for number_, one in enumerate(found) if number_ < MOST or one.lost]
    for has_news, several in groupby(listed, lambda one: one.news and True):
        if listed[0].news is not None:
            yield "New since the baseline:" if has_news else "Not new:"
        for one in several:
            yield from _cause(one, view)
    if more := len(found) - len(listed):
        yield from _folded(f"{number(more, 'more cause')}{f': {_ALL}' if hint else ''}", view)
    elif hint and source.number("findings") > len(listed) > 0:
        yield from _folded(f"Each finding: {_ALL}", view)
    if listed:
        yield ""


def _cause(cause: Cause, view: Screen) -> Iterator[str]:
    """Yield a cause in one line, for example `page.html:3:9: broken: Not there: /x.html (2 links on 1 page)`."""
    place = ":".join(str(part) for part in cause.place if part)
    found = "\n".join(_folded(f"{f'{place}: ' if place else ''}{cause.verdict}: {cause_message(cause)}", view))
    yield found.replace(f"{cause.verdict}:", f"{view.paint(cause.verdict, _STYLES[cause.level])}:", 1)
    others = cause.lost if cause.lost[1:] or cause.verdict != "lost" else ()
    for url in others[:MOST]:
        yield from _folded(f"{_INDENT}{url}", view)
    if len(others) > MOST:
        yield from _folded(f"{_INDENT}and {number(len(others) - MOST, 'more lost URL')}: {_ALL}", view)


def _folded(text: str, view: Screen) -> Iterator[str]:
    """Yield a text in lines as wide as the screen, or in one line for a file."""
    text = view.visible(text)
    if view.width is None:
        yield text
        return
    first, *rest = folded(text, max(8, view.width))
    yield first
    if rest:
        yield from (_INDENT + line for line in folded(" ".join(rest), max(8, view.width - len(_INDENT))))


def painted(verdict: str, text: str, how: Style, screen: Screen) -> str:
    """Return a text in the colour of a verdict."""
    return screen.paint(text, _STYLES["error"] if verdict in how.fail_on else "dim")


# --- the line that ends an audit --------------------------------------------------------------------------------------

_BESIDE: Final = f"""
SELECT (SELECT count(*) FROM mentions), (SELECT count(*) FROM rules WHERE {WITHOUT_EFFECT}),
    (SELECT count(*) FROM findings WHERE verdict = 'unsure' AND target IN (SELECT target FROM not_asked))
"""  # noqa: S608 - names of ours


def ending(
    connection: Any, how: Style, report: Report, options: Options, wrote: Sequence[Path]
) -> str:
    """Return the last line, for example `findings: 8 of 30 links; 5 repairs in 4 files written; wrote report.html`."""
    source = Source(connection, how)
    mentions, idle, unasked = next(source.rows(_BESIDE))
    links, with_findings, *others = counts(source)
    fixes, ignored, left_out = map(source.number, ("fixes", "ignored", "left_out"))
    url = source.summary["new_url"]
    with_findings -= unasked  # they are not known
    parts = [counted(links, with_findings, *others, is_whole=not report.failures)]
    if options.fix:
        parts.append(_fixed(report, is_diff=options.diff))
    elif fixes:
        parts.append(f"{fix_options(url if options.url is None else None)} writes {number(fixes, 'repair')}")
    if unasked:
        parts.append(f"{number(unasked, 'link')} not asked")
    if ignored:
        parts.append(f"{number(ignored, 'finding')} ignored")
    if options.changed_since is not None:
        parts.append(f"{number(left_out, 'finding')} of unchanged documents left out")
    if mentions:
        parts.append(f"{number(mentions, 'mention')} of the old host outside links (table mentions)")
    if idle:
        parts.append(f"{number(idle, 'rule')} of the map without effect (table rules)")
    if report.failures:
        parts.append(f"{number(len(report.failures), 'input')} failed")
    report.totals.files.update(report.skipped)
    parts += report.totals.left_out()
    if wrote:
        names = [printable.message(str(path)) for path in wrote]
        parts.append(f"wrote {', '.join(names)}")
    return "; ".join(parts)


def _fixed(report: Report, *, is_diff: bool) -> str:
    changed, files = report.totals.changed, report.totals.changed_documents
    if not changed:
        return "no repair is sure" if not report.failures else "no repair written"
    return f"{number(changed, 'repair')} in {number(files, 'file')} {'would be written' if is_diff else 'written'}"
