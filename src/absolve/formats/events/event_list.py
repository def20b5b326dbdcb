"""The events of an entity in their order; links, of which there may be millions, are kept as numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from absolve.core.model import IGNORED_BASE
from absolve.formats.events.scoped_bases import SCOPE_PLACEHOLDER

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import cython

    from absolve.core.model import BaseClaim, Event, LinkSite
    from absolve.core.protocols import Coding

    Make = Callable[[int, int, int], "Part"]  # of a number, and where it starts and ends
else:
    from absolve.core import _cython as cython

if cython.compiled:
    from cython.cimports.absolve.core.column_buffers import IntColumn
    from cython.cimports.absolve.core.model import Link, Part
    from cython.cimports.absolve.encodings.codings import Unquoted
    from cython.cimports.absolve.formats.events.packed_records import PackedRecords
    from cython.cimports.absolve.formats.events.parts import PartTemplates
    from cython.cimports.absolve.formats.events.scoped_bases import ScopedBases
    from cython.cimports.absolve.formats.events.templates import CLAIMS, MOST, NAMED, SCOPED, SLOTTED, LinkTemplates
else:
    from absolve.core.column_buffers import IntColumn
    from absolve.core.model import Link, Part
    from absolve.encodings.codings import Unquoted
    from absolve.formats.events.packed_records import PackedRecords
    from absolve.formats.events.parts import PartTemplates
    from absolve.formats.events.scoped_bases import ScopedBases
    from absolve.formats.events.templates import CLAIMS, MOST, NAMED, SCOPED, SLOTTED, LinkTemplates

_MADE = cython.declare(cython.Py_ssize_t, 8192)  # the kind of parts that a walker makes; others are less
_OBJECT = cython.declare(cython.int, -1)  # the kind of what is kept as it is


@cython.final
@cython.no_gc
@cython.cclass
class EventList(PackedRecords):
    """A list of events that only grows; where it is compiled, links and parts are made anew whenever they are come to.

    The place, the coding and the scope that links have in common are their kind, which is kept once; so it is with
    parts of which their container says nothing. A link is then its kind's number and its spans, each as many bytes long
    as it must be: 5 to 7 bytes for most links in the place of 90, or of 300 where the value has no quotes.

    The coding of values without quotes that has no slot is made one whose slot is the link, or the part; of those with
    one, for links that share it, the slot is kept beside them. A place for any element (`*`) is made that of the tag by
    `naming`, of the `data`, the place and where the tag starts. Parts of which more is said, and each time something
    else, as of the members of an archive, `make` makes of their numbers; `derives` if fields change with those.

    `objects` are the events that are kept as they are, all but links and parts among them; `count` says how many are
    links and parts, `parts` how many are parts. `kinds` has a link of each kind, which says no more than that.
    `scopes` has the claims that walkers tell of by numbers.
    """

    def __init__(
        self,
        naming: Callable[[bytes, LinkSite, int], LinkSite] | None = None,
        data: bytes = b"",
        make: Make | None = None,
        *,
        derives: bool = False,
    ) -> None:
        self.derives = derives
        self.naming = naming
        self._data = data
        self._make = make
        self.scopes: ScopedBases | None = None
        self.objects: list[Event] = []
        self.count = 0
        self.parts = 0
        self._links = LinkTemplates(named=naming is not None)
        self.kinds = self._links.kinds
        self._kinds_of_parts: PartTemplates | None = None
        self._parts: IntColumn | None = None
        self._size = 0  # interpreted nobody else says so

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[Event]:
        index: cython.Py_ssize_t
        for index in range(self._size):
            yield self.at(index)

    def __getitem__(self, index: cython.Py_ssize_t) -> Event:
        if not 0 <= index < self._size:
            raise IndexError(index)
        return self.at(index)

    @cython.ccall
    def append(self, event: Event) -> None:
        """Take an event of any kind."""
        if type(event) is Link:
            link: Link = event
            tag: cython.Py_ssize_t = link.tag_start
            self.add_link(link.place, link.start, link.end, link.coding, link.base, tag, link.tag_end, link.claim)
        elif type(event) is Part:
            self._add(event, -1)
        else:
            self._keep(event)

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
        """Take a link that is not made yet."""
        self.count += 1
        if cython.compiled and (claim is None or claim is IGNORED_BASE):
            number: cython.int = self._links.number(place, start, end, coding, base, tag_start, tag_end, claim)
            if number >= 0:
                return self._put(number, start, end, tag_start, tag_end, -1, -1, _slot(coding))
        return self._keep_link(place, start, end, coding, base, tag_start, tag_end, claim)

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
        """The same for one with a scope or a claim that has a number in `scopes`; -1 for none."""
        scopes: ScopedBases = self.scopes  # type: ignore[assignment]  # who has a number knows that there are some
        self.count += 1
        if cython.compiled:
            base = SCOPE_PLACEHOLDER if scope >= 0 else None
            says = SCOPE_PLACEHOLDER if claim >= 0 else None
            number: cython.int = self._links.number(place, start, end, coding, base, tag_start, tag_end, says)
            if number >= 0:
                return self._put(number, start, end, tag_start, tag_end, scope, claim, _slot(coding))
        return self._keep_link(place, start, end, coding, scopes.at(scope), tag_start, tag_end, scopes.at(claim))

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
        """Take a part of which nothing else is to be said, but its scope by a number in `scopes`; -1 for none."""
        return self._add(Part(media_type, start, end, coding, name, SCOPE_PLACEHOLDER if scope >= 0 else None), scope)

    @cython.ccall
    @cython.exceptval(-1, check=True)
    def add_numbered_part(
        self, number: cython.Py_ssize_t, start: cython.Py_ssize_t, end: cython.Py_ssize_t
    ) -> cython.int:
        """Take a part that is made of a number, which is not negative, and its span."""
        self._count_part()
        if cython.compiled:
            return self._put(_MADE, start, end, -1, -1, number, -1, None)
        return self._keep(self._make(number, start, end))  # type: ignore[misc]  # who has numbers knows that it is there

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def _count_part(self) -> cython.int:
        """Remember that the event that comes is a part."""
        if self._parts is None:
            self._parts = IntColumn()
        self.parts += 1
        self.count += 1
        return self._parts.add(self._size)

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def _add(self, part: Part, scope: cython.Py_ssize_t) -> cython.int:
        """Take a part, whose scope may have a number."""
        self._count_part()
        if cython.compiled:
            if self._kinds_of_parts is None:
                self._kinds_of_parts = PartTemplates()
            number: cython.int = self._kinds_of_parts.number(part)
            if number >= 0:
                return self._put(MOST + number, part.start, part.end, -1, -1, scope, -1, None)
        part.coding = _settled(part.coding, part.start, part.end)
        if scope >= 0:
            part.base = self.scopes.at(scope)  # type: ignore[union-attr]  # as above
        return self._keep(part)

    @cython.cfunc
    @cython.exceptval(check=False)
    def part(self, number: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Which event the part of this number is."""
        found: IntColumn = self._parts  # type: ignore[assignment]  # who asks knows that there is one
        return found.at(number)

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def _keep(self, event: Event) -> cython.int:
        self.objects.append(event)
        return self._put_object()

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def _keep_link(
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
        """Make a link, and keep it as it is."""
        link: Link = Link.__new__(Link)
        link.place = place if self.naming is None or place.element != "*" else self.naming(self._data, place, tag_start)
        link.start = start
        link.end = end
        link.coding = _settled(coding, start, end)
        link.base = base
        link.tag_start = tag_start
        link.tag_end = tag_end
        link.claim = claim
        return self._keep(link)

    @cython.cfunc
    @cython.exceptval(check=False)
    def start(self, index: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Where the link of this number starts; -1 for another event, and for a link whose claim has no number."""
        if cython.compiled:
            self._seek(index)
            if self._kind == _OBJECT or self._kind >= MOST:
                return -1
            return self._start
        event = self.objects[index]
        return event.start if type(event) is Link and event.claim is None else -1

    @cython.cfunc
    @cython.exceptval(check=False)
    def end(self, index: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Where it ends."""
        if cython.compiled:
            if index != self._index:
                self._seek(index)
            return self._start + self._its_size
        link: Link = self.objects[index]  # type: ignore[assignment]  # `start` said so
        return link.end

    @cython.cfunc
    @cython.exceptval(check=False)
    def kind(self, index: cython.Py_ssize_t) -> cython.int:
        """The number of its kind; -1 where it is kept as it is."""
        if cython.compiled:
            if index != self._index:
                self._seek(index)
            return self._kind
        return -1

    @cython.cfunc
    def at(self, index: cython.Py_ssize_t) -> Event:
        """The event of this number; a link that was kept as numbers is made of them."""
        if cython.compiled:
            if index != self._index:
                self._seek(index)
            if self._kind == _OBJECT:
                return self.objects[self._objects]
            if self._kind >= MOST:
                return self._its_part()
            link: Link = Link.__new__(Link)
            self.read(index, link)
            return link
        return self.objects[index]

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def read(self, index: cython.Py_ssize_t, link: Link) -> cython.bint:
        """Let a link be that of this number: whether it is one that is kept as numbers, and not something else."""
        if cython.compiled:
            if index != self._index:
                self._seek(index)
            if self._kind == _OBJECT or self._kind >= MOST:
                return False
            kind: Link = self.kinds[self._kind]
            if link.place is not kind.place:
                link.place = kind.place
            if link.base is not kind.base:
                link.base = kind.base
            if link.claim is not kind.claim:
                link.claim = kind.claim
            link.start = self._start
            link.end = self._start + self._its_size
            link.tag_start = self._tag if self._in_tag else -1
            link.tag_end = self._tag + self._tag_size if self._in_tag else -1
            coding = _settled(kind.coding, link.start, link.end)
            if link.coding is not coding:
                link.coding = coding
            if kind.tag_start:
                self._complete(link, kind.tag_start)
            return True
        return False

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def _complete(self, link: Link, what: cython.Py_ssize_t) -> cython.int:
        """Give the link that was read last what its kind does not say."""
        if cython.compiled:
            if what & NAMED:
                link.place = self.naming(self._data, link.place, link.tag_start)
            if what & SCOPED:
                link.base = self.scopes.at(self._scope)
            if what & CLAIMS:
                link.claim = self.scopes.at(self._claim)
            if what & SLOTTED:
                link.coding = self._links.slots.coding(link.coding, self._slot, self._slot_end)
        return 0

    @cython.cfunc
    def _its_part(self) -> Part:
        """The part that was read last."""
        if cython.compiled:
            end: cython.Py_ssize_t = self._start + self._its_size
            if self._kind == _MADE:
                return self._make(self._scope, self._start, end)
            part: Part = self._kinds_of_parts.part(self._kind - MOST, self._start, end)
            part.coding = _settled(part.coding, part.start, part.end)
            if part.base is not None:
                part.base = self.scopes.at(self._scope)
            return part
        raise NotImplementedError


@cython.cfunc
@cython.inline
def _slot(coding: Coding) -> tuple[int, int] | None:
    """The slot of a coding that others have, too."""
    return coding.slot if type(coding) is Unquoted else None


@cython.cfunc
@cython.inline
def _settled(coding: Coding, start: cython.Py_ssize_t, end: cython.Py_ssize_t) -> Coding:
    """The coding of a link or a part: that of a value without quotes which is settled as a whole is one of its own."""
    if type(coding) is not Unquoted or coding.slot is not None:
        return coding
    bare: Unquoted = coding
    return bare.of((start, end))
