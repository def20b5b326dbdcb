"""Events as numbers, each as many bytes long as it must be: of what kind one is, where it stands, what rules it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import cython
else:
    from absolve.core import _cython as cython

if cython.compiled:
    from cython.cimports.absolve.core.column_buffers import grown
    from cython.cimports.absolve.formats.events.packed_records import LONGEST, Mark, next_number, put_number
    from cython.cimports.libc.stdlib import free

_OBJECT = cython.declare(cython.int, -1)  # the kind of what is kept as it is
_STEP = cython.declare(cython.int, 8)  # from one mark to the next are 256 events

# What stands in the place of how far before it a tag starts, behind a 0, if that is not all that there is to say.
# What is not told is as it was told last.
_IN_TAG = cython.declare(cython.int, 1)
_TELLS_TAG = cython.declare(cython.int, 2)
_TELLS_RULE = cython.declare(cython.int, 4)  # the numbers of a scope and a claim
_TELLS_SLOT = cython.declare(cython.int, 8)


@cython.no_gc
@cython.cclass
class PackedRecords:
    """The numbers of events; interpreted there are none, nor are most of its methods ever called.

    They are read forward, by `_seek`; of every 256th event it is known where it stands.
    """

    def __cinit__(self) -> None:
        self._size = 0
        if cython.compiled:
            self._coded: Any = cython.NULL
            self._marks: Any = cython.NULL
            self._index = -1

    def __dealloc__(self) -> None:
        if cython.compiled:
            free(self._coded)
            free(self._marks)

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def _put_object(self) -> cython.int:
        """Keep the place of an event that is kept as it is."""
        if cython.compiled:
            self._grow()
            self._written = put_number(self._coded + self._written, _OBJECT + 1) - self._coded
            self._kept += 1
        self._size += 1
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def _put(
        self,
        kind: cython.int,
        start: cython.Py_ssize_t,
        end: cython.Py_ssize_t,
        tag_start: cython.Py_ssize_t,
        tag_end: cython.Py_ssize_t,
        scope: cython.Py_ssize_t,
        claim: cython.Py_ssize_t,
        slot: tuple | None,  # type: ignore[type-arg]  # as the compiler has it
    ) -> cython.int:
        """Keep an event's kind, its span, that of its tag, the numbers of what rules it, and a slot; -1 for none."""
        if cython.compiled:
            self._grow()
            behind: cython.Py_ssize_t = start - self._last  # it may stand before: the lowest bit is the sign
            told: cython.bint = tag_start < 0 or (tag_start == self._told_tag and tag_end == self._told_tag_end)
            rules: cython.bint = scope >= 0 or claim >= 0
            if rules:  # there may be a million links in one long tag
                rules = scope != self._told_scope or claim != self._told_claim
            slots: cython.bint = slot is not None and slot != self._told_slot
            at = put_number(self._coded + self._written, kind + 1)
            at = put_number(at, behind << 1 if behind >= 0 else (-behind << 1) - 1)
            at = put_number(at, end - start)
            if told or rules or slots:
                at[0] = 0
                at[1] = (_IN_TAG if tag_start >= 0 else 0) | (0 if told else _TELLS_TAG) | (_TELLS_RULE if rules else 0)
                at[1] |= _TELLS_SLOT if slots else 0
                at += 2
            if not told:
                at = put_number(at, start - tag_start)
                at = put_number(at, tag_end - tag_start)
                self._told_tag = tag_start
                self._told_tag_end = tag_end
            if rules:
                at = put_number(at, scope + 1)
                at = put_number(at, claim + 1)
                self._told_scope = scope
                self._told_claim = claim
            if slots:
                first: cython.Py_ssize_t = slot[0]
                last: cython.Py_ssize_t = slot[1]
                at = put_number(at, start - first)
                at = put_number(at, last - first)
                self._told_slot = slot
            self._written = at - self._coded
            self._last = start
            self._size += 1
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def _grow(self) -> cython.int:
        """Make room for one more, and a mark if it is time for one."""
        if cython.compiled:
            room: cython.Py_ssize_t
            if self._written + LONGEST > self._room:
                room = self._room + (self._room >> 1) + 8 * LONGEST
                self._coded = grown(self._coded, room)
                self._room = room
            if self._size & ((1 << _STEP) - 1) == 0:
                if self._size >> _STEP == self._marks_room:
                    room = self._marks_room + (self._marks_room >> 1) + 4
                    self._marks = cython.cast(cython.pointer(Mark), grown(self._marks, room * cython.sizeof(Mark)))
                    self._marks_room = room
                self._told_tag = self._told_scope = self._told_claim = -1
                self._told_slot = None
                mark = cython.address(self._marks[self._size >> _STEP])
                mark.at = self._written
                mark.start = self._last
                mark.objects = self._kept
        return 0

    @cython.cfunc
    @cython.exceptval(check=False)
    def _seek(self, index: cython.Py_ssize_t) -> cython.int:
        """Read the numbers of an event: most often those that stand behind the ones that were read last."""
        if cython.compiled:
            number: cython.Py_ssize_t = 0
            flags: cython.int
            if index < self._index or index >> _STEP > self._index >> _STEP:
                mark = cython.address(self._marks[index >> _STEP])
                self._index = (index >> _STEP << _STEP) - 1
                self._read = mark.at
                self._start = mark.start
                self._objects = mark.objects - 1
            at = self._coded + self._read
            while self._index < index:
                self._index += 1
                at = next_number(at, cython.address(number))
                self._kind = cython.cast(cython.int, number) - 1
                if self._kind == _OBJECT:
                    self._objects += 1
                    continue
                at = next_number(at, cython.address(number))
                if number & 1:
                    self._start -= (number >> 1) + 1
                else:
                    self._start += number >> 1
                at = next_number(at, cython.address(self._its_size))
                if at[0]:
                    flags = _IN_TAG | _TELLS_TAG
                else:
                    flags = at[1]
                    at += 2
                self._in_tag = flags & _IN_TAG
                if flags & _TELLS_TAG:
                    at = next_number(at, cython.address(number))
                    self._tag = self._start - number
                    at = next_number(at, cython.address(self._tag_size))
                if flags & _TELLS_RULE:
                    at = next_number(at, cython.address(number))
                    self._scope = number - 1
                    at = next_number(at, cython.address(number))
                    self._claim = number - 1
                if flags & _TELLS_SLOT:
                    at = next_number(at, cython.address(number))
                    self._slot = self._start - number
                    at = next_number(at, cython.address(number))
                    self._slot_end = self._slot + number
            self._read = at - self._coded
        return 0
