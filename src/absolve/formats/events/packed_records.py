"""Varints, and the fields of events as such: template, span, tag, scope, claim and slot. 5 to 7 bytes for most links.

A field that seldom changes is written only where it differs from that of the event before. Records are read forward;
every 256th has an index entry, from which reading can begin.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import cython
else:
    from absolve.core import _cython as cython

if cython.compiled:
    from cython.cimports.absolve.core.column_buffers import IntColumn
    from cython.cimports.cpython.bytearray import PyByteArray_Resize
else:
    from absolve.core.column_buffers import IntColumn

LONGEST = cython.declare(cython.Py_ssize_t, 10)  # bytes of a number of 64 bits
OBJECT = cython.declare(cython.int, -1)  # in the place of a template: the event is kept as an object
_NUMBERS = cython.declare(cython.Py_ssize_t, 10)  # of one record at the most
_STEP = cython.declare(cython.int, 8)  # an index entry for every 256th record

# Flags of a record, behind a 0 that is in the place of the distance from the start back to the tag. A record without
# them has a tag of its own, and neither scope nor claim nor slot of its own.
_IN_TAG = cython.declare(cython.int, 1)
_HAS_TAG = cython.declare(cython.int, 2)
_HAS_RULE = cython.declare(cython.int, 4)  # the numbers of a scope and a claim
_HAS_SLOT = cython.declare(cython.int, 8)


@cython.no_gc
@cython.cclass
class Varints:
    """A buffer of numbers that are not negative, and bytes: appended at the end, read forward from `position`.

    A number takes a byte for each seven bits, the lowest first; the highest bit is set where more follow (LEB128).
    `written` and `room` are bytes: `put` and `put_bytes` do not check that there is room.
    """

    def __init__(self) -> None:
        self._buffer: bytearray | None = None
        self._data: bytearray  # the same; compiled a pointer to its bytes
        self.room = 0
        self.written = 0
        self.position = 0

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def reserve(self, numbers: cython.Py_ssize_t, size: cython.Py_ssize_t = 0) -> cython.int:
        """Make room for this many numbers and bytes."""
        needed: cython.Py_ssize_t = self.written + numbers * LONGEST + size
        if needed > self.room:
            self.room = needed + (self.room >> 1)
            if self._buffer is None:
                self._buffer = bytearray(self.room)
            elif cython.compiled:
                PyByteArray_Resize(self._buffer, self.room)  # room that is not used takes no memory
            else:
                self._buffer.extend(bytes(self.room - len(self._buffer)))
            self._data = self._buffer
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def trim(self) -> cython.int:
        """Free the room that is not used."""
        if self._buffer is not None:
            del self._buffer[self.written :]
            self.room = self.written
            self._data = self._buffer
        return 0

    @cython.cfunc
    @cython.exceptval(check=False)
    def put_number(self, number: cython.Py_ssize_t) -> cython.int:
        """Append a number."""
        return _put(self, number)

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def put_bytes(self, data: bytes) -> cython.int:
        """Append bytes as they are."""
        end: cython.Py_ssize_t = self.written + len(data)
        self._buffer[self.written : end] = data  # type: ignore[index]  # as above
        self.written = end
        return 0

    @cython.cfunc
    @cython.exceptval(check=False)
    def next(self) -> cython.Py_ssize_t:
        """Return the number at the position, and move behind it."""
        return _next(self)

    @cython.cfunc
    def next_bytes(self, size: cython.Py_ssize_t) -> bytes:
        """Return bytes at the position, and move behind them."""
        start: cython.Py_ssize_t = self.position
        self.position = start + size
        return bytes(self._buffer[start : self.position])  # type: ignore[index]  # as above


# The compiler inserts functions of a module into others, but no methods.
@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
@cython.boundscheck(False)
@cython.wraparound(False)
def _put(numbers: Varints, number: cython.Py_ssize_t) -> cython.int:
    """Append a number, as `Varints.put_number` does."""
    data: cython.p_uchar = numbers._data  # noqa: SLF001 - a method in all but speed
    at: cython.Py_ssize_t = numbers.written
    while number > 127:
        data[at] = number & 127 | 128
        number >>= 7
        at += 1
    data[at] = number
    numbers.written = at + 1
    return 0


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
@cython.boundscheck(False)
@cython.wraparound(False)
def _next(numbers: Varints) -> cython.Py_ssize_t:
    """Return the next number, as `Varints.next` does."""
    data: cython.p_uchar = numbers._data  # noqa: SLF001 - likewise
    at: cython.Py_ssize_t = numbers.position
    byte: cython.Py_ssize_t = data[at]
    number: cython.Py_ssize_t = byte & 127
    shift: cython.int = 7
    while byte > 127:
        at += 1
        byte = data[at]
        number |= (byte & 127) << shift
        shift += 7
    numbers.position = at + 1
    return number


@cython.final
@cython.no_gc
@cython.cclass
class PackedRecords(Varints):
    """The records of one document, and the fields of the record that was read last.

    Offsets are bytes of the document; -1 is for absent. `template` is `OBJECT` for an event that is kept as an object,
    the `object_number`th of them.
    """

    def __init__(self) -> None:
        self._buffer = None  # as Varints.__init__ does; its call would take as long as all the rest
        self.room = self.written = self.position = 0
        self._index: IntColumn | None = None  # for each entry the position, the start before it, the objects before it
        self.size = 0
        self._objects = 0
        self._last_start = 0
        self._written_tag = self._written_tag_end = self._written_scope = self._written_claim = -1
        self._written_slot: tuple[int, int] | None = None
        self.current = -1
        self.object_number = -1
        self.template = OBJECT
        self.start = self.length = 0
        self.tag = self.tag_length = 0
        self.in_tag = False
        self.scope = self.claim = -1
        self.slot_start = self.slot_end = 0

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def put_object(self) -> cython.int:
        """Append the record of an event that is kept as an object."""
        self._begin()
        _put(self, OBJECT + 1)
        self._objects += 1
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def put(
        self,
        template: cython.int,
        start: cython.Py_ssize_t,
        end: cython.Py_ssize_t,
        tag_start: cython.Py_ssize_t,
        tag_end: cython.Py_ssize_t,
        scope: cython.Py_ssize_t,
        claim: cython.Py_ssize_t,
        slot: tuple | None,  # type: ignore[type-arg]  # as the compiler has it
    ) -> cython.int:
        """Append a record; a scope and a claim are numbers of `ScopedBases`."""
        self._begin()
        distance: cython.Py_ssize_t = start - self._last_start  # may be negative: the lowest bit is the sign
        same_tag: cython.bint = tag_start < 0 or (tag_start == self._written_tag and tag_end == self._written_tag_end)
        has_rule: cython.bint = scope >= 0 or claim >= 0
        if has_rule:  # there may be a million links in one long tag
            has_rule = scope != self._written_scope or claim != self._written_claim
        has_slot: cython.bint = slot is not None and slot != self._written_slot
        _put(self, template + 1)
        _put(self, distance << 1 if distance >= 0 else (-distance << 1) - 1)
        _put(self, end - start)
        if same_tag or has_rule or has_slot:
            _put(self, 0)
            _put(
                self,
                (_IN_TAG if tag_start >= 0 else 0)
                | (0 if same_tag else _HAS_TAG)
                | (_HAS_RULE if has_rule else 0)
                | (_HAS_SLOT if has_slot else 0),
            )
        if not same_tag:
            _put(self, start - tag_start)
            _put(self, tag_end - tag_start)
            self._written_tag = tag_start
            self._written_tag_end = tag_end
        if has_rule:
            _put(self, scope + 1)
            _put(self, claim + 1)
            self._written_scope = scope
            self._written_claim = claim
        if has_slot:
            first: cython.Py_ssize_t = slot[0]  # type: ignore[index]  # there is one
            last: cython.Py_ssize_t = slot[1]  # type: ignore[index]  # likewise
            _put(self, start - first)
            _put(self, last - first)
            self._written_slot = slot
        self._last_start = start
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def _begin(self) -> cython.int:
        """Make room for one more record, with an index entry if it is the 256th since the last one."""
        if self.written + _NUMBERS * LONGEST > self.room:
            self.reserve(_NUMBERS)
        if self.size & ((1 << _STEP) - 1) == 0 and self.size:
            if self._index is None:
                self._index = IntColumn()
            self._index.add(self.written)
            self._index.add(self._last_start)
            self._index.add(self._objects)
            self._written_tag = self._written_scope = self._written_claim = -1
            self._written_slot = None
        self.size += 1
        return 0

    @cython.cfunc
    @cython.exceptval(check=False)
    def seek(self, number: cython.Py_ssize_t) -> cython.int:
        """Read the record of this number: fast where it is behind the one that was read last."""
        value: cython.Py_ssize_t
        flags: cython.Py_ssize_t
        if number < self.current or number >> _STEP > max(self.current, 0) >> _STEP:
            self._restart(number >> _STEP)
        while self.current < number:
            self.current += 1
            self.template = _next(self) - 1
            if self.template == OBJECT:
                self.object_number += 1
                continue
            value = _next(self)
            if value & 1:
                self.start -= (value >> 1) + 1
            else:
                self.start += value >> 1
            self.length = _next(self)
            value = _next(self)
            flags = _IN_TAG | _HAS_TAG
            if value == 0:
                flags = _next(self)
                if flags & _HAS_TAG:
                    value = _next(self)
            self.in_tag = flags & _IN_TAG != 0
            if flags & _HAS_TAG:
                self.tag = self.start - value
                self.tag_length = _next(self)
            if flags & _HAS_RULE:
                self.scope = _next(self) - 1
                self.claim = _next(self) - 1
            if flags & _HAS_SLOT:
                self.slot_start = self.start - _next(self)
                self.slot_end = self.slot_start + _next(self)
        return 0

    @cython.cfunc
    @cython.exceptval(check=False)
    def _restart(self, entry: cython.Py_ssize_t) -> cython.int:
        """Go to an index entry; before the first one is the beginning."""
        self.current = (entry << _STEP) - 1
        self.position = 0
        self.start = 0
        self.object_number = -1
        if entry:
            index: IntColumn = self._index  # type: ignore[assignment]  # there is an entry
            self.position = index.at(3 * entry - 3)
            self.start = index.at(3 * entry - 2)
            self.object_number = index.at(3 * entry - 1) - 1
        return 0
