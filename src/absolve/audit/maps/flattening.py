"""Compute the rules that a written map has: chains flattened, without those that never apply or go in a circle.

In: `Rules`. Out: for each rule of each map a `Flat`. A pattern whose target depends on the URL is kept as it is.
"""

from __future__ import annotations

from bisect import bisect_left
from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple

from absolve.audit.maps.checks import samples
from absolve.audit.maps.model import DROP, EXACT, PREFIX, REGEX
from absolve.audit.maps.rules import never

if TYPE_CHECKING:
    from collections.abc import Sequence

    from absolve.audit.maps.model import Outcome, Rule, RuleSet
    from absolve.audit.maps.rules import Rules

CIRCLE: Final = "it goes in a circle"
NOWHERE: Final = "it leads to nothing"
DROPPED: Final = {CIRCLE, NOWHERE}
_PERMANENT: Final = frozenset({301, 308})
_ENDS: Final = ("", "/", "/x", "/x/y")  # of URLs below a target


class Flat(NamedTuple):
    """A rule to write; `left_out` is the reason why it is not written, or None; `is_changed`: its target is new."""

    rule: Rule
    left_out: str | None = None
    is_changed: bool = False


class Flattening:
    """Flattens the rules of all maps."""

    def __init__(self, rules: Rules) -> None:
        self._rules = rules
        self._chains = _PrefixChains(rules)

    def of_set(self, found: RuleSet) -> list[Flat]:
        """Return the rules of one map, in their order."""
        return [self._flat(rule) for rule in found.rules]

    def _flat(self, rule: Rule) -> Flat:
        if rule.problem is not None:
            return Flat(rule, rule.problem)
        if rule.is_rewrite or not rule.is_plain or rule.parameters or not rule.target:
            return Flat(rule)
        if rule.how != EXACT:
            return self._constant(rule)
        urls = list(samples(self._rules, rule))
        urls += [old for url in urls if rule.host is None and (old := self._rules.old(url)) is not None]
        moves = [self._rules.move(url) for url in urls]
        if all(move is not None and move.rule != rule for move in moves):
            return Flat(rule, "another rule applies before it")
        ends = [
            (self._rules.chain(url, counts=False), move.target)
            for url, move in zip(urls, moves, strict=True)
            if move is not None and move.rule == rule
        ]
        outcomes = [outcome for outcome, _ in ends]
        if any(outcome.loop for outcome in outcomes):
            return Flat(rule, CIRCLE)
        if self._is_dead(outcomes):
            return Flat(rule, NOWHERE)
        finals = {outcome.final for outcome, target in ends if outcome.final != target and not outcome.served}
        if len(finals) != 1 or any(outcome.hops == 1 and outcome.final == target for outcome, target in ends):
            return Flat(rule)
        (final,) = finals
        if final is None:
            return Flat(rule)
        permanent = all(one.status in _PERMANENT for outcome in outcomes for one in outcome.rules)
        status = rule.status if permanent or rule.status not in _PERMANENT else 302
        return Flat(rule._replace(target=(self._shown(final, rule),), status=status), is_changed=True)

    def _is_dead(self, outcomes: Sequence[Outcome]) -> bool:
        """Return whether URLs lead to nothing by all that is known of the new site."""
        return self._rules.exists is not never and bool(outcomes) and all(map(self._rules.leads_to_nothing, outcomes))

    def _constant(self, rule: Rule) -> Flat:
        """Flatten a rule that leads many URLs to one: by the chain of its target."""
        if rule.how == PREFIX and rule.target is not None and len(rule.target) > 1:
            joined = self._chains.joined(rule)
            return Flat(joined, is_changed=joined != rule)
        if rule.how not in {PREFIX, REGEX} or not all(isinstance(part, str) for part in rule.target or ()):
            return Flat(rule)
        target = self._rules.absolute("".join(str(part) for part in rule.target or ()))
        outcome = self._rules.chain(target, counts=False) if target is not None else None
        if outcome is not None and self._is_dead([outcome]):
            return Flat(rule, NOWHERE)
        if outcome is None or not outcome.hops or outcome.final is None or outcome.served is not None:
            return Flat(rule)
        if any(one.query != DROP for one in (rule, *outcome.rules)) and "?" in outcome.final:
            return Flat(rule)
        return Flat(rule._replace(target=(self._shown(outcome.final, rule),)), is_changed=True)

    def _shown(self, final: str, rule: Rule) -> str:
        """Return a target in the form of the old one: a path stays a path on the new site."""
        was = rule.target[0] if rule.target else ""
        is_path = isinstance(was, str) and was.startswith("/") and not was.startswith("//")
        if not is_path or not self._rules.is_new(final):
            return final
        start = final.find("/", final.find("://") + 3)
        return final[start:] if start >= 0 else "/"


# --- prefixes that lead to prefixes -----------------------------------------------------------------------------------


class _PrefixChains:
    """Joins prefixes, if the maps have only exact rules and prefixes for any host: patterns might apply in between."""

    def __init__(self, rules: Rules) -> None:
        self._rules = rules

    def joined(self, rule: Rule) -> Rule:
        """Return a rule that leads where a prefix leads in the end; the prefix itself if that is a circle."""
        seen = {rule.source}
        last = rule
        while (following := self._following(last)) is not None:
            if following.source in seen:
                return rule
            seen.add(following.source)
            last = _join(last, following)
        return last

    def _following(self, rule: Rule) -> Rule | None:
        """Return the one rule that moves all targets of a prefix, None if there is none."""
        target = _target(rule)
        if target is None or self._sources is None:
            return None
        bare = target[0].rstrip("/")
        below = bisect_left(self._sources, f"{bare}/")
        if below < len(self._sources) and self._sources[below].startswith(f"{bare}/"):
            return None
        urls = [self._rules.url(rule, f"{bare}{end}") for end in _ENDS]
        moved = {move.rule if (move := self._rules.move(url)) is not None else None for url in urls if url is not None}
        if len(moved) != 1:
            return None
        (following,) = moved
        if following is None or _target(following) is None or following.status != rule.status:
            return None
        return following if following.forced and following.query == rule.query else None

    @cached_property
    def _sources(self) -> list[str] | None:
        """The sources of all rules, sorted; None if there are patterns, hosts or conditions."""
        found = []
        for one in self._rules.sets:
            for rule in one.rules:
                if rule.problem is None:
                    if rule.how not in {EXACT, PREFIX} or rule.host is not None or not rule.is_plain or rule.parameters:
                        return None
                    found.append(rule.source)
        return sorted(found)


def _target(rule: Rule) -> tuple[str, int] | None:
    """Return the path and the group of the target of a prefix for redirects; None for any other rule."""
    is_redirect = rule.how == PREFIX and rule.is_plain and 300 <= rule.status < 400
    if not is_redirect or rule.target is None or len(rule.target) != 2:
        return None
    path, group = rule.target
    if not isinstance(path, str) or not isinstance(group, int) or not path.startswith("/") or path.startswith("//"):
        return None
    return (path, group) if path.isascii() and not {"%", "?", "#"} & set(path) else None


def _join(rule: Rule, following: Rule) -> Rule:
    """Return a prefix with the target of the next: group 1 is the rest with its slash, group 2 without."""
    target, new = _target(rule), _target(following)
    if target is None or new is None:
        return rule
    middle = target[0][len(following.source) :]
    if new[1] == 1:
        return rule._replace(target=(new[0] + middle, target[1]))
    if middle:
        return rule._replace(target=(new[0] + middle.removeprefix("/"), target[1]))
    return rule._replace(target=(new[0], 2))
