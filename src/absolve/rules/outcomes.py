"""Move URLs by all maps of an audit, one step or to the end, and check the rules after that.

In: sets of rules, the old and the new URL of the site, absolute URLs. Out: `Move` and `Outcome`, and a `Checked` for
each rule, with the number of URLs that it moved, why it could not be read, and the finding about it, for example
`chain`. The first map with a rule that applies counts. Each URL is computed once, and a chain shares the results of its
links. A rule is compared with others by URLs that it would move, so that no pair of rules is compared.
"""

from __future__ import annotations

from collections import Counter
from copy import copy
from typing import TYPE_CHECKING, Final, NamedTuple

from absolve.core.caching import BoundedCache
from absolve.rules.match import redirector
from absolve.rules.model import GONE, MOST_HOPS, MOST_TIMES, RECORDED, SCHEME, Move, Outcome, Request, encoded, request
from absolve.urls import whatwg
from absolve.urls.chain import follow
from absolve.urls.identity import origin

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from absolve.rules.model import Redirector, Rule, RuleSet, Server


_MOST_KNOWN: Final = 1 << 16
_MOST_RULES: Final = 8  # of one outcome


def never(_url: str) -> bool:
    """Return False: no file of the new site is known."""
    return False


class Seen(NamedTuple):
    """A summary of the URLs that a rule moved: whether one was in a loop or took more hops, or all led to nothing."""

    loop: bool = False
    chain: bool = False
    nothing: bool = True


