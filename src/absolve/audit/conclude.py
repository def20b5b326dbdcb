"""Create the result tables from the findings: pages, causes, sections, the summary; report oddities of the sites.

In: a connection in which `judge.judge` has run. Out: the tables of `tables.TABLES`; `links` is a view. Diagnostics: two
files for one URL, sites that share nothing or everything, wrong rules.
"""

from __future__ import annotations

import json
from collections import Counter
from itertools import chain, groupby
from typing import TYPE_CHECKING, Any, Final

from absolve import __version__
from absolve.audit import answered, ignoring, tables, verdicts
from absolve.audit.answered import Answers
from absolve.audit.judge import each, has_rows, insert, one, run
from absolve.audit.near_misses import suggest
from absolve.audit.verdicts import RULES_FOUND, WRONG, rule_sentence, titles
from absolve.core.errors import Diagnostic, in_short
from absolve.rules import outcomes, writing

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from absolve.audit.judge import Question
    from absolve.rules.outcomes import Rules

_NO_ANSWERS: Final = Answers()
MOVED: Final = """
SELECT url, elsewhere FROM judged_urls WHERE verdict = 'moved' AND url = moved_url ORDER BY url
"""
# Old URLs with the URL to which rules should lead them, and new URLs.
_LED: Final = """
SELECT url, CASE WHEN verdict = 'moved' AND url = moved_url THEN elsewhere ELSE led_final END, true FROM judged_urls
UNION ALL SELECT n.url, NULL, false FROM named n JOIN resources r USING (resource) WHERE r.side = 'new'
"""
_BROKEN: Final = """
SELECT DISTINCT bare(url) FROM findings
WHERE verdict = 'broken' AND final IS NULL AND rule IS NULL
"""
_SEVERAL: Final = 2  # broken URLs of a folder that is missing itself
_DEEPEST: Final = 100  # folders in each other: with more, the work would be quadratic
# The section of a URL: the first folder below the folder of all pages, for example `/docs/`; `/` for files there.
_SECTION_OF: Final = """
CREATE OR REPLACE MACRO {side}_section(url) AS
    coalesce(nullif(regexp_extract('/' || substr(path_of(url), {start}), '^(/[^/]*/)', 1), ''), '/')
"""
_ENDS: Final = """
SELECT min(r.path), max(r.path) FROM resources r JOIN scopes s
    ON s.side = r.side AND s.site = r.site AND starts_with(r.path, s.prefix)
WHERE r.side = ? AND r.is_page
"""

# The number of rows by table and verdict, and how many of them have a repair.
_COUNTS: Final = f"""
CREATE OR REPLACE TABLE counts AS
SELECT 'links' AS table_name, verdict, sum(links)::BIGINT AS number, coalesce(any_value(fixes), 0) AS fixes
FROM (SELECT verdict, links FROM sections UNION ALL SELECT verdict, -number FROM ignored_links)
LEFT JOIN (SELECT verdict, count(fix) AS fixes FROM fixed_findings GROUP BY verdict) USING (verdict)
GROUP BY verdict HAVING sum(links) > 0
UNION ALL SELECT 'urls', verdict, count(*), 0 FROM urls GROUP BY verdict
UNION ALL SELECT 'links', 'ignored', sum(links)::BIGINT, 0 FROM ignored HAVING sum(links) > 0
UNION ALL SELECT 'pages', verdict, count(*), 0 FROM pages GROUP BY verdict
UNION ALL SELECT 'changes', 'changed', count(*), 0 FROM changes HAVING count(*) > 0
UNION ALL SELECT 'rules', verdict, count(*), 0 FROM ({verdicts.RULES_FOUND.format("rules")}) GROUP BY verdict
"""  # noqa: S608 - names of ours
# The title of a cause gets the answer of the server.
_ANSWERED: Final = """
UPDATE causes SET title = title || ' (' || a.detail || ')' FROM answers a
WHERE causes.verdict IN ('broken', 'unsure') AND causes.rule IS NULL AND ends_with(causes.title, ': ' || a.url)
    AND a.kind = 'link' AND a.detail IS NOT NULL
"""


