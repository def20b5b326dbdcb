"""The events of one document in their order: the only way to its links, parts, bases and findings.

In: events from a walker, links and parts by their fields. Out: the events, as objects that are made when asked for.
A link is a packed record and a template (5 to 7 bytes for most): a document may have millions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from absolve.core.model import IGNORED_BASE
from absolve.formats.events.scoped_bases import SCOPE_PLACEHOLDER

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import cython

    from absolve.core.model import BaseClaim, Event, LinkSite
    from absolve.core.protocols import Coding

    MakePart = Callable[[int, int, int], "Part"]  # of a number, and where it starts and ends
else:
    from absolve.core import _cython as cython

if cython.compiled:
    from cython.cimports.absolve.core.column_buffers import IntColumn
    from cython.cimports.absolve.core.model import Link, Part
    from cython.cimports.absolve.encodings.codings import Unquoted
    from cython.cimports.absolve.formats.events.packed_records import OBJECT, PackedRecords
    from cython.cimports.absolve.formats.events.scoped_bases import ScopedBases
    from cython.cimports.absolve.formats.events.templates import (
        CLAIMS,
        MOST,
        NAMED,
        SCOPED,
        SLOTTED,
        LinkTemplates,
        PartTemplates,
    )
else:
    from absolve.core.column_buffers import IntColumn
    from absolve.core.model import Link, Part
    from absolve.encodings.codings import Unquoted
    from absolve.formats.events.packed_records import OBJECT, PackedRecords
    from absolve.formats.events.scoped_bases import ScopedBases
    from absolve.formats.events.templates import CLAIMS, MOST, NAMED, SCOPED, SLOTTED, LinkTemplates, PartTemplates

_NUMBERED = cython.declare(cython.int, 8192)  # in the place of a template: a part that `make_part` makes of a number


@cython.final
@cython.no_gc
@cython.cclass
class EventList:
    """A sequence of events that only grows.

    `objects` are all events but links and parts, and those of these that a record cannot hold, in their order. `count`
    is the number of links and parts, `parts` of parts. `scopes` has the scoped bases that walkers give by number.
    `has_derived`: there are parts with fields that change with them (`Part.derived`).

    `naming` makes the site of a link whose site is for any element (`*`), of `data`, the site and the offset of the
    tag. `make_part` makes a part that was added by number; `derives`: such parts may have derived fields.

    `start`, `end` (byte offsets), `has_claim`, `template`, `shared` and `is_bare` are of the link that `is_link` found
    last. Links of a template have the base and site of the Link `shared`, but for the name of the element, and a value
    each, without quotes if `is_bare`. `template` is its number, -1 for other links.
    """

    def __init__(
        self,
        naming: Callable[[bytes, LinkSite, int], LinkSite] | None = None,
        data: bytes = b"",
        make_part: MakePart | None = None,
        *,
        derives: bool = False,
    ) -> None:
        self.has_derived = derives
        self.naming = naming
        self._data = data
        self._make_part = make_part
        self.scopes: ScopedBases | None = None
        self.objects: list[Event] = []
        self.count = 0
        self.parts = 0
        self._records: PackedRecords = PackedRecords()
        self._links: LinkTemplates = LinkTemplates(named=naming is not None)
        self._templates = self._links.templates
        self._part_templates: PartTemplates | None = None
        self._part_indexes: IntColumn | None = None
        self._passing: Link | None = None
        self.start = self.end = 0
        self.has_claim = self.is_bare = False
        self.template = -1
        self.shared = _NO_LINK

    def __len__(self) -> int:
        return self._records.size

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def trim(self) -> cython.int:
        """Free what only more events would need: an outer document keeps thousands of small ones. None may be added."""
        size: cython.Py_ssize_t = self._records.size
        if size >= len(_OBJECTS) or self.parts:
            return self._records.trim()
        self.objects = [self.at(index) for index in range(size)]
        self._records = _OBJECTS[size]
        self._links = _NO_LINKS
        self._templates = _NO_LINKS.templates
        return 0

    @cython.cfunc
    @cython.exceptval(check=False)
    def template_count(self) -> cython.Py_ssize_t:
        """Return the number of templates: those of links are smaller."""
        return len(self._templates)

    def __iter__(self) -> Iterator[Event]:
        index: cython.Py_ssize_t
        for index in range(self._records.size):
            yield self.at(index)

    def __getitem__(self, index: cython.Py_ssize_t) -> Event:
        if not 0 <= index < self._records.size:
            raise IndexError(index)
        return self.at(index)

    @cython.ccall
    def append(self, event: Event) -> None:
        """Add an event of any kind."""
        if type(event) is Link:
            link: Link = event
            tag: cython.Py_ssize_t = link.tag_start
            self.add_link(link.place, link.start, link.end, link.coding, link.base, tag, link.tag_end, link.claim)
        elif type(event) is Part:
            self._add_part(event, -1)
        else:
            self._add_object(event)

    def as_objects(self) -> EventList:
        """Return the same events, each of them one object that is returned every time."""
        found = EventList()
        for event in self:
            if type(event) is Part:
                found._count_part()
            elif type(event) is Link:
                found.count += 1
            found._add_object(event)
        found.has_derived = self.has_derived
        return found

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def add_link(
        self,
        place: LinkSite,
        start: cython.Py_ssize_t,
        end: cython.Py_ssize_t,
        coding: Coding,
        base: BaseClaim | None,
        tag_start: cython.Py_ssize_t,
        tag_end: cython.Py_ssize_t,
        claim: BaseClaim | None,
    ) -> cython.int:
        """Add a link by its fields, without creating a Link object."""
        number: cython.int
        self.count += 1
        if claim is None or claim is IGNORED_BASE:
            number = self._links.number(place, start, end, coding, base, tag_start, tag_end, claim)
            if number >= 0:
                return self._records.put(number, start, end, tag_start, tag_end, -1, -1, _slot(coding))
        return self._add_link_object(place, start, end, coding, base, tag_start, tag_end, claim)

    @cython.ccall
    @cython.exceptval(-1, check=True)
    def add_scoped(
        self,
        place: LinkSite,
        start: cython.Py_ssize_t,
        end: cython.Py_ssize_t,
        coding: Coding,
        scope: cython.Py_ssize_t,
        tag_start: cython.Py_ssize_t,
        tag_end: cython.Py_ssize_t,
        claim: cython.Py_ssize_t,
    ) -> cython.int:
        """Add a link whose scope and claim are numbers in `scopes`; -1 for none."""
        number: cython.int
        scopes: ScopedBases = self.scopes  # type: ignore[assignment]  # the numbers come from there
        base = SCOPE_PLACEHOLDER if scope >= 0 else None
        stated = SCOPE_PLACEHOLDER if claim >= 0 else None
        self.count += 1
        number = self._links.number(place, start, end, coding, base, tag_start, tag_end, stated)
        if number >= 0:
            return self._records.put(number, start, end, tag_start, tag_end, scope, claim, _slot(coding))
        return self._add_link_object(place, start, end, coding, scopes.at(scope), tag_start, tag_end, scopes.at(claim))

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def add_part(
        self,
        media_type: str,
        start: cython.Py_ssize_t,
        end: cython.Py_ssize_t,
        coding: Coding,
        name: str,
        scope: cython.Py_ssize_t,
    ) -> cython.int:
        """Add a part by its fields; its scope is a number in `scopes`, -1 for none."""
        base = SCOPE_PLACEHOLDER if scope >= 0 else None
        return self._add_part(Part(media_type, start, end, coding, name, base), scope)

    @cython.ccall
    @cython.exceptval(-1, check=True)
    def add_numbered_part(
        self, number: cython.Py_ssize_t, start: cython.Py_ssize_t, end: cython.Py_ssize_t
    ) -> cython.int:
        """Add a part that `make_part` makes of a number, which is not negative, and of its span."""
        self._count_part()
        return self._records.put(_NUMBERED, start, end, -1, -1, number, -1, None)

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def _add_part(self, part: Part, scope: cython.Py_ssize_t) -> cython.int:
        number: cython.int
        self._count_part()
        if part.derived:
            self.has_derived = True
        if self._part_templates is None:
            self._part_templates = PartTemplates()
        number = self._part_templates.number(part)
        if number >= 0:
            return self._records.put(MOST + number, part.start, part.end, -1, -1, scope, -1, None)
        part.coding = _settled(part.coding, part.start, part.end)
        if scope >= 0:
            part.base = self.scopes.at(scope)  # type: ignore[union-attr]  # the number comes from there
        return self._add_object(part)

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def _count_part(self) -> cython.int:
        """Note that the next event is a part."""
        if self._part_indexes is None:
            self._part_indexes = IntColumn()
        self.parts += 1
        self.count += 1
        return self._part_indexes.add(self._records.size)

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def _add_object(self, event: Event) -> cython.int:
        self.objects.append(event)
        return self._records.put_object()

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def _add_link_object(
        self,
        place: LinkSite,
        start: cython.Py_ssize_t,
        end: cython.Py_ssize_t,
        coding: Coding,
        base: BaseClaim | None,
        tag_start: cython.Py_ssize_t,
        tag_end: cython.Py_ssize_t,
        claim: BaseClaim | None,
    ) -> cython.int:
        """Make a link, and keep it as an object."""
        link: Link = Link.__new__(Link)
        link.place = place if self.naming is None or place.element != "*" else self.naming(self._data, place, tag_start)
        link.start = start
        link.end = end
        link.coding = _settled(coding, start, end)
        link.base = base
        link.tag_start = tag_start
        link.tag_end = tag_end
        link.claim = claim
        return self._add_object(link)

    @cython.ccall
    @cython.exceptval(check=False)
    def part_index(self, number: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Return the index of the part of this number, from 0."""
        indexes: IntColumn = self._part_indexes  # type: ignore[assignment]  # there is a part
        return indexes.at(number)

    @cython.ccall
    def at(self, index: cython.Py_ssize_t) -> Event:
        """Return the event at an index, which must be there: a new object each time for a link or a part by record."""
        records: PackedRecords = self._records
        if index != records.current:
            records.seek(index)
        if records.template == OBJECT:
            return self.objects[records.object_number]
        if records.template >= MOST:
            return self._part()
        link = _empty_link()
        self._read(link)
        return link

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def is_link(self, index: cython.Py_ssize_t) -> cython.bint:
        """Return whether the event at an index is a link; if so, set the attributes that need no Link object."""
        records: PackedRecords = self._records
        known: Link
        records.seek(index)
        self.template = -1
        if records.template == OBJECT:
            event = self.objects[records.object_number]
            if type(event) is not Link:
                return False
            known = event
            self.start = known.start
            self.end = known.end
        elif records.template >= MOST:
            return False
        else:
            known = self._templates[records.template]
            self.start = records.start
            self.end = records.start + records.length
            if not known.tag_start & (SCOPED | SLOTTED):
                self.template = records.template
                self.shared = known
                self.is_bare = type(known.coding) is Unquoted
        self.has_claim = known.claim is not None
        return True

    @cython.cfunc
    def link(self, index: cython.Py_ssize_t) -> Link | None:
        """Return the link at an index, None for another event; the next call may change the same object."""
        records: PackedRecords = self._records
        if index != records.current:
            records.seek(index)
        if records.template == OBJECT:
            event = self.objects[records.object_number]
            return event if type(event) is Link else None
        if records.template >= MOST:
            return None
        if self._passing is None:
            self._passing = _empty_link()
        self._read(self._passing)
        return self._passing

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def _read(self, link: Link) -> cython.int:
        """Give a link the fields of the record that was read last."""
        records: PackedRecords = self._records
        template: Link = self._templates[records.template]
        flags: cython.Py_ssize_t = template.tag_start
        start: cython.Py_ssize_t = records.start
        end: cython.Py_ssize_t = start + records.length
        if link.place is not template.place:
            link.place = template.place
        if link.base is not template.base:
            link.base = template.base
        if link.claim is not template.claim:
            link.claim = template.claim
        link.start = start
        link.end = end
        link.tag_start = records.tag if records.in_tag else -1
        link.tag_end = records.tag + records.tag_length if records.in_tag else -1
        coding = _settled(template.coding, start, end)
        if link.coding is not coding:
            link.coding = coding
        if flags:
            if flags & NAMED:
                link.place = self.naming(self._data, link.place, link.tag_start)  # type: ignore[misc]  # the flag says so
            if flags & SCOPED:
                link.base = self.scopes.at(records.scope)  # type: ignore[union-attr]  # likewise
            if flags & CLAIMS:
                link.claim = self.scopes.at(records.claim)  # type: ignore[union-attr]  # likewise
            if flags & SLOTTED:
                shared: Unquoted = template.coding  # type: ignore[assignment]  # likewise
                link.coding = self._links.coding(shared, records.slot_start, records.slot_end)
        return 0

    @cython.cfunc
    def _part(self) -> Part:
        """Return the part of the record that was read last."""
        records: PackedRecords = self._records
        end: cython.Py_ssize_t = records.start + records.length
        if records.template == _NUMBERED:
            return self._make_part(records.scope, records.start, end)  # type: ignore[misc]  # its number was for that
        part: Part = self._part_templates.part(records.template - MOST, records.start, end)  # type: ignore[union-attr]
        part.coding = _settled(part.coding, part.start, part.end)
        if part.base is not None:
            part.base = self.scopes.at(records.scope)  # type: ignore[union-attr]  # it is a placeholder
        return part


