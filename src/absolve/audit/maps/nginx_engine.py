"""Apply the directives of an nginx server to a request: rewrite, return, if, set, break, try_files, in locations.

In: blocks of actions. Out: a redirect, a status, or other content; None where nothing changes. The order is that of
nginx.org/en/docs/http/ngx_http_rewrite_module.html: those of the server, then those of the location, again while the
path changes, at most ten times.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from absolve.audit.maps.model import APPEND, Found
from absolve.audit.maps.nginx_values import State
from absolve.audit.maps.ordered import with_query
from absolve.audit.maps.request import decoded, encoded
from absolve.core.patterns import PatternSet

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from absolve.audit.maps.model import Rule
    from absolve.audit.maps.nginx_values import Part, Table
    from absolve.audit.maps.request import Request
    from absolve.core.patterns import Matcher

_MOST_ROUNDS: Final = 10

STOP: Final = "stop"  # no further actions of this block, then a new search for a location
BREAK: Final = "break"  # no further actions at all


class Test(NamedTuple):
    """The condition of an `if`: `sign` is "", =, ~, -f, -d or -e; `value` is compared with `text`."""

    value: tuple[Part, ...]
    sign: str
    text: tuple[Part, ...]
    match: Matcher | None
    names: Mapping[str, int]
    is_negated: bool


class Action(NamedTuple):
    """A directive: `kind` is rewrite, return, if, set or break."""

    kind: str
    rule: Rule | None
    match: Matcher | None = None
    names: Mapping[str, int] = {}
    pattern: str = ""
    value: tuple[Part, ...] | None = None
    flag: str = ""
    status: int = 0
    name: str = ""
    test: Test | None = None
    block: Actions | None = None


class Actions:
    """A sequence of actions. Those whose condition cannot hold for a path are not looked at."""

    def __init__(self, given: Sequence[Action]) -> None:
        self._given = given
        rewrites = [number for number, action in enumerate(given) if action.kind == "rewrite"]
        self._rewrites = rewrites
        self._set = PatternSet((given[number].pattern, False) for number in rewrites)
        self._equal: dict[tuple[str, str], list[int]] = {}
        self._always: list[int] = []
        for number, action in enumerate(given):
            key = _literal(action)
            if key is not None:
                self._equal.setdefault(key, []).append(number)
            elif action.kind != "rewrite":
                self._always.append(number)
        self._names = {name for name, _ in self._equal}

    def run(self, state: State, exists: Callable[[str], bool]) -> Found | str | None:
        """Apply the actions in order: return a result, STOP or BREAK, or None at their end."""
        waiting = self._waiting(state)
        place = 0
        while place < len(waiting):
            number = waiting[place]
            place += 1
            before = state.path
            result = self._apply(self._given[number], state, exists)
            if result is not None:
                return result
            if state.path != before:
                waiting = [one for one in self._waiting(state) if one > number]
                place = 0
        return None

    def _waiting(self, state: State) -> list[int]:
        found = [*self._always, *(self._rewrites[one] for one in self._set.candidates(state.path))]
        for name in self._names:
            found += self._equal.get((name, state.value(name)), ())
        found.sort()
        return found

    def _apply(self, action: Action, state: State, exists: Callable[[str], bool]) -> Found | str | None:
        if action.kind == "break":
            return BREAK
        if action.kind == "set":
            state.variables[action.name] = state.expanded(action.value or ())
            return None
        if action.kind == "if":
            holds = action.test is not None and _holds(action.test, state, exists)
            return action.block.run(state, exists) if holds and action.block is not None else None
        if action.kind == "return":
            state.rule = None
            target = state.expanded(action.value, is_url=True) if action.value is not None else None
            rule = _rule_of(state, action)
            return Found(rule, target or None, action.status) if rule is not None else None
        return _rewritten(action, state)


def _rule_of(state: State, action: Action) -> Rule | None:
    """Return the line of the map that gave the target, else the rule of the directive."""
    return state.rule if state.rule is not None else action.rule


def _literal(action: Action) -> tuple[str, str] | None:
    """Return the variable and the text of an action that applies only where they are equal."""
    test = action.test
    if action.kind != "if" or test is None or test.sign != "=" or test.is_negated or len(test.value) != 1:
        return None
    if any(part.kind != "text" for part in test.text) or test.value[0].text not in {
        "uri",
        "request_uri",
        "document_uri",
    }:
        return None
    return test.value[0].text, "".join(part.text for part in test.text)


def _holds(test: Test, state: State, exists: Callable[[str], bool]) -> bool:
    if test.sign.startswith("-"):
        return _is_file(test, state, exists) != test.is_negated
    value = state.expanded(test.value)
    if test.match is not None:
        groups = test.match(value)
        if groups is not None:
            state.matched(groups, test.names)
        return (groups is not None) != test.is_negated
    if test.sign == "=":
        return (value == state.expanded(test.text)) != test.is_negated
    return value not in {"", "0"}


def _is_file(test: Test, state: State, exists: Callable[[str], bool]) -> bool:
    path = encoded(state.expanded(test.value))
    url = f"{state.request.scheme}://{state.request.host}{path if path.startswith('/') else '/' + path}"
    folder = url if url.endswith("/") else f"{url}/"
    if test.sign == "-d":
        return exists(folder)
    is_file = not url.endswith("/") and exists(url)
    return is_file or (test.sign == "-e" and exists(folder))


def _rewritten(action: Action, state: State) -> Found | str | None:
    """Apply a `rewrite`: a target that begins with a scheme, and the flags redirect and permanent, are redirects."""
    groups = action.match(state.path) if action.match is not None else None
    if groups is None or action.value is None:
        return None
    state.matched(groups, action.names)
    state.rule = None
    target = state.expanded(action.value, is_url=True)
    rule = _rule_of(state, action)
    if not target or rule is None:
        return None
    with_old = not target.endswith("?")
    target = target.removesuffix("?")
    if with_old:
        target = with_query(target, state.query or None, APPEND)
    if action.flag in {"redirect", "permanent"} or target.startswith(("http://", "https://")):
        return Found(rule, target, 301 if action.flag == "permanent" else 302)
    path, mark, query = target.partition("?")
    state.path, state.query = decoded(path), query if mark else None
    state.changed_by = rule
    return {"last": STOP, "break": BREAK}.get(action.flag)


class Location(NamedTuple):
    """A location block: `sign` is "", =, ~, ~* or ^~. `fallback` is the last argument of try_files."""

    sign: str
    text: str
    match: Matcher | None
    names: Mapping[str, int]
    actions: Actions
    inner: Locations | None
    fallback: tuple[Rule, str, tuple[Part, ...]] | None = None


class Locations:
    """The locations of one block (nginx.org/en/docs/http/ngx_http_core_module.html#location)."""

    def __init__(self, given: Sequence[Location]) -> None:
        self._exact: dict[str, Location] = {}
        prefixes: dict[str, Location] = {}
        self._patterns: list[Location] = []
        for location in given:
            if location.sign == "=":
                self._exact.setdefault(location.text, location)
            elif location.match is not None:
                self._patterns.append(location)
            else:
                prefixes.setdefault(location.text, location)
        self._set = PatternSet((one.text, one.sign == "~*") for one in self._patterns)
        self._texts = sorted(prefixes)
        self._prefixes = [prefixes[text] for text in self._texts]
        self._outer = _outer(self._texts)

    def chosen(self, state: State) -> Location | None:
        """Return the location for a path, and keep the groups of its pattern."""
        found = self._exact.get(state.path)
        if found is not None:
            return found
        prefix = self._longest(state.path)
        if prefix is not None and prefix.sign == "^~":
            return prefix
        for number in self._set.candidates(state.path):
            location = self._patterns[number]
            groups = location.match(state.path) if location.match is not None else None
            if groups is not None:
                state.matched(groups, location.names)
                return location
        return prefix

    def _longest(self, path: str) -> Location | None:
        """Return the longest prefix of a path: the last text not after it in order, or one of those that begin it."""
        number = bisect_right(self._texts, path) - 1
        if number < 0:
            return None
        same = _common(self._texts[number], path)
        while number >= 0 and len(self._texts[number]) > same:
            number = self._outer[number]
        return self._prefixes[number] if number >= 0 else None


def _outer(texts: Sequence[str]) -> list[int]:
    """Return for each of sorted texts the number of the longest other one that begins it; -1 for none."""
    found: list[int] = []
    open_: list[int] = []
    for text in texts:
        while open_ and not text.startswith(texts[open_[-1]]):
            open_.pop()
        found.append(open_[-1] if open_ else -1)
        open_.append(len(found) - 1)
    return found


def _common(one: str, other: str) -> int:
    """Return the length of the common beginning of two texts."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[:middle] == other[:middle]:
            low = middle
        else:
            high = middle - 1
    return low


class Engine:
    """One server: its own actions, its locations, its named locations, the maps of the file."""

    def __init__(
        self,
        actions: Actions,
        locations: Locations,
        named: Mapping[str, Actions],
        tables: Mapping[str, Table],
        server_name: str,
    ) -> None:
        self._actions = actions
        self._locations = locations
        self._named = named
        self._tables = tables
        self._server_name = server_name

    def __call__(self, request: Request, exists: Callable[[str], bool]) -> Found | None:
        """Return what the server makes of a request, None if it looks for the file of its own path."""
        state = State(request, self._tables, self._server_name)
        result: Any = self._actions.run(state, exists)
        for _ in range(_MOST_ROUNDS):
            if isinstance(result, Found):
                return result
            before = state.path
            location = self._locations.chosen(state)
            result = location.actions.run(state, exists) if location is not None else None
            while location is not None and result is None and location.inner is not None and state.path == before:
                inner = location.inner.chosen(state)
                if inner is None:
                    break
                location = inner
                result = location.actions.run(state, exists)
            if isinstance(result, Found):
                return result
            if state.path == before or result == BREAK:
                return self._content(state, location, exists)
        return self._content(state, None, exists)

    def _content(self, state: State, location: Location | None, exists: Callable[[str], bool]) -> Found | None:
        """Return the fallback of try_files if there is no file; else the path that was rewritten."""
        request = state.request
        query = "" if state.query is None else f"?{state.query}"
        url = f"{request.scheme}://{request.host}{encoded(state.path)}{query}"
        if location is not None and location.fallback is not None and not exists(url):
            rule, name, target = location.fallback
            if name:
                result = self._named[name].run(state, exists) if name in self._named else None
                return result if isinstance(result, Found) else None
            return Found(rule, state.expanded(target, is_url=True), 200)
        if (state.path, state.query) == (request.decoded, request.query) or state.changed_by is None:
            return None
        return Found(state.changed_by, encoded(state.path) + query, 200)
