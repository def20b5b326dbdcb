"""Explain the verdicts of one URL by the files, rules, server and answers behind them.

In: the working tables and result tables of an audit, its rules. Out: lines of text, one for each step, for example
`_redirects:3: /a /b 301: redirects http://h/a to http://h/b (301)`; the caller escapes them. Nothing is judged here:
steps that no table has come from the same queries and rules.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from absolve.audit.judge import each, insert, locate
from absolve.audit.servers import SERVERS
from absolve.audit.verdicts import words
from absolve.core.errors import in_short
from absolve.rules.model import GONE
from absolve.urls import identity, whatwg
from absolve.urls.chain import follow

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from absolve.audit.judge import Question
    from absolve.rules.model import Move
    from absolve.rules.outcomes import Rules

_MOST: Final = 20  # links, redirects and places that are listed
_LAST_INDEX: Final = 99  # of the ranks in served
_FILE: Final = "concat(r.document, ' ' || nullif(r.entity, ''), ' (' || r.media_type || ')') AS file"
_SCOPE: Final = """
SELECT s.side, s.base FROM located l JOIN scopes s ON s.site = l.site AND starts_with(l.path || '/', s.prefix)
WHERE l.url = ? ORDER BY length(s.prefix) DESC
"""
# The file that answers a URL of the new site, or nearly does, and its own URL by which a server finds it.
_ANSWER: Final = f"""
SELECT l.*, {_FILE}, r.path AS file_path, coalesce(a.url, l.url) AS own, coalesce(a.rank, 0) AS rank,
    list_extract(index_names(), a.rank) AS index_name
FROM located l LEFT JOIN resources r ON r.resource = coalesce(l.resource, l.variant_resource)
LEFT JOIN served a ON a.side = l.side AND a.site = l.site AND a.resource = l.resource
    AND a.key IN (l.key, l.key || '?' || coalesce(query_of(l.url), ''))
WHERE l.side = 'new' AND l.url = ? ORDER BY a.rank LIMIT 1
"""  # noqa: S608 - names of ours
_OLD: Final = f"""
SELECT o.url, o.file_url, {_FILE} FROM old_urls o JOIN resources r ON r.resource = o.resource
LEFT JOIN located l ON l.side = 'old' AND l.url = $1
WHERE $1 IN (o.url, o.file_url) OR o.resource = l.resource LIMIT 1
"""  # noqa: S608 - names of ours
_JUDGED: Final = """
SELECT j.*, u.final, u.requests, u.rule AS added, u.suggestion, c.title
FROM judged_urls j LEFT JOIN urls u ON u.url = j.url
LEFT JOIN causes c ON c.cause = u.cause AND (c.verdict = j.verdict OR starts_with(c.cause, 'rule:'))
WHERE j.url = ?
"""
_LINKS: Final = """
SELECT concat(l.document, ':' || l.line || ':' || l."column", ' ' || nullif(l.entity, ''), ': ', l.element,
        '[' || nullif(l.attribute, '') || ']') AS place,
    concat(l.base, ' (', l.base_layer, ' ' || nullif(l.base_source, ''), ')') AS from_base, l.reference,
    coalesce(f.verdict, quiet_verdict(l.scope)) AS verdict, f.final, f.fix, f.suggestion, f.rule, c.title
FROM links_in l LEFT JOIN fixed_findings f ON f.id = l.id
LEFT JOIN causes c ON c.cause = f.cause AND (c.verdict = f.verdict OR starts_with(c.cause, 'rule:'))
WHERE CASE WHEN contains($1, '#') THEN l.target = $1 ELSE bare(l.target) = $1 END
    OR l.target IS NULL AND l.reference = $1
