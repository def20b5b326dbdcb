"""Findings of all tables as one sequence, and their causes as another, for all outputs: place, message, advice.

In: a `Source`. Out: `Finding`s of links, of old URLs, of pages, of rules, each with a stable identity; whether the site
can switch, and the reasons; `Cause`s with the place of one finding, in one order.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple
from urllib.parse import quote

from absolve.audit import verdicts
from absolve.audit.verdicts import (
    DIFFERS,
    FINE,
    PAGE_VERDICTS,
    QUIET,
    RULE_VERDICTS,
    SEVERITIES,
    UNREAD,
    URL_VERDICTS,
    VERDICTS,
    WITHOUT_EFFECT,
    WRONG,
    rule_sentence,
    words,
)
from absolve.core.printable import masked, number, printable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from absolve.audit.outputs.source import Source


class Finding(NamedTuple):
    """One finding. `site` is the element and the attribute of a link.

    Lines and columns are 1-based; `start` and `end` are the span in bytes; 0 or -1 if unknown.

    `identity` does not change when lines are added or the site is in another folder. `key` has the columns that a
    baseline compares; `is_new`: the baseline lacks the finding (None without a baseline).
    """

    verdict: str
    document: str
    entity: str
    line: int
    column: int
    start: int
    end: int
    section: str
    message: str
    fix: str | None
    identity: str
    table: str
    key: tuple[str | None, ...]
    site: tuple[str, str] = ("", "")
    is_new: bool | None = None


def level(verdict: str, source: Source, *, is_new: bool | None = None) -> str:
    """Return "error" for verdicts that the run fails on, "note" for findings in the baseline, otherwise "warning"."""
    if is_new is False:
        return "note"
    if verdict in source.style.fail_on:
        return "error"
    return "note" if words(verdict).is_note else "warning"


def severity(verdict: str, source: Source) -> int:
    """Return the place of a verdict in SEVERITIES: the last one if it is no reason to fail."""
    return words(verdict).severity if verdict in source.style.fail_on | {UNREAD} else len(SEVERITIES) - 1


class Row(NamedTuple):
    """One finding as the tables have it. `kind`: links, old URLs, pages, or map for a rule. `page`: the URL of a page.

    `reference` is also the text of a rule; `detail`: why it cannot be read, or the facts about a page.
    """

    kind: str
    cause: str | None
    verdict: str
    document: str
    entity: str
    line: int | None
    column: int | None
    start: int | None
    end: int | None
    section: str
    page: str
    reference: str
    final: str | None
    fix: str | None
    suggestion: str | None
    rule: str | None
    element: str
    attribute: str
    hops: int | None
    layer: str | None
    score: float | None
    requests: int | None
    detail: str | None
    finding: str | None


KINDS: Final = ("links", "old URLs", "pages", "map")
_NULLS: Final = {
    **dict.fromkeys(("line", "column", "start", "end", "hops", "requests"), "NULL::BIGINT"), "score": "NULL::DOUBLE",
    **dict.fromkeys(("entity", "reference", "element", "attribute"), "''"),
}
_SECTION: Final = "coalesce(nullif(regexp_extract(url, '^[A-Za-z][A-Za-z0-9+.-]*://[^/?#]*(/[^/?#]+/)', 1), ''), '/')"
_LINKS: Final = ("document", "entity", "line", "column", "start", "end", "reference", "final", "fix", "suggestion")
# The fields of each kind that its table has, with their columns.
_FIELDS: Final = {
    "links": {name: f'l."{name}"' for name in ("cause", "verdict", *_LINKS, "element", "attribute", "hops")}
    | {"layer": "l.base_layer", "section": "'/'", "page": "l.document"},
    "old URLs": {name: name for name in ("cause", "verdict", "final", "suggestion", "rule", "score", "requests")}
    | {"document": "url", "page": "url", "section": _SECTION},
    "pages": {name: name for name in ("cause", "verdict", "detail")}
    | {"document": "coalesce(document, '')", "page": "coalesce(url, '')", "section": _SECTION},
    "map": {"cause": "cause", "document": "file", "line": "line", "reference": "text", "detail": "problem"}
    | {"finding": "finding", "verdict": f"CASE WHEN problem IS NULL THEN '{WRONG}' ELSE '{UNREAD}' END"}
    | {"page": "file", "section": "'/'"},
}
_WHERE: Final = {
    "links": f"verdict NOT IN {QUIET}", "old URLs": f"verdict NOT IN {FINE}", "pages": "true",
    "map": f"problem IS NOT NULL OR NOT ({WITHOUT_EFFECT})",
}
_TABLES: Final = {"links": "links", "old URLs": "urls", "pages": "pages", "map": "rules"}


def select(source: Source, kind: str) -> str:
    """Return SQL for the findings of a kind with the columns of `Row`."""
    fields, joined = _NULLS | _FIELDS[kind], ""
    if kind == "links" and source.has("places"):
        joined = "LEFT JOIN places p ON p.document = l.document AND p.entity = l.entity"
        fields |= {"section": "coalesce(p.section, '/')", "page": source.masked("coalesce(p.url, l.document)")}
    columns = ", ".join(f'{fields.get(name, "NULL::VARCHAR")} AS "{name}"' for name in Row._fields[1:])
    rows = f"SELECT * FROM ({source.select(_TABLES[kind])}) WHERE {_WHERE[kind]}"  # noqa: S608 - names of ours
    return f"SELECT '{kind}' AS kind, {columns} FROM ({rows}) l {joined}"  # noqa: S608 - likewise


def found(source: Source) -> Iterator[Finding]:
    """Yield all findings: of links in the order of the table, then of old URLs, pages and rules.

    With a baseline, new findings come first.
    """
    news = source.news
    if news is None:
        yield from _all(source)
        return
    for is_new in (True, False):
        yield from (one._replace(is_new=is_new) for one in _all(source) if (one.identity in news) is is_new)


def counts(source: Source) -> list[int]:
    """Return the number of links and of findings on links, the same for old URLs, and the numbers of other findings."""
    rules = verdicts.RULES_FOUND.format("rules")
    others = source.rows(
        f"SELECT (SELECT count(*) FROM urls WHERE verdict NOT IN {FINE}),"  # noqa: S608 - names of ours
        f" (SELECT count(*) FROM pages WHERE verdict <> '{DIFFERS}'),"
        f" (SELECT count(*) FROM pages WHERE verdict = '{DIFFERS}'),"
        f" (SELECT count(problem) FROM rules), (SELECT count(*) FROM ({rules}) WHERE problem IS NULL)"
    )
    return [*map(source.number, ("links", "findings", "urls")), *next(others)]


def counted(source: Source) -> str:
    """Return the last line of the command, for example `Findings: 2 of 30 links, 1 page`."""
    text = verdicts.counted(*counts(source), is_whole=not source.number("inputs_unread"))
    return f"{text[0].upper()}{text[1:]}"


def first_news(source: Source, most: int) -> Iterator[tuple[str, str, str]]:
    """Yield the verdict, place and message of the first new findings; without a baseline there are none."""
    for finding in islice((one for one in found(source) if one.is_new), most):
        place = f":{finding.line}:{finding.column}" if finding.line else ""
        yield finding.verdict, f"{finding.document}{place}", finding.message


def _all(source: Source) -> Iterator[Finding]:
    seen: Counter[str] = Counter()
    for kind in KINDS:
        for row in map(Row._make, source.rows(select(source, kind))):
            table, key, identity = _identified(row)
            seen[identity] += kind == "links"  # a page may have the same link twice
            start, number = -1 if row.start is None else row.start, seen[identity]
            place = (row.line or 0, row.column or 0, start, row.end or 0)
            head, site = (row.verdict, row.document or row.page or "", row.entity), (row.element, row.attribute)
            identity = identity if number <= 1 else f"{identity}:{number}"
            texts = (row.section, message(row))
            yield Finding(*head, *place, *texts, row.fix, identity, table, (row.verdict, *key), site)


def _identified(row: Row) -> tuple[str, tuple[str | None, ...], str]:
    """Return the table of a finding, the columns that a baseline compares, and its identity."""
    if row.kind == "links":
        place = (row.page, row.entity, row.element, row.attribute, row.reference)
        return "links", (row.document, row.entity, row.reference, "", ""), _identity(row.verdict, *place)
    if row.kind == "old URLs":
        return "urls", ("", "", "", row.page, ""), _identity(row.verdict, row.page)
    if row.kind == "pages":
        key = (row.document, "", "", row.page, row.detail)
        return "pages", key, _identity(row.verdict, row.page, row.detail)
    return "rules", ("", "", row.reference, row.document, row.detail or ""), _identity(row.document, row.reference)


def _identity(*parts: str | None) -> str:
    """Return a hash that identifies a finding; credentials in its texts do not change it."""
    return sha256(repr(tuple(masked(part or "") for part in parts)).encode()).hexdigest()[:32]


def message(row: Row) -> str:
    """Return a finding in words, for example `The target of b.html is not there; perhaps c.html`."""
    detail = rule_sentence(row.detail, row.finding) if row.kind == "map" else ""
    values = {"url": row.page or row.document, "reference": row.reference, "hops": row.hops, "detail": detail}
    text = words(row.verdict).message.format_map({name: printable(str(value)) for name, value in values.items()})
    if row.fix is not None:
        text = f"{text}; write {printable(row.fix)}"
    elif row.final:
        text = f"{text}; it leads to {printable(row.final)}"
    if row.suggestion and row.suggestion != row.final:
        text = f"{text}; perhaps {printable(row.suggestion)}"
    if row.verdict == "moved" and row.rule:
        text = f"{text}; a rule to add: {printable(row.rule)}"
    text = f"{text[:1].upper()}{text[1:]}" if text.startswith("the ") else text
    return f"{text}: {printable(row.detail)}" if row.kind == "pages" and row.detail else f"{text}."


def document_uri(document: str) -> str:
    """Return the URI of a document, relative for a file below the working directory: for example `a%20b.html`."""
    if "://" in document[:40]:
        return quote(document, safe="!#$%&'()*+,/:;=?@[]~")
    path = os.path.relpath(document) if os.path.isabs(document) else os.path.normpath(document)  # noqa: PTH117 - a text
    if path.startswith(".."):
        return Path(document).resolve().as_uri()
    return quote(path.replace(os.sep, "/"), safe="/!$&'()*+,;=@~")


# --- the answer -------------------------------------------------------------------------------------------------------


def reasons(source: Source) -> list[tuple[str, str, str]]:
    """Return the reasons of the answer, most findings first: for example ("broken", "2 links: broken", its meaning)."""
    try:
        listed = json.loads(source.summary.get("reasons") or "[]")
        pairs = sorted(((str(one["verdict"]), int(one["count"])) for one in listed), key=lambda pair: -pair[1])
    except (ValueError, TypeError, KeyError):
        return []
    return [(verdict, _number(verdict, count), words(verdict).meaning) for verdict, count in pairs]


def _number(verdict: str, count: int) -> str:
    kinds = ((URL_VERDICTS, "old URL"), (PAGE_VERDICTS, "page"), (RULE_VERDICTS, "rule"))
    what = next((name for several, name in kinds if verdict in several), "link")
    return f"{number(count, what)}: {words(verdict).name.lower()}"


def can_switch(source: Source) -> bool:
    """Return whether the site can switch: no finding fails, and no input is unread."""
    return not source.number("inputs_unread") and _is_fine(source)


def _is_fine(source: Source) -> bool:
    """Return whether no finding fails, with a baseline no new one."""
    if source.news is not None:
        new = {verdict for (verdict,) in source.rows("SELECT DISTINCT verdict FROM news")}
        return new.isdisjoint(source.style.fail_on | {UNREAD})
    return (source.summary.get("can_switch") or "true").lower() == "true"


def unknown(source: Source) -> str:
    """Return the answer where no finding fails, but an input could not be read; otherwise ""."""
    failed = source.number("inputs_unread")
    return f"Not known: {number(failed, 'input')} could not be read." if failed and _is_fine(source) else ""


def unlisted(source: Source) -> list[str]:
    """Return sentences about findings that no list has, for example `3 findings are ignored`."""
    numbers = {"ignored": source.number("ignored"), "left out, of unchanged documents": source.number("left_out")}
    failed = source.number("inputs_unread")
    first = [f"Not judged: {number(failed, 'input')} that could not be read."] if failed else []
    return first + [f"{number(n, 'finding')} {'is' if n == 1 else 'are'} {what}." for what, n in numbers.items() if n]


# --- causes -----------------------------------------------------------------------------------------------------------

_SELECT: Final = """
SELECT verdict, title, links - CASE WHEN {repaired} THEN fixes ELSE 0 END AS links, pages, clicks, is_lost, rules, urls,
    example_document, example_line, example_column, fix, CASE WHEN fixes = links THEN example_fix END AS example_fix,
    suggestion, rule, cause, news, subject, n.line
