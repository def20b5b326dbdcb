"""The events of one document in their order: walkers write them, and all rooms above read them.

In: links, parts, base claims and findings from a walker. Out: the same, by index, and edits in the order of the bytes.
Does not know any format.
"""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING

from absolve.core.model import BaseClaim, Link, Part, new
from absolve.encodings.codings import Unquoted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    import cython

    from absolve.core.model import Edit, Event, LinkSite
    from absolve.core.protocols import Coding


_START = attrgetter("start")
_SOME = 1000  # edits that are yielded together


class EventList:
    """A sequence of events that only grows.

    `others` are all events but links and parts, in their order. `count` is the number of links and parts, `parts` has
    the indexes of the parts. `is_ordered` is false where an event begins before an earlier one, or has a field that
    changes with it (`Part.derived`): then edits must be sorted.
    `counted` is the number of links in `count` that are not kept, because no rewrite changes them.
    `has_scopes`: links have base claims of their own (`xml:base`, `codebase`).

    `naming` returns the site of a link whose site is for any element (`*`), given `data`, the site and the byte offset
    of the tag. A link gets its site and its coding when `at` or `link` reads it, because few links are asked for them.
    """

    def __init__(self, naming: Callable[[bytes, LinkSite, int], LinkSite] | None = None, data: bytes = b"") -> None:
        self._naming = naming
        self._data = data
        self._events: list[Event] = []
        self.others: list[Event] = []
        self.parts: list[int] = []
        self.count = self.counted = 0
        self.is_ordered = True
        self.has_scopes = False
        self._reached = 0  # the offset where the last link or part that was appended begins

    def __len__(self) -> int:
        return len(self._events)

    def __iter__(self) -> Iterator[Event]:
        index: cython.Py_ssize_t
        for index in range(len(self._events)):
            yield self.at(index)

    def __getitem__(self, index: cython.Py_ssize_t) -> Event:
        if not 0 <= index < len(self._events):
            raise IndexError(index)
        return self.at(index)

    def append(self, event: Event) -> None:
        """Add an event of any kind."""
        if type(event) is Link:
            self._follow(event.start)
        elif type(event) is Part:
            part: Part = event
            part.coding = _settled(part.coding, part.start, part.end)
            self._follow(part.start)
            self.parts.append(len(self._events))
            self.is_ordered = self.is_ordered and not part.derived
        else:
            self.others.append(event)
        self._events.append(event)

    def _follow(self, start: cython.Py_ssize_t) -> None:
        """Count a link or part that begins at this offset."""
        self.count += 1
        self.is_ordered = self.is_ordered and start >= self._reached
        self._reached = start

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
        """Add a link by its fields, faster than by its constructor."""
        link: Link = Link.__new__(Link)
        link.place = place
        link.start = start
        link.end = end
        link.coding = coding
        link.base = base
        link.tag_start = tag_start
        link.tag_end = tag_end
        link.claim = claim
        self.count += 1
        self._events.append(link)
        return 0

    def count_link(self) -> cython.int:
        """Count a link without keeping it."""
        self.count += 1
        self.counted += 1
        return 0

    def scoped(self, claim: BaseClaim, outer: BaseClaim | None) -> BaseClaim:
        """Return the claim with the enclosing claim `outer` as its scope (XML Base 4.2)."""
        self.has_scopes = True
        return claim if outer is None else new(BaseClaim, (*claim[:4], outer))

    def with_links(self, links: list[Link]) -> EventList:
        """Return a list of the same events with more links between them; both are in the order of their bytes."""
        merged = EventList()
        merged.has_scopes = self.has_scopes
        left = links[::-1]
        for event in self:
            while left and isinstance(event, (Link, Part)) and left[-1].start < event.start:
                merged.append(left.pop())
            merged.append(event)
        for link in reversed(left):
            merged.append(link)
        return merged

    def data_urls(self, data: bytes) -> list[int]:
        """Return the indexes of the links that may be `data:` URLs of documents, by their first bytes."""
        p: cython.p_const_uchar = data
        index: cython.Py_ssize_t
        found: list[int] = []
        for index in range(len(self._events)):
            link: Link | None = self.unread(index)
            if link is not None and _may_be_data(p, link.start, link.end):
                found.append(index)
        return found

    def with_parts(self, parts: dict[int, Part]) -> EventList:
        """Return a list of the same events, with each part behind the link that has this index."""
        merged = EventList(self._naming, self._data)
        merged.has_scopes = self.has_scopes
        for index, event in enumerate(self._events):
            merged.append(event)
            if index in parts:
                merged.append(parts[index])
        return merged

    def at(self, index: cython.Py_ssize_t) -> Event:
        """Return the event at an index, which must be there."""
        event = self._events[index]
        if type(event) is Link:
            self._complete(event)
        return event

    def link(self, index: cython.Py_ssize_t) -> Link | None:
        """Return the link at an index, None for another event."""
        event = self._events[index]
        return self._complete(event) if type(event) is Link else None

    def unread(self, index: cython.Py_ssize_t) -> Link | None:
        """Return the link at an index for its span, base and claim; several links may share its site and coding."""
        event = self._events[index]
        return event if type(event) is Link else None

    def _complete(self, link: Link) -> Link:
        """Give a link the site with the name of its element, and the coding of its own value."""
        if self._naming is not None and link.place.element == "*":
            link.place = self._naming(self._data, link.place, link.tag_start)
        link.coding = _settled(link.coding, link.start, link.end)
        return link


def _may_be_data(p: cython.p_const_uchar, start: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.bint:
    """Return whether a link may be the `data:` URL of a document; most of these URLs are images, but not in SVG.

    An escape may stand for any of the first characters.
    """
    if end - start < _SHORTEST:
        return False
    if p[start] | 32 != 100:  # d
        return p[start] == 38 or p[start] == 92
    i: cython.Py_ssize_t
    for i in range(start + 1, start + 5):
        if p[i] == 38 or p[i] == 92:
            return True
    if p[start + 4] != 58:  # colon
        return False
    if p[start + 5] | 32 != 105 or p[start + 10] != 47:  # image/
        return True
    return p[start + 11] | 32 == 115 or not 97 <= p[start + 11] | 32 <= 122  # svg+xml


_SHORTEST = len("data:text/css,")


def _settled(coding: Coding, start: cython.Py_ssize_t, end: cython.Py_ssize_t) -> Coding:
    """Return the coding of a link or part. A value without quotes gets a coding of its own, whose slot is the value."""
    if type(coding) is not Unquoted:
        return coding
    bare: Unquoted = coding
    return bare.of((start, end)) if bare.slot is None else bare


def ordered(parts: Iterable[list[Edit]]) -> Iterator[list[Edit]]:
    """Buffer and sort all edits: a length field precedes the body that it describes. Yield some at a time."""
    held = [edit for some in parts for edit in some]
    held.sort(key=_START)
    for first in range(0, len(held), _SOME):
        yield held[first : first + _SOME]
