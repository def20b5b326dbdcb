"""Values that are decoded from raw bytes, and where their bytes stand in those."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from absolve.buffers import NARROW

if TYPE_CHECKING:
    import cython

    from absolve.typing import Offsets as OffsetsProtocol
else:
    from absolve import _cython as cython

if cython.compiled:
    from cython.cimports.absolve.buffers import Growing, Numbers
else:
    from absolve.buffers import Growing, Numbers


_NARROW = cython.declare(cython.Py_ssize_t, NARROW)


@cython.final
@cython.cclass
class Offsets:
    """Offsets by the units that are not one byte for one byte: what is between two of them stands for itself.

    Of a unit are kept where it ends in the value, and where it begins and ends in `raw_size` raw bytes.
    """

    def __init__(self, raw_size: int = 0) -> None:
        self._ends = Numbers(narrow=True)
        self._are_narrow = True  # the ends: a value may be longer than its raw bytes
        self._raw_starts = Numbers(narrow=raw_size <= NARROW)
        self._raw_ends = Numbers(narrow=raw_size <= NARROW)

    @cython.ccall
    def add(self, end: cython.Py_ssize_t, raw_start: cython.Py_ssize_t, raw_end: cython.Py_ssize_t) -> cython.int:
        """Add a unit behind all others."""
        if end > _NARROW and self._are_narrow:
            self._widen()
        self._ends.add(end)
        self._raw_starts.add(raw_start)
        return self._raw_ends.add(raw_end)

    @cython.cfunc
    def _widen(self) -> cython.int:
        """Make room for ends that take 64 bits."""
        index: cython.Py_ssize_t
        ends = Numbers()
        for index in range(len(self._ends)):
            ends.add(self._ends.at(index))
        self._ends = ends
        self._are_narrow = False
        return 0

    @cython.ccall
    def start(self, position: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """The raw offset at which the unit at this offset of the value begins."""
        index: cython.Py_ssize_t = self._last_before(position + 1)
        if index < 0:
            return position
        if position < self._ends.at(index):
            return self._raw_starts.at(index)
        return self._raw_ends.at(index) + position - self._ends.at(index)

    @cython.ccall
    def end(self, position: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """The raw offset at which the unit before this offset of the value ends."""
        index: cython.Py_ssize_t = self._last_before(position)
        if index < 0:
            return position
        return self._raw_ends.at(index) + max(position - self._ends.at(index), 0)

    @cython.cfunc
    @cython.exceptval(check=False)
    def _last_before(self, position: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """The last unit that begins before this offset of the value; -1 where none does."""
        low: cython.Py_ssize_t = 0
        high: cython.Py_ssize_t = len(self._ends)
        while low < high:
            middle: cython.Py_ssize_t = (low + high) // 2
            if self._begins(middle) < position:
                low = middle + 1
            else:
                high = middle
        return low - 1

    @cython.cfunc
    @cython.exceptval(check=False)
    def _begins(self, index: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Where a unit begins in the value."""
        if index == 0:
            return self._raw_starts.at(0)
        return self._ends.at(index - 1) + self._raw_starts.at(index) - self._raw_ends.at(index - 1)


IDENTITY_OFFSETS: Final = Offsets()


# What is said of links that would have to be changed there.
CUT_OFF: Final = "a link begins or ends inside of what an entity stands for: what is around it is left alone"


def is_cut(offsets: OffsetsProtocol, position: int) -> bool:
    """Whether an offset of the value stands inside of a unit, of which the raw bytes can only be taken as a whole."""
    return offsets.end(position) > offsets.start(position)


@cython.final
@cython.cclass
class Decoded:
    """A value in the making: what raw bytes stand for, of which those that are in no unit stand for themselves.

    Where it is not `mapped` nobody will ask where its units stand.
    """

    def __init__(self, raw: bytes, mapped: cython.bint = True) -> None:  # noqa: FBT002 - of a C class
        self._raw = raw
        self._mapped = mapped
        self._read = 0
        self._value: Growing | None = None  # while all that was read stands for itself
        self._offsets = IDENTITY_OFFSETS

    @cython.ccall
    def unit(self, start: cython.Py_ssize_t, end: cython.Py_ssize_t, new: bytes) -> cython.int:
        """The raw bytes of this span, which is behind all others, stand for `new`."""
        value: Growing | None = self._value
        if value is None:
            value = self._value = Growing(len(self._raw))
            if self._mapped:
                self._offsets = Offsets(len(self._raw))
        if start > self._read:
            value.add(self._raw, self._read, start)
        value.add(new, 0, len(new))
        self._read = end
        return self._offsets.add(value.size, start, end) if self._mapped else 0

    @cython.ccall
    def whole(self) -> tuple:  # type: ignore[type-arg]
        """The value of all the raw bytes, and its offsets in them."""
        value: Growing | None = self._value
        if value is None:
            return self._raw, self._offsets
        value.add(self._raw, self._read, len(self._raw))
        return value.finish(), self._offsets


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