FROM ({causes}) {joined} WHERE verdict NOT IN {fine} AND NOT ({repaired} AND links > 0 AND fixes = links)
ORDER BY news DESC, rank
"""
# The causes in the order of all outputs: by severity, requests of visitors, lost URLs, and reach.
_RANKED: Final = """
SELECT *, row_number() OVER (ORDER BY {severities}[list_position({verdicts}, verdict)] NULLS LAST,
    coalesce(clicks, 0) DESC, coalesce(is_lost, false) DESC, links + pages DESC, cause, verdict) AS rank
FROM (SELECT c.*, u.clicks, u.is_lost, coalesce(u.urls, 0) AS urls, coalesce(r.rules, 0) AS rules,
    coalesce(f.fixes, 0) AS fixes, f.example_fix FROM ({causes}) c
LEFT JOIN (SELECT cause, CASE WHEN starts_with(cause, 'rule:') THEN 'wrong-rule' ELSE verdict END AS verdict,
    sum(requests)::BIGINT AS clicks, bool_or(verdict = 'lost') AS is_lost, count(*) AS urls
    FROM ({urls}) GROUP BY ALL) u USING (cause, verdict)
LEFT JOIN (SELECT {cause} AS cause, count(*) AS rules FROM rules GROUP BY ALL) r USING (cause)
LEFT JOIN (SELECT {cause} AS cause, verdict, count(*) AS fixes, arg_min(fix, (document, line, "column")) AS example_fix
    FROM links WHERE fix IS NOT NULL GROUP BY ALL) f
    USING (cause, verdict))
