"""Templates: the fields that many links or parts of a document share, each set kept once under a number.

In: the fields of a link or a part. Out: the number of its template, or -1 where it has fields of its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from absolve.core.model import IGNORED_BASE
from absolve.formats.events.scoped_bases import SCOPE_PLACEHOLDER

if TYPE_CHECKING:
    import cython

    from absolve.core.model import BaseClaim, LinkSite
    from absolve.core.protocols import Coding
else:
    from absolve.core import _cython as cython

if cython.compiled:
    from cython.cimports.absolve.core.model import Link, Part
    from cython.cimports.absolve.encodings.codings import Unquoted
    from cython.cimports.absolve.formats.events.templates import bucket
else:
    from absolve.core.model import Link, Part
    from absolve.encodings.codings import Unquoted

    def bucket(site: LinkSite, coding: Coding) -> int:
        """Return a hash of two identities, from 0 to 63."""
        return (id(site) >> 5 ^ id(coding) >> 4) & 63


_FEW = cython.declare(cython.Py_ssize_t, 8)  # templates that are searched one by one
MOST = cython.declare(cython.Py_ssize_t, 4096)  # templates of links
_MOST_OF_PARTS = cython.declare(cython.Py_ssize_t, 16)  # they are searched one by one
_ANY: Final = (0, 0)  # the slot of a coding that is in the place of codings with different slots

# Fields that a template leaves to each link, as flags; a template has them in the place of its tag's start.
NAMED = cython.declare(cython.Py_ssize_t, 1)  # its site has the name of the tag
SCOPED = cython.declare(cython.Py_ssize_t, 2)
CLAIMS = cython.declare(cython.Py_ssize_t, 4)
SLOTTED = cython.declare(cython.Py_ssize_t, 8)  # it is one of several links in a value without quotes


@cython.final
@cython.no_gc
@cython.cclass
class LinkTemplates:
    """Templates of links by their numbers, from 0: a template is a Link without a span.

    `named`: sites for any element (`*`) get the name of the tag.
    """

    def __init__(self, *, named: bool) -> None:
        self.templates: list[Link] = []
        self._codings: SharedCodings | None = None
        self._named = named
        self._numbers: dict[int, int] | None = None
        self._recent: list[Link | None] | None = None  # by `bucket`

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    @cython.boundscheck(False)
    @cython.wraparound(False)
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
        """Return the number of a link's template; -1 where a record cannot hold its fields, or there are too many."""
        template: Link
        if type(coding) is Unquoted:
            shared: Unquoted = coding
            if shared.slot is not None:
                if not shared.slot[0] <= start <= shared.slot[1]:
                    return -1
                if self._codings is None:
                    self._codings = SharedCodings()
                coding = self._codings.shared(shared)
        if end < start or (tag_start >= 0 and not (tag_start < start and tag_start < tag_end)):
            return -1
        if self._recent is None:
            for template in self.templates:
                if _has(template, place, coding, base, claim):
                    return template.tag_end
        else:
            recent: Link | None = self._recent[bucket(place, coding)]
            if recent is not None and _has(recent, place, coding, base, claim):
                return recent.tag_end
        return self._added(place, coding, base, claim)

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def _added(self, place: LinkSite, coding: Coding, base: BaseClaim | None, claim: BaseClaim | None) -> cython.int:
        """Return the number of a template that is new, or was not used recently."""
        template: Link
        number: cython.Py_ssize_t = len(self.templates)
        key: Any = None
        if self._numbers is not None:
            key = _key(place, coding, base, claim)
            known = self._numbers.get(key)
            if known is not None:
                template = self.templates[known]
                self._recent[bucket(place, coding)] = template  # type: ignore[index]  # it came with the numbers
                return template.tag_end
            if number >= MOST:
                return -1
            self._numbers[key] = number
        template = Link.__new__(Link)
        template.place = place
        template.coding = coding
        template.base = base
        template.claim = claim
        template.start = template.end = -1
        template.tag_start = 0
        template.tag_end = number
        if self._named and place.element == "*":
            template.tag_start |= NAMED
        if base is SCOPE_PLACEHOLDER:
            template.tag_start |= SCOPED
        if claim is SCOPE_PLACEHOLDER:
            template.tag_start |= CLAIMS
        if coding.slot is _ANY:
            template.tag_start |= SLOTTED
        self.templates.append(template)
        if self._recent is not None:
            self._recent[bucket(place, coding)] = template
        elif number == _FEW:
            self._recent = [None] * 64
            self._numbers = {}
            for template in self.templates:
                self._recent[bucket(template.place, template.coding)] = template
                key = _key(template.place, template.coding, template.base, template.claim)
                self._numbers[key] = template.tag_end
        return number

    @cython.cfunc
    def coding(self, shared: Unquoted, start: cython.Py_ssize_t, end: cython.Py_ssize_t) -> Unquoted:
        """Return the coding of the value in this span, for a template that is `SLOTTED`."""
        return self._codings.coding(shared, start, end)  # type: ignore[union-attr]  # its number came from there


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _has(
    template: Link, place: LinkSite, coding: Coding, base: BaseClaim | None, claim: BaseClaim | None
) -> cython.bint:
    return template.place is place and template.coding is coding and template.base is base and template.claim is claim