class Rules:
    """All maps of an audit. `exists` returns whether the new site has a file for a URL; set it before the first chain.

    `used` counts the distinct URLs that each rule moved, by file and line. `maps` are the sets of rules without the
    redirects that were recorded. `others` are roots of more hosts of the old site. `adds_slash`: the server redirects a
    folder without its slash. `indexes`: the names of index files, which nginx and Apache request for a folder. `hosts`
    are the hosts of both sites.
    """

    def __init__(
        self, sets: Iterable[RuleSet], base_old: str | None, base_new: str, others: Iterable[str] = ()
    ) -> None:
        self.sets = list(sets)
        self.maps = [one for one in self.sets if one.format != RECORDED]
        self.used: Counter[tuple[str, int]] = Counter()
        self.seen: dict[tuple[str, int], Seen] = {}
        self.exists: Callable[[str], bool] = never
        self.adds_slash = False
        self.indexes: tuple[str, ...] = ()
        self._base_new = base_new
        self._new, self._old = request(base_new), request(base_old) if base_old else None
        self._new_host = self._new.host if self._new is not None else ""
        self._roots = [one for one in (self._old, self._new, *map(request, others)) if one is not None]
        self.hosts = {one.host for one in self._roots}
        self._redirectors: list[Redirector] = [redirector(found, self.hosts - {self._new_host}) for found in self.sets]
        self._origins = _origins(self.sets)
        self._known: BoundedCache[str, Outcome] = BoundedCache(_MOST_KNOWN)

    @property
    def form(self) -> str:
        """The format of the first map, in which rules to add are written: CSV without a map."""
        return self.maps[0].format if self.maps else "csv"

    def is_insecure(self, url: str) -> bool:
        """Return whether a URL names the new site by http although its base URL has https."""
        return self._base_new.startswith("https:") and url.startswith(f"http://{self._new_host}/")

    @property
    def is_one_host(self) -> bool:
        """Whether the old and the new site have one host."""
        return self.hosts <= {self._new_host}

    @property
    def is_forced(self) -> bool:
        """Whether a rule applies where a file exists, too."""
        every = (rule for one in self.sets for rule in one.rules)
        return any((rule.forced or "?" in rule.source) and rule.problem is None for rule in every)

    def behind(self, added: RuleSet) -> Rules:
        """Return these rules with another map before them; each of the two objects has its own counts."""
        found = copy(self)
        found.sets, found._redirectors = [added, *self.sets], [redirector(added), *self._redirectors]  # noqa: SLF001 - a copy of this
        found.used, found.seen, found._known = Counter(), {}, BoundedCache(_MOST_KNOWN)  # noqa: SLF001
        return found

    def move(self, url: str, exists: Callable[[str], bool] = never) -> Move | None:
        """Return the step of the first rule that applies to an absolute URL, None if no rule applies.

        `exists` returns whether the new site has a file for a URL; an old URL is replaced by its counterpart before.
        """
        return self._step(url, exists)[0]

    def _step(self, url: str, exists: Callable[[str], bool]) -> tuple[Move | None, bool]:
        """Return the step, and whether no rule that could not be read may make another one."""
        parts = request(url)
        if parts is None:
            return None, True
        parts = parts._replace(is_site_host=parts.host in self.hosts, indexes=self.indexes)
        doubts: list[Rule] = []

        def is_there(old: str) -> bool:
            return exists(self.counterpart(old))

        for apply in self._redirectors:
            found = apply(parts, is_there, doubts)
            if found is not None:
                move = found._replace(target=self._absolute_target(found.target), is_sure=not doubts)
                if not self._is_for_old(parts, move, apply, is_there):
                    return move, not doubts
        return None, not doubts

    def _is_for_old(self, parts: Request, move: Move, redirector: Redirector, exists: Callable[[str], bool]) -> bool:
        """Return whether a rule must belong to the old host, because on the new one it would apply to its own target.

        For example, `Redirect / https://new.example/` names a host only in its target.
        """
        rule, target = move.rule, move.target
        if self._old is None or self._new_host == self._old.host:
            return False
        if parts.host != self._new_host or target is None or rule.host is not None:
            return False
        following = request(target)
        if rule.how == "exact" or following is None or following.host != self._new_host or not _names_host(rule):
            return False
        again = redirector(following, exists, [])
        return again is not None and again.rule == rule

    def counterpart(self, url: str) -> str:
        """Return the new site's URL for an old one, for example `https://new/a` for `https://old/a`; others as is."""
        parts = request(url)
        if parts is None or parts.host == self._new_host or parts.host not in self.hosts:
            return url
        path = parts.path
        folder_old, folder_new = (one.path[: one.path.rfind("/") + 1] if one else "" for one in (self._old, self._new))
        if path.startswith(folder_old):
            path = folder_new + path[len(folder_old) :]
        query = "" if parts.query is None else f"?{parts.query}"
        return whatwg.parse(f"{path}{query}", self._base_new) or url

    def _absolute_target(self, target: str | None) -> str | None:
        found = self.absolute(target) if target is not None else None
        return found if found is not None and found.startswith(("http:", "https:")) else None

    def url(self, rule: Rule, path: str, query: str | None = None) -> str | None:
        """Return the URL of a decoded path on a host to which a rule applies; None if that is not a URL."""
        scheme = "http" if self._base_new.startswith("http:") else "https"
        known = self._origins.get((rule.file, rule.line)) if rule.host is None else None
        mark = "" if query is None else f"?{query}"
        return whatwg.parse(f"{known or f'{scheme}://{rule.host or self._new_host}'}{encoded(path)}{mark}")

    def old(self, url: str) -> str | None:
        """Return the old site's URL with the same path as a new URL; None if both have the same host."""
        parts = request(url)
        if parts is None or self._old is None or self._old.host == parts.host:
            return None
        return whatwg.parse(url.removeprefix(origin(url)), self._old.url)

    def absolute(self, target: str) -> str | None:
        """Return the absolute URL of a target."""
        return whatwg.parse(target, self._base_new)

    def is_new(self, url: str) -> bool:
        """Return whether a URL is one of the new site."""
        parts = request(url)
        return parts is not None and parts.host == self._new_host

    def landed(self, url: str) -> str:
        """Return the URL that answers a redirect's target: for an old URL without a rule, the new site's counterpart.

        An old URL without a page on the new site stays: nothing answers it.
        """
        other = self.counterpart(url)
        if other == url or not self._is_inside(url) or self.move(url, self.exists) is not None:
            return url
        return other if self._is_reached(other) or self.move(other, self.exists) is not None else url

    def chain(self, url: str, *, counts: bool = True) -> Outcome:
        """Return where a URL leads in the end; it keeps its fragment, unless a rule has one (Fetch 4.4).

        Outcomes are cached. `counts`: the rules that move it count as used.
        """
        bare, crosshatch, fragment = url.partition("#")
        outcome = self._known.entries.get(bare)
        if outcome is None:
            outcome = self._followed(bare, counts=counts)
        if counts and outcome.rules:
            self._see(outcome)
        if crosshatch and outcome.final is not None and "#" not in outcome.final:
            return outcome._replace(final=f"{outcome.final}#{fragment}")
        return outcome

    def leads_to_nothing(self, outcome: Outcome) -> bool:
        """Return whether a chain ends at a missing page of one of the sites, and not with status 404 or 410.

        An old URL at the end of a chain has no rule, and no page at its path: see `landed`.
        """
        end = outcome.served or outcome.final
        return not outcome.gone and (end is None or (self._is_inside(end) and not self._is_reached(end)))

    def _is_inside(self, url: str) -> bool:
        """Return whether a URL is inside one of the sites."""
        parts = request(url)
        return parts is not None and any(
            one.host == parts.host and parts.path.startswith(one.path[: one.path.rfind("/") + 1]) for one in self._roots
        )

    def _is_reached(self, url: str) -> bool:
        """Return whether a file answers a URL, or the server redirects it to one with or without its final slash."""
        bare = url.partition("#")[0]
        path, mark, query = bare.partition("?")
        other = path[:-1] if path.endswith("/") else f"{path}/"
        return self.exists(bare) or (self.adds_slash and self.exists(f"{other}{mark}{query}"))

    def _see(self, outcome: Outcome) -> None:
        """Add an outcome to the summary of the rule that moved its URL, for the findings about the rule."""
        rule = outcome.rules[0]
        seen = self.seen.get((rule.file, rule.line)) or Seen()
        is_nothing = self.leads_to_nothing(outcome)
        self.seen[rule.file, rule.line] = Seen(
            seen.loop or outcome.loop, seen.chain or outcome.hops > 1, seen.nothing and is_nothing
        )

    def _followed(self, url: str, *, counts: bool) -> Outcome:
        """Follow a URL to its end, and store the outcome of every URL on the way."""
        times: Counter[tuple[str, int]] = Counter()
        known: Outcome | None = None

        def step(current: str) -> Move | None:
            nonlocal known
            known = self._known.entries.get(current)
            if known is not None or MOST_TIMES in times.values():
                return None
            move, is_sure = self._step(current, self.exists)
            if move is None:
                known = Outcome(0, current, is_sure=is_sure)
                return None
            place = move.rule.file, move.rule.line
            if counts:
                self.used[place] += 1
            if move.rewrite or move.target is None or move.status in GONE:
                known = self._known.put(current, _ended(current, move))
                return None
            if move.rule.how != "exact":
                times[place] += 1
            return move

        chain = follow(url, step, lambda move: self.landed((move.target or "").partition("#")[0]), MOST_HOPS)
        way = chain.steps
        if known is None:
            start = chain.circle or 0  # 0 for a URL that grows without end
            known = self._loop(way[start:])
            way = way[:start]
        for passed, move in reversed(way):
            known = self._known.put(passed, _before(move, known))
        return known

    def _loop(self, circle: list[tuple[str, Move]]) -> Outcome:
        """Store the outcome of every URL in a loop, which has as many hops as the loop. Return the first outcome."""
        size = len(circle)
        outcomes = []
        for number, (_, move) in enumerate(circle):
            rules = tuple(circle[(number + offset) % size][1].rule for offset in range(min(size, _MOST_RULES)))
            outcomes.append(Outcome(size, None, loop=True, rules=rules, status=move.status))
        for (url, _), outcome in zip(reversed(circle), reversed(outcomes), strict=True):  # the first one last
            self._known.put(url, outcome)
        return outcomes[0]


