"""Report what is odd about the two sites as a whole: two files for one URL, sites that share nothing, or everything.

In: a connection in which `judge.judge` has run. Out: diagnostics.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, Final

from absolve.audit.conclude import moved
from absolve.audit.judge import each, one
from absolve.core.errors import Diagnostic, in_short

if TYPE_CHECKING:
    from collections.abc import Iterator

    from absolve.audit.judge import Question

_SAME_URL: Final = """
SELECT side, coalesce(s.url, bare(d.url)) AS url, min(d.document) AS first, max(d.document) AS last
FROM documents d LEFT JOIN spellings s ON s.raw = d.url
WHERE d.url IS NOT NULL AND d.entity = '' AND d.status IS NULL
GROUP BY 1, 2 HAVING min(d.document) <> max(d.document) ORDER BY 3
"""
_OUTSIDE: Final = """
SELECT count(*), count(*) FILTER (EXISTS (SELECT 1 FROM scopes s WHERE s.side = r.side AND s.site = r.site
    AND starts_with(r.path, s.prefix))) FROM resources r WHERE r.side = ?
"""
_KEPT: Final = """
SELECT count(*), count(*) FILTER (there_resource IS NOT NULL OR is_ruled), count(*) FILTER (digest = there_digest)
FROM judged_urls
"""


_MOST_RULES: Final = 5  # that are named; the table of rules has all
_NAMED: Final = f"""
SELECT file, line, text, problem, count(*) OVER () FROM rules WHERE {{}} ORDER BY file, line LIMIT {_MOST_RULES}
"""  # noqa: S608 - a number of ours
_TO_NOTHING: Final = "rule moves a URL to where nothing is", "rules move a URL to where nothing is"


def unread_rules(connection: Any) -> Iterator[Diagnostic]:
    """Yield the lines of maps that are no rules: the first few, and how many others."""
    return _named(connection, "problem IS NOT NULL", "map", "line cannot be read", "lines cannot be read")


def rules_to_nothing(connection: Any) -> Iterator[Diagnostic]:
    """Yield the rules whose target is not in the new site: the first few, and how many others."""
    return _named(connection, "finding = 'leads to nothing'", "rule-to-nothing", *_TO_NOTHING)


def _named(connection: Any, which: str, code: str, this: str, these: str) -> Iterator[Diagnostic]:
    found = connection.execute(_NAMED.format(which)).fetchall()
    for file, line, rule, problem, _ in found:
        why = f"{problem}: " if problem is not None else ""
        yield Diagnostic(code, f"this {this}: {why}{in_short(rule or '', 200)}", file, line)
    if found and (more := found[0][4] - len(found)) > 0:
        text = f"{more:,} more {these}: the table rules of an output has all"
        yield Diagnostic(code, text, found[-1][0])


def oddities(connection: Any, question: Question) -> Iterator[Diagnostic]:
    """Yield what the user should know before the verdicts."""
    for _, url, first, last in each(connection, _SAME_URL):
        yield Diagnostic("same-url", f"its URL is that of {first}, too: {url}", last)
    for side, option, url in (("new", "--url", question.new_url), ("old", "--old-url", question.old_url)):
        total, inside = one(connection, _OUTSIDE, [side])
        if url is not None and total and not inside:
            text = f"no document of {side.upper()} is below {option} {url}: they are at {_most(connection, side)}"
            yield Diagnostic("elsewhere", text, url, failed=True)
    total, common, equal = one(connection, _KEPT)
    if total and total == equal:
        yield Diagnostic("same-site", "OLD and NEW are equal: each file of OLD is in NEW, too", question.old_url or "")
    elif total and not common:
        likely = _likely(connection, question)
        advice = f": likely --old-url {likely}, with the folder of that URL as OLD" if likely is not None else ""
        text = f"no URL of OLD is in NEW, and no rule leads there{advice}"
        yield Diagnostic("nothing-common", text, question.old_url or "")


def _most(connection: Any, side: str) -> str:
    """Return the root under which most documents of a site are."""
    query = (
        "SELECT regexp_extract(url, '^https?://[^/]+/') AS root FROM resources WHERE side = ?"
        " GROUP BY root ORDER BY count(*) DESC, root LIMIT 1"
    )
    return str(one(connection, query, [side])[0])


def _likely(connection: Any, question: Question) -> str | None:
    """Return the URL of the root of the old site by which most contents would be at the same path; None if unknown."""
    query = "SELECT url, final FROM homes WHERE verdict = 'moved'"
    pairs = (moved(old, new) for old, new in each(connection, query))
    counts = Counter(above for above, below in pairs if below == question.new_url)
    if not counts:
        query = (
            "SELECT o.url, n.url FROM resources o JOIN resources n ON n.side = 'new' AND o.side = 'old' AND"
            " regexp_extract(o.path, '[^/]*/[^/]*$') = regexp_extract(n.path, '[^/]*/[^/]*$') LIMIT 10000"
        )
        pairs = (moved(old, new) for old, new in each(connection, query))
        counts = Counter(above for above, below in pairs if below == question.new_url)
    ((likely, number),) = counts.most_common(1) or ((None, 0),)
    return likely if number > 1 else None