@cython.cfunc
def _key(place: LinkSite, coding: Coding, base: BaseClaim | None, claim: BaseClaim | None) -> Any:
    """Return one number for a template: a dict of numbers is nothing for the garbage collector."""
    key = id(place) << 66 | id(coding) << 2 | (0 if claim is None else 1 if claim is IGNORED_BASE else 2)
    return key if base is None else key | id(base) << 130


@cython.final
@cython.no_gc
@cython.cclass
class SharedCodings:
    """The codings of values without quotes that hold several links: each value has one, and few are asked for."""

    def __init__(self) -> None:
        self._shared: list[Unquoted] = []
        self._last_shared: Unquoted | None = None
        self._last: Unquoted | None = None

    @cython.cfunc
    def shared(self, coding: Unquoted) -> Unquoted:
        """Return the one coding for all that differ from this one in their slots only."""
        shared: Unquoted
        for shared in self._shared:  # two, with a value and without
            if shared._absent == coding._absent and shared._charset is coding._charset:  # noqa: SLF001 - C attributes
                return shared
        self._shared.append(coding.of(_ANY))
        return self._shared[-1]

    @cython.cfunc
    def coding(self, shared: Unquoted, start: cython.Py_ssize_t, end: cython.Py_ssize_t) -> Unquoted:
        """Return the coding of the value in this span: the same object for consecutive calls with the same span."""
        slot = (start, end)
        if self._last is None or self._last_shared is not shared or self._last.slot != slot:
            self._last_shared = shared
            self._last = shared.of(slot)
        return self._last


@cython.final
@cython.no_gc
@cython.cclass
class PartTemplates:
    """Templates of parts by their numbers, from 0: the first part of each."""

    def __init__(self) -> None:
        self._first: list[Part] = []

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def number(self, part: Part) -> cython.int:
        """Return the number of a part's template; -1 where it has fields of its own, or there are too many."""
        first: Part
        number: cython.int = 0
        if part.claims or part.derived or part.capture is not None:
            return -1
        if not (part.base is None or part.base is SCOPE_PLACEHOLDER):
            return -1
        for first in self._first:
            if (
                first.coding is part.coding
                and first.base is part.base
                and first.media_type == part.media_type
                and first.own_charset == part.own_charset
                and first.encloses == part.encloses
                and first.signed_by == part.signed_by
                and first.name == part.name
            ):
                return number
            number += 1
        if number == _MOST_OF_PARTS or (type(part.coding) is Unquoted and part.coding.slot is not None):
            return -1
        self._first.append(part)
        return number

    @cython.cfunc
    def part(self, number: cython.int, start: cython.Py_ssize_t, end: cython.Py_ssize_t) -> Part:
        """Return a part of this template in this span."""
        first: Part = self._first[number]
        part: Part = Part.__new__(Part)
        part.media_type = first.media_type
        part.start = start
        part.end = end
        part.coding = first.coding
        part.name = first.name
        part.base = first.base
        part.claims = part.derived = ()
        part.own_charset = first.own_charset
        part.encloses = first.encloses
        part.signed_by = first.signed_by
        part.capture = None
        return part
