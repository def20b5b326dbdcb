"""Rewriting: a policy says what each link becomes, and only those bytes change."""

from __future__ import annotations

from typing import TYPE_CHECKING

from absolve.bases import same_document
from absolve.edits import LOOK_AHEAD, lower, splice
from absolve.formats.grammars import ESCAPES
from absolve.model import Edit, Link, Part
from absolve.resolvers.urls import has_scheme, is_malformed, scheme
from absolve.walk import decoder

if TYPE_CHECKING:
    from collections.abc import Callable

    from absolve.model import BaseURL
    from absolve.typing import Coding, Resolver
    from absolve.walk import Entity

    Policy = Callable[["Resolved"], str | None]


class Resolved:
    """A link, its reference as text, and what rules it; `target` is worked out when it is asked for.

    `element`, `attribute` and `kind` are those of the row; `base` is the established BaseURL, `own` that of the
    document itself.
    """

    __slots__ = ("_resolver", "base", "entity", "link", "own", "reference")

    def __init__(self, entity: Entity, link: Link, reference: str, base: BaseURL, resolver: Resolver) -> None:
        self.entity = entity
        self.link = link
        self.reference = reference
        self.base = base
        self.own = entity.bases.own
        self._resolver = resolver

    @property
    def element(self) -> str:
        return self.link.place.element

    @property
    def attribute(self) -> str:
        return self.link.place.attribute

    @property
    def kind(self) -> str:
        return self.link.place.kind

    @property
    def target(self) -> str | None:
        """The absolute URL; None where there is none (unresolved, malformed, an empty reference that fetches nothing)."""
        reference = self.reference
        if not reference:
            empty = self.link.place.empty
            if empty == "nothing" and self.link.claim is None:
                return None
            return (self.own.url if empty == "own" else self._resolver("")) or None
        target = self._resolver(reference)
        return None if target is None or is_malformed(target) else target


def absolute(resolved: Resolved) -> str | None:
    """The policy of `absolve rewrite`: what a reference must become to mean the same anywhere; None where it stays."""
    reference = resolved.reference
    place = resolved.link.place
    settings = resolved.entity.settings
    if resolved.link.claim is not None and settings.base == "empty" and _rules(resolved):
        return ""
    if place.stays == "always" or (reference.startswith("#") and place.stays):
        return None
    elsewhere = not same_document(resolved.base.url, resolved.own.url)
    if not reference:
        if place.empty == "nothing" or not elsewhere:
            return None
        return resolved.target
    if reference[0] == "#" and settings.fragments == "keep" and not elsewhere:
        return None
    if _is_absolute(reference, settings.profile, resolved.base.url):
        return None
    return resolved.target


def _rules(resolved: Resolved) -> bool:
    """Whether the link states the base that rules the document."""
    chain = resolved.entity.bases.base.chain
    return bool(chain) and chain[0].verdict == "won" and chain[0].base.position == getattr(resolved.link.claim, "position", -1)


_SPECIAL = frozenset({"http", "https", "ws", "wss", "ftp", "file"})


def _is_absolute(reference: str, profile: str, base: str) -> bool:
    """Absolute references keep their bytes. In the URL Standard `http:g` is none where the base is http too (4.4)."""
    if profile != "whatwg":
        return has_scheme(reference)
    bare = reference.translate({9: None, 10: None, 13: None})
    found = scheme(bare)
    if found is None or found not in _SPECIAL or found != scheme(base):
        return found is not None
    return bare[len(found) + 1 : len(found) + 3].replace("\\", "/") == "//"


def rewrite(entity: Entity, policy: Policy | None = None) -> bytes:
    """The entity's bytes with every link changed as the policy says; the very same object where nothing changes."""
    return splice(entity.data, edits(entity, policy or absolute))


def edits(entity: Entity, policy: Policy) -> list[Edit]:
    """The edits of an entity and of all inside it, in order, by its own offsets."""
    found: list[Edit] = []
    slots: dict[tuple[int, int], tuple[Coding, list[Edit]]] = {}
    memo: dict[tuple[int, int, int], dict[bytes, Edit | None]] = {}
    shared = policy is absolute  # its answer depends on nothing that the key does not hold
    data = entity.data
    reference_of = decoder(entity)
    for event in entity.events:
        if type(event) is Part:
            for edit in _lowered(entity, event, policy):
                _put(edit, event.coding, found, slots)
            continue
        if type(event) is not Link:
            continue
        if shared and event.claim is None:
            key = (id(event.place), id(event.coding), id(event.base))
            known = memo.get(key)
            if known is None:
                known = memo[key] = {}
            raw = data[event.start : event.end]
            if raw in known:
                written = known[raw]
            else:
                written = known[raw] = _written(entity, event, reference_of(event), policy, raw)
        else:
            raw = data[event.start : event.end]
            written = _written(entity, event, reference_of(event), policy, raw)
        if written is not None:
            edit = Edit(event.start + written.start, event.start + written.end, written.new)
            if event.coding.slot is None:
                found.append(edit)
            else:
                _put(edit, event.coding, found, slots)
    if slots:
        found += _settled(data, slots)
        found.sort(key=lambda edit: edit.start)
    return found


def _put(
    edit: Edit, coding: Coding, found: list[Edit], slots: dict[tuple[int, int], tuple[Coding, list[Edit]]]
) -> None:
    if coding.slot is None:
        found.append(edit)
    else:
        slots.setdefault(coding.slot, (coding, []))[1].append(edit)


def _written(entity: Entity, link: Link, reference: str, policy: Policy, raw: bytes) -> Edit | None:
    """The edit that makes a link what the policy says, by offsets into its own raw bytes; None where it stays.

    Where the new reference ends with the old one only what comes before is written: the old bytes stay as they are.
    """
    base, resolver = entity.ruled(link)
    new = policy(Resolved(entity, link, reference, base, resolver))
    if new is None or new == reference:
        return None
    value = new.encode("utf-8", "surrogateescape")
    escape = ESCAPES.get(link.place.syntax)
    if escape is not None:
        value = escape(value, entity.data[max(0, link.start - LOOK_AHEAD) : link.start])
    old = reference.encode("utf-8", "surrogateescape")
    if old and value.endswith(old):
        return Edit(0, 0, link.coding.encode(value[: -len(old)], raw[:LOOK_AHEAD]))
    return Edit(0, len(raw), link.coding.encode(value, entity.data[link.end : link.end + LOOK_AHEAD]))


def _lowered(entity: Entity, part: Part, policy: Policy) -> list[Edit]:
    """The edits inside a part, as edits of this entity: small ones where its coding maps them, else the whole part."""
    inner = entity.inner.get(id(part))
    if inner is None:
        return []
    changed = edits(inner.entity, policy)
    if not changed:
        return []
    raw = entity.data[part.start : part.end]
    if inner.offsets is not None:
        return lower(changed, raw, part.start, part.coding, inner.offsets)
    return [Edit(part.start, part.end, part.coding.encode(splice(inner.entity.data, changed)))]


def _settled(data: bytes, slots: dict[tuple[int, int], tuple[Coding, list[Edit]]]) -> list[Edit]:
    """The edits of values that must be settled as a whole: an attribute without quotes may need some."""
    settled: list[Edit] = []
    for (start, end), (coding, changed) in slots.items():
        inside = [Edit(edit.start - start, edit.end - start, edit.new) for edit in changed]
        raw = splice(data[start:end], inside)
        final = coding.settle(raw)  # type: ignore[attr-defined]  # a coding with a slot has it
        settled += changed if final == raw else [Edit(start, end, final)]
    return settled



