"""Compute the rules that a written map has: chains flattened, without those that never apply or go in a circle.

In: `Rules`. Out: for each rule of each map a `Flat`. A pattern whose target depends on the URL is kept as it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from absolve.audit.maps.checks import samples
from absolve.audit.maps.model import DROP, EXACT, PREFIX, REGEX
from absolve.audit.maps.prefix_chains import PrefixChains

if TYPE_CHECKING:
    from absolve.audit.maps.model import Rule, RuleSet
    from absolve.audit.maps.rules import Rules

_PERMANENT: Final = frozenset({301, 308})


class Flat(NamedTuple):
    """A rule to write; `left_out` is the reason why it is not written, or None; `is_changed`: its target is new."""

    rule: Rule
    left_out: str | None = None
    is_changed: bool = False


class Flattening:
    """Flattens the rules of all maps."""

    def __init__(self, rules: Rules) -> None:
        self._rules = rules
        self._exists = rules.exists
        self._chains = PrefixChains(rules)

    def of_set(self, found: RuleSet) -> list[Flat]:
        """Return the rules of one map, in their order."""
        return [self._flat(rule) for rule in found.rules]

    def _flat(self, rule: Rule) -> Flat:
        if rule.problem is not None:
            return Flat(rule, rule.problem)
        if rule.target is None or rule.is_rewrite or rule.parameters or not rule.target:
            return Flat(rule)
        if rule.how != EXACT:
            return self._constant(rule)
        urls = list(samples(self._rules, rule))
        urls += [old for url in urls if rule.host is None and (old := self._rules.old(url)) is not None]
        moves = [self._rules.move(url) for url in urls]
        if all(move is not None and move.rule != rule for move in moves):
            return Flat(rule, "another rule applies before it")
        outcomes = [
            self._rules.chain(url, self._exists, counts=False)
            for url, move in zip(urls, moves, strict=True)
            if move is not None and move.rule == rule
        ]
        if any(outcome.loop for outcome in outcomes):
            return Flat(rule, "it goes in a circle")
        finals = {outcome.final for outcome in outcomes if outcome.hops > 1 and not outcome.served}
        if len(finals) != 1 or len(outcomes) != sum(outcome.hops > 1 for outcome in outcomes):
            return Flat(rule)
        (final,) = finals
        if final is None:
            return Flat(rule)
        permanent = all(one.status in _PERMANENT for outcome in outcomes for one in outcome.rules)
        status = rule.status if permanent or rule.status not in _PERMANENT else 302
        return Flat(rule._replace(target=(self._shown(final, rule),), status=status), is_changed=True)

    def _constant(self, rule: Rule) -> Flat:
        """Flatten a rule that leads many URLs to one: by the chain of its target."""
        if rule.how == PREFIX and rule.target is not None and len(rule.target) > 1:
            joined = self._chains.joined(rule)
            return Flat(joined, is_changed=joined != rule)
        if rule.how not in {PREFIX, REGEX} or not all(isinstance(part, str) for part in rule.target or ()):
            return Flat(rule)
        target = self._rules.absolute("".join(str(part) for part in rule.target or ()))
        outcome = self._rules.chain(target, self._exists, counts=False) if target is not None else None
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