def conclude(
    connection: Any,
    question: Question,
    rules: Rules,
    failing: Collection[str],
    answers: Answers = _NO_ANSWERS,
    unread: int = 0,
) -> None:
    """Create the result tables. `failing`: verdicts that are reasons not to switch; `unread`: unread inputs."""
    for side in ("new", "old"):
        connection.execute(_SECTION_OF.format(side=side, start=len(_folder(connection, side)) + 1))
    insert(connection, "folders", _folders(connection, rules))
    suggest(connection)
    insert(connection, "missing_folders", _missing_folders(connection))
    run(connection, "65_site_pages.sql")
    alternates = "FROM new_documents WHERE len(alternates) > 0"
    if has_rows(connection, "FROM sitemap_languages") or has_rows(connection, alternates):
        run(connection, "68_languages.sql")
    run(connection, "70_pages.sql")
    if "unused" in failing:
        run(connection, "75_unused.sql")
    connection.execute(tables.created("answers"))
    if len(answers):
        insert(connection, "answers", answered.table(connection, answers))
        connection.execute(answered.DIFFERENCES)
    ignoring.others(connection, question.ignores, "judged_urls", verdicts.FINE)
    ignoring.others(connection, question.ignores, "pages", ())
    ignoring.leave_out_unchanged_pages(connection)
    connection.execute(tables.created("rules"))
    insert(connection, "rules", ((*one, None) for one in outcomes.checked(rules)))
    insert(connection, "meanings", titles())
    run(connection, "80_causes.sql")
    run(connection, "90_results.sql")
    connection.execute(tables.created("changes"))
    if has_rows(connection, "FROM judged_urls"):
        run(connection, "95_changes.sql")
    if len(answers):
        connection.execute(_ANSWERED)
    connection.execute(_COUNTS)
    connection.execute(tables.created("summary"))
    insert(connection, "summary", _summary(connection, question, failing, unread))
    insert(connection, "summary", [("read", json.dumps(_read(connection, rules)))])


def _read(connection: Any, rules: Rules) -> list[str]:
    """Return how each map and list was read, where there was a choice, for example the columns of a table."""
    lists = connection.execute("SELECT DISTINCT name, words FROM read_as ORDER BY ALL").fetchall()
    maps = [(one.file, one.words) for one in rules.maps if one.words]
    return [f"{name}: {words}" for name, words in (*maps, *lists)]


def _folder(connection: Any, side: str) -> str:
    """Return the folder that contains all pages of a site."""
    first, last = one(connection, _ENDS, [side])
    if first is None:
        return "/"
    size = 0
    while size < min(len(first), len(last)) and first[size] == last[size]:
        size += 1
    return str(first[: first.rfind("/", 0, max(size, 1)) + 1])


def _missing_folders(connection: Any) -> Iterator[tuple[str, str]]:
    """Yield each broken URL in a missing folder, with the topmost missing folder.

    Only folders with several broken URLs count: for example, `/a/` for `/a/b/x` and `/a/y`.
    """
    broken = [url for (url,) in each(connection, _BROKEN)]
    if len(broken) < _SEVERAL:
        return
    held: set[str] = set()
    for (url,) in each(connection, "SELECT DISTINCT folder_of(bare(url)) FROM resources WHERE side = 'new'"):
        held.update(_folders_above(url))
    found: dict[str, list[str]] = {}
    for url in broken:
        missing = next((folder for folder in _folders_above(url) if folder not in held), None)
        if missing is not None:
            found.setdefault(missing, []).append(url)
    for folder, urls in found.items():
        if len(urls) >= _SEVERAL:
            yield from ((url, folder) for url in urls)


def _root(url: str) -> str:
    return url[: url.find("/", url.find("//") + 2) + 1]


def _folders_above(url: str) -> Iterator[str]:
    """Yield the folders of a URL, the topmost first: for example `http://h/a/` and `http://h/a/b/`; at most 100."""
    url = url.partition("?")[0]
    at = url.find("/", url.find("//") + 2)
    for _ in range(_DEEPEST):
        at = url.find("/", at + 1)
        if at < 0:
            return
        yield url[: at + 1]


def _folders(connection: Any, rules: Rules) -> Iterator[tuple[str, str, str | None, str | None]]:
    """Yield for each URL that moved its cause, a rule for the cause, and a rule for the URL, as far as they work.

    A moved folder is one cause for all pages in it.
    """
    urls = connection.execute(MOVED).fetchall()
    if not urls:
        return
    pairs = [(old, new, *moved(old, new)) for old, new in urls]
    counts = Counter((above, below) for _, _, above, below in pairs)
    several = [pair for pair, number in counts.items() if number > 1 and pair[0].endswith("/")]
    whole = _folders_with_one_rule(connection, rules, several)
    tried, _ = writing.with_added(rules.form, rules, urls)
    for old, new, above, below in pairs:
        own = writing.rule_text(rules.form, rules, old, new) if tried.chain(old).final == new else None
        if counts[above, below] > 1 and above.endswith("/"):
            is_whole = (above, below) in whole
            folder = writing.rule_text(rules.form, rules, above, below, prefix=True) if is_whole else None
            yield old, f"moved:{_path(above)} -> {_path(below)}", folder, own
        else:
            yield old, f"moved:{_path(old)} -> {_path(new)}", own, own


