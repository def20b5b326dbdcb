"""Filters: which links count, by what their rows say; for lists, and as a policy that leaves all others alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from absolve.core.errors import UsageError
from absolve.core.model import KINDS, PROBLEMS, SCOPES
from absolve.document.resolved import value_of
from absolve.inventory.facts import KnownBases, RowFacts
from absolve.rewriting.policy import absolute

if TYPE_CHECKING:
    from collections.abc import Sequence

    from absolve.document.entity import Entity
    from absolve.document.resolved import Resolved
    from absolve.inventory.columns import Row
    from absolve.rewriting.policy import Policy


class Selection(NamedTuple):
    """Which links are wanted: of any of these kinds, and in any of these scopes, and with any of these problems.

    An empty set asks for nothing.
    """

    kinds: frozenset[str] = frozenset()
    scopes: frozenset[str] = frozenset()
    problems: frozenset[str] = frozenset()

    def checked(self) -> Selection:
        """This selection; UsageError names a word that is none."""
        for option, words, choices in zip(("kind", "scope", "problem"), self, (KINDS, SCOPES, PROBLEMS), strict=True):
            for word in sorted(words - set(choices)):
                raise UsageError(f"there is no {option} {word!r}: choose from {', '.join(sorted(choices))}")
        return self

    def wants(self, row: Row) -> bool:
        """Whether the link of a row is wanted."""
        return self.takes(row.kind, row.scope, row.problems)

    def takes(self, kind: str, scope: str, problems: Sequence[str]) -> bool:
        """Whether a link is wanted of which a row would say this."""
        return (
            (not self.kinds or kind in self.kinds)
            and (not self.scopes or scope in self.scopes)
            and (not self.problems or not self.problems.isdisjoint(problems))
        )


def only(selection: Selection, policy: Policy = absolute) -> Policy:
    """The policy that does what another does with the links that are wanted, and leaves the others as they are.

    What states a base is made absolute at most: the links that are left alone go on being ruled by it.
    """
    return _Only(selection, policy)


class _Only:
    """That policy; what was found out under the rules of one entity is remembered while it is at it."""

    def __init__(self, selection: Selection, policy: Policy) -> None:
        self._selection = selection
        self._policy = policy
        self._entity: Entity | None = None
        self._ruled: dict[tuple[int, int], RowFacts] = {}
        self._known = KnownBases()

    def __reduce__(self) -> tuple[type[_Only], tuple[Selection, Policy]]:
        return _Only, (self._selection, self._policy)

    def __call__(self, resolved: Resolved) -> str | None:
        if resolved.entity is not self._entity:
            self._entity = resolved.entity
            self._ruled.clear()
            self._known = KnownBases()
        key = id(resolved.rule.place), id(resolved.rule.scope)  # what is found holds them
        ruled = self._ruled.get(key)
        if ruled is None:
            ruled = self._ruled[key] = RowFacts(resolved.entity, resolved.link, "", self._known, resolved.rule)
        facts = ruled.facts(resolved.link, value_of(resolved.reference))
        if not self._selection.takes(resolved.kind, facts.scope, facts.problems):
            return None
        return (self._policy if resolved.link.claim is None else absolute)(resolved)
