"""Rewrite the links of an entity as a policy decides; all other bytes stay.

In: an Entity and a policy. Out: the new bytes, or edits by byte offsets into the entity, in order.
Most links need only a prefix before their bytes: for those neither the value is decoded nor a URL built.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from absolve.core.model import EditOrder
from absolve.document.diagnostics import too_large, url_too_long
from absolve.document.resolved import Resolved
from absolve.document.walk import inner_at
from absolve.encodings.codings import IDENTITY
from absolve.formats.events.packed_edits import ordered
from absolve.formats.grammars import WHITE_SPACE
from absolve.rewriting.edits import settled
from absolve.rewriting.policy import absolute
from absolve.urls import PROFILES
from absolve.urls.base import TOO_LONG

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import cython

    from absolve.core.protocols import Coding, Offsets
    from absolve.document.entity import Entity, Inner
    from absolve.rewriting.policy import Policy
else:
    from absolve.core import _cython as cython

if cython.compiled:
    from cython.cimports.absolve.core.byte_scan import find
    from cython.cimports.absolve.core.model import Edit, Link, Part, edit_at
    from cython.cimports.absolve.document.entity import Entity  # noqa: TC002 - the type of a C field
    from cython.cimports.absolve.document.resolved import LinkContext, forget_contexts, link_context, text
    from cython.cimports.absolve.encodings.codings import CharacterReferences
    from cython.cimports.absolve.formats.events.event_list import EventList
    from cython.cimports.absolve.rewriting.edits import Splicer, ValueEncoder, lower, moved, shortened
    from cython.cimports.absolve.rewriting.encode import Written, after_word, edit_of
    from cython.cimports.absolve.rewriting.policy import absolute_of
    from cython.cimports.absolve.urls.prefixing import ABSOLUTE, DOTS, FRAGMENT, KIND, OPAQUE, OTHER, shape
else:
    from absolve.core.byte_scan import find
    from absolve.core.model import Edit, Link, Part, edit_at
    from absolve.document.resolved import LinkContext, forget_contexts, link_context, text
    from absolve.encodings.codings import CharacterReferences
    from absolve.formats.events.event_list import EventList  # noqa: TC001 - the type of a C field
    from absolve.rewriting.edits import Splicer, ValueEncoder, lower, moved, shortened
    from absolve.rewriting.encode import Written, after_word, edit_of
    from absolve.rewriting.policy import absolute_of
    from absolve.urls.prefixing import ABSOLUTE, DOTS, FRAGMENT, KIND, OPAQUE, OTHER, shape

_BLANKS = WHITE_SPACE.decode()


class Tally:
    """The number of links of some documents, and of those that changed.

    `odd`: a link may lead elsewhere in a browser, or climb above the root; a sign that is cheap, not a proof.
    """

    __slots__ = ("changed", "links", "odd")

    def __init__(self) -> None:
        self.links = 0
        self.changed = 0
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
    splicer: Splicer = Splicer(entity.data, entity.settings.max_size, spill)
    edits: _Edits = _Edits(entity, policy or absolute, None, True)
    try:
        for changed in edits.parts():
            if not splicer.take(changed):
                raise too_large(entity.settings.max_size, entity.name)
    except OverflowError as error:  # offsets in an archive are numbers of 32 bits
        raise too_large(_LARGEST, entity.name) from error
    data = splicer.finish()
    if splicer.spilled + len(data) > entity.settings.max_size and data is not entity.data:
        raise too_large(entity.settings.max_size, entity.name)
    if tally is not None:
        tally.links += edits.links
        tally.changed += edits.changes
        tally.odd = tally.odd or edits.odd
    return data


_LARGEST = (1 << 32) - 1
_SOME = cython.declare(cython.Py_ssize_t, 1000)  # edits that are yielded together,
_MUCH = cython.declare(cython.Py_ssize_t, 1 << 20)  # or bytes of their new values
_MOST_WRITTEN = 1024  # pairs of a context and a coding, each with
_MOST_KNOWN = 10_000  # references in a cache of edits,
_LONGEST_KNOWN = 1 << 16  # and bytes of a reference and its edit that are cached


def edits(entity: Entity, policy: Policy) -> list[Edit]:
    """Return the edits of an entity and of all inside it, in order, by its own offsets; raise as `rewrite` does."""
    found: list[Edit] = []
    size = 0
    for some in _Edits(entity, policy).parts():
        size += sum([len(edit.new) for edit in some])
        if size > entity.settings.max_size:
            raise too_large(entity.settings.max_size, entity.name)
        found += some
    return found


_UNKNOWN = Edit(-1, -1, b"")
_QUOTE = b'"'
_CLIMBS = b"/../"
_H = cython.declare(cython.int, 0x68)


@cython.cfunc
@cython.exceptval(-1, check=True)
def _is_odd(reference: str, new: str | None) -> cython.bint:
    """Return whether a reference may lead elsewhere in a browser, or its new text climb above the root."""
    if "\\" in reference or (new is not None and "/../" in new):
        return True
    found, colon, rest = reference.partition(":")
    return bool(colon) and len(found) <= _LONGEST_WEB and found.lower() in _WEB and not rest.startswith("//")


_WEB = frozenset({"http", "https"})
_LONGEST_WEB = cython.declare(cython.int, 5)


@cython.final
@cython.cclass
class _Edits:
    """One pass over the events of an entity; that of the entity `around` it shares its cache under the same contexts.

    `whole`: of a value that is encoded as a whole (`Coding.slot`) only the result is needed, not the edits inside it.
    `links` and `changes` count links, and those that change, of the entity and of all inside it. `odd`: see `Tally`.
    """

    entity: Entity
    data: bytes
    events: EventList
    policy: Policy
    is_absolute: cython.bint
    empties_base: cython.bint
    any_scheme: cython.bint
    found: list[Edit]
    whole: cython.bint
    open: Coding | None
    changed: list[Edit]
    encoder: ValueEncoder | None
    written: dict[tuple[LinkContext, Coding], Written]
    context: LinkContext | None
    known: list[LinkContext | None]
    held: cython.Py_ssize_t
    is_full: cython.bint
    outer: _Edits | None
    at: cython.Py_ssize_t
    links: cython.Py_ssize_t
    changes: cython.Py_ssize_t
    odd: cython.bint

    def __init__(
        self,
        entity: Entity,
        policy: Policy,
        around: _Edits | None = None,
        whole: cython.bint = False,  # noqa: FBT002 - of a C class
    ) -> None:
        self.entity = entity
        self.data = entity.own_data
        self.policy = policy
        self.is_absolute = policy is absolute
        self.empties_base = entity.settings.base == "empty"
        self.any_scheme = PROFILES[entity.settings.profile].any_scheme
        self.found = []
        self.whole = whole
        self.open = None  # the coding of a value that is encoded as a whole when its last link is known,
        self.changed = []  # and the edits inside it, or their result in `encoder`
        self.encoder = None
        self.events = entity.events
        self.context = None
        self.known = [None] * self.events.template_count()  # the contexts by the templates of their links
        self.held = 0
        self.is_full = False  # as many edits are held as are yielded at a time
        self.outer = None
        self.at = 0
        self.links = 0
        self.changes = 0
        self.odd = False
        self.written = around.written if around is not None and entity.contexts is around.entity.contexts else {}

    def parts(self) -> Iterator[list[Edit]]:
        """Return the edits in order, a thousand at a time."""
        for event in self.events.objects:
            if type(event) is EditOrder:
                return event.edits(self.made(event.order))
        made = self.made(None)
        # A field that changes with a part may precede it.
        return ordered(made) if self.events.has_derived else made

    def made(self, order: Sequence[int] | None) -> Iterator[list[Edit]]:
        """Yield the edits in the order of the events, or in this `order` of their indexes, a thousand at a time."""
        number: cython.Py_ssize_t
        index: cython.Py_ssize_t
        events: EventList = self.events
        for number in range(len(events) if order is None else len(order)):
            index = number if order is None else order[number]
            if events.is_link(index):
                if self.is_full and self.is_closed(index):
                    yield self.taken()
                self.link(index)
                continue
            event = events.at(index)
            if type(event) is Part:
                part: Part = event
                inner = inner_at(self.entity, index) if not part.signed_by else None
                found = self.lowered(part, inner) if inner is not None else ()
                for some in found if order is None else ordered(found):
                    for edit in some:
                        self.put(edit, part.coding)
                    if self.is_full and self.open is None:
                        yield self.taken()
                if inner is not None:
                    forget_contexts(inner.entity, self.entity)
                if self.is_full:  # a part is a whole value
                    yield self.taken()
        yield self.taken()

    def lowered(self, part: Part, inner: Inner) -> Iterator[list[Edit]]:
        """Yield the edits inside a part as edits of this entity: one for all of it if its coding maps no offsets."""
        _, entity, offsets = inner
        edits: _Edits = _Edits(entity, self.policy, self)
        edits.outer = self
        edits.at = part.start
        found = self.encoded(part, edits) if offsets is None else self.mapped(part, edits, offsets)
        wrapped = getattr(part.coding, "wrapped", None)
        if wrapped is not None:
            found = wrapped(self.data, part.start, part.end, found)
        if not part.derived:
            yield from found
            self.count(edits)
            return
        most = self.entity.settings.max_size
        changes = False
        splicer: Splicer = Splicer(self.data, most, start=part.start, end=part.end)
        for some in found:
            if not splicer.take(some):
                raise too_large(most, self.entity.name)
            changes = changes or bool(some)
            yield some
        self.count(edits)
        if changes:
            raw = splicer.finish()
            yield [Edit(field.start, field.end, field.value(raw)) for field in part.derived]

    def encoded(self, part: Part, edits: _Edits) -> Iterator[list[Edit]]:
        """Yield one edit that encodes the whole part again, if anything in it changes; buffer no edits inside it."""
        most = self.entity.settings.max_size
        splicer: Splicer = Splicer(edits.data, most)
        changes = False
        for changed in edits.parts():
            if not splicer.take(changed):
                raise too_large(most, self.entity.name)
            changes = changes or bool(changed)
        if changes:
            yield [Edit(part.start, part.end, part.coding.encode(splicer.finish()))]

    def mapped(self, part: Part, edits: _Edits, offsets: Offsets) -> Iterator[list[Edit]]:
        """Yield the edits inside a part whose coding maps offsets."""
        for changed in edits.parts():
            if part.coding is IDENTITY:
                yield moved(changed, part.start)
            elif changed:
                small = [shortened(edit, edits.data, offsets) for edit in changed]
                yield lower(small, self.data, part, offsets)

    @cython.cfunc
    def count(self, inner: _Edits) -> cython.int:
        """Add the counts of an inner entity."""
        self.links += inner.links
        self.changes += inner.changes
        self.odd = self.odd or inner.odd
        return 0

    @cython.cfunc
    def taken(self) -> list[Edit]:
        """Return the edits so far, in order, and begin with none."""
        self.settle()
        found = self.found
        self.found = []
        self.held = 0
        self.is_full = False
        return found

    @cython.cfunc
    def settle(self) -> cython.int:
        """Add the edits of the open value: its last link was seen."""
        if self.encoder is not None:
            self.found += self.encoder.settled()
            self.encoder = None
        elif self.open is not None:
            self.found += settled(self.data, self.open, self.changed)
            self.changed = []
        self.open = None
        return 0

    @cython.cfunc
    @cython.inline
    def stays_absolute(self, shaped: cython.int) -> cython.bint:
        """Return whether a reference of this shape is absolute, and so stays whatever its site is."""
        return shaped == ABSOLUTE or (shaped == OPAQUE and self.any_scheme)

    @cython.cfunc
    def is_closed(self, index: cython.Py_ssize_t) -> cython.bint:
        """Return whether the link at an index is in another value than the links before it."""
        link: Link = self.events.link(index)  # type: ignore[assignment]  # it is one
        return self.open is None or _slot(link.coding) != self.open.slot

    @cython.cfunc
    def link(self, index: cython.Py_ssize_t) -> cython.int:
        """Add the edit of the link at an index, which `EventList.is_link` found last, if it changes."""
        link: Link
        context: LinkContext | None
        edit: Edit | None
        events: EventList = self.events
        start: cython.Py_ssize_t = events.start
        end: cython.Py_ssize_t = events.end
        template: cython.int = events.template
        shaped: cython.int = OTHER
        self.links += 1
        by_itself: cython.bint = self.is_absolute and not (self.empties_base and events.has_claim)
        if by_itself:
            shaped = shape(self.data, start, end)
            if self.stays_absolute(shaped):  # most links
                if shaped == OPAQUE and self.data[start] | 32 == _H:  # perhaps http: without //
                    self.odd = True
                return 0
            context = self.known[template] if template >= 0 else None
            if context is not None:
                edit = self.short_way(context, start, end, shaped)
                if edit is not _UNKNOWN:
                    return 0 if edit is None else self.put_prefix(edit, start, end, events.is_bare)
        # A policy may keep the link: it gets an object of its own.
        link = events.link(index) if self.is_absolute else events.at(index)  # type: ignore[assignment]  # it is one
        context = self.context
        if context is None or link.place is not context.place or link.base is not context.scope or events.has_claim:
            context = self.context = link_context(self.entity, link)
        if by_itself:
            if template >= 0 and (self.whole or not events.is_bare):
                self.known[template] = context
            edit = self.short_way(context, start, end, shaped)
            if edit is _UNKNOWN:
                self.long_way(link, context)
            elif edit is not None:
                self.changes += 1
                self.put(edit, link.coding)
            return 0
        resolved = Resolved(self.entity, link, context)
        new = self.policy(resolved)
        self.odd = self.odd or _is_odd(resolved.reference, new)
        if new is not None and not context.may_write(new):
            self.refuse(link)
        elif new is not None and context.place.stays != "always":  # in a package without a URL the policy decides
            raw = self.data[link.start : link.end]
            new = new.strip(_BLANKS)
            self.write(link, edit_of(self.entity, link, context, resolved.reference, new, raw, Written()))
        return 0

    @cython.cfunc
    def refuse(self, link: Link) -> cython.int:
        """Leave a link for which the policy returned too long a URL; add a finding for the first one of a document."""
        position: cython.Py_ssize_t = link.start
        found: _Edits = self
        while found.outer is not None and found.outer.entity.charset.transparent:
            position = found.at
            found = found.outer
        if TOO_LONG not in [finding.code for finding in found.entity.findings]:
            found.entity.findings.append(url_too_long(found.entity, position))
        return 0

    @cython.cfunc
    def short_way(
        self, context: LinkContext, start: cython.Py_ssize_t, end: cython.Py_ssize_t, found: cython.int
    ) -> Edit | None:
        """Return the edit of `absolute` by the shape of a reference; `_UNKNOWN` if the shape does not decide."""
        kind: cython.int = found & KIND
        if found < FRAGMENT:
            return _UNKNOWN
        if context.stays_always or (kind == FRAGMENT and (context.stays_as_fragment or context.keeps_fragments)):
            return None
        if context.short is None or end - start > context.room or after_word(self.data, start):
            return _UNKNOWN
        new = context.short.written(found)
        if new is None:
            return _UNKNOWN
        if found >> DOTS and not self.odd and _CLIMBS in new:
            self.odd = True
        return edit_at(start, start + (found >> DOTS), new)

    @cython.cfunc
    def long_way(self, link: Link, context: LinkContext) -> cython.int:
        """Add the edit of `absolute` by the decoded reference; cached by the raw bytes if they alone decide."""
        raw: bytes = self.data[link.start : link.end]
        written: Written = Written()
        edit: Edit | None = _UNKNOWN
        alone: cython.bint = (
            context.place.syntax != "refresh"  # a quote before the URL ends it
            and link.coding.slot is None
            and not after_word(self.data, link.start)
        )
        if alone:
            if len(self.written) >= _MOST_WRITTEN:
                self.written.clear()
            written = self.written.setdefault((context, link.coding), written)
            edit = written.known.get(raw, _UNKNOWN)
        if edit is _UNKNOWN:
            reference = text(link.coding.decode(raw))
            new = absolute_of(reference, context)
            self.odd = self.odd or _is_odd(reference, new)
            edit = None if new is None else edit_of(self.entity, link, context, reference, new, raw, written)
            if alone and len(raw) + (0 if edit is None else len(edit.new)) <= _LONGEST_KNOWN:
                if len(written.known) >= _MOST_KNOWN:
                    written.known.clear()
                written.known[raw] = edit
        return self.write(link, edit)

    @cython.cfunc
    def write(self, link: Link, edit: Edit | None) -> cython.int:
        """Add an edit whose offsets are relative to the start of a link."""
        if edit is not None:
            self.changes += 1
            self.held += len(edit.new)
            self.put(edit_at(edit.start + link.start, edit.end + link.start, edit.new), link.coding)
        return 0

    @cython.cfunc
    def put_prefix(
        self, edit: Edit, start: cython.Py_ssize_t, end: cython.Py_ssize_t, is_bare: cython.bint
    ) -> cython.int:
        """Add an edit that puts a prefix before a whole value, with quotes around a bare one that needs them now."""
        self.changes += 1
        self.settle()
        # An = ends no value, but is a parse error (HTML Standard 13.2.5.37); nothing else in a prefix wants quotes.
        if is_bare and (find(edit.new, 61, 0, len(edit.new)) >= 0 or find(self.data, 61, edit.end, end) >= 0):
            self.found.append(edit_at(start, start, _QUOTE))
            self.found.append(edit)
            self.found.append(edit_at(end, end, _QUOTE))
        else:
            self.found.append(edit)
        self.is_full = len(self.found) >= _SOME or self.held >= _MUCH
        return 0

    @cython.cfunc
    def put(self, edit: Edit, coding: Coding) -> cython.int:
        slot = _slot(coding)
        if self.open is not None and slot != self.open.slot:
            self.settle()
        if slot is None:
            self.found.append(edit)
        elif self.whole:
            if self.encoder is None:
                self.open = coding
                self.encoder = ValueEncoder(self.data, coding)
            self.encoder.take(edit)
        else:
            self.open = coding
            self.changed.append(edit)
        self.is_full = len(self.found) >= _SOME or self.held >= _MUCH
        return 0


@cython.cfunc
@cython.inline
def _slot(coding: Coding) -> tuple[int, int] | None:
    """Return `coding.slot`, by its class for the most frequent one, which never has any."""
    return None if type(coding) is CharacterReferences else coding.slot
