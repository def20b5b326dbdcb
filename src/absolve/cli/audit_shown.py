"""What `absolve audit` prints: on a terminal the findings by page, and the line that ends it on the standard error.

Input: the connection with the result tables, a `Screen`, the counts of repairs. Output: lines. Findings beyond the
first `MOST` are counted, not listed: a report in a file has them all.
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any, Final

from absolve.audit.outputs.findings import level
from absolve.audit.outputs.source import Source
from absolve.audit.outputs.words import counted, fix_options, of_rule
from absolve.audit.tables import DIFFERS, FINE, QUIET, RULES_FOUND, WITHOUT_EFFECT
from absolve.cli.totals import number
from absolve.core import printable
from absolve.tables.terminal import Group, Item

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from absolve.audit.outputs import Options
    from absolve.cli.reporting import Report
    from absolve.core.drawing import Screen

MOST: Final = 200  # findings that a terminal lists
_STYLES: Final = {"error": "red", "warning": "yellow", "note": "cyan"}
_LINKS: Final = """
SELECT document, entity, line, "column", verdict, reference, target, final, fix, suggestion FROM ({links}) t
WHERE verdict NOT IN {quiet}{unfixed}{where} ORDER BY document, entity, line, "column" LIMIT {most}
"""
_URLS: Final = """
SELECT url, verdict, final, suggestion, rule, requests FROM ({urls}) t WHERE verdict NOT IN {fine}{where}
ORDER BY requests DESC NULLS LAST, url LIMIT {most}
"""
_PAGES: Final = """
SELECT coalesce(url, document), verdict, detail FROM ({pages}) t WHERE true{where} ORDER BY ALL LIMIT {most}
"""
_RULES: Final = f"""
SELECT * FROM ({RULES_FOUND.format("({rules})")}) t WHERE true{{where}} ORDER BY file, line LIMIT {{most}}
"""  # noqa: S608 - names of ours
# What a baseline has, or lacks: by the place of each finding.
_NEWS: Final = {
    "links": "t.document, t.entity, t.start, t.verdict) {} (SELECT subject, entity, start, verdict FROM news)",
    "urls": "t.url, t.verdict) {} (SELECT subject, verdict FROM news WHERE table_name = 'urls')",
    "pages": "coalesce(nullif(t.document, ''), t.url), t.verdict) {} (SELECT subject, verdict FROM news)",
    "rules": "t.file, t.line) {} (SELECT subject, line FROM news WHERE table_name = 'rules')",
}
_COUNT: Final = """
SELECT (SELECT count(*) FROM fixed_findings WHERE verdict NOT IN {quiet}{unfixed})
    + (SELECT count(*) FROM urls WHERE verdict NOT IN {fine}) + (SELECT count(*) FROM pages)
    + (SELECT count(*) FROM ({wrong}))
