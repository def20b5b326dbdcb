"""Apply rules of which the first that matches counts, and write their targets.

In: rules in order. Out: a `Mover`. A rule that is not forced does not apply where a file exists.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote_plus

from absolve.audit.maps.index import Index, parameters
from absolve.audit.maps.model import APPEND, DROP, EXACT, NONE, Found
from absolve.audit.maps.request import encoded

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from absolve.audit.maps.index import Groups
    from absolve.audit.maps.model import Rule
    from absolve.audit.maps.request import Request


class Ordered:
    """A mover for rules in their order."""

    def __init__(self, rules: Sequence[Rule], *, is_slash_ignored: bool = False) -> None:
        self.index = Index(rules, is_slash_ignored=is_slash_ignored)

    def __call__(self, request: Request, exists: Callable[[str], bool]) -> Found | None:
        """Return what the first rule makes of a request that applies to it."""
        is_there: bool | None = None
        for rule, groups in self.index.matches(request):
            if not rule.forced:
                if is_there is None:
                    is_there = exists(request.url)
                if is_there:
                    continue
            if rule.status == 404 and rule.how != EXACT and rule.target is not None:
                continue  # the page for whatever is not found, such as `/* /404.html 404`
            return Found(rule, filled(rule, groups, request), rule.status)
        return None


def filled(rule: Rule, groups: Groups, request: Request) -> str | None:
    """Return the target of a rule for a request, with the groups of its match and the query of the request."""
    if rule.target is None:
        return None
    query = request.query
    if rule.parameters:
        groups, query = _with_parameters(rule, groups, request)
    parts = [part if isinstance(part, str) else _group(groups, part, is_encoded=rule.whole_url) for part in rule.target]
    target = "".join(parts)
    if rule.whole_url or (rule.how == EXACT and "?" in rule.source):
        return target
    return with_query(target, query, rule.query)


def with_query(target: str, query: str | None, how: str) -> str:
    """Return a target with the query of the request, before its fragment."""
    bare, crosshatch, fragment = target.partition("#")
    if query is None or how in {DROP, NONE}:
        return target
    if "?" not in bare:
        return f"{bare}?{query}{crosshatch}{fragment}"
    if how == APPEND:
        joint = "" if bare.endswith(("?", "&")) or not query else "&"
        return f"{bare}{joint}{query}{crosshatch}{fragment}"
    return target


def _group(groups: Groups, number: int, *, is_encoded: bool) -> str:
    text = groups[number] if number < len(groups) else None
    return (text if is_encoded else encoded(text)) if text else ""


def _with_parameters(rule: Rule, groups: Groups, request: Request) -> tuple[Groups, str | None]:
    """Return the groups with those of parameters, by number, and the query without these parameters."""
    given = parameters(request.query)
    captured = {name: value for name, value in rule.parameters if isinstance(value, int)}
    size = max([len(groups), *(number + 1 for number in captured.values())])
    found = [*groups, *[None] * (size - len(groups))]
    for name, number in captured.items():
        found[number] = quote_plus(given[name])
    rest = "&".join(
        pair for pair in (request.query or "").split("&") if not parameters(pair).keys() & dict(rule.parameters).keys()
    )
    return tuple(found), rest or None
