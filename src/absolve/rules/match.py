"""Find the first of many rules that applies to a request, without looking at each rule, and write its target.

In: rules in their order, with exact paths, prefixes and regular expressions. Out: a `Redirector`. The time depends on
the length of the URL and on the rules that match, not on the number of exact rules and prefixes: exact paths are in
one dictionary, prefixes in another, patterns in sets.
"""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Final
from urllib.parse import quote_plus, unquote_plus

from absolve.core.patterns import PatternSet, matcher
from absolve.rules.index import Index
from absolve.rules.model import CONDITION, HOST, REQUESTED, SCHEME, WHOLE_PATH, Move, encoded, subject

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    from absolve.rules.model import Condition, Redirector, Request, Rule, RuleSet, Server

_PORTS: Final = {"http": "80", "https": "443"}
_MOST_PORTS: Final = 50  # of a server; one with more is taken to listen on any port
_EVERY: Final = "all"  # the ports of all servers
_ANY: Final = "any"  # servers that listen on any port
_FOLDED: Final = "\1"  # begins the key of an exact path in any letter case

Groups = tuple[str | None, ...]


class OrderedRules:
    """A mover for rules in their order: the first that applies counts. One that is not forced yields to a file.

    `is_slash_ignored`: a slash at the end of a path makes no difference. `has_folders`: a folder counts as a file.
    """

    def __init__(self, rules: Sequence[Rule], *, is_slash_ignored: bool = False, has_folders: bool = False) -> None:
        self._rules = rules
        self._has_folders = has_folders
        self._is_slash_ignored = is_slash_ignored
        self._index = Index()
        self._has_parameters = self._has_folded = False
        self._hosts: set[str] = set()
        patterns: dict[str, list[int]] = {}
        for number, rule in enumerate(rules):
            if rule.how == "regex":
                patterns.setdefault(rule.subject, []).append(number)
            elif rule.source:  # else it is not known what an unread rule matches
                self._add(rule, number)
        self._sets = {
            name: (PatternSet((rules[number].source, rules[number].ignores_case) for number in numbers), numbers)
            for name, numbers in patterns.items()
        }

    def _add(self, rule: Rule, number: int) -> None:
        if rule.host is not None:
            self._hosts.add(rule.host)
        self._has_parameters = self._has_parameters or bool(rule.parameters)
        if rule.how == "prefix":
            self._put(self._index.prefix_list(_place(rule.host), rule.source), number)
            return
        path = self._bare(rule.source) + _parameter(rule)
        if rule.ignores_case:
            self._has_folded = True
            path = _FOLDED + path.lower()
        self._put(self._index.exact_list(_place(rule.host) + path), number)

    def __call__(self, request: Request, exists: Callable[[str], bool], doubts: list[Rule]) -> Move | None:
        """Return the step of the first rule that applies to a request."""
        is_there: bool | None = None
        for rule, groups, condition_groups in self._matches(request):
            if not rule.forced and not (rule.how == "exact" and "?" in rule.source):  # no file has a query
                if is_there is None:
                    is_there = exists(request.url) or (self._has_folders and exists(f"{request.url}/"))
                if is_there:
                    continue
            if rule.problem is not None:
                doubts.append(rule)
                continue
            if rule.status == 404 and rule.how != "exact" and rule.target is not None:
                continue  # the page for missing files, such as `/* /404.html 404`
            if rule.status == 200 and rule.target is None:
                return None
            return Move(rule, _filled(rule, groups, condition_groups, request))
        return None

    def _matches(self, request: Request) -> Iterator[tuple[Rule, Groups, Groups]]:
        """Yield the rules that match a request, in their order, with their groups and the last condition's groups."""
        for number in sorted(self._candidates(request)):
            rule = self._rules[number]
            groups = self._groups(rule, request)
            condition_groups = _condition_groups(rule.conditions, request) if groups is not None else None
            if groups is not None and condition_groups is not None:
                yield rule, groups, condition_groups

    def _bare(self, source: str) -> str:
        if not self._is_slash_ignored or not ("?" in source or source.endswith("/")):
            return source
        path, mark, query = source.partition("?")
        return f"{path.rstrip('/') or '/'}{mark}{query}"

    def _put(self, numbers: list[int], number: int) -> None:
        """Add a rule, unless it can never apply: an earlier one with the same key applies wherever it would."""
        if not any(_covers(self._rules[other], self._rules[number]) for other in (*numbers[:1], *numbers[-1:])):
            numbers.append(number)

    def _candidates(self, request: Request) -> Iterator[int]:
        hosts = [request.host] if request.host in self._hosts else []
        if request.is_site_host:
            hosts.append("")
        for place in map(_place, hosts):
            for key in self._keys(request):
                yield from self._index.exact(place + key)
            yield from self._index.above(place, request.decoded)
        for name, (patterns, numbers) in self._sets.items():
            yield from (numbers[place] for place in patterns.candidates(subject(request, name)))

    def _keys(self, request: Request) -> list[str]:
        path = self._bare(request.decoded)
        keys = [path]
        if request.query is not None:
            keys.append(f"{path}?{request.query}")
            if self._has_parameters:
                keys += [f"{path}?&{name}={value}" for name, value in _parameters(request.query).items()]
        return keys + [_FOLDED + key.lower() for key in keys] if self._has_folded else keys

    def _groups(self, rule: Rule, request: Request) -> Groups | None:
        """Return the groups of a rule's match, group 0 is the whole match; None if it does not match."""
        if rule.host != request.host and (rule.host is not None or not request.is_site_host):
            return None
        if request.line is not None and rule.how == "exact" and (rule.query == "none" or "?" in rule.source):
            return None  # it compares the request line
        if rule.parameters and not _has_parameters(rule, request):
            return None
        if rule.how == "exact":
            path, mark, query = rule.source.partition("?")
            if (mark and query != request.query) or (rule.query == "none" and not mark and request.query is not None):
                return None
            path, requested = self._bare(path), self._bare(request.decoded)
            is_same = path.lower() == requested.lower() if rule.ignores_case else path == requested
            return (request.decoded,) if is_same else None
        if rule.how == "prefix":
            return _prefix_groups(rule.source, request.decoded)
        return matcher(rule.source, ignores_case=rule.ignores_case)(subject(request, rule.subject))


