"""Check very many exact rules of one map by tables of numbers, without a look-up by URL for each.

In: a map whose rules are lines, with an index that has exact rules only. Out: for each rule the number of an earlier
one with its path, and its finding by the chain of rules that begins with it. Linear in the number of rules.
"""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from absolve.audit.maps.index import Index
    from absolve.audit.maps.line_rules import LineRules

# What becomes of the target of a rule.
_UNKNOWN, _THERE, _NOTHING, _LOOP, _ON_THE_WAY = range(5)


class BulkChecks:
    """The simple rules of one map; `exists` is for paths of the new site. Other rules have no entry."""

    def __init__(self, rules: LineRules, index: Index, exists: Callable[[str], bool]) -> None:
        self._rules = rules
        self._exists = exists
        self._ends = bytearray(len(rules))
        paths = array("q")
        targets = array("q")
        self._simple = bytearray(len(rules))
        for number in range(len(rules)):
            both = rules.exact_pair(number)
            self._simple[number] = both is not None
            source, target = both if both is not None else ("", "")
            paths.append(hash(source))
            targets.append(hash(target))
        self._first = index.first_numbers(paths, self._paths(0))
        self._next = index.first_numbers(targets, self._paths(1))

    def _paths(self, side: int) -> Iterator[str]:
        for number in range(len(self._rules)):
            both = self._rules.exact_pair(number)
            yield both[side] if both is not None else ""

    def is_simple(self, number: int) -> bool:
        return bool(self._simple[number])

    def earlier(self, number: int) -> int | None:
        """Return the number of an earlier rule with the same path."""
        first = self._first[number]
        return first if 0 <= first < number else None

    def finding(self, number: int) -> str | None:
        """Return the finding about where a rule leads: a loop, to nothing, in more than one hop."""
        if self._ends[number] == _UNKNOWN:
            self._follow(number)
        end = self._ends[number]
        if end == _LOOP:
            return "loop"
        if end == _NOTHING:
            return "leads to nothing"
        return "chain" if self._following(number) is not None else None

    def _target(self, number: int) -> str:
        both = self._rules.exact_pair(number)
        return both[1] if both is not None else ""

    def _following(self, number: int) -> int | None:
        """Return the rule that moves the target of a rule, if there is no file."""
        following = self._next[number]
        return None if following < 0 or self._is_there(number) else following

    def _is_there(self, number: int) -> bool:
        """Return whether there is a file for the target of a rule, and no forced rule."""
        following = self._next[number]
        return self._exists(self._target(number)) and (following < 0 or self._rules.is_unforced(following))

    def _follow(self, number: int) -> None:
        """Set the end of a rule, and of all rules to which it leads."""
        way: list[int] = []
        end = _UNKNOWN
        while end == _UNKNOWN:
            self._ends[number] = _ON_THE_WAY
            way.append(number)
            following = self._next[number]
            if self._is_there(number):
                end = _THERE
            elif following < 0:
                end = _NOTHING
            elif not self._simple[following]:
                end = _THERE  # a rule of another kind has a finding of its own
            elif self._ends[following] == _ON_THE_WAY:
                end = _LOOP
            else:
                end = self._ends[following]
                number = following
        for passed in way:
            self._ends[passed] = end
