"""Rewrite the links of an entity as a policy decides; all other bytes stay.

In: an Entity and a policy. Out: the new bytes, or edits by byte offsets into the entity, in order.
Most links need only a prefix before their bytes: for those neither the value is decoded nor a URL built.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from absolve.core.model import Edit, EditOrder, Part
from absolve.document.diagnostics import too_large
from absolve.document.resolved import forget_contexts
from absolve.document.walk import inner_at
from absolve.encodings.codings import IDENTITY
from absolve.formats.events import EventList, ordered
from absolve.rewriting.edits import Splicer, lower, moved, shortened
from absolve.rewriting.link_edits import LinkEdits
from absolve.rewriting.policy import absolute

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import cython

    from absolve.core.protocols import Offsets
    from absolve.document.entity import Entity, Inner
    from absolve.rewriting.policy import Policy



class Tally:
    """The number of links of some documents, and of those that changed.

    `companions` counts links to files that were saved with the documents.

    `odd`: a link may lead elsewhere in a browser, or climb above the root; a sign that is cheap, not a proof.
    """

    __slots__ = ("changed", "companions", "links", "odd")

    def __init__(self) -> None:
        self.links = 0
        self.changed = 0
        self.companions = 0
        self.odd = False


def rewrite(
    entity: Entity,
    policy: Policy | None = None,
    spill: Callable[[bytes], object] | None = None,
    tally: Tally | None = None,
) -> bytes:
    """Return the entity's bytes with every link changed as the policy decides; the same object if nothing changes.

    Raise DocumentError if the result is larger than `settings.max_size`: a long base is written into every link.
    A large result is given to `spill` part by part while it is made; the last part is returned. The links are added to
    the `tally`.
    """
    most: cython.Py_ssize_t = entity.settings.max_size
    splicer: Splicer = Splicer(entity.data, most, spill)
    edits: LinkEdits = LinkEdits(entity, policy or absolute, None, True)
    try:
        for changed in _batches(edits):
            if not splicer.take(changed):
                raise too_large(most, entity.name)
    except OverflowError as error:  # offsets in an archive are numbers of 32 bits
        raise too_large(_LARGEST, entity.name) from error
    data = splicer.finish()
    if splicer.spilled + len(data) > most and data is not entity.data:
        raise too_large(most, entity.name)
    if tally is not None:
        tally.links += edits.links
        tally.changed += edits.changes
        tally.companions += edits.companions
        tally.odd = tally.odd or edits.odd
    return data


_LARGEST = (1 << 32) - 1


def edits(entity: Entity, policy: Policy) -> list[Edit]:
    """Return the edits of an entity and of all inside it, in order, by its own offsets; raise as `rewrite` does."""
    found: list[Edit] = []
    size = 0
    for some in _batches(LinkEdits(entity, policy)):
        size += sum([len(edit.new) for edit in some])
        if size > entity.settings.max_size:
            raise too_large(entity.settings.max_size, entity.name)
        found += some
    return found


def _batches(edits: LinkEdits) -> Iterator[list[Edit]]:
    """Return the edits of an entity and of all inside it, in order, a thousand at a time."""
    for event in edits.events.others:
        if type(event) is EditOrder:
            return event.edits(_made(edits, event.order))
    made = _made(edits, None)
    return made if edits.events.is_ordered else ordered(made)


def _made(edits: LinkEdits, order: Sequence[int] | None) -> Iterator[list[Edit]]:
    """Yield the edits in the order of the events, or in this `order` of their indexes, a thousand at a time."""
    index: cython.Py_ssize_t
    number: cython.Py_ssize_t = 0
    events: EventList = edits.events
    count: cython.Py_ssize_t = len(events) if order is None else len(order)
    while True:
        number = edits.add_links(number, order)
        if number >= count:
            break
        index = number if order is None else order[number]
        if edits.is_full and events.unread(index) is not None:
            yield edits.taken()
            continue
        number += 1
        event = events.at(index)
        if type(event) is Part:
            part: Part = event
            inner = inner_at(edits.entity, index) if not part.signed_by else None
            found = _lowered(edits, part, inner) if inner is not None else ()
            for some in found if order is None else ordered(found):
                for edit in some:
                    edits.put(edit, part.coding)
                if edits.is_full and edits.open is None:
                    yield edits.taken()
            if inner is not None:
                forget_contexts(inner.entity, edits.entity)
            if edits.is_full:  # a part is a whole value
                yield edits.taken()
    yield edits.taken()


def _lowered(outer: LinkEdits, part: Part, inner: Inner) -> Iterator[list[Edit]]:
    """Yield the edits inside a part as edits of this entity: one for all of it if its coding maps no offsets."""
    _, entity, offsets = inner
    edits: LinkEdits = LinkEdits(entity, outer.policy, outer)
    edits.outer = outer
    edits.at = part.start
    found = _encoded(outer, part, edits) if offsets is None else _mapped(outer, part, edits, offsets)
    wrapped = getattr(part.coding, "wrapped", None)
    if wrapped is not None:
        found = wrapped(outer.data, part.start, part.end, found)
    if not part.derived:
        yield from found
        outer.count(edits)
        return
    most = outer.entity.settings.max_size
    changes = False
    splicer: Splicer = Splicer(outer.data, most, start=part.start, end=part.end)
    for some in found:
        if not splicer.take(some):
            raise too_large(most, outer.entity.name)
        changes = changes or bool(some)
        yield some
    outer.count(edits)
    if changes:
        raw = splicer.finish()
        yield [Edit(field.start, field.end, field.value(raw)) for field in part.derived]


def _encoded(outer: LinkEdits, part: Part, edits: LinkEdits) -> Iterator[list[Edit]]:
    """Yield one edit that encodes the whole part again, if anything in it changes; buffer no edits inside it."""
    most = outer.entity.settings.max_size
    splicer: Splicer = Splicer(edits.data, most)
    changes = False
    for changed in _batches(edits):
        if not splicer.take(changed):
            raise too_large(most, outer.entity.name)
        changes = changes or bool(changed)
    if changes:
        yield [Edit(part.start, part.end, part.coding.encode(splicer.finish()))]


def _mapped(outer: LinkEdits, part: Part, edits: LinkEdits, offsets: Offsets) -> Iterator[list[Edit]]:
    """Yield the edits inside a part whose coding maps offsets."""
    for changed in _batches(edits):
        if part.coding is IDENTITY:
            yield moved(changed, part.start)
        elif changed:
            small = [shortened(edit, edits.data, offsets) for edit in changed]
            yield lower(small, outer.data, part, offsets)
