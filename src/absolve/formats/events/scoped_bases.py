"""The claims that rule some links of an entity only (`xml:base`, `codebase`): kept as numbers, made when asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from absolve.core.column_buffers import NARROW
from absolve.core.model import BaseClaim, Layer, new

if TYPE_CHECKING:
    from collections.abc import Callable

    import cython

    from absolve.core.protocols import Coding

    Says = Callable[[bytes, int], "BaseClaim | None"]  # the claim that a value makes which stands there
else:
    from absolve.core import _cython as cython

if cython.compiled:
    from cython.cimports.absolve.core.column_buffers import IntColumn
else:
    from absolve.core.column_buffers import IntColumn

SCOPE_PLACEHOLDER: Final = BaseClaim(Layer.EMBEDDED, "", "")  # stands for a claim that has a number here
_MOST_MADE = cython.declare(cython.Py_ssize_t, 4096)  # more than most feeds have entries


@cython.final
@cython.no_gc
@cython.cclass
class ScopedBases:
    """Claims by their numbers, from 0: where their values stand in `data`, how those are read, and what is around them.

    There may be one for every few bytes of a document. The last ones that were asked for are remembered: the links
    that one of them rules stand together, and get the very same object.
    """

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._starts = IntColumn(narrow=len(data) <= NARROW)
        self._ends = IntColumn(narrow=len(data) <= NARROW)
        self._outer = IntColumn(narrow=True)
        self._how = IntColumn(narrow=True)
        self._ways: list[tuple[Coding, Says]] = []
        self._made: dict[int, BaseClaim] = {}

    @cython.ccall
    @cython.exceptval(-1, check=True)
    def add(
        self, start: cython.Py_ssize_t, end: cython.Py_ssize_t, coding: Coding, says: Says, outer: cython.Py_ssize_t
    ) -> cython.Py_ssize_t:
        """Take the claim of the value in this span, in the scope of an `outer` one or of none (-1): its number.

        -1 where the value makes none.
        """
        way: cython.Py_ssize_t = 0
        claim = says(coding.decode(self._data[start:end]), start)
        if claim is None:
            return -1
        while way < len(self._ways) and not (self._ways[way][0] is coding and self._ways[way][1] is says):
            way += 1
        if way == len(self._ways):  # as many as there are quotes and kinds of attributes
            self._ways.append((coding, says))
        self._starts.add(start)
        self._ends.add(end)
        self._outer.add(outer)
        self._how.add(way)
        self._remember(len(self._how) - 1, claim, outer)
        return len(self._how) - 1

    @cython.ccall
    def at(self, number: cython.Py_ssize_t) -> BaseClaim | None:
        """The claim of this number; None for -1."""
        if number < 0:
            return None
        found = self._made.get(number)
        if found is None:
            start = self._starts.at(number)
            coding, says = self._ways[self._how.at(number)]
            claim = says(coding.decode(self._data[start : self._ends.at(number)]), start)
            found = self._remember(number, claim, self._outer.at(number))  # type: ignore[arg-type]  # `add` saw that it is one
        return found

    @cython.cfunc
    def _remember(self, number: cython.Py_ssize_t, claim: BaseClaim, outer: cython.Py_ssize_t) -> BaseClaim:
        """The claim in the scope of the outer one, for those who ask next."""
        found = claim if outer < 0 else new(BaseClaim, (*claim[:4], self.at(outer)))
        if len(self._made) >= _MOST_MADE:
            self._made.clear()
        self._made[number] = found
        return found