"""
_FIRST: Final = f'{_LINKS} ORDER BY l.document, l.entity, l.line, l."column" LIMIT {_MOST}'
_GROUPED: Final = f"""
SELECT verdict, rule, title, (sum(count(*)) OVER ())::BIGINT AS total FROM ({_LINKS}) GROUP BY verdict, rule, title
ORDER BY count(*) DESC, verdict, rule, title LIMIT {_MOST}
"""  # noqa: S608 - names of ours
_PLACES: Final = """
SELECT * FROM targets WHERE url = $1 AND fragment <> '' AND $2 IN ('', fragment) ORDER BY fragment
"""
_PAGES: Final = """
SELECT p.verdict, p.detail FROM pages p JOIN named n ON n.url = p.url
JOIN located l ON l.side = 'new' AND l.resource = n.resource WHERE l.url = ? ORDER BY ALL
"""
_NAMED: Final = f"""
SELECT n.url FROM resources r JOIN named n USING (resource) WHERE r.document = $1
UNION SELECT url FROM (SELECT url FROM asked UNION ALL SELECT url FROM named UNION ALL SELECT url FROM old_urls)
WHERE ends_with(url, '/' || ltrim($1, '/')) ORDER BY ALL LIMIT {_MOST}
"""  # noqa: S608 - a number of ours


class Audit(NamedTuple):
    """A finished audit: its connection, the question, and the rules."""

    connection: Any
    question: Question
    rules: Rules

    def row(self, query: str, *values: Any) -> dict[str, Any] | None:
        """Return the first row of a query by its columns; None without a row."""
        return next(self.rows(query, *values), None)

    def rows(self, query: str, *values: Any) -> Iterator[dict[str, Any]]:
        """Yield the rows of a query by their columns."""
        cursor = self.connection.cursor().execute(query, list(values))
        names = [name for name, *_ in cursor.description]
        return (dict(zip(names, row, strict=True)) for row in cursor.fetchall())

    def locate(self, *urls: str) -> None:
        """Find URLs on both sites, also URLs that no link names."""
        self.connection.execute("CREATE OR REPLACE TABLE wanted (side VARCHAR, url VARCHAR)")
        insert(self.connection, "wanted", [(side, url.partition("#")[0]) for url in urls for side in ("old", "new")])
        locate(self.connection)


def explained(audit: Audit, text: str) -> Iterator[str]:
    """Yield the lines about a URL, or about a path of either site, or about all URLs that end with the text."""
    urls = _urls(audit.question, text)
    named = [] if "://" in text else [url for (url,) in each(audit.connection, _NAMED, [text.removeprefix("./")])]
    attempts: tuple[tuple[list[str], Callable[..., Iterator[str]]], ...] = (
        (urls or [text], _explain_url), (named, _explain_url), (urls, _explain_rule),
    )
    audit.locate(*urls, *named)
    for some, steps in attempts:
        found = [(url, lines) for url in some if (lines := list(steps(audit, url)))]
        for url, lines in found:
            yield url
            yield from (f"  {line}" for line in lines)
        if found:
            yield _assumed(audit.question)
            return
    sites = " and ".join(filter(None, (audit.question.new_url, audit.question.old_url)))
    yield in_short(text)
    yield f"  Unknown: no document of {sites} has this URL, no link leads to it, and no rule moves it."


def _urls(question: Question, text: str) -> list[str]:
    """Return the URLs for a text: for example, `/a` is `/a` on both sites."""
    bare, crosshatch, fragment = text.partition("#")
    parsed = (whatwg.parse(bare, base) for base in (question.new_url, question.old_url) if base is not None)
    found = (url for one in parsed if one is not None and (url := identity.normal(one)) is not None)
    return [f"{url}{crosshatch}{fragment}" for url in dict.fromkeys(found)]


def _assumed(question: Question) -> str:
    """Return the assumptions about the server in words, for example "letter case makes a difference"."""
    server = question.server
    moves = "is redirected there" if server.bare_folder == "redirect" else "has nothing"
    parts = [
        f"the URL of a folder is answered by its {' or '.join(server.indexes)}",
        f"without its final slash it {moves}",
        *([f"a page is there without its {' or '.join(server.extensions)}, too"] if server.extensions else []),
        *([f"it answers {' and '.join(server.answers)} itself"] if server.answers else []),
        f"letter case {'makes no' if server.case == 'ignore' else 'makes a'} difference",
        f"a query {'makes no' if server.queries == 'ignore' else 'makes a'} difference",
    ]
    more = f" ({server.documentation})" if server.documentation != SERVERS["plain"].documentation else ""
    name = _server(question).removeprefix("Server ")
    return f"Assumed of the server, {name}: {', '.join(parts)}{more}. --server has others."


def _server(question: Question) -> str:
    """Return the name of the server, for example "Server nginx with changes"; its documentation identifies it."""
    server = question.server
    name = next((name for name, one in SERVERS.items() if one.documentation == server.documentation), "")
    return f"Server {name}" + ("" if SERVERS.get(name) == server else " with changes")


def _explain_url(audit: Audit, url: str) -> Iterator[str]:
    yield from _explain_old(audit, url.partition("#")[0])
    yield from _explain_new(audit, url)


def _explain_rule(audit: Audit, url: str) -> Iterator[str]:
    """Yield the steps for a URL that only rules concern."""
    if audit.rules.move(url.partition("#")[0]) is not None:
        yield "No document has this URL, and no link leads to it: its rule has no effect on the findings."
        yield from _hops(audit, url.partition("#")[0])


# --- a URL of the old site --------------------------------------------------------------------------------------------


def _explain_old(audit: Audit, url: str) -> Iterator[str]:
    old = audit.row(_OLD, url)
    if old is None:
        return
    spelled = "" if url in {old["url"], old["file_url"]} else f", as {old['url']}"
    yield f"It is a URL of the old site: {old['file']}{spelled}"
    judged = audit.row(_JUDGED, old["url"])
    if judged is None:
        yield "There is no verdict: --ignore leaves it out."
        return
    yield from _hops(audit, judged["led_url"] or old["file_url"])
    yield f"The same path of the new site: {judged['new_url']}"
    yield from _answered(audit, judged["new_url"])
    yield from _contents(judged, audit.question.threshold)
    yield f"Verdict {judged['verdict']}: {words(judged['verdict']).meaning}"
    requests = f"{judged['requests']:,} requests or clicks." if judged["requests"] is not None else None
    added = judged["added"] if judged["verdict"] == "moved" else None
    facts = {
        "It leads to:": judged["final"],
        "The lists of the old site count": requests,
        "Cause:": judged["title"],
        "A rule to add:": added,
        "Perhaps:": judged["suggestion"],
    }
    yield from (f"{name} {in_short(fact)}" for name, fact in facts.items() if fact)


def _contents(judged: dict[str, Any], threshold: float) -> Iterator[str]:
    """Yield where the content of an old URL is, and how similar the pages are."""

    def alike(name: str) -> str:
        return f"{judged[name]:.2f} alike ({threshold:.2f} is the same page)"

    if judged["digest"] is not None and judged["digest"] == judged["there_digest"]:
        yield "It has the same bytes there."
    elif judged["there_score"] is not None:
        yield f"Its text there is {alike('there_score')}."
    if judged["digest_url"] not in {None, judged["there"]}:
        yield f"The same bytes: {judged['digest_url']}"
    if judged["content_url"] not in {None, judged["there"]}:
        yield f"Its text: {judged['content_url']}, {alike('content_score')}"
    if judged["second_url"] is not None:
        yield f"The next best text: {judged['second_url']}"
    if judged["led_score"] is not None:
        yield f"The text where the rule leads is {alike('led_score')}."
    if judged["leads_home"]:
        yield "The rule leads to the home page. Search engines take that for lost, if a rule does it for several pages."


# --- a URL of the new site, or the target of a link -------------------------------------------------------------------


def _explain_new(audit: Audit, url: str) -> Iterator[str]:
    bare, _, fragment = url.partition("#")
    scopes = [row["side"] for row in audit.rows(_SCOPE, bare)]
    there = audit.row(_ANSWER, bare) or {}
    is_new = "new" in scopes or there.get("resource") is not None
    is_moved = is_new and audit.rules.move(bare) is not None
    is_found = there.get("resource") is not None or there.get("variant") is not None
    if not (is_moved or is_found or audit.row(f"{_LINKS} LIMIT 1", url)):
        return
    if audit.row(_OLD, bare) is None:
        yield from _hops(audit, bare) if is_new else _explain_other(audit, bare, scopes) if there else ()
        if is_new and audit.rules.move(bare, audit.rules.exists) is None:
            yield from _answered(audit, bare)
    yield from _places(audit, bare, fragment)
    yield from _explain_links(audit, url)
    yield from (f"Verdict {row['verdict']}: {row['detail']}" for row in audit.rows(_PAGES, bare))


def _explain_other(audit: Audit, url: str, scopes: list[str]) -> Iterator[str]:
    """Yield the steps for a URL of the old site without a document, or the answer of another site's server."""
    if "old" in scopes:
        yield "It is on the old site, which has no document there."
        for row in audit.rows("SELECT old_url, new_url FROM counterparts WHERE url = ?", url):
            yield from _hops(audit, row["old_url"])
            yield f"The same path of the new site: {row['new_url']}"
            yield from _answered(audit, row["new_url"])
    elif (answer := audit.row("SELECT * FROM answers WHERE url = ? AND kind = 'link'", url)) is not None:
        detail, at = answer["detail"], answer["date"]
        verdict = f"{answer['verdict']}{f' ({detail})' if detail else ''}"
        yield f"Its server was asked{f' at {at}' if at else ''}: {verdict}"
    elif url.startswith("cid:"):
        yield "It is a part of the message, by its Content-ID."
    elif audit.row("FROM given_hosts WHERE site = site_of(?)", url) is not None:
        yield "It is on a host of which NEW has a folder, but no such document."
    else:
        yield "It is on another site, which is not judged (--live external asks for it)."


