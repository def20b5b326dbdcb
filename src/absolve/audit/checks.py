"""Report what is odd about the two sites as a whole: two files for one URL, sites that share nothing, or everything.

In: a connection in which `judge.judge` has run. Out: diagnostics.
"""

from __future__ import annotations

from collections import Counter
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from absolve.audit.conclude import moved
from absolve.audit.judge import each, one
from absolve.audit.verdicts import RULES_FOUND, WRONG, of_rule
from absolve.core.errors import Diagnostic, in_short
from absolve.rules import outcomes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from absolve.audit.judge import Question
    from absolve.rules.outcomes import Rules

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
_OF_LISTS: Final = """
SELECT r.document, count(*) FROM resources r WHERE r.side = 'old' AND r.site NOT IN (SELECT site FROM scopes)
AND r.document IN (SELECT document FROM old_documents WHERE url_source = 'list') GROUP BY ALL ORDER BY ALL
"""
# Links to the bare host of the old site, or to its www., which browsers know as two hosts.
_TWIN_HOSTS: Final = """
SELECT site_of(a.url) AS host, sum(a.links)::BIGINT, any_value(s.site) FROM asked a JOIN scopes s ON s.side = 'old'
    AND (site_of(a.url) = 'www.' || s.site OR 'www.' || site_of(a.url) = s.site)
WHERE site_of(a.url) NOT IN (SELECT site FROM scopes) GROUP BY host ORDER BY host
"""
_KEPT: Final = """
SELECT count(*), count(*) FILTER (there_resource IS NOT NULL OR is_ruled), count(*) FILTER (digest = there_digest)
FROM judged_urls
"""


_IN_ITS_FOLDER: Final = "SELECT count(*) > 0 FROM resources WHERE side = 'old' AND contains(path, ?)"
_TO_NOTHING: Final = "rule-to-nothing"
_MOST_RULES: Final = 5  # that are named; the table of rules has all
_MOST_HOSTS: Final = 3  # likewise
_NAMED: Final = f"""
SELECT *, count(*) OVER (PARTITION BY code) FROM (
    SELECT CASE WHEN problem IS NOT NULL THEN 'map' WHEN finding = 'leads to nothing' THEN '{_TO_NOTHING}'
        ELSE '{WRONG}' END AS code, file, line, text, problem, finding FROM ({RULES_FOUND.format("rules")}))
QUALIFY row_number() OVER (PARTITION BY code ORDER BY file, line) <= {_MOST_RULES} ORDER BY code, file, line
"""  # noqa: S608 - names of ours


def wrong_rules(connection: Any) -> Iterator[Diagnostic]:
    """Yield the rules that could not be read or are wrong: the first few of each code, and how many others."""
    for code, rows in groupby(connection.execute(_NAMED).fetchall(), lambda row: row[0]):
        found = list(rows)
        for _, file, line, rule, problem, finding, _ in found:
            why = f"{'this line cannot be read: ' if problem is not None else ''}{of_rule(problem, finding)}"
            yield Diagnostic(code, f"{why}: {in_short(rule or '')}", file, line)
        if (more := found[0][-1] - len(found)) > 0:
            yield Diagnostic(code, f"{more:,} more: the table rules of an output has all", found[-1][1])


def of_other_hosts(question: Question, rules: Rules) -> Iterator[Diagnostic]:
    """Yield the maps with rules for hosts of neither site, if the old one has a URL."""
    for file, number, hosts in outcomes.strangers(rules) if question.old_url is not None else ():
        are = "rule is" if number == 1 else "rules are"
        more = f" and {len(hosts) - _MOST_HOSTS:,} more" if len(hosts) > _MOST_HOSTS else ""
        text = f"{number:,} {are} for hosts that no URL has: {', '.join(hosts[:_MOST_HOSTS])}{more}"
        yield Diagnostic("elsewhere", f"{text}; --old-url names a host of the old site", file)


def oddities(connection: Any, question: Question) -> Iterator[Diagnostic]:
    """Yield what the user should know before the verdicts."""
    for _, url, first, last in each(connection, _SAME_URL):
        yield Diagnostic("same-url", f"its URL is that of {first}, too: {url}", last)
    for side, option, url in (("new", "--url", question.new_url), ("old", "--old-url", question.old_url)):
        total, inside = one(connection, _OUTSIDE, [side])
        if url is not None and total and not inside:
            text = f"no document of {side.upper()} is below {option} {url}: they are at {_most(connection, side)}"
            yield Diagnostic("elsewhere", text, url, failed=True)
    for name, number in each(connection, _OF_LISTS) if question.old_url is not None else ():
        are = "is" if number == 1 else "are"
        text = f"{number:,} of its URLs {are} of another host than --old-url {question.old_url}: not judged"
        yield Diagnostic("elsewhere", text, name, failed=True)
    for host, number, known in each(connection, _TWIN_HOSTS):
        are = "link leads" if number == 1 else "links lead"
        text = f"{number:,} {are} to this host, which is another one than {known}:"
        text += " if it is old, too, give --old-url for both"
        yield Diagnostic("twin-host", text, host)
    total, common, equal = one(connection, _KEPT)
    if total and total == equal:
        yield Diagnostic("same-site", "OLD and NEW are equal: each file of OLD is in NEW, too", question.old_url or "")
    elif total and not common:
        likely, host = _likely(connection, question), urlsplit(question.old_url or "").hostname
        advice = f": likely --old-url {likely}, with the folder of that URL as OLD" if likely is not None else ""
        if host and one(connection, _IN_ITS_FOLDER, [f"/{host}/"])[0]:
            advice = f": OLD has a folder {host}, as mirrors have: give that folder as OLD"
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
