"""Find the first of many rules that applies to a request, without looking at each rule.

In: rules in their order, with exact paths, prefixes and regular expressions. Out: the rule and the groups of its
match. The time depends on the length of the URL and on the rules that match, not on the number of exact rules and
prefixes: exact paths are in a dictionary, prefixes in one by the hash of their segments, patterns in sets.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple
from urllib.parse import unquote_plus

from absolve.audit.maps.model import EXACT, NONE, PREFIX
from absolve.core.patterns import PatternSet, matcher

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from absolve.audit.maps.model import Rule
    from absolve.audit.maps.request import Request
    from absolve.core.patterns import Matcher

_START: Final = 1469598103934665603

Groups = tuple[str | None, ...]


class Match(NamedTuple):
    """A rule that matches, with the groups of the match: group 0 is what matched."""

    rule: Rule
    groups: Groups


class Index:
    """Rules by what they match. `is_slash_ignored`: a slash at the end of a path makes no difference."""

    def __init__(self, rules: Sequence[Rule], *, is_slash_ignored: bool = False) -> None:
        self._rules = rules
        self._is_slash_ignored = is_slash_ignored
        self._exact: dict[str, int | list[int]] = {}
        self._prefixes: dict[int, int | list[int]] = {}
        self._patterns: list[int] = []
        self._matchers: dict[int, Matcher] = {}
        self._has_conditions = False
        hosts: set[str] = set()
        for number, rule in enumerate(rules):
            if rule.problem is not None:
                continue
            if rule.host is not None:
                hosts.add(rule.host)
            self._has_conditions = self._has_conditions or bool(rule.parameters)
            if rule.how == EXACT:
                self._put(self._exact, _exact_key(rule.host or "", self._bare(rule.source) + _condition(rule)), number)
            elif rule.how == PREFIX:
                self._put(self._prefixes, _prefix_key(rule.host or "", rule.source), number)
            else:
                self._patterns.append(number)
        self._hosts = frozenset(hosts)
        self._sets = self._pattern_sets()

    def matches(self, request: Request) -> Iterator[Match]:
        """Yield the rules that match a request, in their order."""
        for number in sorted(self._candidates(request)):
            rule = self._rules[number]
            if rule.host != request.host and (rule.host is not None or not request.is_home):
                continue
            if rule.scheme not in {"", request.scheme}:
                continue
            groups = self._groups(number, rule, request)
            if groups is not None:
                yield Match(rule, groups)

    def _bare(self, source: str) -> str:
        if not self._is_slash_ignored or not ("?" in source or source.endswith("/")):
            return source
        path, mark, query = source.partition("?")
        return f"{path.rstrip('/') or '/'}{mark}{query}"

    def _put(self, table: dict[Any, int | list[int]], key: str | int, number: int) -> None:
        """Add a rule, unless it can never apply: an earlier one with the same key applies wherever it would."""
        known = table.get(key)
        if known is None:
            table[key] = number
            return
        numbers = [known] if isinstance(known, int) else known
        rule = self._rules[number]
        if any(_covers(self._rules[other], rule) for other in (numbers[0], numbers[-1])):
            return
        numbers.append(number)
        table[key] = numbers

    def _pattern_sets(self) -> tuple[PatternSet, PatternSet, list[int], list[int]]:
        paths = [number for number in self._patterns if not self._rules[number].whole_url]
        urls = [number for number in self._patterns if self._rules[number].whole_url]

        def made(numbers: Iterable[int]) -> PatternSet:
            return PatternSet((self._rules[number].source, self._rules[number].ignores_case) for number in numbers)

        return made(paths), made(urls), paths, urls

    def _candidates(self, request: Request) -> Iterator[int]:
        hosts = [request.host] if request.host in self._hosts else []
        if request.is_home:
            hosts.append("")
        path = self._bare(request.decoded)
        keys = [path]
        if request.query is not None:
            keys.append(f"{path}?{request.query}")
            if self._has_conditions:
                keys += [f"{path}?&{name}={value}" for name, value in parameters(request.query).items()]
        for host in hosts:
            for key in keys:
                yield from _numbers(self._exact.get(_exact_key(host, key)))
            if self._prefixes:
                for hashed in _prefix_keys(host, request.decoded):
                    yield from _numbers(self._prefixes.get(hashed))
        if self._patterns:
            of_paths, of_urls, paths, urls = self._sets
            yield from (paths[place] for place in of_paths.candidates(request.decoded))
            if urls:
                yield from (urls[place] for place in of_urls.candidates(whole(request)))

    def _groups(self, number: int, rule: Rule, request: Request) -> Groups | None:
        if rule.parameters and not _has_parameters(rule, request):
            return None
        if rule.how == EXACT:
            path, mark, _ = rule.source.partition("?")
            if rule.query == NONE and not mark and request.query is not None:
                return None
            is_same = self._bare(path) == self._bare(request.decoded)
            return (request.decoded,) if is_same and (not mark or rule.source == f"{path}?{request.query}") else None
        if rule.how == PREFIX:
            return prefix_groups(rule.source, request.decoded)
        found = self._matchers.get(number)
        if found is None:
            found = self._matchers[number] = matcher(rule.source, ignores_case=rule.ignores_case)
        return found(whole(request) if rule.whole_url else request.decoded)


def whole(request: Request) -> str:
    """Return a request as the URL that a regular expression for URLs is matched against."""
    query = "" if request.query is None else f"?{request.query}"
    return f"{request.scheme}://{request.host}{request.path}{query}"


def prefix_groups(prefix: str, path: str) -> Groups | None:
    """Return a path, its rest behind the prefix, and that without a slash at its beginning.

    None unless the prefix ends at the end of a segment of the path.
    """
    if not path.startswith(prefix):
        return None
    rest = path[len(prefix) :]
    ends = not rest or prefix.endswith("/") or rest.startswith("/")
    return (path, rest, rest.removeprefix("/")) if ends else None


def parameters(query: str | None) -> dict[str, str]:
    """Return the parameters of a query, decoded, the first of each name."""
    found: dict[str, str] = {}
    for pair in (query or "").split("&"):
        name, _, value = pair.partition("=")
        if name:
            found.setdefault(unquote_plus(name), unquote_plus(value))
    return found


def _covers(first: Rule, rule: Rule) -> bool:
    """Return whether the first of two rules with the same key applies wherever the second would."""
    if first.parameters or first.scheme or (rule.forced and not first.forced) or (first.query == NONE != rule.query):
        return False
    if first.how == EXACT:
        return True
    return first.source.rstrip("/") == rule.source.rstrip("/") and len(first.source) <= len(rule.source)


def _condition(rule: Rule) -> str:
    """Return the first condition on a parameter with a known value, as a part of the key: many rules share a path."""
    for name, value in rule.parameters:
        if isinstance(value, str):
            return f"?&{name}={value}"
    return ""


def _has_parameters(rule: Rule, request: Request) -> bool:
    given = parameters(request.query)
    return all(name in given and (isinstance(value, int) or given[name] == value) for name, value in rule.parameters)


def _numbers(found: int | list[int] | None) -> tuple[int, ...]:
    if found is None:
        return ()
    return (found,) if isinstance(found, int) else tuple(found)


def _exact_key(host: str, path: str) -> str:
    return f"{host}\0{path}" if host else path


def _prefix_key(host: str, prefix: str) -> int:
    """Return the key of a prefix: the hash of its segments, without a slash at its end."""
    *_, key = _prefix_keys(host, prefix.rstrip("/"))
    return key


def _prefix_keys(host: str, path: str) -> Iterator[int]:
    """Yield the keys of all prefixes of a path, in time linear in its length."""
    key = hash((_START, host))
    yield key
    segments = path.split("/")
    for segment in segments[1:]:
        key = hash((key, segment))
        yield key