def _names_host(rule: Rule) -> bool:
    """Return whether the target of a rule is an absolute URL."""
    first = rule.target[0] if rule.target else ""
    return first == SCHEME or (isinstance(first, str) and first.startswith(("http:", "https:", "//")))


def _origins(sets: Iterable[RuleSet]) -> dict[tuple[str, int], str]:
    """Return the origin of the first named server with a rule, by the rule's file and line."""
    found: dict[tuple[str, int], str] = {}
    done: set[int] = set()  # servers share rules
    for server in (server for one in sets for server in one.servers):
        origin = _origin(server)
        for rules in server.phases if origin is not None else ():
            if origin is not None and id(rules) not in done:
                done.add(id(rules))
                for rule in rules:
                    found.setdefault((rule.file, rule.line), origin)
    return found


def _origin(server: Server) -> str | None:
    """Return the origin of a virtual host, for example `http://h:8080`; None if no name of it is a single host."""
    name = next((name for name in server.names if "*" not in name), None)
    if name is None:
        return None
    port = next(iter(server.ports), "443")
    return {"80": f"http://{name}", "443": f"https://{name}"}.get(port, f"http://{name}:{port}")


def _ended(url: str, move: Move) -> Outcome:
    if move.rewrite:
        return Outcome(0, url, rules=(move.rule,), served=move.target, status=move.status, is_sure=move.is_sure)
    return Outcome(0, None, gone=move.status in GONE, rules=(move.rule,), status=move.status, is_sure=move.is_sure)