def _condition_groups(conditions: Sequence[Condition], request: Request) -> Groups | None:
    """Return the groups of the last condition; None unless all conditions hold, or one of several alternatives."""
    last: Groups = ()
    is_done = False  # one of the alternatives holds
    for one in conditions:
        if not is_done:
            groups = matcher(one.pattern, ignores_case=one.ignores_case)(subject(request, one.subject))
            is_done = (groups is None) is one.is_negated
            if not is_done and not one.is_alternative:
                return None
            if groups is not None and is_done:
                last = tuple(encoded(text or "") for text in groups) if one.subject == "path" else groups
        is_done = is_done and one.is_alternative
    return last


def _prefix_groups(prefix: str, path: str) -> Groups | None:
    """Return a path and its rest behind the prefix: for example `("/docs/a", "/a", "a")` for the prefix `/docs`.

    None unless the prefix ends at the end of a path segment.
    """
    if not path.startswith(prefix):
        return None
    rest = path[len(prefix) :]
    ends = not rest or prefix.endswith("/") or rest.startswith("/")
    return (path, rest, rest.removeprefix("/")) if ends else None


def _parameters(query: str | None) -> dict[str, str]:
    """Return the parameters of a query, decoded, the first of each name: for example `a=1&b=x+y` has `b` as `x y`."""
    found: dict[str, str] = {}
    for pair in (query or "").split("&"):
        name, _, value = pair.partition("=")
        if name:
            found.setdefault(unquote_plus(name), unquote_plus(value))
    return found


def _covers(first: Rule, rule: Rule) -> bool:
    """Return whether the first of two rules with the same key applies wherever the second would."""
    if first.problem is not None or first.parameters or first.conditions:
        return False
    if (rule.forced and not first.forced) or (first.query == "none" != rule.query):
        return False
    if first.how == "exact":
        return True
    return first.source.rstrip("/") == rule.source.rstrip("/") and len(first.source) <= len(rule.source)