def _answered(audit: Audit, url: str) -> Iterator[str]:
    """Yield the file of the new site that answers a URL, with the rule of the server that finds it."""
    audit.locate(url)
    found = audit.row(_ANSWER, url)
    server = _server(audit.question)
    if found is None or found["resource"] is None:
        yield f"{server} has no file for {in_short(url)}"
    else:
        yield f"{server} answers {in_short(url)} with {found['file']}{_how(audit.question, url, found)}"
        if found["sent_to"] is not None:
            yield f"{server} redirects it (html=redirect): {found['sent_to']}"
    if found is not None and found["resource"] is None and found["variant"] is not None:
        several = ", one of several" if found["is_ambiguous"] else ""
        yield f"There is: {found['there']}{several}, {found['file']}"
        if found["variant"] == "slash" and audit.question.server.bare_folder == "redirect":
            yield f"{server} redirects a folder without its slash (bare-folder=redirect)"


def _how(question: Question, url: str, found: dict[str, Any]) -> str:
    """Return the rules of the server that found a file, for example ", by index=index.html"; "" for its own path."""
    path, server = identity.decoded(found["path"]), question.server
    extensions = (one.lstrip(".") for one in server.extensions if found["file_path"].endswith(one))
    reasons = {
        f"index={found['index_name']}": 1 <= found["rank"] <= _LAST_INDEX,
        f"extension={next(extensions, '')}": found["rank"] > _LAST_INDEX,
        "slashes=merge": "//" in path and server.slashes == "merge",
        "case=ignore": path != path.lower() and server.case == "ignore",
        "query=ignore": "?" in url and "?" not in found["own"],
    }
    return "".join(f", by {reason}" for reason, holds in reasons.items() if holds)