def _before(move: Move, after: Outcome) -> Outcome:
    """Return the outcome of a URL whose first step leads to a URL with a known outcome."""
    final = after.final
    _, crosshatch, fragment = (move.target or "").partition("#")
    if crosshatch and final is not None and "#" not in final:
        final = f"{final}#{fragment}"
    rules = (move.rule, *after.rules)
    if len(rules) > _MOST_RULES:
        rules = (*rules[: _MOST_RULES - 1], rules[-1])
    is_sure = move.is_sure and after.is_sure
    return Outcome(after.hops + 1, final, after.loop, after.gone, rules, after.served, move.status, is_sure)


# --- what is wrong with rules -----------------------------------------------------------------------------------------

_PROBE: Final = "absolve-probe"
HIDDEN: Final = "hidden by a file"


class Checked(NamedTuple):
    """One rule: its place, its text, how many distinct URLs it moved, and its finding; the columns of the table."""

    file: str
    line: int
    text: str
    used: int
    problem: str | None
    finding: str | None


def checked(rules: Rules) -> Iterator[Checked]:
    """Yield each rule of all maps with its finding."""
    for found in rules.maps:
        for rule in sorted(found.rules, key=lambda rule: rule.line):
            used = rules.used[rule.file, rule.line]
            finding = _finding(rules, rule, used) if rule.problem is None else None
            yield Checked(rule.file, rule.line, rule.text, used, rule.problem, finding)


def strangers(rules: Rules) -> Iterator[tuple[str, int, list[str]]]:
    """Yield each map with unused rules for hosts of neither site: the number of these rules, and the hosts."""
    for found in rules.maps:
        names = found.names
        hosts: set[str] = set()
        number = 0
        for rule in found.rules:
            own = {rule.host} if rule.host is not None else names.get((rule.file, rule.line), set())
            is_known = any("*" in host or "." not in host or host in rules.hosts for host in own)
            if own and not is_known and rule.problem is None and not rules.used[rule.file, rule.line]:
                hosts |= own
                number += 1
        if hosts:
            yield found.file, number, sorted(hosts)


