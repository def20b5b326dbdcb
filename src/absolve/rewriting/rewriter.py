"""Rewrite the links of an entity as a policy decides; all other bytes stay.

In: an Entity and a policy. Out: the new bytes, or edits by byte offsets into the entity, in order.
Most links need only a prefix before their bytes: for those neither the value is decoded nor a URL built.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from absolve.core import byte_scan
from absolve.core.model import Edit, EditOrder, Link, Part, edit_at
from absolve.document.diagnostics import too_large, url_too_long
from absolve.document.resolved import LinkContext, Resolved, link_context, text
from absolve.document.walk import inner_at
from absolve.encodings.codings import IDENTITY, CharacterReferences, Unquoted
from absolve.formats.events import EventList, ordered
from absolve.formats.grammars import WHITE_SPACE
from absolve.rewriting.edits import Splicer, ValueEncoder, Written, edit_of, lower, moved, settled, shortened
from absolve.rewriting.policy import absolute, absolute_of, mentions_of
from absolve.urls import PROFILES, predicates
from absolve.urls.base import TOO_LONG
from absolve.urls.predicates import PrefixResolver, is_name, shape

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import cython

    from absolve.core.protocols import Coding, Offsets
    from absolve.document.entity import Entity, Inner
    from absolve.rewriting.mention_edits import MentionEdits
    from absolve.rewriting.policy import Policy


class Tally:
    """The number of links in some documents, and how many of them changed.

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

    For example, `<a href="x">` in `http://h/` becomes `<a href="http://h/x">`. Raise DocumentError if the result is
    larger than `settings.max_size`: a long base is written into every link. A large result is given to `spill` part by
    part while it is made; the last part is returned. The links are added to the `tally`.
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
    if not edits.events.is_ordered:
        made = ordered(made)
    return made if edits.mentions is None else edits.mentions.merged(made, edits.entity)


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
                inner.entity.forget_contexts(edits.entity)
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


# --- the edits of the links of one entity, by its own byte offsets ----------------------------------------------------

_BLANKS = WHITE_SPACE.decode()
_SOME = 1000  # edits that are yielded together,
_MUCH = 1 << 20  # or bytes of their new values
_MOST_WRITTEN = 1024  # pairs of a context and a coding, each with
_MOST_KNOWN = 10_000  # references in a cache of edits,
_LONGEST_KNOWN = 1 << 16  # and bytes of a reference and its edit that are cached
_QUOTE = b'"'
_CLIMBS = b"/../"
_H = 0x68
_undecided = Edit(-1, -1, b"")
_UNDECIDED = _undecided


def _is_odd(reference: str, new: str | None) -> cython.bint:
    """Return whether a reference may lead elsewhere in a browser, or its new text climb above the root."""
    if "\\" in reference or (new is not None and "/../" in new):
        return True
    found, colon, rest = reference.partition(":")
    if not colon or rest.startswith("//"):
        return False
    if found and found[0] in _NO_STRICT_SCHEME:  # a scheme in RFC 1808 alone
        return "/" not in found
    return len(found) <= _LONGEST_WEB and found.lower() in _WEB


_WEB = frozenset({"http", "https"})
_NO_STRICT_SCHEME = frozenset("0123456789+-.")
_LONGEST_WEB = 5


