"""Findings of all tables as one sequence, for formats that list findings: where, the message, a stable identity.

In: a `Source`. Out: `Finding`s: of links, of old URLs, of pages, of rules.
"""

from __future__ import annotations

import os
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple
from urllib.parse import quote

from absolve.audit.verdicts import DIFFERS, FINE, QUIET, RULES_FOUND, SEVERITIES, UNREAD, of_rule, words
from absolve.audit.verdicts import counted as in_words
from absolve.core.printable import masked, printable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from absolve.audit.outputs.source import Source

_NOTES: Final = frozenset({"insecure", "orphan"})


class Finding(NamedTuple):
    """One finding. `site` is the element and the attribute of a link.

    Lines and columns are 1-based; `start` and `end` are the span in bytes; 0 or -1 where there is none.

    `identity` does not change when lines are added or the folder of the site is another one. `key` has the columns that
    a baseline compares, `is_new` whether the baseline lacks the finding (None without one).
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
    """Return "error", "warning" or "note": errors are those that the run fails on, notes what a baseline has."""
    if is_new is False:
        return "note"
    if verdict in source.options.fail_on:
        return "error"
    return "note" if verdict in _NOTES else "warning"


def severity(verdict: str, source: Source) -> int:
    """Return the place in SEVERITIES of a verdict: the last one if it is no reason to fail."""
    return words(verdict).severity if verdict in source.options.fail_on | {UNREAD} else len(SEVERITIES) - 1


def section_of_path(column: str) -> str:
    """Return SQL for the first segments of the path of a URL."""
    return f"coalesce(nullif(regexp_extract({column}, '^[A-Za-z][A-Za-z0-9+.-]*://[^/?#]*(/[^/?#]+/)', 1), ''), '/')"


def placed(source: Source, names: str) -> str:
    """Return SQL for the findings among the links with these columns, their section and the URL of their page."""
    places = "LEFT JOIN places p ON p.document = l.document AND p.entity = l.entity" if source.has("places") else ""
    section, url = ("coalesce(p.section, '/')", "coalesce(p.url, l.document)") if places else ("'/'", "l.document")
    return (
        f"SELECT {names}, {section} AS section, {source.masked(url)} AS page_url"  # noqa: S608 - names of ours
        f" FROM ({source.select('links')} WHERE verdict NOT IN {QUIET}) l {places}"
    )


def found(source: Source) -> Iterator[Finding]:
    """Yield all findings: of links in the order of the table, then those of old URLs, pages and rules.

    With a baseline those that are new come first.
    """
    news = source.news
    if news is None:
        yield from _all(source)
        return
    for is_new in (True, False):
        yield from (one._replace(is_new=is_new) for one in _all(source) if (one.identity in news) is is_new)


def counted(source: Source) -> str:
    """Return the counts of findings as the last line of the command has them: `Findings: 2 of 30 links, 1 page`."""
    rules = RULES_FOUND.format("rules")
    others = source.rows(
        f"SELECT (SELECT count(*) FROM urls WHERE verdict NOT IN {FINE}),"  # noqa: S608 - names of ours
        f" (SELECT count(*) FROM pages WHERE verdict <> '{DIFFERS}'),"
        f" (SELECT count(*) FROM pages WHERE verdict = '{DIFFERS}'),"
        f" (SELECT count(problem) FROM rules), (SELECT count(*) FROM ({rules}) WHERE problem IS NULL)"
    )
    of_urls, *of_others = next(others)
    numbers = (*map(source.number, ("links", "findings", "urls")), of_urls, *of_others)
    text = in_words(*numbers, is_whole=not source.number("inputs_unread"))
    return f"{text[0].upper()}{text[1:]}"


def news_of(source: Source, most: int) -> Iterator[tuple[str, str, str]]:
    """Yield the verdict, place and message of the first findings that the baseline lacks; none without a baseline."""
    for finding in islice((one for one in found(source) if one.is_new), most):
        place = f":{finding.line}:{finding.column}" if finding.line else ""
        yield finding.verdict, f"{finding.document}{place}", finding.message


def _all(source: Source) -> Iterator[Finding]:
    for of_table in (_of_links, _of_urls, _of_pages, _of_rules):
        yield from of_table(source)


def _identity(*parts: str | None) -> str:
    """Return a hash of what identifies a finding: the same with and without credentials in its texts."""
    return sha256(repr(tuple(masked(part or "") for part in parts)).encode()).hexdigest()[:32]


def _of_links(source: Source) -> Iterator[Finding]:
    names = (
        'l.verdict, l.document, l.entity, l.line, l."column", l.start, l."end", l.reference, l.hops, l.final,'
        " l.suggestion, l.fix, l.element, l.attribute"
    )
    seen: dict[str, int] = {}
    for row in source.rows(placed(source, names)):
        verdict, document, entity, line, column, start, end, reference, hops, final, suggestion, fix = row[:12]
        element, attribute, section, page = row[12:]
        key = _identity(verdict, page, entity, element, attribute, reference)
        seen[key] = number = seen.get(key, 0) + 1
        message = _message(verdict, final, suggestion, fix, reference=reference, hops=hops)
        yield Finding(
            *(verdict, document, entity, line or 0, column or 0, -1 if start is None else start, end or 0),
            *(section, message, fix, key if number == 1 else f"{key}:{number}"),
            *("links", (verdict, document, entity, reference, "", ""), (element, attribute)),
        )


def _of_urls(source: Source) -> Iterator[Finding]:
    names = f"url, verdict, final, suggestion, rule, {section_of_path('url')}"
    select = f"SELECT {names} FROM ({source.select('urls')}) WHERE verdict NOT IN {FINE}"  # noqa: S608 - names of ours
    for url, verdict, final, suggestion, rule, section in source.rows(select):
        message = _message(verdict, final, suggestion, None, url=url)
        if verdict == "moved" and rule:
            message = f"{message}; a rule to add: {printable(rule)}"
        key = (verdict, "", "", "", url, "")
        yield Finding(verdict, url, "", 0, 0, -1, 0, section, message, None, _identity(verdict, url), "urls", key)


def _of_pages(source: Source) -> Iterator[Finding]:
    names = f"coalesce(url, ''), coalesce(document, ''), verdict, detail, {section_of_path('url')}"
    for url, document, verdict, detail, section in source.rows(f"SELECT {names} FROM ({source.select('pages')})"):  # noqa: S608 - names of ours
        message = _message(verdict, None, None, None, url=url or document)
        if detail:
            message = f"{message.rstrip('.')}: {printable(detail)}"
        identity, key = _identity(verdict, url, detail), (verdict, document, "", "", url, detail)
        yield Finding(verdict, document or url, "", 0, 0, -1, 0, section, message, None, identity, "pages", key)


def _of_rules(source: Source) -> Iterator[Finding]:
    for verdict, file, line, text, problem, finding in source.rows(RULES_FOUND.format(f"({source.select('rules')})")):
        message = _message(verdict, None, None, None, detail=of_rule(problem, finding), reference=text)
        identity, key = _identity(file, text), (verdict, "", "", text, file, problem or "")
        yield Finding(verdict, file or "", "", line or 0, 0, -1, 0, "/", message, None, identity, "rules", key)


class _Given(dict[str, object]):
    def __missing__(self, key: str) -> str:
        return ""


def _message(verdict: str, final: str | None, suggestion: str | None, fix: str | None, **given: object) -> str:
    shown = _Given({name: printable(str(value)) for name, value in given.items()})
    text = words(verdict).message.format_map(shown)
    if fix is not None:
        text = f"{text}; write {printable(fix)}"
    elif final:
        text = f"{text}; it leads to {printable(final)}"
    if suggestion and suggestion != final:
        text = f"{text}; perhaps {printable(suggestion)}"
    return f"{text[:1].upper()}{text[1:]}." if text.startswith("the ") else f"{text}."


def uri_of(document: str) -> str:
    """Return the URI of a document: relative for a file in or below the working directory, absolute for any other."""
    if "://" in document[:40]:
        return quote(document, safe="!#$%&'()*+,/:;=?@[]~")
    path = os.path.relpath(document) if os.path.isabs(document) else os.path.normpath(document)  # noqa: PTH117 - a text
    if path.startswith(".."):
        return Path(document).resolve().as_uri()
    return quote(path.replace(os.sep, "/"), safe="/!$&'()*+,;=@~")