def _finding(rules: Rules, rule: Rule, used: int) -> str | None:
    """Return the finding about a rule: a loop first, then a conflict with other rules, then its target's state."""
    urls = list(samples(rules, rule))
    seen = rules.seen.get((rule.file, rule.line))
    own = _outcomes(rules, rule, urls)
    if any(outcome.loop for outcome in own) or (seen is not None and seen.loop):
        return "loop"
    other = _in_its_place(rules, rule, urls)
    if other is not None:
        return other
    if _is_hidden(rules, rule):
        return HIDDEN
    ends = [] if _has_groups(rule) else own
    if any(map(rules.leads_to_nothing, ends)) or (seen is not None and seen.nothing):
        return "leads to nothing"
    if any(outcome.final is not None and rules.is_insecure(outcome.final) for outcome in own):
        return "leads to http"
    if any(outcome.hops > 1 for outcome in own) or (seen is not None and seen.chain):
        return "chain"
    return "unused" if not used and (rule.status != 200 or rule.target) else None  # otherwise it only stops others


def _outcomes(rules: Rules, rule: Rule, urls: list[str]) -> list[Outcome]:
    """Return the outcomes of the URLs that a rule moves, unless they depend on unknown files.

    The target of a URL below a prefix may be a file, to which only a forced rule applies.
    """
    if rule.how == "regex" and rule.target and not rule.parameters and not _has_groups(rule):
        target = rules.absolute("".join(map(str, rule.target)))
        outcome = rules.chain(target, counts=False) if target is not None else None
        return [outcome._replace(hops=outcome.hops + 1)] if outcome is not None and rule.status < 400 else []
    found = []
    for url in urls:
        outcome = rules.chain(url, counts=False)
        is_sure = not (_has_groups(rule) and url.endswith(_PROBE)) or all(one.forced for one in outcome.rules[1:])
        if outcome.rules[:1] == (rule,) and is_sure:
            found.append(outcome)
    return found


def _is_hidden(rules: Rules, rule: Rule) -> bool:
    """Return whether an exact rule never applies because a file exists, unless the rule leads to the file's folder."""
    if rule.how != "exact" or rule.forced or rule.parameters or not rule.target or "?" in rule.source:
        return False
    folder = rule.source[: rule.source.rfind("/") + 1]
    url = rules.url(rule, rule.source)
    return url is not None and rule.target not in {(folder,), (rule.source,)} and rules.exists(rules.counterpart(url))


def samples(rules: Rules, rule: Rule) -> Iterator[str]:
    """Yield URLs that a rule must move if no other does: none for a regular expression."""
    if rule.how not in {"exact", "prefix"} or rule.parameters or rule.conditions:
        return
    path, mark, query = rule.source.partition("?")
    for url in (
        rules.url(rule, path, query if mark else None),
        rules.url(rule, path + "/" * (not path.endswith("/")) + _PROBE),
    ):
        if url is not None:
            yield url
        if rule.how == "exact":
            return


def _in_its_place(rules: Rules, rule: Rule, urls: list[str]) -> str | None:
    """Return the conflict with an earlier rule that moves all of the URLs; None without one."""
    moves = [rules.move(url) for url in urls]
    others = {move.rule if move is not None else rule for move in moves}
    if len(others) != 1 or rule in others:
        return None
    (other,) = others
    if rule.how == "prefix" and other.how != "prefix":
        return None
    target = rules.absolute("".join(map(str, rule.target))) if rule.target and not _has_groups(rule) else None
    return _conflict(other, rule, is_same=all(move is not None and move.target == target for move in moves))


def _conflict(other: Rule, rule: Rule, *, is_same: bool = False) -> str | None:
    """Return the finding about a rule whose URLs an earlier one moves, for example `repeats 3` (`is_same` target)."""
    if rule.forced and not other.forced:
        return None
    is_same_source = (rule.how, rule.source, rule.host) == (other.how, other.source, other.host)
    is_same = is_same or (is_same_source and other.target == rule.target)
    word = "repeats" if is_same and other.status == rule.status else "contradicts" if is_same_source else "shadowed by"
    return f"{word} {other.line if other.file == rule.file else other.place}"


def _has_groups(rule: Rule) -> bool:
    return rule.target is not None and any(isinstance(part, int) for part in rule.target)
