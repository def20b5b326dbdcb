"""Map byte offsets in decoded values to byte offsets in their raw bytes (`core.protocols.Offsets`).

In: the units of a value (a character reference, an escape) with their spans, in ascending order; all other bytes are
copied unchanged. Out: the value, and for an offset in it the start or end of the raw bytes of the unit there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from absolve.core.byte_scan import ByteBuilder
from absolve.core.column_buffers import IntColumn

if TYPE_CHECKING:
    import re
    from collections.abc import Callable

    import cython

    from absolve.core.protocols import Offsets as OffsetsProtocol



_STEP = 5  # an index entry for every 32nd unit (2 ** 5)
_LONG = 1 << 16  # bytes of a value from which on it is built without a list


class Offsets:
    """Offsets as a list of units; the bytes between two units are the same in the value and the raw bytes.

    A unit is stored as three varints: its distance from the previous unit, its raw size and its size in the value, all
    in bytes. Every 32nd unit has an index entry with the ends of the previous one.
    """

    def __init__(self) -> None:
        self._coded = bytearray()
        self._size = 0
        self._end = 0
        self._raw_end = 0
        self._ends = IntColumn()
        self._raw_ends = IntColumn()
        self._places = IntColumn()
        self._found_end = 0  # the unit that `_seek` found
        self._found_raw_start = 0
        self._found_raw_end = 0

    def add(self, end: cython.Py_ssize_t, raw_start: cython.Py_ssize_t, raw_end: cython.Py_ssize_t) -> cython.int:
        """Add a unit behind all others: its end in the value, its start and end in the raw bytes."""
        if self._size & ((1 << _STEP) - 1) == 0:
            self._ends.add(self._end)
            self._raw_ends.add(self._raw_end)
            self._places.add(len(self._coded))
        between: cython.Py_ssize_t = raw_start - self._raw_end
        self._put(between)
        self._put(raw_end - raw_start)
        self._put(end - self._end - between)
        self._size += 1
        self._end = end
        self._raw_end = raw_end
        return 0

    def _put(self, number: cython.Py_ssize_t) -> cython.int:
        """Append a varint: seven bits per byte, least significant first, the high bit set in all but the last."""
        while number > 127:
            self._coded.append(number & 127 | 128)
            number >>= 7
        self._coded.append(number)
        return 0

    def start(self, position: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Return the raw offset at which the unit at this offset of the value begins."""
        self._seek(position + 1)
        if position < self._found_end:
            return self._found_raw_start
        return self._found_raw_end + position - self._found_end

    def end(self, position: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Return the raw offset at which the unit before this offset of the value ends."""
        self._seek(position)
        return self._found_raw_end + max(position - self._found_end, 0)

    def _seek(self, position: cython.Py_ssize_t) -> cython.int:
        """Set `_found_*` to the last unit that begins before this offset of the value, or to 0."""
        coded: cython.p_const_uchar = self._coded  # type: ignore[assignment]  # in C the same
        mark: cython.Py_ssize_t = self._ends.before(position) - 1
        index: cython.Py_ssize_t
        at: cython.Py_ssize_t
        part: cython.int
        shift: cython.int
        number: cython.Py_ssize_t
        bits: cython.Py_ssize_t
        end: cython.Py_ssize_t
        raw_end: cython.Py_ssize_t
        self._found_end = self._found_raw_start = self._found_raw_end = 0
        if mark < 0:
            return 0
        at = self._places.at(mark)
        end = self._found_end = self._ends.at(mark)
        raw_end = self._found_raw_end = self._raw_ends.at(mark)
        for index in range(mark << _STEP, min((mark + 1) << _STEP, self._size)):  # noqa: B007 - a counter
            for part in range(3):
                number = 0
                shift = 0
                while True:
                    bits = coded[at]
                    at += 1
                    number |= (bits & 127) << shift
                    shift += 7
                    if bits <= 127:
                        break
                if part == 0:
                    end += number
                    if end >= position:
                        return 0
                    self._found_raw_start = raw_end + number
                elif part == 1:
                    raw_end = self._found_raw_start + number
                else:
                    end += number
            self._found_end = end
            self._found_raw_end = raw_end
        return 0


IDENTITY_OFFSETS: Final = Offsets()


# The diagnostic for links that begin or end inside of a unit.
CUT_OFF: Final = "a link begins or ends inside of what an entity stands for: what is around it is left alone"


def is_cut(offsets: OffsetsProtocol, position: int) -> bool:
    """Return whether an offset of the value is inside of a unit, whose raw bytes cannot be divided."""
    return offsets.end(position) > offsets.start(position)


class Decoded:
    """Builder of a decoded value: raw bytes with some spans (units) replaced, and the offsets of the value.

    The offsets are recorded only if `mapped`.
    """

    def __init__(self, raw: bytes, mapped: cython.bint = True) -> None:  # noqa: FBT002 - of a C class
        self._raw = raw
        self._mapped = mapped
        self._read = 0
        self._value: ByteBuilder | None = None  # None until the first unit
        self._offsets = IDENTITY_OFFSETS

    def unit(self, start: cython.Py_ssize_t, end: cython.Py_ssize_t, new: bytes) -> cython.int:
        """Replace this span of raw bytes, behind all earlier ones, by `new`."""
        value: ByteBuilder | None = self._value
        if value is None:
            value = self._value = ByteBuilder(len(self._raw))
            if self._mapped:
                self._offsets = Offsets()
        if start > self._read:
            value.add(self._raw, self._read, start)
        value.add(new, 0, len(new))
        self._read = end
        return self._offsets.add(value.size, start, end) if self._mapped else 0

    def whole(self) -> tuple:  # type: ignore[type-arg]
        """Return the value of all raw bytes, and its offsets."""
        value: ByteBuilder | None = self._value
        if value is None:
            return self._raw, self._offsets
        value.add(self._raw, self._read, len(self._raw))
        return value.finish(), self._offsets


def replaced(pattern: re.Pattern[bytes], by: Callable[[re.Match[bytes]], bytes], value: bytes) -> bytes:
    """Return `pattern.sub(by, value)`; for a long value without an object per piece, which `sub` keeps in a list."""
    if len(value) < _LONG:
        return pattern.sub(by, value)
    made = Decoded(value, False)
    for found in pattern.finditer(value):
        made.unit(found.start(), found.end(), by(found))
    whole: bytes = made.whole()[0]
    return whole


class Composed:
    """Offsets of a value decoded in two steps: `inner` maps to the intermediate value, `outer` on to raw bytes."""

    __slots__ = ("_inner", "_outer")

    def __init__(self, outer: OffsetsProtocol, inner: OffsetsProtocol) -> None:
        self._outer = outer
        self._inner = inner

    def start(self, position: int) -> int:
        return self._outer.start(self._inner.start(position))

    def end(self, position: int) -> int:
        return self._outer.end(self._inner.end(position))


class Utf16Offsets:
    """Offsets of a UTF-8 value decoded from UTF-16, with two or four raw bytes per character; counted from checkpoints.

    There is a checkpoint for every 512th byte of the value.
    """

    __slots__ = ("_marks", "_size", "_value")
    _STEP = 512
    _FOLLOWING = bytes(range(0x80, 0xC0))
    _ASTRAL = bytes(range(0xF0, 0xF8))

    def __init__(self, value: bytes, size: int) -> None:
        self._value = value
        self._size = size  # of the raw bytes; an odd byte at the end counts as a character
        self._marks = [0]
        for start in range(0, len(value), self._STEP):
            self._marks.append(self._marks[-1] + self._count(start, min(start + self._STEP, len(value))))

    def _count(self, start: int, end: int) -> int:
        """Return the number of bytes in UTF-16 of the characters that begin in this span of the value."""
        stretch = self._value[start:end]
        if stretch.isascii():
            return 2 * len(stretch)
        begun = stretch.translate(None, self._FOLLOWING)
        return 2 * (2 * len(begun) - len(begun.translate(None, self._ASTRAL)))

    def start(self, position: int) -> int:
        mark = position // self._STEP
        return min(self._marks[mark] + self._count(mark * self._STEP, position), self._size)

    end = start
