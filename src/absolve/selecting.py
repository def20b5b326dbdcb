"""Filters: which links count, by what their rows say; for lists, and as a policy that leaves all others alone."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple

from absolve.errors import UsageError
from absolve.inventory import Where, row
from absolve.judging import PROBLEMS, SCOPES
from absolve.model import KINDS
from absolve.rewriting import absolute

if TYPE_CHECKING:
    from absolve.inventory import Row
    from absolve.resolved import Resolved
    from absolve.rewriting import Policy

_NOWHERE: Final = Where(0, 0, 0, 0, "", "")


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
        return (
            (not self.kinds or row.kind in self.kinds)
            and (not self.scopes or row.scope in self.scopes)
            and (not self.problems or not self.problems.isdisjoint(row.problems))
        )


def only(selection: Selection, policy: Policy = absolute) -> Policy:
    """The policy that does what another does with the links that are wanted, and leaves the others as they are.

    What states a base is made absolute at most: the links that are left alone go on being ruled by it.
    """
    return partial(_only, selection, policy)


def _only(selection: Selection, policy: Policy, resolved: Resolved) -> str | None:
    if not selection.wants(row(resolved, "", _NOWHERE)):
        return None
    return (policy if resolved.link.claim is None else absolute)(resolved)