def _hops(audit: Audit, url: str) -> Iterator[str]:
    """Yield the steps by which rules move a URL, with file, line and text, and the answer at the end."""
    rules = audit.rules

    def target(move: Move) -> str:
        return "" if _is_last(move) else rules.landed((move.target or "").partition("#")[0])  # no rule moves ""

    steps, end, circle = follow(url, lambda at: rules.move(at, rules.exists), target, _MOST)
    if not steps:
        yield from _unmoved(rules, url)
        return
    yield from (_step(at, move) for at, move in steps[:_MOST])
    last = steps[-1][1]
    if rules.exists(rules.counterpart(url)):
        yield "The new site has a file there, which the rule hides."
    if not all(move.is_sure for _, move in steps):
        yield "A rule that could not be read may come before one of these."
    if len(steps) > _MOST:
        yield f"The first {_MOST} redirects are listed."
    elif _is_last(last):
        yield from _answered(audit, last.target) if last.rewrite and last.target is not None else ()
    elif circle is not None:
        yield "That is a circle."
    else:
        if end != (last.target or "").partition("#")[0]:
            yield f"No rule moves {in_short(last.target or '')}: the same path of the new site counts."
        yield from _answered(audit, end)


def _is_last(move: Move) -> bool:
    return move.rewrite or move.target is None or move.status in GONE


