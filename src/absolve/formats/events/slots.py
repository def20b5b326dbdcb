"""The codings of values without quotes in which several links stand: each value has one, and few of them are needed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import cython
else:
    from absolve.core import _cython as cython

if cython.compiled:
    from cython.cimports.absolve.encodings.codings import Unquoted
else:
    from absolve.encodings.codings import Unquoted  # noqa: TC001 - the type of a C field

ANY: Final = (0, 0)  # the slot of what stands for codings that differ in their slots


@cython.final
@cython.no_gc
@cython.cclass
class SharedCodings:
    """What stands for the codings in one entity, and the one that was asked for last; interpreted nobody asks."""

    def __init__(self) -> None:
        self._kinds: list[Unquoted] = []
        self._kind: Unquoted | None = None
        self._last: Unquoted | None = None

    @cython.cfunc
    def kind(self, coding: Unquoted) -> Unquoted:
        """What stands for all codings that are like this one but for their slots."""
        kind: Unquoted
        for kind in self._kinds:  # two, with a value and without
            if kind._absent == coding._absent and kind._charset is coding._charset:  # noqa: SLF001 - C attributes
                return kind
        self._kinds.append(coding.of(ANY))
        return self._kinds[-1]

    @cython.cfunc
    def coding(self, kind: Unquoted, start: cython.Py_ssize_t, end: cython.Py_ssize_t) -> Unquoted:
        """The coding of a value that stands there: the same for all links in it that are asked for in turn."""
        slot = (start, end)
        if self._last is None or self._kind is not kind or self._last.slot != slot:
            self._kind = kind
            self._last = kind.of(slot)
        return self._last
