"""What links of one kind have in common, for an entity that may have millions: the place, the coding and the scope."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from absolve.core.model import IGNORED_BASE
from absolve.formats.events.scoped_bases import SCOPE_PLACEHOLDER
from absolve.formats.events.slots import ANY

if TYPE_CHECKING:
    import cython

    from absolve.core.model import BaseClaim, LinkSite
    from absolve.core.protocols import Coding
else:
    from absolve.core import _cython as cython

if cython.compiled:
    from cython.cimports.absolve.core.model import Link
    from cython.cimports.absolve.encodings.codings import Unquoted
    from cython.cimports.absolve.formats.events.slots import SharedCodings
    from cython.cimports.absolve.formats.events.templates import marked
else:
    from absolve.core.model import Link
    from absolve.encodings.codings import Unquoted
    from absolve.formats.events.slots import SharedCodings

_FEW = cython.declare(cython.Py_ssize_t, 8)
MOST = cython.declare(cython.Py_ssize_t, 4096)

# What is to be made of a kind for each link of it; a kind keeps it in the place of where a tag starts.
NAMED = cython.declare(cython.Py_ssize_t, 1)  # its place has the name of the tag
SCOPED = cython.declare(cython.Py_ssize_t, 2)
CLAIMS = cython.declare(cython.Py_ssize_t, 4)
SLOTTED = cython.declare(cython.Py_ssize_t, 8)  # it is one of the links in a value without quotes


@cython.final
@cython.no_gc
@cython.cclass
class LinkTemplates:
    """The kinds of links by their numbers, from 0: `kinds` has a link of each, which says no more than that.

    Where its tag starts, such a link says what is to be made for each link of its kind: a name (only where `named`), a
    scope, a claim, a coding for its slot, of which `slots` knows. Interpreted, links are kept as they are.
    """

    def __init__(self, *, named: bool) -> None:
        self.kinds: list[Link] = []
        self.slots: SharedCodings | None = None
        self._named = named
        self._numbers: dict[int, int] | None = None

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def number(
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
        """That of a link's kind; -1 where numbers cannot say all of it, or there are too many kinds."""
        if cython.compiled:
            is_bare: cython.bint = type(coding) is Unquoted and coding.slot is not None
            if is_bare:
                if not coding.slot[0] <= start <= coding.slot[1]:
                    return -1
                if self.slots is None:
                    self.slots = SharedCodings()
                coding = self.slots.kind(coding)
            if end < start or (tag_start >= 0 and not tag_start < min(start, tag_end)):
                return -1
            mark: cython.uint = marked(place, coding)
            if self._recent[mark]:
                kind: Link = self.kinds[self._recent[mark] - 1]
                if kind.place is place and kind.coding is coding and kind.base is base and kind.claim is claim:
                    return self._recent[mark] - 1
            number: cython.int = self._number_of(place, coding, base, claim)
            self._recent[mark] = number + 1
            return number
        return -1

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def _number_of(
        self, place: LinkSite, coding: Coding, base: BaseClaim | None, claim: BaseClaim | None
    ) -> cython.int:
        """That of a kind that was not met just now."""
        if cython.compiled:
            kind: Link
            number: cython.int = len(self.kinds)
            index: cython.int
            if number <= _FEW:  # as in most documents: they are looked through one by one
                for index in range(number):
                    kind = self.kinds[index]
                    if kind.place is place and kind.coding is coding and kind.base is base and kind.claim is claim:
                        return index
            else:
                if self._numbers is None:
                    self._numbers = {}
                    for index in range(number):
                        kind = self.kinds[index]
                        self._numbers[_key(kind.place, kind.coding, kind.base, kind.claim)] = index
                key = _key(place, coding, base, claim)
                known = self._numbers.get(key)
                if known is not None:
                    return known
                if number >= MOST:
                    return -1
                self._numbers[key] = number
            kind = Link.__new__(Link)
            kind.place = place
            kind.coding = coding
            kind.base = base
            kind.claim = claim
            kind.tag_start = 0
            if self._named and place.element == "*":
                kind.tag_start |= NAMED
            if base is SCOPE_PLACEHOLDER:
                kind.tag_start |= SCOPED
            if claim is SCOPE_PLACEHOLDER:
                kind.tag_start |= CLAIMS
            if coding.slot is ANY:
                kind.tag_start |= SLOTTED
            self.kinds.append(kind)
            return number
        return -1


@cython.cfunc
def _key(place: LinkSite, coding: Coding, base: BaseClaim | None, claim: BaseClaim | None) -> Any:
    """A kind as one number: a table of numbers is nothing for the garbage collector."""
    key = id(place) << 66 | id(coding) << 2 | (0 if claim is None else 1 if claim is IGNORED_BASE else 2)
    return key if base is None else key | id(base) << 130
