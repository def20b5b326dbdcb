"""The events of an entity in their order; links, of which there may be millions, are kept as numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from absolve.model import IN_VAIN

if TYPE_CHECKING:
    from collections.abc import Iterator

    import cython

    from absolve.model import Base, Event, Place
    from absolve.typing import Coding
else:
    from absolve import _cython as cython

if cython.compiled:
    from cython.cimports.absolve.buffers import Numbers, grown
    from cython.cimports.absolve.codings import Unquoted
    from cython.cimports.absolve.events import LONGEST, Mark, marked, next_number, put_number
    from cython.cimports.absolve.model import Link, Part
    from cython.cimports.libc.stdlib import free
else:
    from absolve.buffers import Numbers
    from absolve.codings import Unquoted
    from absolve.model import Link, Part

_MOST_KINDS = cython.declare(cython.Py_ssize_t, 4096)
_MOST_KINDS_OF_PARTS = cython.declare(cython.Py_ssize_t, 16)  # they are looked through one by one
_OBJECT = cython.declare(cython.int, -1)  # the kind of what is kept as it is
_STEP = cython.declare(cython.int, 8)  # from one mark to the next are 256 events


@cython.final
@cython.no_gc
@cython.cclass
class Events:
    """A list of events that only grows; where it is compiled, links and parts are made anew whenever they are come to.

    The place, the coding and the scope that links have in common are their kind, which is kept once; so it is with
    parts of which their container says nothing. A link is then its kind's number and its spans, each as many bytes long
    as it must be: 5 to 7 bytes for most links in the place of 90, or of 300 where the value has no quotes. They are
    read forward; of every 256th event it is known where it stands.

    The coding of values without quotes that has no slot is made one whose slot is the link, or the part.

    `objects` are the events that are kept as they are, all but links and parts among them; `count` says how many are
    links and parts, `parts` how many are parts. `kinds` has a link of each kind, which says no more than that.
    """

    def __init__(self) -> None:
        self.objects: list[Event] = []
        self.count = 0
        self.parts = 0
        self.kinds: list[Link] = []
        self._kinds_of_parts: list[Part] | None = None
        self._parts: Numbers | None = None
        self._numbers: dict[int, int] = {}
        self._size = 0
        if cython.compiled:
            self._written = self._room = self._last = 0
            self._coded: Any = cython.NULL
            self._marks: Any = cython.NULL
            self._marks_room = 0
            self._index = self._told_tag = -1
            self._bare: Coding | None = None
            self._claims = False

    def __dealloc__(self) -> None:
        if cython.compiled:
            free(self._coded)
            free(self._marks)

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
        elif type(event) is Part:
            self._add(event)
        else:
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
        may_pack: cython.bint = claim is None or claim is IN_VAIN
        if may_pack and self._pack(place, start, end, coding, base, tag_start, tag_end, claim):
            return 0
        link: Link = Link.__new__(Link)
        link.place = place
        link.start = start
        link.end = end
        link.coding = _settled(coding, start, end)
        link.base = base
        link.tag_start = tag_start
        link.tag_end = tag_end
        link.claim = claim
        return self._keep(link)

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def _add(self, part: Part) -> cython.int:
        """Take a part."""
        if self._parts is None:
            self._parts = Numbers()
        self._parts.add(self._size)
        self.parts += 1
        self.count += 1
        if part.base is None and part.encloses and not (part.claims or part.whole or part.derived or part.sealed):
            number: cython.int = self._kind_of_part(part)
            if number >= 0 and self._put(number, part.start, part.end, -1, -1):
                return 0
        part.coding = _settled(part.coding, part.start, part.end)
        return self._keep(part)

    @cython.cfunc
    @cython.exceptval(check=False)
    def part(self, number: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Which event the part of this number is."""
        found: Numbers = self._parts  # type: ignore[assignment]  # who asks knows that there is one
        return found.at(number)

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def _keep(self, event: Event) -> cython.int:
        if cython.compiled:
            self._grow()
            self._written = put_number(self._coded + self._written, 0) - self._coded
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
        base: Base | None,
        tag_start: cython.Py_ssize_t,
        tag_end: cython.Py_ssize_t,
        claim: Base | None,
    ) -> cython.bint:
        """Keep a link as numbers, if they say all of it."""
        if cython.compiled:
            number: cython.int
            is_bare: cython.bint = type(coding) is Unquoted and coding.slot is not None
            if is_bare and (self._bare is not coding or len(self.kinds) > _MOST_KINDS >> 1):
                self._bare = coding  # the first link of a value: with a kind for each there would be too many
                return False
            if end < start or (tag_start >= 0 and not tag_start < min(start, tag_end)):
                return False
            number = self._kind(place, coding, base, claim)
            return number >= 0 and self._put(number, start, end, tag_start, tag_end)
        return False

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def _put(
        self,
        number: cython.int,
        start: cython.Py_ssize_t,
        end: cython.Py_ssize_t,
        tag_start: cython.Py_ssize_t,
        tag_end: cython.Py_ssize_t,
    ) -> cython.bint:
        """Keep the number of a kind, and spans; whether they are kept so."""
        if cython.compiled:
            self._grow()
            behind: cython.Py_ssize_t = start - self._last  # it may stand before: the lowest bit is the sign
            at = put_number(self._coded + self._written, number + 1)
            at = put_number(at, behind << 1 if behind >= 0 else (-behind << 1) - 1)
            at = put_number(at, end - start)
            if tag_start < 0 or (tag_start == self._told_tag and tag_end == self._told_tag_end):
                at[0] = 0  # there may be a million links in one long tag
                at[1] = tag_start >= 0
                at += 2
            else:
                at = put_number(at, start - tag_start)
                at = put_number(at, tag_end - tag_start)
                self._told_tag = tag_start
                self._told_tag_end = tag_end
            self._written = at - self._coded
            self._last = start
            self._size += 1
        return cython.compiled

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def _kind(self, place: Place, coding: Coding, base: Base | None, claim: Base | None) -> cython.int:
        """The number of a kind; -1 where there are too many of them."""
        number: cython.int = -1
        if cython.compiled:
            kind: Link
            mark: cython.uint = marked(place, coding)
            if self._recent[mark]:
                kind = self.kinds[self._recent[mark] - 1]
                if kind.place is place and kind.coding is coding and kind.base is base and kind.claim is claim:
                    return self._recent[mark] - 1
            # One number: a table of numbers is nothing for the garbage collector.
            key = id(place) << 65 | id(coding) << 1 | (claim is not None)
            if base is not None:
                key |= id(base) << 129
            known = self._numbers.get(key)
            if known is None:
                if len(self.kinds) >= _MOST_KINDS:
                    return -1
                known = self._numbers[key] = len(self.kinds)
                kind = Link.__new__(Link)
                kind.place = place
                kind.coding = coding
                kind.base = base
                kind.claim = claim
                self.kinds.append(kind)
                self._claims = self._claims or claim is not None
            number = known
            self._recent[mark] = number + 1
        return number

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def _kind_of_part(self, part: Part) -> cython.int:
        """The number of a part's kind, behind those of all links; -1 where there are too many of them."""
        kind: Part
        number: cython.Py_ssize_t
        if self._kinds_of_parts is None:
            self._kinds_of_parts = []
        for number in range(len(self._kinds_of_parts)):
            kind = self._kinds_of_parts[number]
            if kind.coding is part.coding and kind.media_type == part.media_type and kind.name == part.name:
                return _MOST_KINDS + number
        if len(self._kinds_of_parts) == _MOST_KINDS_OF_PARTS or (
            type(part.coding) is Unquoted and part.coding.slot is not None
        ):
            return -1
        self._kinds_of_parts.append(part)
        return _MOST_KINDS + len(self._kinds_of_parts) - 1

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def _grow(self) -> cython.int:
        """Make room for one more, and a mark if it is time for one."""
        if cython.compiled:
            room: cython.Py_ssize_t
            if self._written + LONGEST > self._room:
                room = self._room + (self._room >> 1) + 8 * LONGEST
                self._coded = grown(self._coded, room)
                self._room = room
            if self._size & ((1 << _STEP) - 1) == 0:
                if self._size >> _STEP == self._marks_room:
                    room = self._marks_room + (self._marks_room >> 1) + 4
                    self._marks = cython.cast(cython.pointer(Mark), grown(self._marks, room * cython.sizeof(Mark)))
                    self._marks_room = room
                self._told_tag = -1
                mark = cython.address(self._marks[self._size >> _STEP])
                mark.at = self._written
                mark.start = self._last
                mark.objects = len(self.objects)
        return 0

    @cython.cfunc
    @cython.exceptval(check=False)
    def _seek(self, index: cython.Py_ssize_t) -> cython.int:
        """Read the numbers of an event: most often those that stand behind the ones that were read last."""
        if cython.compiled:
            number: cython.Py_ssize_t = 0
            if index < self._index or index >> _STEP > self._index >> _STEP:
                mark = cython.address(self._marks[index >> _STEP])
                self._index = (index >> _STEP << _STEP) - 1
                self._read = mark.at
                self._start = mark.start
                self._objects = mark.objects - 1
            at = self._coded + self._read
            while self._index < index:
                self._index += 1
                at = next_number(at, cython.address(number))
                self._its_kind = cython.cast(cython.int, number) - 1
                if self._its_kind == _OBJECT:
                    self._objects += 1
                    continue
                at = next_number(at, cython.address(number))
                if number & 1:
                    self._start -= (number >> 1) + 1
                else:
                    self._start += number >> 1
                at = next_number(at, cython.address(self._its_size))
                if at[0]:
                    at = next_number(at, cython.address(number))
                    self._tag = self._start - number
                    at = next_number(at, cython.address(self._tag_size))
                    self._in_tag = True
                else:
                    self._in_tag = at[1]
                    at += 2
            self._read = at - self._coded
        return 0

    @cython.cfunc
    @cython.exceptval(check=False)
    def start(self, index: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Where the link of this number starts that makes no claim; -1 for any other event."""
        if cython.compiled:
            self._seek(index)
            if self._its_kind == _OBJECT or self._its_kind >= _MOST_KINDS:
                return -1
            return -1 if self._claims and self.kinds[self._its_kind].claim is not None else self._start
        event = self.objects[index]
        return event.start if type(event) is Link and event.claim is None else -1

    @cython.cfunc
    @cython.exceptval(check=False)
    def end(self, index: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Where it ends."""
        if cython.compiled:
            self._seek(index)
            return self._start + self._its_size
        link: Link = self.objects[index]  # type: ignore[assignment]  # `start` said so
        return link.end

    @cython.cfunc
    @cython.exceptval(check=False)
    def kind(self, index: cython.Py_ssize_t) -> cython.int:
        """The number of its kind; -1 where it is kept as it is."""
        if cython.compiled:
            self._seek(index)
            return self._its_kind
        return -1

    @cython.cfunc
    def at(self, index: cython.Py_ssize_t) -> Event:
        """The event of this number; a link that was kept as numbers is made of them."""
        if cython.compiled:
            self._seek(index)
            if self._its_kind == _OBJECT:
                return self.objects[self._objects]
            if self._its_kind >= _MOST_KINDS:
                return self._its_part()
            kind: Link = self.kinds[self._its_kind]
            link: Link = Link.__new__(Link)
            link.place = kind.place
            link.base = kind.base
            link.start = self._start
            link.end = self._start + self._its_size
            link.claim = kind.claim
            link.tag_start = self._tag if self._in_tag else -1
            link.tag_end = self._tag + self._tag_size if self._in_tag else -1
            link.coding = _settled(kind.coding, link.start, link.end)
            return link
        return self.objects[index]

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def read(self, index: cython.Py_ssize_t, link: Link) -> cython.bint:
        """Let a link be that of this number: whether it is one that is kept as numbers, and not something else."""
        if cython.compiled:
            self._seek(index)
            if self._its_kind == _OBJECT or self._its_kind >= _MOST_KINDS:
                return False
            kind: Link = self.kinds[self._its_kind]
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
            return True
        return False

    @cython.cfunc
    def _its_part(self) -> Part:
        """The part that was read last."""
        part: Part = Part.__new__(Part)
        if cython.compiled:
            kind: Part = self._kinds_of_parts[self._its_kind - _MOST_KINDS]
            part.media_type = kind.media_type
            part.start = self._start
            part.end = self._start + self._its_size
            part.coding = _settled(kind.coding, part.start, part.end)
            part.name = kind.name
            part.claims = part.derived = ()
            part.encloses = True
            part.sealed = ""
        return part


@cython.cfunc
@cython.inline
def _settled(coding: Coding, start: cython.Py_ssize_t, end: cython.Py_ssize_t) -> Coding:
    """The coding of a link or a part: that of a value without quotes which is settled as a whole is one of its own."""
    if type(coding) is not Unquoted or coding.slot is not None:
        return coding
    bare: Unquoted = coding
    return bare.of((start, end))
