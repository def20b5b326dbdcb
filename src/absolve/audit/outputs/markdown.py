"""Markdown: a summary for a pull request, with the answer, the verdicts and the first causes."""

from __future__ import annotations

import json
from typing import IO, TYPE_CHECKING, Any, Final

from absolve.audit.outputs.findings import causes, counted, first_news
from absolve.audit.verdicts import FINE, PAGE_VERDICTS, QUIET, RULE_VERDICTS, URL_VERDICTS, VERDICTS, words
from absolve.core.printable import number
from absolve.tables.plain import markdown_cell

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from absolve.audit.outputs.findings import Cause
    from absolve.audit.outputs.source import Source

MOST_CAUSES: Final = 25
_CONDITION: Final = f"verdict NOT IN {(*QUIET, *FINE)}"


def reasons(source: Source) -> list[tuple[str, str, str]]:
    """Return the reasons of the answer, most findings first: for example ("broken", "2 links: broken", its meaning)."""
    try:
        found = json.loads(source.summary.get("reasons") or "[]")
        counts = sorted(((str(one["verdict"]), int(one["count"])) for one in found), key=lambda pair: -pair[1])
    except (ValueError, TypeError, KeyError):
        return []
    return [(verdict, _number(verdict, count), words(verdict).meaning) for verdict, count in counts]


def _number(verdict: str, count: int) -> str:
    kinds = ((URL_VERDICTS, "old URL"), (PAGE_VERDICTS, "page"), (RULE_VERDICTS, "rule"))
    what = next((name for verdicts, name in kinds if verdict in verdicts), "link")
    return f"{number(count, what)}: {words(verdict).name.lower()}"


def can_switch(source: Source) -> bool:
    """Return whether the site can switch: no finding fails, and no input is unread."""
    return not source.number("inputs_unread") and _is_fine(source)


def _is_fine(source: Source) -> bool:
    """Return whether no finding fails, with a baseline no new one."""
    if source.news is not None:
        found = {verdict for (verdict,) in source.rows("SELECT DISTINCT verdict FROM news")}
        return found.isdisjoint(source.style.fail_on | {"unread-rule"})
    return (source.summary.get("can_switch") or "true").lower() == "true"


def unknown(source: Source) -> str:
    """Return the answer where no finding fails, but an input could not be read; otherwise ""."""
    failed = source.number("inputs_unread")
    return f"Not known: {number(failed, 'input')} could not be read." if failed and _is_fine(source) else ""


def unlisted(source: Source) -> list[str]:
    """Return sentences about findings that no list has, for example `3 findings are ignored`."""
    numbers = {"ignored": source.number("ignored"), "left out, of unchanged documents": source.number("left_out")}
    failed = source.number("inputs_unread")
    found = [f"Not judged: {number(failed, 'input')} that could not be read."] if failed else []
    return found + [f"{number(n, 'finding')} {'is' if n == 1 else 'are'} {what}." for what, n in numbers.items() if n]


def write(source: Source, file: IO[bytes]) -> None:
    """Write the summary, which begins for example with `## ✅ This site can switch`."""
    file.write("\n".join(_lines(source)).encode() + b"\n")


def _lines(source: Source) -> Iterator[str]:
    # without an old site, the question is whether links are right
    old = bool(source.number("urls"))
    fine = "This site can switch." if old else "No link needs a change."
    unfit = "This site cannot switch yet." if old else "Some links need a change."
    if source.news is not None:
        new = f"{number(len(source.news), 'finding')} {'is' if len(source.news) == 1 else 'are'} new"
        fine, unfit = "Nothing is new since the baseline.", f"{new} since the baseline."
    unfit = unknown(source) or unfit
    yield f"## {'✅' if can_switch(source) else '❌'} {fine if can_switch(source) else unfit}"
    yield ""
    if news := list(first_news(source, MOST_CAUSES)):
        yield from _table("New since the baseline", news, ("verdict", "place", "what"))
        yield ""
    yield " ".join([f"{counted(source)}; {number(source.number('causes'), 'cause')}.", *unlisted(source)])
    yield ""
    yield from [f"- {count}. {meaning}" for _, count, meaning in reasons(source)]
    yield from _table("Verdicts", source.rows(_VERDICTS), ("verdict", "meaning", "links", "old URLs", "pages"))
    found = list(causes(source))
    rows = [_cause(one) for at, one in enumerate(found) if at < MOST_CAUSES or one.lost]
    yield from _table("What to do first", rows, ("cause", "verdict", "reach", "what to do", "example"))
    if len(rows) < len(found):
        yield f"\nAnd {number(len(found) - len(rows), 'more cause')}."
    if "baseline" in source.tables:
        query = "SELECT change, count(*) FROM baseline GROUP BY change ORDER BY change DESC"
        yield from _table("Against the baseline", source.rows(query), ("change", "findings"))


_VERDICTS: Final = f"""
    SELECT verdict, '', sum(links)::BIGINT, sum(urls)::BIGINT, sum(pages)::BIGINT FROM (
        SELECT verdict, count(*) AS links, 0 AS urls, 0 AS pages FROM links GROUP BY verdict
        UNION ALL SELECT verdict, 0, count(*), 0 FROM urls GROUP BY verdict
        UNION ALL SELECT verdict, 0, 0, count(*) FROM pages GROUP BY verdict)
    WHERE {_CONDITION} GROUP BY verdict ORDER BY list_position({list(VERDICTS)}, verdict)"""  # noqa: S608 - names of ours


def _cause(cause: Cause) -> tuple[str, ...]:
    """Return the table row for a cause; its lost URLs are the example, as many as an issue has room for."""
    more = [f"and {number(len(cause.lost) - MOST_CAUSES, 'more')}"] if len(cause.lost) > MOST_CAUSES else []
    example = ", ".join([*cause.lost[:MOST_CAUSES], *more]) or ":".join(str(part) for part in cause.place if part)
    return cause.title, cause.verdict, cause.reach, "; ".join(map(": ".join, cause.advice)), example


def _table(title: str, found: Iterable[tuple[Any, ...]], columns: tuple[str, ...]) -> Iterator[str]:
    rows = list(found)
    if not rows:
        return
    numbers = {at for at, value in enumerate(rows[0]) if isinstance(value, int)}
    yield from ("", f"### {title}", "", f"| {' | '.join(columns)} |")
    yield f"|{'|'.join('--:' if at in numbers else '---' for at in range(len(columns)))}|"
    for row in rows:
        named = dict(zip(columns, row, strict=True))
        if "meaning" in named:
            named["meaning"] = words(named["verdict"]).meaning
        yield f"| {' | '.join(_cell(value) for value in named.values())} |"


def _cell(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int) else markdown_cell(value)