_no_link = Link.__new__(Link)
_NO_LINK = cython.declare(Link, _no_link)
_FEW = cython.declare(cython.Py_ssize_t, 4)  # links from which on records take less memory than objects


@cython.cfunc
def _of_objects(count: cython.Py_ssize_t) -> PackedRecords:
    """Return the records of a list of nothing but objects."""
    records: PackedRecords = PackedRecords()
    for _ in range(count):
        records.put_object()
    return records


# By their number: records that lists of so many objects share. Threads may read them at once: compiled, nothing comes
# between the search for a record and the use of its fields.
_objects: list[PackedRecords] = []
if cython.compiled:
    _objects += [_of_objects(count) for count in range(_FEW)]
_OBJECTS = cython.declare(list, _objects)
_no_links = LinkTemplates(named=False)
_NO_LINKS = cython.declare(LinkTemplates, _no_links)


@cython.cfunc
@cython.inline
def _empty_link() -> Link:
    """Return a link without fields, faster than by its constructor."""
    link: Link = Link.__new__(Link)
    link.place = link.coding = link.base = link.claim = None  # type: ignore[assignment]  # `_read` sets them
    return link


@cython.cfunc
@cython.inline
def _slot(coding: Coding) -> tuple[int, int] | None:
    """Return the slot of a coding that several links share."""
    if type(coding) is not Unquoted:
        return None
    bare: Unquoted = coding
    return bare.slot


@cython.cfunc
@cython.inline
def _settled(coding: Coding, start: cython.Py_ssize_t, end: cython.Py_ssize_t) -> Coding:
    """Return the coding of a link or a part: a value without quotes has one of its own, whose slot is the value."""
    if type(coding) is not Unquoted:
        return coding
    bare: Unquoted = coding
    return bare.of((start, end)) if bare.slot is None else bare
