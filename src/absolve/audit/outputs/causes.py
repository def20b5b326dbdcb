"""The causes of findings as one sequence, for outputs that list them: on the screen, and as annotations of GitHub.

In: a `Source`. Out: `Cause`s with the place of one finding, in one order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from absolve.audit.outputs.findings import level, severity
from absolve.audit.verdicts import FINE, QUIET, RULE_VERDICTS, URL_VERDICTS, VERDICTS
from absolve.core.printable import number

if TYPE_CHECKING:
    from collections.abc import Iterator

    from absolve.audit.outputs.source import Source

_SELECT: Final = """
SELECT verdict, title, links - CASE WHEN {repaired} THEN fixes ELSE 0 END AS links, pages, clicks, is_lost,
    example_document, example_line, example_column, fix, links > 0 AND fixes = links AND fix IS NULL AS has_fixes,
    suggestion, rule, cause, news, subject, n.line
FROM ({causes}) {joined} WHERE verdict NOT IN {fine} AND NOT ({repaired} AND links > 0 AND fixes = links)
ORDER BY news DESC, rank
"""
# The causes in the order of all outputs: what breaks, what most visitors ask for, what is lost, what reaches most.
_RANKED: Final = """
SELECT *, row_number() OVER (ORDER BY {severities}[list_position({verdicts}, verdict)] NULLS LAST,
    coalesce(clicks, 0) DESC, coalesce(is_lost, false) DESC, links + pages DESC, cause, verdict) AS rank
FROM (SELECT c.*, u.clicks, u.is_lost, coalesce(f.fixes, 0) AS fixes FROM ({causes}) c
LEFT JOIN (SELECT cause, CASE WHEN starts_with(cause, 'rule:') THEN 'wrong-rule' ELSE verdict END AS verdict,
    sum(requests)::BIGINT AS clicks, bool_or(verdict = 'lost') AS is_lost FROM ({urls}) GROUP BY ALL) u
    USING (cause, verdict)
LEFT JOIN (SELECT {cause} AS cause, verdict, count(*) AS fixes FROM links WHERE fix IS NOT NULL GROUP BY ALL) f
    USING (cause, verdict))
"""
# How many findings of each cause are new, with the place of one.
_NEWS: Final = """
LEFT JOIN (
    SELECT cause, CASE WHEN starts_with(cause, 'rule:') THEN 'wrong-rule' ELSE verdict END AS verdict, count(*) AS news,
        min(subject) AS subject, arg_min(line, (subject, line)) AS line FROM (
        SELECT l.cause, l.verdict, n.subject, n.line FROM links l JOIN news n
            ON n.subject = l.document AND n.entity = l.entity AND n.start = l.start AND n.verdict = l.verdict
        UNION ALL SELECT u.cause, u.verdict, n.subject, 0 FROM urls u JOIN news n
            ON n.subject = u.url AND n.verdict = u.verdict AND n.table_name = 'urls'
        UNION ALL SELECT p.cause, p.verdict, n.subject, 0 FROM pages p JOIN news n
            ON n.subject = coalesce(nullif(p.document, ''), p.url) AND n.verdict = p.verdict AND n.table_name = 'pages'
        UNION ALL SELECT r.cause, n.verdict, n.subject, n.line FROM rules r JOIN news n
            ON n.subject = r.file AND n.line = r.line AND n.table_name = 'rules')
    GROUP BY ALL) n USING (cause, verdict)
"""
_LOST: Final = "SELECT cause, url, requests FROM ({}) WHERE verdict = 'lost' ORDER BY requests DESC NULLS LAST, url"
_NO_NEWS: Final = "CROSS JOIN (SELECT NULL::BIGINT AS news, NULL AS subject, NULL AS line) n"


class Cause(NamedTuple):
    """One cause. `place`: the document, line and column of one finding, of one that is new if there is any.

    `advice`: what to do, each with its name. `news`: how many findings are new; None without a baseline. `lost`: the
    old URLs that are lost by it, those with most clicks first.
    """

    verdict: str
    level: str
    title: str
    reach: str
    place: tuple[str | None, int | None, int | None]
    advice: tuple[tuple[str, str], ...]
    news: int | None
    lost: tuple[str, ...] = ()


def ranked(source: Source) -> str:
    """Return the SELECT statement of the causes with their clicks and repairs, and `rank`: their place in outputs."""
    severities = [severity(verdict, source) for verdict in VERDICTS]
    given = {"causes": source.select("causes"), "urls": source.select("urls"), "cause": source.masked("cause")}
    return _RANKED.format(verdicts=list(VERDICTS), severities=severities, **given)


def causes(source: Source, *, repaired: bool = False) -> Iterator[Cause]:
    """Yield the causes; with a baseline those first that have new findings. `repaired`: without links with a repair."""
    compared = source.news is not None
    joined = _NEWS if compared else _NO_NEWS
    query = _SELECT.format(causes=ranked(source), joined=joined, fine=(*QUIET, *FINE), repaired=repaired)
    lost: dict[str, list[str]] = {}
    for cause, url, requests in source.rows(_LOST.format(source.select("urls"))):
        lost.setdefault(cause, []).append(url if requests is None else f"{url} ({number(requests, source.asked)})")
    for row in source.rows(query):
        verdict, title, links, pages, clicks, is_lost, document, line, column, fix, has_fixes = row[:11]
        suggestion, rule, cause, news, *new = row[11:]
        title = title or ""
        known = None if verdict in RULE_VERDICTS or (rule or "") in title else rule  # a place that is there already
        role = "a rule to add" if cause.startswith("moved:") else "by the rule"
        each = "--fix has the repair of each" if has_fixes else None
        rules = "--write-map has the rule of each" if verdict == "moved" and not rule and pages > 1 else None
        advice = (("write", fix or each), ("perhaps", suggestion), (role, known or rules))
        yield Cause(
            verdict,
            level(verdict, source, is_new=bool(news) if compared else None),
            title,
            _reach(verdict, links or 0, pages or 0) + (f", {number(clicks, source.asked)}" if clicks else ""),
            (*new, None) if news else (document, line, column),
            tuple((name, value) for name, value in advice if value),
            (news or 0) if compared else None,
            tuple(lost.get(cause, ())) if is_lost else (),
        )


def _reach(verdict: str, links: int, pages: int) -> str:
    if verdict in RULE_VERDICTS and links:  # what such a rule loses has the same cause
        return f"{number(links, 'link')}; {pages:,} rules and old URLs"
    nouns = ((URL_VERDICTS, "old URL"), (RULE_VERDICTS, "rule"))
    noun = next((noun for verdicts, noun in nouns if verdict in verdicts and not links), "page")
    return f"{number(links, 'link')} on {number(pages, noun)}" if links else number(pages, noun)


def message(cause: Cause) -> str:
    """Return the cause in words: what, how far it reaches, what to do."""
    new = f", {cause.news} new" if cause.news is not None else ""
    advice = "".join(f"; {name}: {value}" for name, value in cause.advice)
    return f"{cause.title} ({cause.reach}{new}){advice}"
