"""Findings for build servers: workflow commands of GitHub, and JUnit XML.

In: a `Source`. Out: annotations of GitHub, one for each cause at the place of its first finding; a suite of JUnit for
each section of the site. For example, `::error file=a.html,line=2,col=9,title=Broken::...`.
"""

from __future__ import annotations

from collections import defaultdict
from typing import IO, TYPE_CHECKING, Final
from xml.sax.saxutils import escape, quoteattr

from absolve.audit.outputs.findings import cause_message, causes, document_uri, found, level
from absolve.audit.verdicts import FOUND, words
from absolve.core.printable import printable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from absolve.audit.outputs.findings import Cause
    from absolve.audit.outputs.source import Source

# --- GitHub -----------------------------------------------------------------------------------------------------------

COMMANDS: Final = {"error": "error", "warning": "warning", "note": "notice"}


def github(source: Source, file: IO[bytes]) -> None:
    """Write a line for each cause.

    GitHub shows ten errors and ten warnings of a step, so the causes with most links come first.
    """
    for cause in causes(source):
        _line(file, cause, printable(cause_message(cause)))


def _line(file: IO[bytes], cause: Cause, text: str) -> None:
    document, line, column = cause.place
    name = words(cause.verdict).name
    found = {"file": document_uri(document) if document else None, "line": line, "col": column, "title": name}
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
            place = f":{finding.line}:{finding.column}" if finding.line else ""
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
