"""Base claims for some links of an entity only (`xml:base`, `codebase`): stored as spans, created on access.

In: the span of a value in the document, its coding, and a function that reads a claim from it. Out: the number of the
claim, and by number the BaseClaim with its enclosing claim as `scope` (RFC 1808 section 3.1, XML Base).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from absolve.core.column_buffers import NARROW
from absolve.core.model import BaseClaim, Layer, new

if TYPE_CHECKING:
    from collections.abc import Callable

    import cython

    from absolve.core.protocols import Coding

    ReadBase = Callable[[bytes, int], "BaseClaim | None"]  # decoded value, byte offset -> its claim, if it is one
else:
    from absolve.core import _cython as cython

if cython.compiled:
    from cython.cimports.absolve.core.column_buffers import IntColumn
else:
    from absolve.core.column_buffers import IntColumn

SCOPE_PLACEHOLDER: Final = BaseClaim(Layer.EMBEDDED, "", "")  # in place of a claim that is stored here by number
_MOST_MADE = cython.declare(cython.Py_ssize_t, 4096)  # claims in the cache: more than most feeds have entries


@cython.final
@cython.no_gc
@cython.cclass
class ScopedBases:
    """Claims by number, from 0: the span of each value in `data`, its coding and reader, and its outer claim.

    There may be one for every few bytes of a document. Recently used claims are cached: links under one claim are
    consecutive, and all get the same object.
    """

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._starts = IntColumn(narrow=len(data) <= NARROW)
        self._ends = IntColumn(narrow=len(data) <= NARROW)
        self._outer = IntColumn(narrow=True)
        self._how = IntColumn(narrow=True)
        self._ways: list[tuple[Coding, ReadBase]] = []
        self._made: dict[int, BaseClaim] = {}

    @cython.ccall
    @cython.exceptval(-1, check=True)
    def add(
        self,
        start: cython.Py_ssize_t,
        end: cython.Py_ssize_t,
        coding: Coding,
        read_base: ReadBase,
        outer: cython.Py_ssize_t,
    ) -> cython.Py_ssize_t:
        """Add the claim of the value in this span (byte offsets), and return its number; -1 if it is no claim.

        `outer` is the number of the enclosing claim, -1 without one.
        """
        way: cython.Py_ssize_t = 0
        claim = read_base(coding.decode(self._data[start:end]), start)
        if claim is None:
            return -1
        while way < len(self._ways) and not (self._ways[way][0] is coding and self._ways[way][1] is read_base):
            way += 1
        if way == len(self._ways):  # few: one for each quote character and kind of attribute
            self._ways.append((coding, read_base))
        self._starts.add(start)
        self._ends.add(end)
        self._outer.add(outer)
        self._how.add(way)
        self._remember(len(self._how) - 1, claim, outer)
        return len(self._how) - 1

    @cython.ccall
    def at(self, number: cython.Py_ssize_t) -> BaseClaim | None:
        """Return the claim with this number; None for -1."""
        if number < 0:
            return None
        found = self._made.get(number)
        if found is None:
            start = self._starts.at(number)
            coding, read_base = self._ways[self._how.at(number)]
            claim = read_base(coding.decode(self._data[start : self._ends.at(number)]), start)
            found = self._remember(number, claim, self._outer.at(number))  # type: ignore[arg-type]  # `add` checked it
        return found

    @cython.cfunc
    def _remember(self, number: cython.Py_ssize_t, claim: BaseClaim, outer: cython.Py_ssize_t) -> BaseClaim:
        """Return the claim with the outer claim as its scope, and cache it."""
        found = claim if outer < 0 else new(BaseClaim, (*claim[:4], self.at(outer)))
        if len(self._made) >= _MOST_MADE:
            self._made.clear()
        self._made[number] = found
        return found
