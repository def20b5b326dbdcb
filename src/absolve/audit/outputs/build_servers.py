"""Findings for build servers: SARIF, workflow commands of GitHub, JUnit XML, and a summary in Markdown.

In: a `Source`. Out: a log of SARIF 2.1.0 (OASIS) with a rule for each verdict and a result for each finding, with fixes
and stable fingerprints; annotations of GitHub, one for each cause at the place of its first finding; a suite of JUnit
for each section of the site; the answer, the verdicts and the first causes for a pull request. For example,
`::error file=a.html,line=2,col=9,title=Broken::...`.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from typing import IO, TYPE_CHECKING, Any, Final
from urllib.parse import unquote
from xml.sax.saxutils import escape, quoteattr

from absolve import __version__
from absolve.audit.outputs.findings import (
    can_switch,
    cause_message,
    causes,
    counted,
    document_uri,
    first_news,
    found,
    level,
    reasons,
    unknown,
    unlisted,
)
from absolve.audit.verdicts import FINE, FOUND, QUIET, VERDICTS, words
from absolve.core.printable import number, printable
from absolve.tables.plain import markdown_cell

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from absolve.audit.outputs.findings import Cause, Finding
    from absolve.audit.outputs.source import Source

# --- GitHub -----------------------------------------------------------------------------------------------------------

COMMANDS: Final = {"error": "error", "warning": "warning", "note": "notice"}


def github(source: Source, file: IO[bytes]) -> None:
    """Write a line for each cause.

    GitHub shows ten errors and ten warnings of a step, so the causes with most links come first.
    """
    for cause in causes(source):
        _line(file, cause, printable(cause_message(cause)))


_INNER: Final = re.compile(r"(?:/[^/]*\[[0-9]+\])+\Z")  # the path of a document inside a file


def _line(file: IO[bytes], cause: Cause, text: str) -> None:
    document, line, column = cause.place
    inner = _INNER.search(document or "")
    if document and inner is not None:  # the line is one of an inner document, such as a cell of a notebook
        document, line, column = document[: inner.start()], None, None
    name = words(cause.verdict).name
    path = printable(unquote(document_uri(document))) if document else None
    found = {"file": path, "line": line, "col": column, "title": name}
    properties = ",".join(f"{name}={_property(str(value))}" for name, value in found.items() if value)
    file.write(f"::{COMMANDS[cause.level]} {properties}::{_data(text)}\n".encode())


def _data(text: str) -> str:
    """Escape as @actions/core does: for example `%0A` for a line feed."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


# --- JUnit ------------------------------------------------------------------------------------------------------------

SHOWN: Final = 50  # findings of a test case that are listed


class Suite:
    """The findings of one section: their number by verdict, how many are new, and the first lines."""

    def __init__(self) -> None:
        self.counts: dict[str, int] = defaultdict(int)
        self.news: dict[str, int] = defaultdict(int)  # all without a baseline
        self.lines: dict[str, list[str]] = defaultdict(list)

    def failures(self, source: Source) -> int:
        return sum(1 for verdict, count in self.news.items() if count and level(verdict, source) == "error")


def junit(source: Source, file: IO[bytes]) -> None:
    """Write the suites, with a test case for each verdict that would be a finding.

    A verdict fails its test case if the run fails on it; otherwise it is written as output. Each run has the same test
    cases, for example `<testcase classname="absolve /docs/" name="broken" ...>`, so that a server can draw a history.
    """
    suites: dict[str, Suite] = defaultdict(Suite)
    for (section,) in source.rows("SELECT DISTINCT section FROM sections WHERE section IS NOT NULL ORDER BY section"):
        suites[_section(section)]  # a section without findings, too
    for finding in found(source):
        suite = suites[_section(finding.section)]
        suite.counts[finding.verdict] += 1
        suite.news[finding.verdict] += finding.is_new is not False
        if len(suite.lines[finding.verdict]) < SHOWN:
            inner = f"/{finding.entity}" if finding.entity else ""
            place = f"{inner}:{finding.line}:{finding.column}" if finding.line else inner
            known = "known: " if finding.is_new is False else ""
            suite.lines[finding.verdict].append(printable(f"{known}{finding.document}{place}: {finding.message}"))
    file.write("".join(_document(source, suites)).encode())


def _section(section: str) -> str:
    return printable(section) or "/"


def _document(source: Source, suites: dict[str, Suite]) -> Iterator[str]:
    tests, failures = len(suites) * len(FOUND), sum(suite.failures(source) for suite in suites.values())
    yield '<?xml version="1.0" encoding="UTF-8"?>\n'
    yield f'<testsuites name="absolve audit" tests="{tests}" failures="{failures}" errors="0">\n'
    for name, suite in sorted(suites.items()):
        counts = f'tests="{len(FOUND)}" failures="{suite.failures(source)}" errors="0"'
        yield f"<testsuite name={quoteattr(name)} {counts}>\n"
        for verdict in FOUND:
            yield from _case(source, name, suite, verdict)
        yield "</testsuite>\n"
    yield "</testsuites>\n"


def _case(source: Source, name: str, suite: Suite, verdict: str) -> Iterator[str]:
    head = f'<testcase classname={quoteattr(f"absolve {name}")} name={quoteattr(verdict)} time="0"'
    count = suite.counts.get(verdict, 0)
    if not count:
        yield f"{head}/>\n"
        return
    lines = suite.lines[verdict]
    more = [f"and {count - len(lines)} more"] if count > len(lines) else []
    text = escape("\n".join([*lines, *more]))
    news = suite.news[verdict]
    if news and level(verdict, source) == "error":
        what = "findings" if source.news is None else "new findings"
        cause_message = quoteattr(f"{news:,} {what}. {words(verdict).meaning}")
        yield f"{head}><failure type={quoteattr(verdict)} message={cause_message}>{text}</failure></testcase>\n"
    else:
        yield f"{head}><system-out>{text}</system-out></testcase>\n"


