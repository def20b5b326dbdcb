"""The log of a rewrite: a row for each link that changes, with its place, its old and new text, and the reason.

Input: the entity of a document, and the policy of the rewrite. Output: rows with the columns COLUMNS, in the order of
the links. The policy is asked once more: a rewrite without a log builds no URL for most links.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Final, NamedTuple

from absolve.core.model import Link, Part
from absolve.document.resolved import Resolved, shown
from absolve.document.walk import inner_at
from absolve.formats.grammars import WHITE_SPACE
from absolve.inventory.link_rows import Span
from absolve.rewriting.forms import form_of
from absolve.rewriting.remap import remapping_of
from absolve.urls.predicates import has_scheme

if TYPE_CHECKING:
    from collections.abc import Iterator

    from absolve.document.entity import Entity
    from absolve.rewriting.policy import Policy
    from absolve.rewriting.remap import Remapping

AT_ONCE: Final = 10_000  # rows in a chunk
ABSOLUTE: Final = "absolute"  # the rules of links that no rule of a remapping changed
EMPTY: Final = "base-empty"
_BLANKS: Final = WHITE_SPACE.decode()


class Change(NamedTuple):
    """One change; the fields are the columns.

    `rule`: the remapping rules that changed the link, as FROM=TO, separated by commas; without one "absolute",
    "base-empty" for `--base empty`, or the word of `--form` for a reference that it made relative.
    `base` and `base_layer` are those of the row of the link in the inventory.
    """

    document: str
    entity: str
    line: int
    column: int
    kind: str
    old: str
    new: str
    rule: str
    base: str
    base_layer: str


COLUMNS: Final = Change._fields


def chunks(entity: Entity, policy: Policy, name: str) -> Iterator[list[Change]]:
    """Yield the changes of an entity and of every document inside it, a chunk at a time."""
    rows = _changes(entity, policy, shown(name), Span(entity), remapping_of(policy))
    while chunk := list(islice(rows, AT_ONCE)):
        yield chunk


def _changes(
    entity: Entity, policy: Policy, document: str, span: Span, remapping: Remapping | None
) -> Iterator[Change]:
    for index in range(len(entity.events)):
        event = entity.events.at(index)
        if isinstance(event, Link):
            resolved = Resolved(entity, event)
            new, rule = _asked(policy, resolved, remapping)
            if new is not None:
                place = span.placed(event.start)
                base = resolved.base
                yield Change(
                    document,
                    entity.path,
                    place.line,
                    place.column,
                    resolved.kind,
                    shown(resolved.reference),
                    shown(new),
                    rule,
                    shown(base.url),
                    base.layer.label,
                )
        elif isinstance(event, Part) and not event.signed_by:
            inner = inner_at(entity, index)
            if inner is not None:
                within = Span(inner.entity) if inner.part.name else Span(inner.entity, span, inner)
                yield from _changes(inner.entity, policy, document, within, remapping)
                inner.entity.forget_contexts(entity)


def _asked(policy: Policy, resolved: Resolved, remapping: Remapping | None) -> tuple[str | None, str]:
    """Return the new text of a link, None if it stays, and the rule by which it changes."""
    if remapping is not None:
        remapping.matched = ""
    new = policy(resolved)
    if new is None or resolved.link.place.stays == "always" or not resolved.context.may_write(new):
        return None, ""
    new = new.strip(_BLANKS)
    if new == resolved.reference:
        return None, ""
    matched = remapping.matched if remapping is not None else ""
    form = form_of(policy)
    made = form.form if form is not None and not has_scheme(new) else ABSOLUTE
    return new, matched or (made if new else EMPTY)
