"""Make rules of redirects that were recorded in a WARC or HAR, and of pages with a `meta` refresh.

In: rows of URL, target, status and place. Out: a `RuleSet` of exact rules with hosts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from absolve.audit.maps.model import NONE, Rule, RuleSet
from absolve.audit.maps.sources import Source, source

if TYPE_CHECKING:
    from collections.abc import Iterable


class Recorded(NamedTuple):
    """A redirect: absolute URLs, the status (302 for a `meta` refresh), and the document and line that has it."""

    url: str
    target: str
    status: int
    document: str
    line: int = 0


def recorded(rows: Iterable[Recorded | tuple[str, str, int, str, int]], name: str = "recorded redirects") -> RuleSet:
    """Return the rules of recorded redirects; the first of each URL counts."""
    rules = []
    for row in rows:
        url, target, status, document, line = row
        found = source(url)
        if isinstance(found, Source):
            text = f"{url} -> {target} ({status})"
            path = found.path
            rule = Rule(document, line, text, source=path, target=(target,), status=status, host=found.host, query=NONE)
            rules.append(rule._replace(forced=False))
    return RuleSet(name, "recorded", rules)
