"""Edits that are held until all are known, in the order of their places: of a million of them no object is kept."""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import cython
else:
    from absolve.core import _cython as cython

if cython.compiled:
    from cython.cimports.absolve.core.column_buffers import grown
    from cython.cimports.absolve.core.model import Edit, edit_at
    from cython.cimports.absolve.formats.events.packed_records import next_number, put_number
    from cython.cimports.libc.stdlib import free
    from cython.cimports.libc.string import memcpy
else:
    from absolve.core.model import Edit  # noqa: TC001 - the type of a C variable

_START = attrgetter("start")
_SOME = cython.declare(cython.Py_ssize_t, 1000)  # edits that are made at a time,
_MUCH = cython.declare(cython.Py_ssize_t, 1 << 20)  # and about so many bytes that they write
_NUMBERS = cython.declare(cython.Py_ssize_t, 40)  # bytes of those of an edit: four, seven bits in each
_LONG = cython.declare(cython.Py_ssize_t, 1 << 10)  # bytes that are kept as the object that they are
_WORDS = cython.declare(cython.Py_ssize_t, 32)  # what was written last; a number and two bits are one byte

# What is said of the bytes that an edit writes, beside a number:
_ANEW = cython.declare(cython.Py_ssize_t, 0)  # they follow, and are the word of this number from now on
_AGAIN = cython.declare(cython.Py_ssize_t, 1)  # they are this word
_APART = cython.declare(cython.Py_ssize_t, 2)  # they are an object


@cython.final
@cython.cclass
class PackedEdits:
    """Edits as they come; those that stand before others that came already are few, or are no less than those were.

    Of the others are kept, where it is compiled, how far each starts behind the one before it, how many bytes it
    replaces, and what it writes: 4 bytes for most in the place of 56, as most write what was written just now.
    """

    def __init__(self) -> None:
        self._count = 0
        self._last = 0  # where the last one starts, of those that are packed
        self._aside: list[Edit] = []  # the others
        if cython.compiled:
            self._written = self._room = 0
            self._coded: Any = cython.NULL
            self._words: list[bytes | None] = [None] * _WORDS
            self._apart: list[bytes] = []
        else:
            self._edits: list[Edit] = []

    def __dealloc__(self) -> None:
        if cython.compiled:
            free(self._coded)

    def __len__(self) -> int:
        return self._count + len(self._aside)

    @cython.ccall
    @cython.exceptval(-1, check=True)
    def add(self, edits: list[Edit]) -> cython.int:
        """Hold these as well."""
        edit: Edit
        for edit in edits:
            if edit.start < self._last or edit.end < edit.start:
                self._aside.append(edit)
            else:
                self._put(edit)
                self._last = edit.start
                self._count += 1
        return 0

    def parts(self) -> Iterator[list[Edit]]:
        """All of them by where they start, some at a time; nothing is added then. Of two the one that came first."""
        edit: Edit
        some: list[Edit] = []
        size: cython.Py_ssize_t = 0
        index: cython.Py_ssize_t
        placed: cython.Py_ssize_t = 0
        aside = sorted(self._aside, key=_START)
        self._read = 0
        self._last = 0
        for index in range(self._count):
            edit = self._next(index)
            while placed < len(aside) and aside[placed].start < edit.start:
                some.append(aside[placed])
                placed += 1
            some.append(edit)
            size += len(edit.new)
            if len(some) >= _SOME or size >= _MUCH:
                yield some
                some = []
                size = 0
        yield some + aside[placed:]

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def _put(self, edit: Edit) -> cython.int:
        """Pack one that does not stand before the last one."""
        if cython.compiled:
            new: bytes = edit.new
            size: cython.Py_ssize_t = len(new)
            if self._written + _NUMBERS + _LONG > self._room:
                self._room += (self._room >> 1) + _NUMBERS + _LONG
                self._coded = grown(self._coded, self._room)
            at = put_number(self._coded + self._written, edit.start - self._last)
            at = put_number(at, edit.end - edit.start)
            if size > _LONG:
                if not self._apart or self._apart[-1] is not new:
                    self._apart.append(new)
                at = put_number(at, (len(self._apart) - 1) << 2 | _APART)
            else:
                word: cython.Py_ssize_t = hash(new) & (_WORDS - 1)
                known: bytes | None = self._words[word]
                if known == new:
                    at = put_number(at, word << 2 | _AGAIN)
                else:
                    self._words[word] = new
                    at = put_number(at, word << 2 | _ANEW)
                    at = put_number(at, size)
                    memcpy(at, cython.cast(cython.p_const_uchar, new), size)
                    at += size
            self._written = at - self._coded
        else:
            self._edits.append(edit)
        return 0

    @cython.cfunc
    def _next(self, index: cython.Py_ssize_t) -> Edit:
        """The edit of this number, which comes behind the one that was asked for last."""
        if cython.compiled:
            number: cython.Py_ssize_t = 0
            size: cython.Py_ssize_t = 0
            at = next_number(self._coded + self._read, cython.address(number))
            start: cython.Py_ssize_t = self._last + number
            at = next_number(at, cython.address(size))
            end: cython.Py_ssize_t = start + size
            at = next_number(at, cython.address(number))
            if number & 3 == _APART:
                new: bytes = self._apart[number >> 2]
            elif number & 3 == _AGAIN:
                new = self._words[number >> 2]
            else:
                at = next_number(at, cython.address(size))
                new = at[:size]
                self._words[number >> 2] = new
                at += size
            self._read = at - self._coded
            self._last = start
            return edit_at(start, end, new)
        return self._edits[index]


def ordered(parts: Iterable[list[Edit]]) -> Iterator[list[Edit]]:
    """Edits in order where what comes last may change what comes first: a field may stand before what it tells of."""
    held: PackedEdits = PackedEdits()
    for some in parts:
        held.add(some)
    yield from held.parts()
