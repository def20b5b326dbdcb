"""Read the object table of a binary property list (`bplist00`).

In: the bytes of the file. Out: the objects that a walker asks for by name.
The layout is that of CFBinaryPList.c of Apple: a header, the objects, a table with the offset of each, a trailer with
the widths of offsets and references. An object names others by their numbers in the table, so two may share a third.
"""

from __future__ import annotations

from array import array
from struct import Struct
from typing import TYPE_CHECKING, Final, NamedTuple

from absolve.core.errors import WalkError

if TYPE_CHECKING:
    from collections.abc import Sequence

MAGIC: Final = b"bplist0"
_HEADER: Final = 8  # bytes
# Widths of offsets and references, number of objects, that of the top one, offset of the table
_TRAILER: Final = Struct(">6x2B3Q")

# The upper four bits of a marker, for objects with a length in the lower four, and the bytes of each of its units.
_DATA, _ASCII, _UTF_16, _UTF_8, _ARRAY, _DICT = 0x4, 0x5, 0x6, 0x7, 0xA, 0xD
_UNITS: Final = {_DATA: 1, _ASCII: 1, _UTF_16: 2, _UTF_8: 1}
_CODECS: Final = {_ASCII: "ascii", _UTF_16: "utf-16-be", _UTF_8: "utf-8"}
_REFERENCES: Final = {_ARRAY: 1, 0xB: 1, 0xC: 1, _DICT: 2}  # array, ordered set, set, dictionary
_POWERS: Final = (0x1, 0x2, 0x3)  # integer, real, date: 2 to the power of the lower bits
_UID: Final = 0x8  # of a keyed archive: the lower bits and one more
_MORE: Final = 0xF  # the length is an integer object that follows the marker
_LARGEST_POWER: Final = 4  # 16 bytes
_WIDTHS: Final = (1, 2, 4, 8)  # bytes of such an integer
_OFFSETS: Final = range(1, 9)  # bytes of an offset or a reference


class Data(NamedTuple):
    """A data object: the span of its bytes in the file, and the offset of its marker (-1 without one)."""

    start: int
    end: int
    marker: int = -1


Node = dict[str, "Node"] | list["Node"] | str | Data | None


class Table:
    """The objects of one file. Raise WalkError where they are broken or overlap, or are more than `most`."""

    def __init__(self, data: bytes, most: int) -> None:
        self._data = data
        self._trailer = len(data) - _TRAILER.size
        if self._trailer < _HEADER:
            raise WalkError("truncated", "this binary property list is cut off: it has no trailer", len(data))
        self._width, self._size, self._count, self._top, self._end = _TRAILER.unpack_from(data, self._trailer)
        self._check(most)
        self._offsets = array("q")
        self._starts = array("q")  # the same in order, each once
        self._read()

    def _check(self, most: int) -> None:
        if not (
            self._width in _OFFSETS
            and self._size in _OFFSETS
            and self._top < self._count <= len(self._data)
            and _HEADER < self._end <= self._trailer - self._count * self._width
        ):
            raise WalkError("broken", "the trailer of this binary property list is broken", self._trailer)
        if self._count > most:
            text = f"property lists of more than {most} objects are left as they are"
            raise WalkError("too-many-links", text, self._trailer)

    def _read(self) -> None:
        """Read the offsets, and check that no two objects share bytes."""
        table, width = self._data[self._end : self._end + self._count * self._width], self._width
        offsets = (int.from_bytes(table[at : at + width]) for at in range(0, len(table), width))
        self._offsets.extend(min(offset, self._end) for offset in offsets)  # may exceed a signed 64-bit number
        self._starts.extend(sorted(set(self._offsets)))
        reached = _HEADER
        for start in self._starts:
            if start < reached:
                raise WalkError("broken", "objects of this binary property list overlap", start)
            reached = self._extent(start)[2]

    def _extent(self, start: int) -> tuple[int, int, int]:
        """Return the kind of the object at an offset, and the span of what follows its marker and length."""
        if start >= self._end:
            raise WalkError("broken", "an object of this binary property list is outside of it", start)
        kind, low = self._data[start] >> 4, self._data[start] & 0xF
        first = start + 1
        if kind == 0:
            size = 0
        elif kind in _POWERS:
            size = 1 << low if low <= _LARGEST_POWER else self._end
        elif kind == _UID:
            size = low + 1
        elif kind in _UNITS or kind in _REFERENCES:
            first, low = self._length(first, low)
            size = low * (_UNITS.get(kind) or _REFERENCES[kind] * self._size)
        else:
            raise WalkError("broken", f"an object of a binary property list has the unknown kind {kind:x}", start)
        if first + size > self._end:
            raise WalkError("broken", "an object of this binary property list goes on past its end", start)
        return kind, first, first + size

    def _length(self, first: int, low: int) -> tuple[int, int]:
        """Return the offset behind the length of an object, and that length."""
        if low != _MORE:
            return first, low
        power = self._data[first] & 0xF
        if self._data[first] >> 4 != _POWERS[0] or 1 << power not in _WIDTHS:
            raise WalkError("broken", "the length of an object of a binary property list is no integer", first)
        end = first + 1 + (1 << power)
        return end, int.from_bytes(self._data[first + 1 : end])

    def tree(self, names: frozenset[str]) -> Node:
        """Return the top object, with all below it that dictionaries have under one of these names.

        An object that is there twice is one node, also inside itself.
        """
        made: dict[int, Node] = {}
        keys: dict[int, Node] = {}
        waiting: list[int] = []

        def node(number: int) -> Node:
            if number not in made:
                made[number] = self._node(number)
                waiting.append(number)
            return made[number]

        top = node(self._top)
        while waiting:
            number = waiting.pop()
            found, below = made[number], self._below(number)
            if isinstance(found, list):
                found += map(node, below)
            elif isinstance(found, dict):
                half = len(below) // 2
                for key, value in zip(below[:half], below[half:], strict=True):
                    if key not in keys:
                        keys[key] = self._node(key)
                    name = keys[key]
                    if isinstance(name, str) and name in names:
                        found[name] = node(value)
        return top

    def _node(self, number: int) -> Node:
        """Return an object; a dictionary or array without what is in it; None for kinds that no web archive needs."""
        kind, start, end = self._extent(self._offset(number))
        if kind in _CODECS:
            return self._data[start:end].decode(_CODECS[kind], "replace")
        if kind == _DATA:
            return Data(start, end, self._offset(number))
        return {} if kind == _DICT else [] if kind == _ARRAY else None

    def _offset(self, number: int) -> int:
        if number >= self._count:
            raise WalkError("broken", "an object of this binary property list names one that is not there", self._end)
        return self._offsets[number]

    def _below(self, number: int) -> Sequence[int]:
        """Return the numbers of the objects that an array or a dictionary has."""
        kind, start, end = self._extent(self._offset(number))
        if kind not in {_ARRAY, _DICT}:
            return ()
        return [int.from_bytes(self._data[at : at + self._size]) for at in range(start, end, self._size)]