def _parameter(rule: Rule) -> str:
    """Return the first condition on a parameter with a known value, as a part of the key: many rules share a path."""
    return next((f"?&{name}={value}" for name, value in rule.parameters if isinstance(value, str)), "")


def _has_parameters(rule: Rule, request: Request) -> bool:
    found = _parameters(request.query)
    return all(name in found and (isinstance(value, int) or found[name] == value) for name, value in rule.parameters)


def _place(host: str | None) -> str:
    return f"{host}\0" if host else ""


# --- virtual hosts ----------------------------------------------------------------------------------------------------


def redirector(found: RuleSet, olds: Collection[str] = ()) -> Redirector:
    """Return a function that applies the rules of a map. A server named after an old host (`olds`) has no other one."""
    if not found.servers:
        return OrderedRules(found.rules, is_slash_ignored=found.is_slash_ignored)
    every = (rules for server in found.servers for rules in (*server.phases, *server.inner) if rules)
    distinct = {id(rules): rules for rules in every}  # servers share some
    ordered = {key: OrderedRules(rules, has_folders=True) for key, rules in distinct.items()}
    phases = [[ordered[id(rules)] for rules in server.phases if rules] for server in found.servers]
    inner = [[ordered[id(rules)] for rules in server.inner if rules] for server in found.servers]
    chosen = _Servers(found.servers, olds, is_nginx=found.format == "nginx")

    def move(request: Request, exists: Callable[[str], bool], doubts: list[Rule]) -> Move | None:
        number = chosen(request)
        if number is None:
            return None
        tries = [(phases[number], request._replace(is_site_host=True))]
        tries += [(inner[number], one) for one in _indexes(tries[0][1]) if inner[number] and exists(one.url)][:1]
        answers = (phase(parts, exists, doubts) for several, parts in tries for phase in several)
        return next((found for found in answers if found is not None), None)

    return move


def _indexes(folder: Request) -> Iterator[Request]:
    """Yield a server's own requests for the index files of a folder: for example, /a/index.html?x for /a/?x."""
    bare, mark, query = folder.url.partition("?")
    for name in folder.indexes if folder.path.endswith("/") else ():
        path, url = folder.path + name, f"{bare}{name}{mark}{query}"
        yield folder._replace(url=url, path=path, decoded=folder.decoded + name, line=subject(folder, "target"))


class _Servers:
    """Virtual hosts by port and name: Apache takes the first with a fitting name, nginx the one whose name fits best.

    httpd.apache.org/docs/2.4/vhosts/details.html, nginx.org/en/docs/http/request_processing.html
    """

    def __init__(self, servers: Sequence[Server], olds: Collection[str], *, is_nginx: bool) -> None:
        self._rank = _rank if is_nginx else lambda *_: (0, 0, 0)
        names = (*olds, *(host.partition(":")[0] for host in olds))
        self._has_old_name = [any(_fits(old, name) for old in names for name in one.names) for one in servers]
        self._first: dict[tuple[str, str], int] = {}  # the first server by port and name; "" for any name
        wildcards: dict[str, None] = {}
        for number, server in enumerate(servers):
            ports = server.ports if len(server.ports) <= _MOST_PORTS else ()
            for port in {_EVERY, *(ports or (_ANY,))}:
                for name in ("", *server.names):
                    self._first.setdefault((port, name), number)
            wildcards |= dict.fromkeys(name for name in server.names if "*" in name)
        self._wildcards = list(wildcards)
        self._patterns = PatternSet((_wildcard_pattern(name), False) for name in self._wildcards)

    def __call__(self, request: Request) -> int | None:
        """Return the number of the server that answers: by port, then by name, otherwise the first of the port.

        None if no server listens, and if none has the name of a host that is neither site's; nor does one that has the
        name of an old host answer for another one.
        """
        host, colon, _ = request.host.partition(":")
        port = request.host.rpartition(":")[2] if colon else _PORTS[request.scheme]
        ports = [one for one in (port, _ANY) if (one, "") in self._first]
        if not ports and port in _PORTS.values():
            ports = [_EVERY]
        wild = (self._wildcards[number] for number in self._patterns.candidates(host))
        names = [host, *(name for name in wild if _fits(host, name))]
        named = [
            (self._rank(place, name), self._first[port, name])
            for place, port in enumerate(ports)
            for name in names
            if (port, name) in self._first
        ]
        if named or not request.is_site_host:
            return min(named)[-1] if named else None
        number = min((self._first[port, ""] for port in ports), default=None)
        return None if number is not None and self._has_old_name[number] else number


