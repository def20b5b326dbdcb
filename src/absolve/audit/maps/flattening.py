"""Compute the rules that a written map has: chains flattened, without those that never apply or go in a circle.

In: `Rules`. Out: for each rule of each map a `Flat`. A pattern whose target depends on the URL is kept as it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from absolve.audit.maps.checks import samples
from absolve.audit.maps.model import DROP, EXACT
from absolve.audit.maps.rules import never
from absolve.urls.chain import PERMANENT
from absolve.urls.identity import origin

if TYPE_CHECKING:
    from collections.abc import Sequence

    from absolve.audit.maps.model import Outcome, Rule, RuleSet
    from absolve.audit.maps.rules import Rules

CIRCLE: Final = "it goes in a circle"
NOWHERE: Final = "it leads to nothing"
DROPPED: Final = {CIRCLE, NOWHERE}


class Flat(NamedTuple):
    """A rule to write; `left_out`: the reason why it is not written, or None; `was`: the rule before it was changed."""

    rule: Rule
    left_out: str | None = None
    was: Rule | None = None


class Flattening:
    """Flattens the rules of all maps."""

    def __init__(self, rules: Rules) -> None:
        self._rules = rules

    def of_set(self, found: RuleSet) -> list[Flat]:
        """Return the rules of one map, in their order."""
        return [self._flat(rule) for rule in found.rules]

    def _flat(self, rule: Rule) -> Flat:
        if rule.problem is not None:
            return Flat(rule, rule.problem)
        if rule.status == 200 or not rule.is_plain or rule.parameters or not rule.target:
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
        permanent = all(one.status in PERMANENT for outcome in outcomes for one in outcome.rules)
        status = rule.status if permanent or rule.status not in PERMANENT else 302
        return Flat(rule._replace(target=(self._shown(final, rule),), status=status), was=rule)

    def _is_dead(self, outcomes: Sequence[Outcome]) -> bool:
        """Return whether URLs lead to nothing by all that is known of the new site."""
        return self._rules.exists is not never and bool(outcomes) and all(map(self._rules.leads_to_nothing, outcomes))

    def _constant(self, rule: Rule) -> Flat:
        """Flatten a rule that leads many URLs to one: by the chain of its target."""
        if not all(isinstance(part, str) for part in rule.target or ()):
            return Flat(rule)
        target = self._rules.absolute("".join(str(part) for part in rule.target or ()))
        outcome = self._rules.chain(target, counts=False) if target is not None else None
        if outcome is not None and self._is_dead([outcome]):
            return Flat(rule, NOWHERE)
        if outcome is None or not outcome.hops or outcome.final is None or outcome.served is not None:
            return Flat(rule)
        if any(one.query != DROP for one in (rule, *outcome.rules)) and "?" in outcome.final:
            return Flat(rule)
        return Flat(rule._replace(target=(self._shown(outcome.final, rule),)), was=rule)

    def _shown(self, final: str, rule: Rule) -> str:
        """Return a target in the form of the old one: a path stays a path on the new site."""
        was = rule.target[0] if rule.target else ""
        is_path = isinstance(was, str) and was.startswith("/") and not was.startswith("//")
        if not is_path or not self._rules.is_new(final):
            return final
        return final.removeprefix(origin(final)) or "/"