def _step(url: str, move: Move) -> str:
    step, target = f"{move.rule.place}: {in_short(' '.join(move.rule.text.split()))}", in_short(move.target or "")
    if move.rewrite:
        return f"{step}: sends the content of {target} ({move.status})"
    if _is_last(move):
        return f"{step}: answers {move.status}"
    return f"{step}: redirects {in_short(url)} to {target} ({move.status})"


def _unmoved(rules: Rules, url: str) -> Iterator[str]:
    if (hidden := rules.move(url)) is not None:
        text = in_short(" ".join(hidden.rule.text.split()))
        yield f"{hidden.rule.place} does not move it, because the new site has a file there: {text}"
    elif rules.sets:
        yield "No rule moves it."


def _places(audit: Audit, url: str, fragment: str) -> Iterator[str]:
    """Yield a line for each fragment in links to a URL, or for the given fragment: whether its place is missing."""
    targets = list(audit.rows(_PLACES, url, fragment))
    for row in targets[:_MOST]:
        is_missing = row["verdict"] == "fragment"
        near = f"; perhaps {row['suggestion']}" if is_missing and row["suggestion"] else ""
        yield f"Its place #{row['fragment']} is {'missing' if is_missing else 'not missing'}{near}."
    if len(targets) > _MOST:
        yield f"And {len(targets) - _MOST:,} more places."
    stray = audit.row("SELECT stray_there FROM targets WHERE url = ? AND stray_there IS NOT NULL", url)
    if stray is not None:
        yield f"Inside the folder of the site it is there: {stray['stray_there']}"


def _explain_links(audit: Audit, url: str) -> Iterator[str]:
    """Yield the first links that lead to a URL, and the verdicts of all."""
    groups = list(audit.rows(_GROUPED, url))
    total = groups[0]["total"] if groups else 0
    more = f", the first {_MOST} are" if total > _MOST else ""
    yield f"{total:,} {'link leads' if total == 1 else 'links lead'} there{more}:" if total else "No link leads there."
    for row in audit.rows(_FIRST, url):
        repairs = (("write", row["fix"]), ("leads to", row["final"]), ("perhaps", row["suggestion"]))
        repair = next((f", {word} {in_short(text)}" for word, text in repairs if text), "")
        yield f"  {row['place']}: {in_short(row['reference'])}, base {row['from_base']}: {row['verdict']}{repair}"
    for group in groups:
        yield f"Verdict {group['verdict']}: {words(group['verdict']).meaning}"
        named = {"Cause": group["title"], "Rule": group["rule"]}
        yield from (f"{name}: {in_short(text)}" for name, text in named.items() if text)
