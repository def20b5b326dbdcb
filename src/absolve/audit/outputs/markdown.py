"""Markdown: a summary for a pull request, with the answer, the verdicts and the largest causes."""

from __future__ import annotations

import html
import json
import re
from typing import IO, TYPE_CHECKING, Any, Final

from absolve.audit.outputs.words import words
from absolve.audit.tables import FINE, PAGE_VERDICTS, QUIET, RULE_VERDICTS, URL_VERDICTS, VERDICTS
from absolve.core.printable import printable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from absolve.audit.outputs.source import Source

MOST_CAUSES: Final = 25
_CONDITION: Final = f"verdict NOT IN {(*QUIET, *FINE)}"
_MARKS: Final = re.compile(r"([\\`*_{}\[\]()#+!|~@])")
_TICKS: Final = re.compile("`+")
_CODE: Final = frozenset({"cause", "example"})  # columns that hold texts of pages


def reasons(source: Source) -> list[str]:
    """Return the reasons of the answer as sentences, the verdict that has most findings first."""
    try:
        found = json.loads(source.summary.get("reasons") or "[]")
        counts = sorted(((str(one["verdict"]), int(one["count"])) for one in found), key=lambda pair: -pair[1])
    except (ValueError, TypeError, KeyError):
        return []
    return [reason(verdict, count) for verdict, count in counts]


def reason(verdict: str, count: int) -> str:
    """Return a sentence about so many findings with a verdict."""
    kinds = ((URL_VERDICTS, "old URL"), (PAGE_VERDICTS, "page"), (RULE_VERDICTS, "rule"))
    what = next((name for verdicts, name in kinds if verdict in verdicts), "link")
    found = words(verdict)
    return f"{count:,} {what}{'s' if count > 1 else ''}: {found.name.lower()}. {found.meaning}"


def can_switch(source: Source) -> bool:
    """Return the answer to the question whether the site can switch."""
    return (source.summary.get("can_switch") or "").lower() in {"yes", "true", "1"}


def write(source: Source, file: IO[bytes]) -> None:
    """Write the summary."""
    file.write("\n".join(_lines(source)).encode() + b"\n")


def _lines(source: Source) -> Iterator[str]:
    # with no old site the question is whether links are right
    old = bool(source.number("urls"))
    fine = "This site can switch." if old else "No link needs a change."
    unfit = "This site cannot switch yet." if old else "Some links need a change."
    yield f"## {'✅' if can_switch(source) else '❌'} {fine if can_switch(source) else unfit}"
    yield ""
    parts = [f"**{source.number('findings'):,}** findings in **{source.number('links'):,}** links"]
    parts.append(f"**{source.number('causes'):,}** causes")
    if old:
        parts.append(f"**{source.number('lost'):,}** of {source.number('urls'):,} old URLs lost")
    yield f"{', '.join(parts)}."
    yield ""
    yield from [f"- {escaped(reason)}" for reason in reasons(source)]
    yield from _table(source, "Verdicts", _VERDICTS, ("verdict", "meaning", "links", "old URLs", "pages"))
    yield from _table(source, "Largest causes", _causes(source), ("cause", "verdict", "links", "pages", "example"))
    if "baseline" in source.tables:
        query = "SELECT change, count(*) FROM baseline GROUP BY change ORDER BY change DESC"
        yield from _table(source, "Against the baseline", query, ("change", "findings"))


_VERDICTS: Final = f"""
    SELECT verdict, '', sum(links)::BIGINT, sum(urls)::BIGINT, sum(pages)::BIGINT FROM (
        SELECT verdict, count(*) AS links, 0 AS urls, 0 AS pages FROM links GROUP BY verdict
        UNION ALL SELECT verdict, 0, count(*), 0 FROM urls GROUP BY verdict
        UNION ALL SELECT verdict, 0, 0, count(*) FROM pages GROUP BY verdict)
    WHERE {_CONDITION} GROUP BY verdict ORDER BY list_position({list(VERDICTS)}, verdict)"""  # noqa: S608 - names of ours


def _causes(source: Source) -> str:
    select = source.select("causes")
    example = "concat_ws(':', example_document, example_line, example_column)"
    return (
        f"SELECT title, verdict, links, pages, {example} FROM ({select}) WHERE {_CONDITION}"  # noqa: S608 - names of ours
        f" ORDER BY links DESC, cause LIMIT {MOST_CAUSES}"
    )


def _table(source: Source, title: str, query: str, columns: tuple[str, ...]) -> Iterator[str]:
    rows = list(source.rows(query))
    if not rows:
        return
    numbers = {at for at, value in enumerate(rows[0]) if isinstance(value, int)}
    yield from ("", f"### {title}", "", f"| {' | '.join(columns)} |")
    yield f"|{'|'.join('--:' if at in numbers else '---' for at in range(len(columns)))}|"
    for row in rows:
        named = dict(zip(columns, row, strict=True))
        if "meaning" in named:
            named["meaning"] = words(named["verdict"]).meaning
        yield f"| {' | '.join(_cell(name, value) for name, value in named.items())} |"


def _cell(name: str, value: Any) -> str:
    if isinstance(value, int):
        return f"{value:,}"
    return code(str(value or "")) if name in _CODE else escaped(str(value or ""))


def code(text: str) -> str:
    """Return a code span in a table with this text (GFM 6.3, 4.10): nothing in it is markup, no URL a link."""
    shown = printable(text).replace("|", "\\|")
    fence = "`" * (1 + max((len(ticks) for ticks in _TICKS.findall(shown)), default=0))
    return f"{fence} {shown} {fence}" if shown.strip() else ""


def escaped(text: str) -> str:
    """Return a text that Markdown shows as it is: no markup, no link, no mention of a user."""
    return _MARKS.sub(r"\\\1", html.escape(printable(text), quote=False)).replace("://", "://\u200b")