# --- SARIF ------------------------------------------------------------------------------------------------------------

# A fix is there only where its text is the same in the quoting of its place: a reference of plain characters in a file
# that is no archive. `absolve audit --fix` writes the others, too.
_BRACKETS: Final = re.compile(r"[\[\]\\]")
_SCHEMA: Final = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_UNQUOTED: Final = re.compile(r"[A-Za-z0-9\-._~:/?#@!$*+;=%]+")  # no quoting of HTML, XML, CSS or JSON changes these
_ONE_URL: Final = re.compile(r"[A-Za-z0-9\-._~:/?#@!$*+;=%(),]+")  # nor these in an attribute with one URL
_OTHERS: Final = frozenset({"srcset", "imagesrcset", "ping", "archive", "style"})


def sarif(source: Source, file: IO[bytes]) -> None:
    """Write one log with one run, for example with `{"ruleId": "broken", "level": "error", ...}`, result by result."""
    head, _, tail = json.dumps(_log(source), indent=1, ensure_ascii=False).partition('"results": []')
    file.write(f'{head}"results": ['.encode())
    separator = "\n  "
    for finding in found(source):
        file.write((separator + json.dumps(_result(finding, source), ensure_ascii=False)).encode())
        separator = ",\n  "
    for result in _absent(source):
        file.write((separator + json.dumps(result, ensure_ascii=False)).encode())
        separator = ",\n  "
    file.write(f"]{tail}\n".encode())


def _log(source: Source) -> dict[str, Any]:
    rules = [
        {
            "id": verdict,
            "name": words(verdict).name,
            "shortDescription": {"text": words(verdict).meaning},
            "defaultConfiguration": {"level": level(verdict, source)},
        }
        for verdict in FOUND
    ]
    driver = {"name": "absolve", "version": __version__, "rules": rules}
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": []}
    return {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}


def _result(finding: Finding, source: Source) -> dict[str, Any]:
    uri = document_uri(finding.document)
    result: dict[str, Any] = {
        "ruleId": finding.verdict,
        "ruleIndex": FOUND.index(finding.verdict),
        "level": level(finding.verdict, source),
        "message": {"text": _plain_text(finding.message)},
        "locations": [_location(finding, uri)],
        "partialFingerprints": {"absolveFinding/v1": finding.identity},
    }
    if finding.is_new is not None:
        result["baselineState"] = "new" if finding.is_new else "unchanged"
    fix, (element, attribute) = finding.fix, finding.site
    plain = _UNQUOTED if element == "css" or not attribute or attribute in _OTHERS else _ONE_URL
    if fix is not None and not finding.entity and finding.start >= 0 and plain.fullmatch(fix):
        deleted = {"byteOffset": finding.start, "byteLength": finding.end - finding.start}
        replacement = {"deletedRegion": deleted, "insertedContent": {"text": fix}}
        change = {"artifactLocation": {"uri": uri}, "replacements": [replacement]}
        result["fixes"] = [{"description": {"text": _plain_text(f"Write {fix}")}, "artifactChanges": [change]}]
    return result


def _absent(source: Source) -> Iterator[dict[str, Any]]:
    """Yield the results that only the baseline has (3.27.24)."""
    if source.news is None:
        return
    names = "verdict, document, reference, url, detail"
    for verdict, document, reference, url, detail in source.rows(
        f"SELECT {names} FROM ({source.select('baseline')}) WHERE change = 'healed'"  # noqa: S608 - names of ours
    ):
        text = ": ".join(part for part in (words(verdict).name, reference or url, detail) if part)
        yield {
            "ruleId": verdict,
            "baselineState": "absent",
            "message": {"text": _plain_text(text)},
            "locations": [{"physicalLocation": {"artifactLocation": {"uri": document_uri(document or url)}}}],
        }


def _plain_text(text: str) -> str:
    r"""Return a plain text message without embedded links (3.11.6): for example `\[a\](b)` for `[a](b)`."""
    return _BRACKETS.sub(r"\\\g<0>", text) if "](" in text else text


def _location(finding: Finding, uri: str) -> dict[str, Any]:
    physical: dict[str, Any] = {"artifactLocation": {"uri": uri}}
    location: dict[str, Any] = {"physicalLocation": physical}
    if finding.entity:  # an inner document's offset is not a file offset
        location["logicalLocations"] = [{"fullyQualifiedName": finding.entity}]
    elif finding.line > 0:
        physical["region"] = {"startLine": finding.line}
        if finding.column > 0:
            physical["region"]["startColumn"] = finding.column
    return location


# --- Markdown: a summary for a pull request ---------------------------------------------------------------------------

MOST_CAUSES: Final = 25
_CONDITION: Final = f"verdict NOT IN {(*QUIET, *FINE)}"


def markdown(source: Source, file: IO[bytes]) -> None:
    """Write the summary, which begins for example with `## ✅ This site can switch`."""
    file.write("\n".join(_summary_lines(source)).encode() + b"\n")


def _summary_lines(source: Source) -> Iterator[str]:
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
    rows = [_cause_row(one) for at, one in enumerate(found) if at < MOST_CAUSES or one.lost]
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


def _cause_row(cause: Cause) -> tuple[str, ...]:
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
        cells = (f"{value:,}" if isinstance(value, int) else markdown_cell(value) for value in named.values())
        yield f"| {' | '.join(cells)} |"
