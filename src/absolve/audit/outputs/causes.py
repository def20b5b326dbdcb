"""The causes of findings as one sequence, for outputs that list them: on the screen, and as annotations of GitHub.

In: a `Source`. Out: `Cause`s with the place of one finding, those that the run fails on first, of them the largest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from absolve.audit.outputs.findings import level
from absolve.audit.tables import FINE, QUIET, RULE_VERDICTS, URL_VERDICTS
from absolve.core.printable import number

if TYPE_CHECKING:
    from collections.abc import Iterator

    from absolve.audit.outputs.source import Source

_SELECT: Final = """
SELECT verdict, title, {links} AS links, pages, example_document, example_line, example_column, fix, suggestion, rule,
    cause, news, subject, n.line
FROM ({causes}) c {joined} WHERE verdict NOT IN {fine}{where}
ORDER BY news DESC, list_contains({failing}::VARCHAR[], verdict) DESC, links DESC, pages DESC, cause
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
_NO_NEWS: Final = "CROSS JOIN (SELECT NULL::BIGINT AS news, NULL AS subject, NULL AS line) n"
# The links of each cause that have a repair, which was written.
_REPAIRED: Final = """
LEFT JOIN (SELECT cause, verdict, count(fix) AS repaired FROM fixed_findings GROUP BY ALL) f USING (cause, verdict)
"""


class Cause(NamedTuple):
    """One cause. `place`: the document, line and column of one finding, of one that is new if there is any.

    `advice`: what to do, each with its name. `news`: how many findings are new; None without a baseline.
    """

    verdict: str
    level: str
    title: str
    reach: str
    place: tuple[str | None, int | None, int | None]
    advice: tuple[tuple[str, str], ...]
    news: int | None


def causes(source: Source, *, repaired: bool = False) -> Iterator[Cause]:
    """Yield the causes; with a baseline those first that have new findings. `repaired`: without links with a repair."""
    compared = source.news is not None
    query = _SELECT.format(
        causes=source.select("causes"),
        links="links - coalesce(repaired, 0)" if repaired else "links",
        joined=(_NEWS if compared else _NO_NEWS) + (_REPAIRED if repaired else ""),
        fine=(*QUIET, *FINE),
        where=" AND (links = 0 OR links > coalesce(repaired, 0))" if repaired else "",
        failing=sorted(source.options.fail_on),
    )
    for row in source.rows(query):
        verdict, title, links, pages, document, line, column, fix, suggestion, rule, cause, news, *new = row
        title = title or ""
        known = None if verdict in RULE_VERDICTS or (rule or "") in title else rule  # a place that is there already
        role = "a rule to add" if cause.startswith("moved:") else "by the rule"
        advice = (("write", fix), ("perhaps", suggestion), (role, known))
        yield Cause(
            verdict,
            level(verdict, source, is_new=bool(news) if compared else None),
            title,
            _reach(verdict, links or 0, pages or 0),
            (*new, None) if news else (document, line, column),
            tuple((name, value) for name, value in advice if value),
            (news or 0) if compared else None,
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
