"""Select links by kind, scope and problems, for lists and as a rewriting policy; make the text of listed rows safe.

Input: rows, or resolved links. Output: whether a link is selected; a policy that leaves all other links unchanged; rows
with masked user information and escaped invisible characters.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from absolve.core import printable as safe
from absolve.core.errors import UsageError, similar
from absolve.core.model import KINDS, SCOPES
from absolve.document.resolved import value_of
from absolve.inventory import PROBLEMS
from absolve.inventory.columns import NUMBERS, Columns
from absolve.inventory.facts import KnownBases, RowFacts
from absolve.rewriting.policy import absolute
from absolve.run.results import SELECTED
from absolve.urls.base import LOCATED, MOVES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from absolve.core.column_buffers import TextColumn
    from absolve.document.entity import Entity
    from absolve.document.resolved import Resolved
    from absolve.inventory.columns import Row
    from absolve.rewriting.policy import Policy

    Rows = Columns | Sequence[Sequence[Any]]

_NAMED: Final = frozenset({LOCATED, MOVES})
_MOST_KEPT: Final = 256  # row facts of one entity


class Selection(NamedTuple):
    """Links of any of these kinds, with any of these scopes, and with any of these problems.

    An empty set means no restriction.
    """

    kinds: frozenset[str] = frozenset()
    scopes: frozenset[str] = frozenset()
    problems: frozenset[str] = frozenset()

    def checked(self) -> Selection:
        """Return this selection. Raise UsageError for an unknown word."""
        for option, words, choices in zip(("kind", "scope", "problem"), self, (KINDS, SCOPES, PROBLEMS), strict=True):
            for word in sorted(words - set(choices)):
                text = f"unknown {option} {word!r}: choose from {', '.join(sorted(choices))}"
                raise UsageError(text, similar(word, choices))
        return self

    def wants(self, row: Row) -> bool:
        """Return whether the link of a row is selected."""
        return self.takes(row.kind, row.scope, row.problems)

    def takes(self, kind: str, scope: str, problems: Sequence[str]) -> bool:
        """Return whether a link with this kind, scope and problems is selected."""
        return (
            (not self.kinds or kind in self.kinds)
            and (not self.scopes or scope in self.scopes)
            and (not self.problems or not self.problems.isdisjoint(problems))
        )


def only(selection: Selection, policy: Policy = absolute, claims: Policy = absolute) -> Policy:
    """Return a policy that applies another one to the selected links and leaves the others unchanged.

    A base claim is made absolute at most (by `claims`), since the unchanged links still depend on it; so a link to a
    part of the same message stays as well: its Content-Location is such a claim.
    """
    return _Only(selection, policy, claims)


class _Only:
    """The policy of `only`; facts are cached for the current entity."""

    def __init__(self, selection: Selection, policy: Policy, claims: Policy) -> None:
        self._selection = selection
        self._policy = policy
        self._claims = claims
        self._entity: Entity | None = None
        self._ruled: dict[int, RowFacts] = {}  # by the identity of a context, which they hold
        self._known = KnownBases()
        self.met: set[int] = set()  # SELECTED if a link was selected

    @property
    def inner(self) -> Policy:
        """The policy for the selected links."""
        return self._policy

    def __reduce__(self) -> tuple[type[_Only], tuple[Selection, Policy, Policy]]:
        return _Only, (self._selection, self._policy, self._claims)

    def __call__(self, resolved: Resolved) -> str | None:
        if resolved.entity is not self._entity:
            self._entity = resolved.entity
            self._ruled.clear()
            self._known = KnownBases()
        ruled = self._ruled.get(id(resolved.context))
        if ruled is None:
            if len(self._ruled) >= _MOST_KEPT:
                self._ruled.clear()
            ruled = RowFacts(resolved.entity, resolved.link, "", self._known, resolved.context)
            self._ruled[id(resolved.context)] = ruled
        value = value_of(resolved.reference)
        ruled.find(resolved.link, value, 0, len(value))
        if not self._selection.takes(resolved.kind, ruled.where, ruled.codes):
            return None
        self.met.add(SELECTED)
        if resolved.link.claim is None and resolved.context.how_held(resolved.target) in _NAMED:
            return None
        return (self._policy if resolved.link.claim is None else self._claims)(resolved)


class Cells(NamedTuple):
    """Changes to the text of rows before a sink encodes them; by default none.

    `masked`: mask user information in URLs. `printable`: escape invisible characters.
    """

    masked: bool = False
    printable: bool = False

    def applied(self, columns: Sequence[str], rows: Rows) -> Rows:
        """Return rows with changed text: for example, `http://u:p@h/` masked as `http://***@h/`; or the same object."""
        if not any(self):
            return rows
        if not isinstance(rows, Columns):
            return [[self._cell(cell) for cell in row] for row in rows]
        if not self.printable and not _has_user_information(rows):
            return rows
        cells = [rows.cells(name, None if name in NUMBERS else self._cell) for name in columns]
        return list(zip(*cells, strict=True))

    def _cell(self, cell: Any) -> Any:
        if isinstance(cell, (list, tuple)):
            return [*map(self._cell, cell)]
        if not isinstance(cell, str):
            return cell
        if self.masked:
            cell = safe.masked(cell)
        return safe.printable(cell) if self.printable else cell


def _has_user_information(rows: Columns) -> bool:
    """Return whether any text has user information."""
    for words in (*rows.ruled.words, rows.rel.words):
        if any("@" in text and safe.masked(text) != text for text in words):
            return True
    if any(isinstance(text, str) and safe.masked(text) != text for texts in rows.more.values() for text in texts):
        return True
    columns = rows.reference, rows.target, rows.text
    return any(safe.masked(text) != text for texts in columns for text in _with_at(texts))


def _with_at(texts: TextColumn) -> list[str]:
    """Return the texts of a column that contain @: most have none."""
    places = texts.with_any(b"@")
    cells = texts.cells() if places else []
    return [cells[place] or "" for place in places]
