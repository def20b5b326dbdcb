"""Explain the verdicts of one URL: the files, rules, server and answers by which they came.

In: the working tables and result tables of an audit, its rules. Out: lines of text, one for each step. They are exact:
who prints them escapes them. Nothing is judged here: a step that a table lacks is asked of the same queries and rules.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from absolve.audit.judge import each, insert, locate
from absolve.audit.maps.model import GONE
from absolve.audit.servers import SERVERS
from absolve.audit.verdicts import QUIET, words
from absolve.core.errors import in_short
from absolve.urls import identity, whatwg

if TYPE_CHECKING:
    from collections.abc import Iterator

    from absolve.audit.judge import Question
    from absolve.audit.maps import Move, Rule, Rules

_MOST: Final = 20  # links, redirects and places that are listed
_RESOURCE: Final = "SELECT * FROM resources JOIN named n USING (resource) WHERE resource = ?"
_LOCATED: Final = "SELECT * FROM located WHERE side = 'new' AND url = ?"
_SCOPE: Final = """
SELECT s.side, s.base FROM located l JOIN scopes s ON s.site = l.site AND starts_with(l.path || '/', s.prefix)
WHERE l.url = ? ORDER BY length(s.prefix) DESC
"""
# By which of its URLs a server finds the file for this one.
_ANSWER: Final = """
SELECT a.url, a.rank, a.takes_queries, list_extract((SELECT index_names FROM server), a.rank) AS index_name
FROM located l JOIN served a ON a.side = l.side AND a.site = l.site AND a.resource = l.resource
    AND a.key IN (l.key, l.key || '?' || coalesce(query_of(l.url), ''))
WHERE l.side = 'new' AND l.url = ? ORDER BY a.rank LIMIT 1
"""
_OLD: Final = """
SELECT o.url, o.file_url, o.new_url, o.resource FROM old_urls o LEFT JOIN located l ON l.side = 'old' AND l.url = ?
WHERE o.url = ? OR o.file_url = ? OR o.resource = l.resource LIMIT 1
"""
_LINKS: Final = """
SELECT l.document, l.entity, l.line, l."column", l.element, l.attribute, l.reference, l.base, l.base_layer,
    l.base_source, coalesce(f.verdict, quiet_verdict(l.scope)) AS verdict, f.final, f.fix, f.suggestion, f.rule, c.title
