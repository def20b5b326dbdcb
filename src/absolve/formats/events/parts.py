"""What parts of one kind have in common, for an entity that has many."""

from __future__ import annotations

from typing import TYPE_CHECKING

from absolve.formats.events.scoped_bases import SCOPE_PLACEHOLDER

if TYPE_CHECKING:
    import cython
else:
    from absolve.core import _cython as cython

if cython.compiled:
    from cython.cimports.absolve.core.model import Part
    from cython.cimports.absolve.encodings.codings import Unquoted
else:
    from absolve.core.model import Part
    from absolve.encodings.codings import Unquoted

_MOST = cython.declare(cython.Py_ssize_t, 16)  # they are looked through one by one


@cython.final
@cython.no_gc
@cython.cclass
class PartTemplates:
    """The kinds of parts by their numbers, from 0: the first part of each."""

    def __init__(self) -> None:
        self._first: list[Part] = []

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def number(self, part: Part) -> cython.int:
        """That of a part's kind; -1 where more is said of it, as by claims of its own, or there are too many kinds."""
        kind: Part
        number: cython.int = 0
        if part.claims or part.derived or not (part.base is None or part.base is SCOPE_PLACEHOLDER):
            return -1
        for kind in self._first:
            alike = kind.coding is part.coding and kind.base is part.base and kind.media_type == part.media_type
            alike = alike and kind.own_charset == part.own_charset and kind.encloses == part.encloses
            alike = alike and kind.signed_by == part.signed_by
            if alike and kind.name == part.name:
                return number
            number += 1
        if number == _MOST or (type(part.coding) is Unquoted and part.coding.slot is not None):
            return -1
        self._first.append(part)
        return number

    @cython.cfunc
    def part(self, number: cython.int, start: cython.Py_ssize_t, end: cython.Py_ssize_t) -> Part:
        """A part of this kind; it has a number in the place of a base if it has one, and the coding of all of them."""
        kind: Part = self._first[number]
        part: Part = Part.__new__(Part)
        part.media_type = kind.media_type
        part.start = start
        part.end = end
        part.coding = kind.coding
        part.name = kind.name
        part.base = kind.base
        part.claims = part.derived = ()
        part.own_charset = kind.own_charset
        part.encloses = kind.encloses
        part.signed_by = kind.signed_by
        return part