def _folders_with_one_rule(connection: Any, rules: Rules, pairs: Sequence[tuple[str, str]]) -> set[tuple[str, str]]:
    """Return the pairs of folders for which one rule is right: each is tried on the URLs of both sites.

    It must lead each old URL below to its page, leave URLs with a rule of their own to that rule, and move no new URL.
    """
    found: dict[str, list[tuple[tuple[str, str], Rules]]] = {}
    for pair in pairs:
        for folder in {pair[0], rules.counterpart(pair[0])}:
            found.setdefault(folder, []).append((pair, writing.with_added(rules.form, rules, [pair], prefix=True)[0]))
    wrong = set()
    for url, end, is_old in each(connection, _LED) if pairs else ():
        folders = (_root(url), *_folders_above(url))
        for pair, tried in chain.from_iterable(found.get(folder, ()) for folder in folders):
            should = end if is_old else rules.chain(url, counts=False).final
            if pair not in wrong and tried.chain(url).final != should:
                wrong.add(pair)
    return set(pairs) - wrong


def moved(old: str, new: str) -> tuple[str, str]:
    """Return two URLs without their common end: for example, `http://h/a/` and `http://h/b/` if both end with `x/y`."""
    olds, news = old.split("/"), new.split("/")
    shared = 0
    while shared < min(len(olds), len(news)) - 3 and olds[-1 - shared] == news[-1 - shared]:
        shared += 1
    if not shared:
        return old, new
    return "/".join([*olds[:-shared], ""]), "/".join([*news[:-shared], ""])


def _path(url: str) -> str:
    return url[url.find("/", url.find("//") + 2) :]


def _summary(
    connection: Any, question: Question, failing: Collection[str], unread: int
) -> Iterator[tuple[str, str | None]]:
    by_verdict = dict(connection.execute("SELECT verdict, number FROM counts").fetchall())
    numbers = {"links": one(connection, "SELECT coalesce(sum(links), 0)::BIGINT FROM tallies")[0]} | {
        name: one(connection, f"SELECT count(*) FROM {query}")[0]  # noqa: S608 - queries of ours
        for name, query in {
            "findings": "fixed_findings WHERE verdict NOT IN ('ok', 'same', 'external')",
            "fixes": "fixed_findings WHERE fix IS NOT NULL",
            "causes": "causes",
            "urls": "urls",
            "lost": "urls WHERE verdict = 'lost'",
            "pages": "site_pages",
            "rules": "rules",
            "answers": "answers",
            "rules_unread": "rules WHERE problem IS NOT NULL",
        }.items()
    }
    numbers["left_out"] = one(connection, "SELECT coalesce(sum(number), 0)::BIGINT FROM left_out")[0]
    numbers["ignored"] = one(connection, "SELECT coalesce(sum(links + others), 0)::BIGINT FROM ignored")[0]
    reasons = [
        {"verdict": verdict, "count": by_verdict[verdict]}
        for verdict in verdicts.VERDICTS
        if verdict in failing and by_verdict.get(verdict)
    ]
    yield "can_switch", "false" if reasons else "true" if not unread else None  # not known
    yield "inputs_unread", str(unread)
    yield "reasons", json.dumps(reasons)
    for name, count in numbers.items():
        yield name, str(count)
    yield "new_url", question.new_url
    yield "old_url", question.old_url or ""
    yield "created_by", f"absolve {__version__}"
    yield "schema_version", str(tables.SCHEMA_VERSION)


# --- oddities of the two sites, and of their rules --------------------------------------------------------------------

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
_LISTED_ELSEWHERE: Final = """
SELECT r.document, count(*) FROM resources r WHERE r.side = 'old' AND r.site NOT IN (SELECT site FROM scopes)
AND r.document IN (SELECT document FROM old_documents WHERE url_source = 'list') GROUP BY ALL ORDER BY ALL
"""
# Links to the bare host of the old site, or to its www., which browsers know as two hosts.
_TWIN_HOSTS: Final = """
SELECT site_of(a.url) AS host, sum(a.links)::BIGINT, any_value(s.site) FROM asked a JOIN scopes s ON s.side = 'old'
    AND (site_of(a.url) = 'www.' || s.site OR 'www.' || site_of(a.url) = s.site)
WHERE site_of(a.url) NOT IN (SELECT site FROM scopes) GROUP BY host ORDER BY host
"""
_CLEAN: Final = """
SELECT count(DISTINCT bare(f.target)), min(bare(f.target)) FROM findings f
JOIN resources r ON r.side = 'new' AND r.url = bare(f.target) || '.html' WHERE f.verdict = 'broken'
"""
_KEPT: Final = """
SELECT count(*), count(*) FILTER (there_resource IS NOT NULL OR is_ruled), count(*) FILTER (digest = there_digest)
FROM judged_urls
"""