FROM links_in l LEFT JOIN fixed_findings f ON f.id = l.id
LEFT JOIN causes c ON c.cause = f.cause AND (c.verdict = f.verdict OR starts_with(c.cause, 'rule:'))
WHERE CASE WHEN contains(?, '#') THEN l.target = ? ELSE bare(l.target) = ? END OR l.target IS NULL AND l.reference = ?
"""
_FIRST: Final = f'{_LINKS} ORDER BY l.document, l.entity, l.line, l."column" LIMIT {_MOST}'
_GROUPED: Final = f"""
SELECT verdict, rule, title, (sum(count(*)) OVER ())::BIGINT AS total FROM ({_LINKS}) GROUP BY verdict, rule, title
ORDER BY count(*) DESC, verdict, rule, title LIMIT {_MOST}
"""  # noqa: S608 - names of ours
_LAST_INDEX: Final = 99  # of the ranks in served
_TARGETS: Final = """
SELECT DISTINCT verdict FROM targets WHERE target = ? AND verdict NOT IN ('ok', 'external') ORDER BY ALL
"""


class Audit(NamedTuple):
    """A finished audit: its connection, what was asked, and the rules."""

    connection: Any
    question: Question
    rules: Rules

    def row(self, query: str, *values: Any) -> dict[str, Any] | None:
        """Return the first row of a query by its columns; None without a row."""
        return next(self.rows(query, *values), None)

    def rows(self, query: str, *values: Any) -> Iterator[dict[str, Any]]:
        """Yield the rows of a query by their columns."""
        names = [name for name, *_ in self.connection.execute(f"DESCRIBE {query}", list(values)).fetchall()]
        return (dict(zip(names, row, strict=True)) for row in each(self.connection, query, values))


def explained(audit: Audit, given: str) -> Iterator[str]:
    """Yield the lines about a URL, or about a path of either site."""
    urls = _urls(audit.question, given)
    _locate(audit, [url.partition("#")[0] for url in urls])
    found = list(_about(audit, urls or [given]))
    if not found and (named := _named(audit, given)):
        _locate(audit, named)
        found = list(_about(audit, named))
    if not found:
        found = list(_about(audit, urls, of_rules=True))
    yield from found
    if found:
        yield _assumed(audit.question)
    else:
        sites = " and ".join(filter(None, (audit.question.new_url, audit.question.old_url)))
        yield in_short(given)
        yield f"  Unknown: no document of {sites} has this URL, no link leads to it, and no rule moves it."


def _assumed(question: Question) -> str:
    """Return how the server is taken to find files, in words."""
    server = question.server
    moves = "is redirected there" if server.bare_folder == "redirect" else "has nothing"
    parts = [
        f"the URL of a folder is answered by its {' or '.join(server.indexes)}",
        f"without its final slash it {moves}",
        *([f"a page is there without its {' or '.join(server.extensions)}, too"] if server.extensions else []),
        f"letter case {'makes no' if server.case == 'ignore' else 'makes a'} difference",
        f"a query {'makes no' if server.queries == 'ignore' else 'makes a'} difference",
    ]
    name = _server(question).removeprefix("Server ")
    more = f" ({server.documentation})" if server.documentation != SERVERS["plain"].documentation else ""
    return f"Assumed of the server, {name}: {', '.join(parts)}{more}. --server has others."


def _about(audit: Audit, urls: list[str], *, of_rules: bool = False) -> Iterator[str]:
    """Yield the lines about each URL of which anything is known; `of_rules`: of which only a rule is."""
    for url in urls:
        if lines := list(_of_rule(audit, url)) if of_rules else [*_of_old(audit, url), *_of_new(audit, url)]:
            yield url
            yield from (f"  {line}" for line in lines)


def _named(audit: Audit, given: str) -> list[str]:
    """Return the URLs that a file or the end of a path names."""
    end = given.removeprefix("./")
    if not end or "://" in end:
        return []
    query = f"""
        SELECT n.url FROM resources r JOIN named n USING (resource) WHERE r.document = $1
        UNION SELECT url FROM (SELECT url FROM asked UNION ALL SELECT url FROM named UNION ALL SELECT url FROM old_urls)
        WHERE ends_with(url, '/' || ltrim($1, '/')) ORDER BY ALL LIMIT {_MOST}
    """  # noqa: S608 - a number of ours
    return [url for (url,) in each(audit.connection, query, [end])]


def _urls(question: Question, given: str) -> list[str]:
    """Return the URLs that a text names: a path is one of both sites."""
    bare, crosshatch, fragment = given.partition("#")
    bases = filter(None, (question.new_url, question.old_url))
    parsed = (whatwg.parse(bare, base) for base in bases)
    found = (url for one in parsed if one is not None and (url := identity.normal(one)) is not None)
    return [f"{url}{crosshatch}{fragment}" for url in dict.fromkeys(found)]


def _locate(audit: Audit, urls: list[str]) -> None:
    """Find URLs on both sites: links may name none of them."""
    audit.connection.execute("CREATE OR REPLACE TABLE wanted (side VARCHAR, url VARCHAR)")
    insert(audit.connection, "wanted", [(side, url.partition("#")[0]) for url in urls for side in ("old", "new")])
    locate(audit.connection, audit.question)


# --- a URL of the old site --------------------------------------------------------------------------------------------


def _of_old(audit: Audit, url: str) -> Iterator[str]:
    bare = url.partition("#")[0]
    old = audit.row(_OLD, bare, bare, bare)
    if old is None:
        return
    is_other = bare not in {old["url"], old["file_url"]}
    spelled = f", as {old['url']}" if is_other else ""
    yield f"It is a URL of the old site: {_file(audit, old['resource'])}{spelled}"
    judged = audit.row("SELECT * FROM judged_urls JOIN settings ON true WHERE url = ?", old["url"])
    if judged is None:
        yield "There is no verdict: --ignore leaves it out."
        return
    yield from _hops(audit, judged["led_url"] or old["file_url"])
    yield from _at_the_same_path(audit, judged)
    yield from _elsewhere(judged)
    yield from _verdict_of_old(audit, judged)


def _at_the_same_path(audit: Audit, judged: dict[str, Any]) -> Iterator[str]:
    yield f"The same path of the new site: {judged['new_url']}"
    yield from _answered(audit, judged["new_url"])
    if judged["there_resource"] is None or judged["digest"] is None or judged["there_digest"] is None:
        return
    if judged["digest"] == judged["there_digest"]:
        yield "It has the same bytes there."
    elif judged["there_score"] is not None:
        yield f"Its text there is {_alike(judged['there_score'], judged['threshold'])}."


def _of_rule(audit: Audit, url: str) -> Iterator[str]:
    """Yield the steps of a URL that is known by rules alone."""
    if audit.rules.move(url.partition("#")[0]) is not None:
        yield "No document has this URL, and no link leads to it: its rule has no effect on the findings."
        yield from _hops(audit, url.partition("#")[0])


def _elsewhere(judged: dict[str, Any]) -> Iterator[str]:
    if judged["digest_url"] is not None and judged["digest_url"] != judged["there"]:
        yield f"The same bytes: {judged['digest_url']}"
    if judged["content_url"] is not None and judged["content_url"] != judged["there"]:
        yield f"Its text: {judged['content_url']}, {_alike(judged['content_score'], judged['threshold'])}"
    if judged["second_url"] is not None:
        yield f"The next best text: {judged['second_url']}"
    if judged["led_score"] is not None:
        yield f"The text where the rule leads is {_alike(judged['led_score'], judged['threshold'])}."
    if judged["leads_home"]:
        yield "The rule leads to the home page. Search engines take that for lost, if a rule does it for several pages."


def _alike(score: float, threshold: float) -> str:
    return f"{score:.2f} alike ({threshold:.2f} is the same page)"


def _verdict_of_old(audit: Audit, judged: dict[str, Any]) -> Iterator[str]:
    row = audit.row("SELECT * FROM urls WHERE url = ?", judged["url"]) or {}
    yield f"Verdict {judged['verdict']}: {words(judged['verdict']).meaning}"
    if row.get("final"):
        yield f"It leads to: {row['final']}"
    if row.get("requests") is not None:
        yield f"The lists of the old site count {row['requests']:,} requests or clicks."
    yield from _cause(audit, row.get("cause"), judged["verdict"])
    if row.get("rule") and judged["verdict"] == "moved":
        yield f"A rule to add: {in_short(row['rule'])}"
    if row.get("suggestion"):
        yield f"Perhaps: {row['suggestion']}"


# --- a URL of the new site, or the target of a link -------------------------------------------------------------------


def _of_new(audit: Audit, url: str) -> Iterator[str]:
    bare, _, fragment = url.partition("#")
    scopes = [row["side"] for row in audit.rows(_SCOPE, bare)]
    has_links = audit.row(f"{_LINKS} LIMIT 1", *[url] * 4) is not None
    located = audit.row(_LOCATED, bare) or {}
    is_of_new = "new" in scopes or located.get("resource") is not None
    is_of_old = audit.row(_OLD, bare, bare, bare) is not None
    is_moved = is_of_new and audit.rules.move(bare) is not None
    is_found = located.get("resource") is not None or located.get("variant") is not None
    if not (has_links or is_found or is_moved):
        return
    if is_of_new and not is_of_old:
        yield from _hops(audit, bare)
        yield from _answered(audit, bare) if audit.rules.move(bare, audit.rules.exists) is None else ()
    elif located and not is_of_old:
        yield from _of_other(audit, bare, scopes)
    yield from _places(audit, bare, fragment)
    yield from _of_links(audit, url)
    yield from _of_page(audit, located.get("resource"))


def _of_other(audit: Audit, url: str, scopes: list[str]) -> Iterator[str]:
    if "old" not in scopes:
        yield from _heard(audit, url)
        return
    yield "It is on the old site, which has no document there."
    for row in audit.rows("SELECT old_url, new_url FROM counterparts WHERE url = ?", url):
        yield from _hops(audit, row["old_url"])
        yield f"The same path of the new site: {row['new_url']}"
        yield from _answered(audit, row["new_url"])


def _heard(audit: Audit, url: str) -> Iterator[str]:
    """Yield what a server answered for a URL of another site."""
    row = audit.row("SELECT * FROM answers WHERE url = ? AND kind = 'link'", url)
    if row is None:
        yield "It is on another site, which is not judged (--live external asks for it)."
        return
    detail = f" ({row['detail']})" if row["detail"] else ""
    yield f"Its server was asked{' at ' + row['date'] if row['date'] else ''}: {row['verdict']}{detail}"


def _answered(audit: Audit, url: str) -> Iterator[str]:
    """Yield which resource of the new site answers a URL, by which row of the table of servers."""
    _locate(audit, [url])
    found = audit.row(_LOCATED, url) or {"resource": None, "variant": None}
    server = _server(audit.question)
    if found["resource"] is not None:
        yield f"{server} answers {in_short(url)} with {_file(audit, found['resource'])}{_how(audit, url, found)}"
        if found["sent_to"] is not None:
            yield f"{server} redirects it (html=redirect): {found['sent_to']}"
        return
    yield f"{server} has no file for {in_short(url)}"
    if found["variant"] is None:
        return
    several = ", one of several" if found["is_ambiguous"] else ""
    yield f"There is: {found['there']}{several}, {_file(audit, found['variant_resource'])}"
    if found["variant"] == "slash" and audit.question.server.bare_folder == "redirect":
        yield f"{server} redirects a folder without its slash (bare-folder=redirect)"


def _how(audit: Audit, url: str, found: dict[str, Any]) -> str:
    """Return by which columns of the table of servers a file was found, none for its own path."""
    answer = audit.row(_ANSWER, url) or {"rank": 0, "url": url}
    path, server = identity.decoded(found["path"]), audit.question.server
    reasons = {
        f"index={answer.get('index_name')}": 1 <= answer["rank"] <= _LAST_INDEX,
        f"extension={_extension(audit, found['resource'])}": answer["rank"] > _LAST_INDEX,
        "slashes=merge": "//" in path and server.slashes == "merge",
        "case=ignore": path != path.lower() and server.case == "ignore",
        "query=ignore": "?" in url and "?" not in answer["url"],
    }
    return "".join(f", by {reason}" for reason, holds in reasons.items() if holds)


def _extension(audit: Audit, resource: int) -> str:
    path = (audit.row(_RESOURCE, resource) or {})["path"]
    return next((one.lstrip(".") for one in audit.question.server.extensions if path.endswith(one)), "")


def _server(question: Question) -> str:
    """Return the name of the server: a changed one has the documentation of that which it was made of."""
    server = question.server
    name = next((name for name, one in SERVERS.items() if one.documentation == server.documentation), "")
    return f"Server {name}" + ("" if SERVERS.get(name) == server else " with changes")


def _file(audit: Audit, resource: int) -> str:
    """Return the document that a resource is, with its media type."""
    row = audit.row(_RESOURCE, resource) or {}
    name = f"{row.get('document')} {row.get('entity') or ''}".rstrip()
    return f"{name} ({row['media_type']})" if row.get("media_type") else name


def _hops(audit: Audit, url: str) -> Iterator[str]:
    """Yield the steps that rules make from a URL, with file, line and text, and what answers the last."""
    steps, end = _steps(audit.rules, url)
    if not steps:
        yield from _unmoved(audit.rules, url)
        return
    yield from (_step(*step) for step in steps)
    if audit.rules.exists(audit.rules.counterpart(url)):
        yield "The new site has a file there, which the rule hides."
    last = steps[-1][1]
    if not all(move.is_sure for _, move in steps):
        yield "A rule that could not be read may come before one of these."
    if _is_last(last):
        yield from _answered(audit, last.target) if last.rewrite and last.target is not None else ()
    elif end in dict(steps):
        yield "That is a circle."
    elif len(steps) == _MOST:
        yield f"The first {_MOST} redirects are listed."
    else:
        if end != (last.target or "").partition("#")[0]:
            yield f"No rule moves {in_short(last.target or '')}: the same path of the new site counts."
        yield from _answered(audit, end)


def _steps(rules: Rules, url: str) -> tuple[list[tuple[str, Move]], str]:
    """Return the first steps from a URL, and the URL behind the last of them."""
    found: dict[str, Move] = {}
    while url not in found and len(found) < _MOST:
        move = rules.move(url, rules.exists)
        if move is None:
            break
        found[url] = move
        if _is_last(move) or move.target is None:
            break
        url = rules.landed(move.target.partition("#")[0])
    return list(found.items()), url


def _is_last(move: Move) -> bool:
    return move.rewrite or move.target is None or move.status in GONE


def _step(url: str, move: Move) -> str:
    step, target = f"{move.rule.place}: {_text(move.rule)}", in_short(move.target or "")
    if move.rewrite:
        return f"{step}: sends the content of {target} ({move.status})"
    if _is_last(move):
        return f"{step}: answers {move.status}"
    return f"{step}: redirects {in_short(url)} to {target} ({move.status})"


def _unmoved(rules: Rules, url: str) -> Iterator[str]:
    hidden = rules.move(url)
    if hidden is not None:
        yield f"{hidden.rule.place} does not move it, because the new site has a file there: {_text(hidden.rule)}"
    elif rules.sets:
        yield "No rule moves it."


def _text(rule: Rule) -> str:
    return in_short(" ".join(rule.text.split()))


def _places(audit: Audit, url: str, fragment: str) -> Iterator[str]:
    """Yield what is known of the fragments with which links lead to a URL: all of them, or the one that was given."""
    query = "SELECT * FROM targets WHERE url = ? AND fragment IS NOT NULL AND fragment <> '' ORDER BY fragment"
    targets = [row for row in audit.rows(query, url) if fragment in {"", row["fragment"]}]
    for row in targets[:_MOST]:
        is_missing = row["verdict"] == "fragment"
        near = f"; perhaps {row['suggestion']}" if is_missing and row["suggestion"] else ""
        yield f"Its place #{row['fragment']} is {'missing' if is_missing else 'not missing'}{near}."
    if len(targets) > _MOST:
        yield f"And {len(targets) - _MOST:,} more places."
    stray = next((row["stray_there"] for row in targets if row["stray_there"]), None)
    if stray is not None:
        yield f"Inside the folder of the site it is there: {stray}"


def _of_links(audit: Audit, url: str) -> Iterator[str]:
    """Yield the first links that lead to a URL, and the verdicts of all."""
    groups = list(audit.rows(_GROUPED, *[url] * 4))
    total = groups[0]["total"] if groups else 0
    more = f", the first {_MOST} are" if total > _MOST else ""
    yield f"{total:,} {'link leads' if total == 1 else 'links lead'} there{more}:" if total else "No link leads there."
    for row in audit.rows(_FIRST, *[url] * 4):
        yield f"  {_place(row)}: {in_short(row['reference'])}, base {_base(row)}: {row['verdict']}{_repair(row)}"
    for group in groups:
        yield f"Verdict {group['verdict']}: {words(group['verdict']).meaning}"
        named = {"Cause": group["title"], "Rule": group["rule"]}
        yield from (f"{name}: {in_short(text)}" for name, text in named.items() if text)
    if groups and {group["verdict"] for group in groups} <= set(QUIET):
        for row in audit.rows(_TARGETS, url):
            yield f"The target alone would be {row['verdict']}: the findings are left out, or none for such links."


def _place(row: dict[str, Any]) -> str:
    where = f":{row['line']}:{row['column']}" if row["line"] is not None else ""
    entity = f" {row['entity']}" if row["entity"] else ""
    attribute = f"[{row['attribute']}]" if row["attribute"] else ""
    return f"{row['document']}{where}{entity}: {row['element']}{attribute}"


def _base(row: dict[str, Any]) -> str:
    source = f" {row['base_source']}" if row["base_source"] else ""
    return f"{row['base']} ({row['base_layer']}{source})"


def _repair(row: dict[str, Any]) -> str:
    for name, word in (("fix", "write"), ("final", "leads to"), ("suggestion", "perhaps")):
        if row[name]:
            return f", {word} {in_short(row[name])}"
    return ""


def _of_page(audit: Audit, resource: int | None) -> Iterator[str]:
    query = "SELECT p.verdict, p.detail FROM pages p JOIN named n ON n.url = p.url WHERE n.resource = ? ORDER BY ALL"
    for row in audit.rows(query, resource) if resource is not None else ():
        yield f"Verdict {row['verdict']}: {row['detail']}"


def _cause(audit: Audit, cause: str | None, verdict: str) -> Iterator[str]:
    query = "SELECT title FROM causes WHERE cause = ? AND (verdict = ? OR starts_with(cause, 'rule:'))"
    row = audit.row(query, cause, verdict)
    if row is not None:
        yield f"Cause: {in_short(row['title'])}"
