"""Join a prefix with the prefix to which all its targets lead on.

In: `Rules`. Out: a prefix rule with the target of the last one of a chain; the rule itself where that is not sure.
"""

from __future__ import annotations

from bisect import bisect_left
from functools import cached_property
from typing import TYPE_CHECKING

from absolve.audit.maps.model import EXACT, PREFIX

if TYPE_CHECKING:
    from absolve.audit.maps.model import Rule
    from absolve.audit.maps.rules import Rules

_ENDS = ("", "/", "/x", "/x/y")  # of URLs below a target


class PrefixChains:
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
        urls = [self._rules.url(None, f"{bare}{end}", None) for end in _ENDS]
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
                    if rule.how not in {EXACT, PREFIX} or rule.host is not None or rule.parameters:
                        return None
                    found.append(rule.source)
        return sorted(found)


def _target(rule: Rule) -> tuple[str, int] | None:
    """Return the path and the group of the target of a prefix for redirects; None for any other rule."""
    if rule.how != PREFIX or rule.target is None or len(rule.target) != 2 or not 300 <= rule.status < 400:
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