class LinkEdits:
    """The edits of the links of an entity, in a buffer; it shares its cache with the edits of the entity `around`.

    They share it under the same contexts only. `whole`: of a value that is encoded as a whole (`Coding.slot`) only the
    result is needed, not the edits inside it. `is_full`: the buffer has as many edits as are yielded at a time. `open`
    is the coding of a value that is encoded as a whole when its last link is known.

    `links` and `changes` count the links of the entity and of all inside it, and the links that change; `companions`
    counts links that stay because they lead to files that were saved with the document. `odd`: see `Tally` in
    rewriter.py. `outer` are the edits of the entity around it, in which it begins at the byte offset `at`.
    """

    def __init__(
        self,
        entity: Entity,
        policy: Policy,
        around: LinkEdits | None = None,
        whole: cython.bint = False,  # noqa: FBT002 - of a C class
    ) -> None:
        self.entity = entity
        self.data = entity.own_data
        self.policy = policy
        self._is_absolute = policy is absolute
        self._empties_base = entity.settings.base == "empty"
        self._any_scheme = PROFILES[entity.settings.profile].any_scheme
        self._found: list[Edit] = []
        self.whole = whole
        self.open: Coding | None = None
        self._changed: list[Edit] = []  # the edits inside the open value, or their result in `_encoder`
        self._encoder: ValueEncoder | None = None
        self.events = entity.events
        self._context: LinkContext | None = None  # of the last link,
        self._other: LinkContext | None = None  # and of the last one before it at another site
        self._held = 0
        self.is_full = False
        self._resolver: PrefixResolver | None = None  # the last one that was asked for a prefix,
        self._shape = predicates.OTHER  # for which shape of references,
        self._prefix: bytes | None = None  # its answer,
        self._climbs = False  # and whether that climbs above the root
        self.outer: LinkEdits | None = None
        self.mentions: MentionEdits | None = mentions_of(policy) if around is None else around.mentions
        self.at = 0
        self.links = self.events.counted
        self.changes = 0
        self.companions = 0
        self.odd = False
        self._written: dict[tuple[LinkContext, Coding], Written] = {}
        if around is not None and entity.contexts is around.entity.contexts:
            self._written = around._written  # noqa: SLF001 - of the same class

    def count(self, inner: LinkEdits) -> cython.int:
        """Add the counts of an inner entity."""
        self.links += inner.links
        self.changes += inner.changes
        self.companions += inner.companions
        self.odd = self.odd or inner.odd
        return 0

    def add_links(self, number: cython.Py_ssize_t, order: Sequence[int] | None) -> cython.Py_ssize_t:
        """Add the edits of consecutive links from an event on; return the number of the first one that remains.

        That is an event that is no link, or a link in another value than those before it while the buffer is full.
        Events are numbered in this `order` of their indexes, if there is one.
        """
        events: EventList = self.events
        count: cython.Py_ssize_t = len(events) if order is None else len(order)
        index: cython.Py_ssize_t
        while number < count:
            index = number if order is None else order[number]
            link: Link | None = events.unread(index)
            if link is None or (self.is_full and self._is_closed(index)):
                break
            self._link(index, link)
            number += 1
        return number

    def taken(self) -> list[Edit]:
        """Return the edits so far, in order, and begin with none."""
        self._settle()
        found = self._found
        self._found = []
        self._held = 0
        self.is_full = False
        return found

    def _settle(self) -> cython.int:
        """Add the edits of the open value: its last link was seen."""
        if self._encoder is not None:
            self._found += self._encoder.settled()
            self._encoder = None
        elif self.open is not None:
            self._found += settled(self.data, self.open, self._changed)
            self._changed = []
        self.open = None
        return 0

    def _stays_absolute(self, shaped: cython.int, first: cython.int) -> cython.bint:
        """Return whether a reference of this shape is absolute, and so stays; `first` is its first byte."""
        if shaped == predicates.OPAQUE:
            return self._any_scheme or not _may_be_special(first)
        return shaped == predicates.ABSOLUTE

    def _is_closed(self, index: cython.Py_ssize_t) -> cython.bint:
        """Return whether the link at an index is in another value than the links before it."""
        link: Link = self.events.link(index)  # type: ignore[assignment]  # it is one
        return self.open is None or _slot(link.coding) != self.open.slot

    def _link(self, index: cython.Py_ssize_t, link: Link) -> cython.int:
        """Add the edit of the link at an index, if it changes; `link` is the same, from `EventList.unread`."""
        context: LinkContext | None
        edit: Edit | None
        start: cython.Py_ssize_t = link.start
        end: cython.Py_ssize_t = link.end
        shaped: cython.int = predicates.OTHER
        p: cython.p_const_uchar = self.data
        self.links += 1
        by_itself: cython.bint = self._is_absolute and not (self._empties_base and link.claim is not None)
        if by_itself:
            shaped = shape(p, start, end)
            is_absolute = predicates.OTHER < shaped < predicates.FRAGMENT
            if is_absolute and self._stays_absolute(shaped, p[start]):  # most links
                if shaped == predicates.OPAQUE and p[start] | 32 == _H:  # perhaps http: without //
                    self.odd = True
                return 0
            if shaped == predicates.OTHER and self._any_scheme and _is_host(p, start, end):
                shaped = predicates.NETWORK  # only the URL Standard adds a slash
        context = self._context
        if context is None or not _rules(context, link):
            context, self._other = self._other, context  # most links alternate between two sites
            if context is None or not _rules(context, link):
                context = link_context(self.entity, link)
            self._context = context
        if by_itself:
            edit = self._short_way(context, start, end, shaped)
            if edit is _UNDECIDED:
                return self._long_way(self.events.link(index), context)  # type: ignore[arg-type]  # it is one
            if edit is None:
                return 0
            self.changes += 1
            if self.whole and type(link.coding) is Unquoted and link.coding.slot is None:
                return self._put_prefix(edit, start, end)
            is_settled = type(link.coding) is CharacterReferences  # as of most links
            coding = link.coding if is_settled else self.events.link(index).coding  # type: ignore[union-attr]  # one
            return self.put(edit, coding)
        link = self.events.link(index)  # type: ignore[assignment]  # likewise; the policy reads its site and coding
        resolved = Resolved(self.entity, link, context)
        new = self.policy(resolved)
        if new is None and resolved.is_companion:
            self.companions += 1
        self.odd = self.odd or _is_odd(resolved.reference, new)
        if new is not None and not context.may_write(new):
            self._refuse(link)
        elif new is not None and context.place.stays != "always":  # in a package without a URL the policy decides
            raw = self.data[link.start : link.end]
            new = new.strip(_BLANKS)
            self._write(link, edit_of(self.entity, link, context, resolved.reference, new, raw, Written()))
        return 0

    def _refuse(self, link: Link) -> cython.int:
        """Leave a link for which the policy returned too long a URL; add a finding for the first one of a document."""
        position: cython.Py_ssize_t = link.start
        found: LinkEdits = self
        while found.outer is not None and found.outer.entity.charset.transparent:
            position = found.at
            found = found.outer
        if TOO_LONG not in [finding.code for finding in found.entity.findings]:
            found.entity.findings.append(url_too_long(found.entity, position))
        return 0

    def _short_way(
        self, context: LinkContext, start: cython.Py_ssize_t, end: cython.Py_ssize_t, shaped: cython.int
    ) -> Edit | None:
        """Return the edit of `absolute` by the shape of a reference; None if it stays, `_UNDECIDED` if in doubt."""
        kind: cython.int = shaped & predicates.KIND
        if shaped < predicates.FRAGMENT:
            # An empty reference is the document itself, which a base element elsewhere changes.
            return None if start == end and not context.elsewhere else _UNDECIDED
        keeps_fragment = context.stays_as_fragment or context.keeps_fragments
        if context.stays_always or (kind == predicates.FRAGMENT and keeps_fragment):
            return None
        if context.short is None or end - start > context.room or _after_word(self.data, start):
            return _UNDECIDED
        if context.short is not self._resolver or shaped != self._shape:
            self._resolver = context.short
            self._shape = shaped
            self._prefix = context.short.written(shaped)
            has_dots: cython.bint = shaped >> predicates.DOTS > 0
            self._climbs = has_dots and self._prefix is not None and self._prefix.find(_CLIMBS) >= 0
        if self._prefix is None:
            return _UNDECIDED
        if self._climbs:
            self.odd = True
        return edit_at(start, start + (shaped >> predicates.DOTS), self._prefix)

    def _long_way(self, link: Link, context: LinkContext) -> cython.int:
        """Add the edit of `absolute` by the decoded reference; cached by the raw bytes if they alone decide."""
        raw: bytes = self.data[link.start : link.end]
        written: Written = Written()
        edit: Edit | None = _UNDECIDED
        alone: cython.bint = (
            context.place.syntax != "refresh"  # a quote before the URL ends it
            and link.coding.slot is None
            and not _after_word(self.data, link.start)
        )
        if alone:
            if len(self._written) >= _MOST_WRITTEN:
                self._written.clear()
            written = self._written.setdefault((context, link.coding), written)
            edit = written.known.get(raw, _UNDECIDED)
        if edit is _UNDECIDED:
            reference = text(link.coding.decode(raw))
            new = absolute_of(reference, context)
            self.odd = self.odd or _is_odd(reference, new)
            edit = None if new is None else edit_of(self.entity, link, context, reference, new, raw, written)
            if alone and len(raw) + (0 if edit is None else len(edit.new)) <= _LONGEST_KNOWN:
                if len(written.known) >= _MOST_KNOWN:
                    written.known.clear()
                written.known[raw] = edit
        if edit is None and context.files is not None and link.claim is None:
            self.companions += context.file_url(text(link.coding.decode(raw))) == ""
        return self._write(link, edit)

    def _write(self, link: Link, edit: Edit | None) -> cython.int:
        """Add an edit whose offsets are relative to the start of a link."""
        if edit is not None:
            self.changes += 1
            self._held += len(edit.new)
            self.put(edit_at(edit.start + link.start, edit.end + link.start, edit.new), link.coding)
        return 0

    def _put_prefix(self, edit: Edit, start: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.int:
        """Add an edit that puts a prefix before a whole value without quotes, with quotes if it needs them now."""
        self._settle()
        # An = ends no value, but is a parse error (HTML Standard 13.2.5.37); nothing else in a prefix wants quotes.
        if byte_scan.find(edit.new, 61, 0, len(edit.new)) >= 0 or byte_scan.find(self.data, 61, edit.end, end) >= 0:
            self._found.append(edit_at(start, start, _QUOTE))
            self._found.append(edit)
            self._found.append(edit_at(end, end, _QUOTE))
        else:
            self._found.append(edit)
        self.is_full = len(self._found) >= _SOME or self._held >= _MUCH
        return 0

    def put(self, edit: Edit, coding: Coding) -> cython.int:
        slot = _slot(coding)
        if self.open is not None and slot != self.open.slot:
            self._settle()
        if slot is None:
            self._found.append(edit)
        elif self.whole:
            if self._encoder is None:
                self.open = coding
                self._encoder = ValueEncoder(self.data, coding)
            self._encoder.take(edit)
        else:
            self.open = coding
            self._changed.append(edit)
        self.is_full = len(self._found) >= _SOME or self._held >= _MUCH
        return 0


def _rules(context: LinkContext, link: Link) -> cython.bint:
    """Return whether a context is a link's."""
    return link.place is context.place and link.base is context.scope and link.claim is None


def _may_be_special(first: cython.int) -> cython.bint:
    """Return whether a scheme that begins with this letter may be special (URL Standard 4.2): file, ftp, http, ws."""
    letter: cython.int = first | 32
    return letter == 102 or letter == 104 or letter == 119  # noqa: PLR1714 - a set would be looked up


def _is_host(p: cython.p_const_uchar, start: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.bint:
    """Return whether a reference is a plain host and nothing else, such as `//cdn.example`: of hints, mostly."""
    return end - start > 2 and p[start] == 47 and p[start + 1] == 47 and is_name(p, start + 2, end)


def _after_word(data: bytes, start: cython.Py_ssize_t) -> cython.bint:
    """Return whether a letter or digit precedes a link: it may end a character reference without semicolon."""
    before: cython.int = data[start - 1] if start else 0
    return 48 <= before <= 57 or 97 <= before | 32 <= 122


def _slot(coding: Coding) -> tuple[int, int] | None:
    """Return `coding.slot`, by its class for the most frequent one, which never has any."""
    return None if type(coding) is CharacterReferences else coding.slot