_TO_NOTHING: Final = "rule-to-nothing"
_MOST_RULES: Final = 5  # named in diagnostics; the table of rules has all
_MOST_HOSTS: Final = 3  # likewise
_NAMED: Final = f"""
SELECT *, count(*) OVER (PARTITION BY code) FROM (
    SELECT CASE WHEN problem IS NOT NULL THEN 'map' WHEN finding = 'leads to nothing' THEN '{_TO_NOTHING}'
        ELSE '{WRONG}' END AS code, file, line, text, problem, finding FROM ({RULES_FOUND.format("rules")}))
QUALIFY row_number() OVER (PARTITION BY code ORDER BY file, line) <= {_MOST_RULES} ORDER BY code, file, line
"""  # noqa: S608 - names of ours


def wrong_rules(connection: Any) -> Iterator[Diagnostic]:
    """Yield a diagnostic for unread and wrong rules: the first few of each code, and the number of others."""
    for code, rows in groupby(connection.execute(_NAMED).fetchall(), lambda row: row[0]):
        found = list(rows)
        for _, file, line, rule, problem, finding, _ in found:
            why = f"{'this line cannot be read: ' if problem is not None else ''}{rule_sentence(problem, finding)}"
            yield Diagnostic(code, f"{why}: {in_short(rule or '')}", file, line)
        if (more := found[0][-1] - len(found)) > 0:
            yield Diagnostic(code, f"{more:,} more: the table rules of an output has all", found[-1][1])


def foreign_hosts(question: Question, rules: Rules) -> Iterator[Diagnostic]:
    """Yield a diagnostic for each map with rules for hosts of neither site, if the URL of the old one is known."""
    for file, number, hosts in outcomes.strangers(rules) if question.old_url is not None else ():
        are = "rule is" if number == 1 else "rules are"
        more = f" and {len(hosts) - _MOST_HOSTS:,} more" if len(hosts) > _MOST_HOSTS else ""
        text = f"{number:,} {are} for hosts that no URL has: {', '.join(hosts[:_MOST_HOSTS])}{more}"
        yield Diagnostic("elsewhere", f"{text}; --old-url names a host of the old site", file)


def oddities(connection: Any, question: Question) -> Iterator[Diagnostic]:
    """Yield diagnostics that the user should see before the verdicts, for example if both sites are equal."""
    for _, url, first, last in each(connection, _SAME_URL):
        yield Diagnostic("same-url", f"{first} has the same URL: {url}", last)
    for side, option, url in (("new", "--url", question.new_url), ("old", "--old-url", question.old_url)):
        total, inside = one(connection, _OUTSIDE, [side])
        if url is not None and total and not inside:
            text = f"no document of {side.upper()} is below {option} {url}: they are at {_most(connection, side)}"
            yield Diagnostic("elsewhere", text, url, failed=True)
    for name, number in each(connection, _LISTED_ELSEWHERE) if question.old_url is not None else ():
        are = "is" if number == 1 else "are"
        text = f"{number:,} of its URLs {are} of another host than --old-url {question.old_url}: not judged"
        yield Diagnostic("elsewhere", text, name, failed=True)
    for host, number, known in each(connection, _TWIN_HOSTS):
        are = "link leads" if number == 1 else "links lead"
        text = f"{number:,} {are} to this host, which is another one than {known}:"
        text += " if it is old, too, give --old-url for both"
        yield Diagnostic("twin-host", text, host)
    number, url = one(connection, _CLEAN)
    if number > 1:
        text = f"{number:,} URLs lack the .html of their files, which --server github-pages, netlify and cloudflare add"
        yield Diagnostic("clean-urls", text, url)
    total, common, equal = one(connection, _KEPT)
    if total and total == equal:
        yield Diagnostic("same-site", "OLD and NEW are equal: each file of OLD is in NEW, too", question.old_url or "")
    elif total and not common:
        likely = _likely(connection, question)
        advice = f": likely --old-url {likely}, with the folder of that URL as OLD" if likely is not None else ""
        text = f"no URL of OLD is in NEW, and no rule leads there{advice}"
        yield Diagnostic("nothing-common", text, question.old_url or "")


def _most(connection: Any, side: str) -> str:
    """Return the root above most documents of a site, for example `http://h/`."""
    query = (
        "SELECT regexp_extract(url, '^https?://[^/]+/') AS root FROM resources WHERE side = ?"
        " GROUP BY root ORDER BY count(*) DESC, root LIMIT 1"
    )
    return str(one(connection, query, [side])[0])


def _likely(connection: Any, question: Question) -> str | None:
    """Return the old root URL with which most contents would be at the same path on both sites; None if unknown."""
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
