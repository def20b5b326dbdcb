"""The events of an entity in their order; links, of which there may be millions, are kept as numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from absolve.model import Part

if TYPE_CHECKING:
    from collections.abc import Iterator

    import cython

    from absolve.model import Base, Event, Place
    from absolve.typing import Coding
else:
    from absolve import _cython as cython

if cython.compiled:
    from cython.cimports.absolve.codings import Unquoted
    from cython.cimports.absolve.events import Packed, marked
    from cython.cimports.absolve.model import Link
    from cython.cimports.libc.stdlib import free, realloc
else:
    from absolve.codings import Unquoted
    from absolve.model import Link

_MOST_KINDS = cython.declare(cython.Py_ssize_t, 4096)
_OBJECT = cython.declare(cython.uint, 0xFFFF)  # the kind of what is kept as it is
_LARGEST = cython.declare(cython.Py_ssize_t, 0xFFFF_FFFF)


@cython.final
@cython.cclass
class Events:
    """A list of events that only grows; where it is compiled, links are made anew whenever they are come to.

    The place and the coding that links have in common are their kind, which is kept once. A link is then its kind's
    number and its spans: 24 bytes in the place of 90, or of 300 where the value has no quotes.

    `objects` are the events that are kept as they are, all but links among them; `count` says how many are links and
    parts. `kinds` has a link of each kind, which says no more than that.
    """

    def __init__(self) -> None:
        self.objects: list[Event] = []
        self.count = 0
        self.kinds: list[Link] = []
        self._numbers: dict[tuple[int, int], int] = {}
        self._bare: Unquoted | None = None
        self._size = 0
        if cython.compiled:
            self._room = 0
            self._packed: Any = cython.NULL

    def __dealloc__(self) -> None:
        if cython.compiled:
            free(self._packed)

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
            self.tell(link.place, link.start, link.end, link.coding, link.base, tag, link.tag_end, link.claim)
        else:
            self.count += type(event) is Part
            self._keep(event)

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def tell(
        self,
        place: Place,
        start: cython.Py_ssize_t,
        end: cython.Py_ssize_t,
        coding: Coding,
        base: Base | None,
        tag_start: cython.Py_ssize_t,
        tag_end: cython.Py_ssize_t,
        claim: Base | None,
    ) -> cython.int:
        """Take a link that is not made yet."""
        self.count += 1
        if base is None and claim is None and self._pack(place, start, end, coding, tag_start, tag_end):
            return 0
        link: Link = Link.__new__(Link)
        link.place = place
        link.start = start
        link.end = end
        link.coding = coding
        link.base = base
        link.tag_start = tag_start
        link.tag_end = tag_end
        link.claim = claim
        return self._keep(link)

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def _keep(self, event: Event) -> cython.int:
        if cython.compiled:
            self._grow()
            at = cython.address(self._packed[self._size])
            at.start = len(self.objects)
            at.kind = _OBJECT
        self._size += 1
        self.objects.append(event)
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def _pack(
        self,
        place: Place,
        start: cython.Py_ssize_t,
        end: cython.Py_ssize_t,
        coding: Coding,
        tag_start: cython.Py_ssize_t,
        tag_end: cython.Py_ssize_t,
    ) -> cython.bint:
        """Keep a link as numbers, if they say all of it."""
        if cython.compiled:
            number: cython.int
            if type(coding) is Unquoted:
                coding = self._common(coding, start, end)
                if coding is None:
                    return False
            if tag_start > start or start - tag_start > _LARGEST or tag_end - tag_start > _LARGEST:
                return False
            number = self._kind(place, coding)
            if number < 0 or end - start > _LARGEST:
                return False
            self._grow()
            at = cython.address(self._packed[self._size])
            at.start = start
            at.size = end - start
            at.kind = number
            at.tag_before = start - tag_start if tag_start >= 0 else 0
            at.tag_size = tag_end - tag_start if tag_start >= 0 else 0
            self._size += 1
        return cython.compiled

    @cython.cfunc
    def _common(self, coding: Unquoted, start: cython.Py_ssize_t, end: cython.Py_ssize_t) -> Unquoted | None:
        """What stands for the codings of all values without quotes that are one link and nothing else."""
        if coding.slot != (start, end):
            return None
        if self._bare is None:
            self._bare = coding.of(None)
        return self._bare if coding.is_like(self._bare) else None

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def _kind(self, place: Place, coding: Coding) -> cython.int:
        """The number of a kind; -1 where there are too many of them."""
        number: cython.int = -1
        if cython.compiled:
            kind: Link
            mark: cython.uint = marked(place, coding)
            if self._recent[mark]:
                kind = self.kinds[self._recent[mark] - 1]
                if kind.place is place and kind.coding is coding:
                    return self._recent[mark] - 1
            key = (id(place), id(coding))
            known = self._numbers.get(key)
            if known is None:
                if len(self.kinds) >= _MOST_KINDS:
                    return -1
                known = self._numbers[key] = len(self.kinds)
                kind = Link.__new__(Link)
                kind.place = place
                kind.coding = coding
                self.kinds.append(kind)
            number = known
            self._recent[mark] = number + 1
        return number

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def _grow(self) -> cython.int:
        """Make room for one more."""
        if cython.compiled and self._size == self._room:
            room: cython.Py_ssize_t = self._room + (self._room >> 1) + 16
            grown = realloc(self._packed, room * cython.sizeof(Packed))
            if grown == cython.NULL:
                raise MemoryError
            self._packed = cython.cast(cython.pointer(Packed), grown)
            self._room = room
        return 0

    @cython.cfunc
    @cython.exceptval(check=False)
    def start(self, index: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Where the link of this number starts that neither makes a claim nor has a scope; -1 for any other event."""
        if cython.compiled:
            return -1 if self._packed[index].kind == _OBJECT else self._packed[index].start
        event = self.objects[index]
        return event.start if type(event) is Link and event.base is None and event.claim is None else -1

    @cython.cfunc
    @cython.exceptval(check=False)
    def end(self, index: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Where it ends."""
        if cython.compiled:
            return self._packed[index].start + self._packed[index].size
        link: Link = self.objects[index]  # type: ignore[assignment]  # `start` said so
        return link.end

    @cython.cfunc
    @cython.exceptval(check=False)
    def tag_start(self, index: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Where its tag starts; -1 where it is in none."""
        if cython.compiled:
            at = cython.address(self._packed[index])
            return at.start - at.tag_before if at.tag_size else -1
        link: Link = self.objects[index]  # type: ignore[assignment]  # as above
        return link.tag_start

    @cython.cfunc
    @cython.exceptval(check=False)
    def kind(self, index: cython.Py_ssize_t) -> cython.int:
        """The number of its kind; -1 where it is kept as it is."""
        if cython.compiled and self._packed[index].kind != _OBJECT:
            return self._packed[index].kind
        return -1

    @cython.cfunc
    def at(self, index: cython.Py_ssize_t) -> Event:
        """The event of this number; a link that was kept as numbers is made of them."""
        if cython.compiled:
            at = cython.address(self._packed[index])
            if at.kind == _OBJECT:
                return self.objects[at.start]
            kind: Link = self.kinds[at.kind]
            link: Link = Link.__new__(Link)
            link.place = kind.place
            link.start = at.start
            link.end = at.start + at.size
            link.coding = kind.coding if kind.coding is not self._bare else self._bare.of((link.start, link.end))
            link.tag_start = at.start - at.tag_before if at.tag_size else -1
            link.tag_end = link.tag_start + at.tag_size if at.tag_size else -1
            return link
        return self.objects[index]