"""


def lines(connection: Any, how: Options, screen: Screen, *, fixed: bool) -> Iterator[str]:
    """Yield the lines of the findings, those of one page together. `fixed`: those that were repaired are left out."""
    source = Source(connection, how)
    given = {"quiet": QUIET, "fine": FINE, "unfixed": " AND fix IS NULL" if fixed else ""}
    given["wrong"] = RULES_FOUND.format("rules")
    shown = 0
    for heading, items in _parted(source, given):
        if shown == MOST:
            break
        if not items:
            yield f"{heading}\n"
            continue
        listed = items[: MOST - shown]
        shown += len(listed)
        group = Group(listed, screen)
        yield group.heading(heading)
        for item in listed:
            yield from group.lines(item)
        yield ""
    more = int(source.value(_COUNT.format_map(given))) - shown
    if more > 0:
        yield from Group((), screen).plain(f"{more:,} more: -o report.html or -f jsonl lists all")
        yield ""


def painted(verdict: str, text: str, how: Options, screen: Screen) -> str:
    """Return a text in the colour of a verdict."""
    return screen.paint(text, _STYLES["error"] if verdict in how.fail_on else "dim")


def _parted(source: Source, given: dict[str, Any]) -> Iterator[tuple[str, list[Item]]]:
    """Yield headings with their items: with a baseline those that are new first, below a heading without items."""
    if source.news is None:
        yield from _groups(source, given)
        return
    for title, which in (("New since the baseline:", "IN"), ("Not new:", "NOT IN")):
        for place, found in enumerate(_groups(source, given, which)):
            if not place:
                yield title, []
            yield found


def _groups(source: Source, given: dict[str, Any], which: str = "") -> Iterator[tuple[str, list[Item]]]:
    """Yield headings with their items: pages with their links, then old URLs, pages, and rules by map.

    `which`: IN for those that are new, NOT IN for the others.
    """

    def rows(query: str, table: str) -> Iterable[tuple[Any, ...]]:
        where = f" AND ({_NEWS[table].format(which)}" if which else ""
        return source.rows(query.format_map({**given, table: source.select(table), "most": MOST, "where": where}))

    for (document, entity), links in groupby(rows(_LINKS, "links"), lambda row: (row[0], row[1])):
        yield f"{document} {entity}".rstrip(), [_link(source, *row[2:]) for row in links]
    if urls := list(rows(_URLS, "urls")):
        yield "URLs of the old site", [_url(source, *row) for row in urls]
    if pages := list(rows(_PAGES, "pages")):
        yield "pages", [_page(source, *row) for row in pages]
    for file, rules in groupby(rows(_RULES, "rules"), lambda row: row[1]):
        yield file, [_rule(source, row[0], *row[2:]) for row in rules]


def _style(source: Source, verdict: str) -> str:
    return _STYLES[level(verdict, source)]


def _link(
    source: Source,
    line: int | None,
    column: int | None,
    verdict: str,
    reference: str,
    target: str | None,
    final: str | None,
    fix: str | None,
    suggestion: str | None,
) -> Item:
    is_elsewhere = fix is None and final not in {target, (target or "").partition("#")[0]}
    notes = _notes(write=fix, leads_to=final if is_elsewhere else None, perhaps=suggestion)
    place = f"{line}:{column}" if line is not None else ""
    return Item(place, verdict, reference, target, notes, _style(source, verdict))


def _url(
    source: Source,
    url: str,
    verdict: str,
    final: str | None,
    suggestion: str | None,
    rule: str | None,
    requests: int | None,
) -> Item:
    perhaps = suggestion if suggestion != final else None
    notes = _notes(
        now_at=final, perhaps=perhaps, **{"rule_to_add" if verdict == "moved" else "by_the_rule": rule}
    )
    notes += [(f"{number(requests, 'request')}", "dim")] if requests is not None else []
    return Item("", verdict, url, url, notes, _style(source, verdict))


def _page(source: Source, url: str | None, verdict: str, detail: str | None) -> Item:
    notes = [(detail, "dim")] if detail else []
    return Item("", verdict, url or "", url or "", notes, _style(source, verdict))


def _rule(source: Source, verdict: str, line: int | None, text: str | None, *why: str | None) -> Item:
    place = str(line) if line is not None else ""
    word = verdict.removesuffix("-rule")
    return Item(place, word, text or "", text or "", [(of_rule(*why), "dim")], _style(source, verdict))


def _notes(**found: str | None) -> list[tuple[str, str]]:
    return [
        (f"{name.replace('_', ' ')}: {value}", "green" if name == "write" else "dim")
        for name, value in found.items()
        if value
    ]


# --- the line that ends an audit --------------------------------------------------------------------------------------

_FOUND: Final = f"""
SELECT (SELECT coalesce(sum(links), 0)::BIGINT FROM tallies),
    (SELECT count(*) FROM fixed_findings WHERE verdict NOT IN {QUIET}),
    (SELECT count(*) FROM urls), (SELECT count(*) FROM urls WHERE verdict NOT IN {FINE}),
    (SELECT count(*) FROM pages WHERE verdict <> '{DIFFERS}'), (SELECT count(*) FROM pages WHERE verdict = '{DIFFERS}'),
    (SELECT count(problem) FROM rules), (SELECT count(*) FROM ({RULES_FOUND.format("rules")}) WHERE problem IS NULL),
    (SELECT count(fix) FROM fixed_findings), (SELECT coalesce(sum(links + others), 0)::BIGINT FROM ignored),
    (SELECT count(*) FROM mentions), (SELECT coalesce(sum(number), 0)::BIGINT FROM left_out),
    (SELECT count(*) FROM rules WHERE {WITHOUT_EFFECT}), (SELECT value FROM summary WHERE name = 'new_url')
"""  # noqa: S608 - names of ours


def ending(connection: Any, report: Report, options: argparse.Namespace, wrote: Sequence[Path]) -> str:
    """Return `findings: 8 of 30 links, 3 of 6 old URLs; 5 fixes in 4 files written; wrote report.html`."""
    *counts, fixes, ignored, mentions, left_out, idle, url = connection.execute(_FOUND).fetchall()[0]
    links, of_links, urls, of_urls, *others = counts
    parts = [counted(links, of_links, urls, of_urls, *others, is_whole=not report.failures)]
    if options.fix:
        parts.append(_fixed(report, is_diff=options.diff))
    elif fixes:
        parts.append(f"{fix_options(url if options.url is None else None)} writes {number(fixes, 'repair')}")
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
        names = [printable.message(str(path), credentials=options.show_credentials) for path in wrote]
        parts.append(f"wrote {', '.join(names)}")
    return "; ".join(parts)


def _fixed(report: Report, *, is_diff: bool) -> str:
    changed, files = report.totals.changed, report.totals.changed_documents
    if not changed:
        return "no repair is sure" if not report.failures else "no repair written"
    return f"{number(changed, 'repair')} in {number(files, 'file')} {'would be written' if is_diff else 'written'}"
