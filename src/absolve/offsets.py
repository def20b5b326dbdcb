"""Where the bytes of a value stand in the raw bytes that it was decoded from."""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import cython

    from absolve.typing import Offsets as OffsetsProtocol
else:
    from absolve import _cython as cython

Unit = tuple[int, int, int, int]


@cython.final
@cython.cclass
class Offsets:
    """Offsets by the units that are not one byte for one byte: (value start, value end, raw start, raw end) each."""

    _units: list[Unit]

    def __init__(self, units: list[Unit]) -> None:
        self._units = units

    def start(self, position: int) -> int:
        """The raw offset at which the unit at this offset of the value begins."""
        if not self._units:  # as in most attributes
            return position
        index = bisect_left(self._units, (position + 1,)) - 1
        if index < 0:
            return position
        start, end, raw_start, raw_end = self._units[index]
        return raw_start if start <= position < end else raw_end + position - end

    def end(self, position: int) -> int:
        """The raw offset at which the unit before this offset of the value ends."""
        if not self._units:
            return position
        index = bisect_left(self._units, (position,)) - 1
        if index < 0:
            return position
        _, end, _, raw_end = self._units[index]
        return raw_end if position <= end else raw_end + position - end


class Composed:
    """Offsets through two codings: `outer` maps the raw bytes to what `inner` maps to the value."""

    __slots__ = ("_inner", "_outer")

    def __init__(self, outer: OffsetsProtocol, inner: OffsetsProtocol) -> None:
        self._outer = outer
        self._inner = inner

    def start(self, position: int) -> int:
        return self._outer.start(self._inner.start(position))

    def end(self, position: int) -> int:
        return self._outer.end(self._inner.end(position))


class Utf16Offsets:
    """Offsets into UTF-16: two or four bytes for each character. Counted from checkpoints, not kept for each."""

    __slots__ = ("_marks", "_value")
    _STEP = 512
    _FOLLOWING = bytes(range(0x80, 0xC0))
    _ASTRAL = bytes(range(0xF0, 0xF8))

    def __init__(self, value: bytes) -> None:
        self._value = value
        self._marks = [0]
        for start in range(0, len(value), self._STEP):
            self._marks.append(self._marks[-1] + self._count(start, min(start + self._STEP, len(value))))

    def _count(self, start: int, end: int) -> int:
        """Bytes of UTF-16 for the characters that begin in this stretch of the value."""
        stretch = self._value[start:end]
        if stretch.isascii():
            return 2 * len(stretch)
        begun = stretch.translate(None, self._FOLLOWING)
        return 2 * (2 * len(begun) - len(begun.translate(None, self._ASTRAL)))

    def start(self, position: int) -> int:
        mark = position // self._STEP
        return self._marks[mark] + self._count(mark * self._STEP, position)

    end = start


IDENTITY_OFFSETS: Final = Offsets([])
