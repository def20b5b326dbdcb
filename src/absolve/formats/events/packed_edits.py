"""Edits of one document, buffered and sorted by their start: a length field may precede the body that it describes.

In: edits in any order. Out: the same by their start, some at a time. An edit takes 4 bytes for most, not an object.
"""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import cython
else:
    from absolve.core import _cython as cython

if cython.compiled:
    from cython.cimports.absolve.core.model import Edit, edit_at
    from cython.cimports.absolve.formats.events.packed_records import Varints
else:
    from absolve.core.model import Edit, edit_at
    from absolve.formats.events.packed_records import Varints

_START = attrgetter("start")
_SOME = cython.declare(cython.Py_ssize_t, 1000)  # edits of a part,
_MUCH = cython.declare(cython.Py_ssize_t, 1 << 20)  # and about as many bytes of their new values
_LONG = cython.declare(cython.Py_ssize_t, 1 << 10)  # bytes of a new value that is kept as an object
_CACHED = cython.declare(cython.Py_ssize_t, 32)  # new values that were written last: a number of 5 bits and 2 flags

# How a new value is written, in the two lowest bits of a number:
_INLINE = cython.declare(cython.Py_ssize_t, 0)  # its bytes follow; they are in the cache under the number from now on
_IN_CACHE = cython.declare(cython.Py_ssize_t, 1)
_OBJECT = cython.declare(cython.Py_ssize_t, 2)  # it is the object of this number


@cython.final
@cython.cclass
class PackedEdits:
    """A buffer of edits. One that starts before the edit that was added before it is kept as an object: they are few.

    Of the others the distance from the one before, the length of the span and the new value are packed.
    """

    def __init__(self) -> None:
        self._count = 0
        self._last = 0  # the start of the last edit that was packed or read
        self._unordered: list[Edit] = []
        self._numbers: Varints = Varints()
        self._cache: list[bytes | None] = [None] * _CACHED
        self._long: list[bytes] = []

    def __len__(self) -> int:
        return self._count + len(self._unordered)

    @cython.ccall
    @cython.exceptval(-1, check=True)
    def add(self, edits: list[Edit]) -> cython.int:
        """Add edits."""
        edit: Edit
        for edit in edits:
            if edit.start < self._last or edit.end < edit.start:
                self._unordered.append(edit)
            else:
                self._put(edit)
                self._last = edit.start
                self._count += 1
        return 0

    def parts(self) -> Iterator[list[Edit]]:
        """Yield all edits by their start, of equal ones the first that was added; nothing may be added afterwards."""
        edit: Edit
        some: list[Edit] = []
        size: cython.Py_ssize_t = 0
        placed: cython.Py_ssize_t = 0
        unordered = sorted(self._unordered, key=_START)
        self._numbers.position = 0
        self._last = 0
        for _ in range(self._count):
            edit = self._next()
            while placed < len(unordered) and unordered[placed].start < edit.start:
                some.append(unordered[placed])
                placed += 1
            some.append(edit)
            size += len(edit.new)
            if len(some) >= _SOME or size >= _MUCH:
                yield some
                some = []
                size = 0
        yield some + unordered[placed:]

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def _put(self, edit: Edit) -> cython.int:
        """Pack an edit that does not start before the last one."""
        new: bytes = edit.new
        number: cython.Py_ssize_t
        numbers: Varints = self._numbers
        numbers.reserve(4, _LONG)
        numbers.put_number(edit.start - self._last)
        numbers.put_number(edit.end - edit.start)
        if len(new) > _LONG:
            if not self._long or self._long[-1] is not new:
                self._long.append(new)
            numbers.put_number((len(self._long) - 1) << 2 | _OBJECT)
            return 0
        number = hash(new) & (_CACHED - 1)
        if self._cache[number] == new:
            numbers.put_number(number << 2 | _IN_CACHE)
        else:
            self._cache[number] = new
            numbers.put_number(number << 2 | _INLINE)
            numbers.put_number(len(new))
            numbers.put_bytes(new)
        return 0

    @cython.cfunc
    def _next(self) -> Edit:
        """Return the edit behind the one that was read last."""
        new: bytes
        numbers: Varints = self._numbers
        start: cython.Py_ssize_t = self._last + numbers.next()
        end: cython.Py_ssize_t = start + numbers.next()
        number: cython.Py_ssize_t = numbers.next()
        if number & 3 == _OBJECT:
            new = self._long[number >> 2]
        elif number & 3 == _IN_CACHE:
            new = self._cache[number >> 2]  # type: ignore[assignment]  # it was put there
        else:
            new = numbers.next_bytes(numbers.next())
            self._cache[number >> 2] = new
        self._last = start
        return edit_at(start, end, new)


def ordered(parts: Iterable[list[Edit]]) -> Iterator[list[Edit]]:
    """Buffer and sort all edits: a length field precedes the body that it describes."""
    held: PackedEdits = PackedEdits()
    for some in parts:
        held.add(some)
    yield from held.parts()