def _rank(port: int, name: str) -> tuple[int, int, int]:
    """Return the rank of a name in nginx: exact, then the longest that begins or else ends with `*`, then a pattern.

    A server for this port (0) comes before one for any. For example, `*.example.com` ranks before `www.*`.

    nginx.org/en/docs/http/server_names.html
    """
    kind = 3 if name.startswith("~*") else 1 if name.startswith("*") else 2 if name.endswith("*") else 0
    return port, kind, 0 if kind == 3 else -len(name)


def _fits(host: str, name: str) -> bool:
    """Return whether a host has a name, perhaps one with `*`; behind `~*` a name is a regular expression."""
    return matcher(name[2:])(host) is not None if name.startswith("~*") else fnmatchcase(host, name)


def _wildcard_pattern(name: str) -> str:
    r"""Return the regular expression for a name with `*` and `?`: for example `^.*\.example$` for `*.example`."""
    if name.startswith("~*"):
        return name[2:]
    pattern = re.escape(name).replace(r"\*", ".*").replace(r"\?", ".")
    return f"^{pattern}$"


# --- where a rule leads -----------------------------------------------------------------------------------------------


def _filled(rule: Rule, groups: Groups, condition_groups: Groups, request: Request) -> str | None:
    """Return the target of a rule for a request, with the groups of its match and the query of the request."""
    if rule.target is None:
        return None
    query = request.query
    if rule.parameters:
        groups, query = _with_parameters(rule, groups, request)
    is_encoded = rule.subject not in {"path", "folder"}

    def text(part: str | int) -> str:
        if isinstance(part, str):
            return part
        if part < 0:
            requested = subject(request, "target").partition("?")[0]
            return {WHOLE_PATH: request.path, HOST: request.host, SCHEME: request.scheme, REQUESTED: requested}[part]
        if part >= CONDITION:
            return _group(condition_groups, part - CONDITION, is_encoded=True)
        return _group(groups, part, is_encoded=is_encoded)

    target = "".join(map(text, rule.target))
    if rule.subject == "url" or (rule.how == "exact" and "?" in rule.source):
        return target
    return _with_query(target, query, rule.query)


def _with_query(target: str, query: str | None, how: str) -> str:
    """Return a target with the query of the request before its fragment: for example `/b?x#f` for `/b#f` and `x`."""
    bare, crosshatch, fragment = target.partition("#")
    if query is None or how in {"drop", "none"}:
        return target
    if "?" not in bare:
        return f"{bare}?{query}{crosshatch}{fragment}"
    if how == "append":
        joint = "" if bare.endswith(("?", "&")) or not query else "&"
        return f"{bare}{joint}{query}{crosshatch}{fragment}"
    return target


def _group(groups: Groups, number: int, *, is_encoded: bool) -> str:
    text = groups[number] if number < len(groups) else None
    return (text if is_encoded else encoded(text)) if text else ""


def _with_parameters(rule: Rule, groups: Groups, request: Request) -> tuple[Groups, str | None]:
    """Return the groups with the captured parameters, by number, and the query without these parameters."""
    parameters = _parameters(request.query)
    captured = {name: value for name, value in rule.parameters if isinstance(value, int)}
    size = max([len(groups), *(number + 1 for number in captured.values())])
    found = [*groups, *[None] * (size - len(groups))]
    for name, number in captured.items():
        found[number] = quote_plus(parameters[name])
    rest = "&".join(
        pair for pair in (request.query or "").split("&") if not _parameters(pair).keys() & dict(rule.parameters).keys()
    )
    return tuple(found), rest or None