"""
# The number of new findings by cause, with the place of one.
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
    """One cause. `place`: the document, line and column of one finding, a new one if there is any.

    `advice`: repairs and suggestions, each with its name. `news`: how many findings are new; None without a baseline.
    `lost`: the old URLs that it loses, the most clicked ones first.
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
    """Return the SELECT statement for the causes with their clicks and repairs, and `rank`, their place in outputs."""
    severities = [severity(verdict, source) for verdict in VERDICTS]
    parts = {"causes": source.select("causes"), "urls": source.select("urls"), "cause": source.masked("cause")}
    return _RANKED.format(verdicts=list(VERDICTS), severities=severities, **parts)


def causes(source: Source, *, repaired: bool = False) -> Iterator[Cause]:
    """Yield the causes, with a baseline the ones with new findings first. `repaired`: without links with a repair."""
    compared = source.news is not None
    joined = _NEWS if compared else _NO_NEWS
    query = _SELECT.format(causes=ranked(source), joined=joined, fine=(*QUIET, *FINE), repaired=repaired)
    lost: dict[str, list[str]] = {}
    for cause, url, requests in source.rows(_LOST.format(source.select("urls"))):
        lost.setdefault(cause, []).append(url if requests is None else f"{url} ({number(requests, source.asked)})")
    for row in source.rows(query):
        verdict, title, links, pages, clicks, is_lost, rules_, urls, document, line, column, fix, example_fix = row[:13]
        suggestion, rule, cause, news, *new = row[13:]
        title = title or ""
        known = None if verdict in RULE_VERDICTS or (rule or "") in title else rule  # a place that is there already
        role = "a rule to add" if cause.startswith("moved:") else "by the rule"
        each = example_fix and f"{example_fix}, and the others by --fix"
        rules = "--write-map has the rule of each" if verdict == "moved" and not rule and pages > 1 else None
        advice = (("write", fix or each), ("perhaps", suggestion), (role, known or rules))
        yield Cause(
            verdict,
            level(verdict, source, is_new=bool(news) if compared else None),
            title,
            _reach(verdict, rules_, urls, links or 0, pages or 0, number(clicks, source.asked) if clicks else ""),
            (*new, None) if news else (document, line, column),
            tuple((name, value) for name, value in advice if value),
            (news or 0) if compared else None,
            tuple(lost.get(cause, ())) if is_lost else (),
        )


def _reach(verdict: str, rules: int, urls: int, links: int, pages: int, clicks: str) -> str:
    if verdict in RULE_VERDICTS:
        return reach("rule", rules, clicks, urls=urls, links=links)
    if links:
        return reach("link", links, clicks, pages=pages)
    return reach("old URL" if verdict in URL_VERDICTS else "page", pages, clicks)


def reach(noun: str, count: int, clicks: str, *, pages: int = 0, urls: int = 0, links: int = 0) -> str:
    """Return the reach of a cause, for example `2 links on 1 page`, or `3 old URLs, 40 requests`."""
    others = number(urls, "old URL") if urls else "", number(links, "link") if links else "", clicks
    size = number(count, noun) + (f" on {number(pages, 'page')}" if pages else "")
    return ", ".join(filter(None, (size, *others)))


def cause_message(cause: Cause) -> str:
    """Return a cause in words, for example `... b.html (2 links on 1 page); perhaps: c.html`."""
    new = f", {cause.news} new" if cause.news is not None else ""
    advice = "".join(f"; {name}: {value}" for name, value in cause.advice)
    return f"{cause.title} ({cause.reach}{new}){advice}"
