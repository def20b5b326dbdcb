"""The cells of columns, one behind the other in memory as Arrow wants them: numbers, texts in UTF-8, and words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, SupportsIndex

if TYPE_CHECKING:
    from pickle import PickleBuffer

    import cython
else:
    from absolve.core import _cython as cython

if cython.compiled:
    from cython.cimports.absolve.core.column_buffers import copied, grown
    from cython.cimports.libc.stdlib import free
    from cython.cimports.libc.string import memcpy
else:
    from array import array

NARROW: Final = (1 << 31) - 1  # the largest number of 32 bits
_OUT_OF_BAND: Final = 5  # the first protocol of pickles that have buffers beside them
_MOST_BYTES = cython.declare(cython.Py_ssize_t, NARROW)  # of texts, whose ends have 32 bits
_LONG = cython.declare(cython.Py_ssize_t, 1 << 16)  # bytes of a text that is not copied unless another comes


@cython.final
@cython.cclass
class IntColumn:
    """Whole numbers of 64 bits, or of 32 where they are `narrow`; with `room` for so many of them at once."""

    def __init__(self, *, narrow: cython.bint = False, room: cython.Py_ssize_t = 0) -> None:
        self._narrow = narrow
        self._size = 0
        if cython.compiled:
            self._room = 0
            self._cells: Any = cython.NULL
            if room:
                self._grow(room)
        else:
            self._numbers = array("i" if narrow else "q")

    def __dealloc__(self) -> None:
        if cython.compiled:
            free(self._cells)

    def __len__(self) -> int:
        return self._size

    @cython.ccall
    @cython.exceptval(-1, check=True)
    def add(self, number: cython.Py_ssize_t) -> cython.int:
        if cython.compiled:
            if self._size == self._room:
                self._grow(2 * self._room + 4)
            if self._narrow:
                cython.cast(cython.p_int, self._cells)[self._size] = number
            else:
                cython.cast(cython.p_longlong, self._cells)[self._size] = number
        else:
            self._numbers.append(number)
        self._size += 1
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def _grow(self, room: cython.Py_ssize_t) -> cython.int:
        """Make room for so many numbers."""
        if cython.compiled:
            self._cells = grown(self._cells, room * (4 if self._narrow else 8))
            self._room = room
        return 0

    @cython.cfunc
    @cython.exceptval(check=False)
    def at(self, index: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """The number in this cell, which is there."""
        if cython.compiled:
            if self._narrow:
                return cython.cast(cython.p_int, self._cells)[index]
            return cython.cast(cython.p_longlong, self._cells)[index]
        return self._numbers[index]

    @cython.cfunc
    @cython.exceptval(check=False)
    def before(self, number: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """How many of them, which stand in their order, are less than this."""
        first: cython.Py_ssize_t = 0
        last: cython.Py_ssize_t = self._size
        while first < last:
            middle: cython.Py_ssize_t = (first + last) >> 1
            if self.at(middle) < number:
                first = middle + 1
            else:
                last = middle
        return first

    @cython.cfunc
    @cython.exceptval(check=False)
    def cut(self, size: cython.Py_ssize_t) -> cython.int:
        """Let go of all but the first so many numbers."""
        if not cython.compiled:
            del self._numbers[size:]
        self._size = size
        return 0

    def cells(self) -> list[int]:
        return [self.at(index) for index in range(self._size)]

    @cython.ccall
    def mapped(self, numbers: IntColumn) -> IntColumn:
        """What stands among others, narrow as these, in the place that each of these is."""
        found = IntColumn(narrow=True)
        if cython.compiled:
            index: cython.Py_ssize_t
            found._grow(self._size + 1)
            cells: cython.p_int = cython.cast(cython.p_int, found._cells)
            places: cython.p_int = cython.cast(cython.p_int, self._cells)
            others: cython.p_int = cython.cast(cython.p_int, numbers._cells)
            for index in range(self._size):
                cells[index] = others[places[index]]
        else:
            found._numbers = array("i", [numbers._numbers[place] for place in self._numbers])
        found._size = self._size
        return found

    def raw(self) -> bytes:
        """Their bytes, in the machine's order."""
        if cython.compiled:
            raw: bytes = self._cells[: self._size * (4 if self._narrow else 8)]
            return raw
        return self._numbers.tobytes()

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def take(self, raw: bytes | memoryview) -> cython.int:
        """Have the numbers of which these are the bytes."""
        if cython.compiled:
            self._cells = copied(raw, cython.address(self._size))
            self._size = self._room = self._size // (4 if self._narrow else 8)
        else:
            self._numbers.frombytes(raw)
            self._size = len(self._numbers)
        return 0

    def __reduce_ex__(self, protocol: SupportsIndex) -> tuple[Any, ...]:
        return _numbers, (_apart(self.raw(), protocol), self._narrow)


@cython.final
@cython.cclass
class TextColumn:
    """Texts in UTF-8, of which some may be missing; OverflowError where they come to 2 GB.

    There is room at once for as much as stands in those `before`, if they are given.
    """

    def __init__(self, before: TextColumn | None = None) -> None:
        rows = len(before.ends) if before is not None else 0
        # Where each of them ends; the first number is where they begin.
        self.ends: IntColumn = IntColumn(narrow=True, room=rows)
        self.ends.add(0)
        self._missing: set[int] = set()
        self._size = 0
        if cython.compiled:
            self._room = 0
            self._text: Any = cython.NULL  # memory of its own, or that of `_only`
            self._only: bytes | None = None
            self._is_own = True
            if before is not None:
                self._grow(before._size)  # noqa: SLF001 - of its class
        else:
            self._bytes = bytearray()

    def __dealloc__(self) -> None:
        if cython.compiled and self._is_own:
            free(self._text)

    def __len__(self) -> int:
        return len(self.ends) - 1

    @cython.ccall
    @cython.exceptval(-1, check=True)
    def add(self, text: bytes | None) -> cython.int:
        if text is None:
            self._missing.add(len(self))
            return self.ends.add(self._size)
        if cython.compiled and not self._size and len(text) > max(self._room, _LONG):
            free(self._text)
            self._only = text
            self._text = cython.cast(cython.p_uchar, text)
            self._is_own = False
            self._size = self._room = len(text)
            return self.ends.add(self._size)
        return self.add_behind(b"", text, 0, len(text))

    @cython.ccall
    @cython.exceptval(-1, check=True)
    def add_behind(
        self, prefix: bytes, data: bytes, start: cython.Py_ssize_t, end: cython.Py_ssize_t
    ) -> cython.int:
        """Add the text that this prefix and this span of other bytes make."""
        first: cython.Py_ssize_t = len(prefix)
        size: cython.Py_ssize_t = first + end - start
        if size > _MOST_BYTES - self._size:
            raise OverflowError("text of 2 GB and more at once")
        if cython.compiled:
            if size > self._room - self._size:
                self._grow(size)
            if first:
                memcpy(self._text + self._size, cython.cast(cython.p_const_uchar, prefix), first)
            if end > start:  # there may be no memory at all yet
                memcpy(self._text + self._size + first, cython.cast(cython.p_const_uchar, data) + start, end - start)
        else:
            self._bytes += prefix + data[start:end]
        self._size += size
        return self.ends.add(self._size)

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def _grow(self, size: cython.Py_ssize_t) -> cython.int:
        """Make room for so many bytes."""
        if cython.compiled:
            room: cython.Py_ssize_t = 2 * self._room + size + 512
            if self._is_own:
                self._text = grown(self._text, room)
            else:
                text: cython.p_uchar = grown(cython.NULL, room)
                memcpy(text, self._text, self._size)
                self._text = text
                self._is_own = True
                self._only = None
            self._room = room
        return 0

    @cython.cfunc
    def at(self, index: cython.Py_ssize_t) -> str | None:
        """The text in this cell, which is there; None where it is missing."""
        start: cython.Py_ssize_t = self.ends.at(index)
        end: cython.Py_ssize_t = self.ends.at(index + 1)
        if start == end:
            return None if index in self._missing else ""
        if cython.compiled:
            return self._text[start:end].decode("utf-8")
        return self._bytes[start:end].decode()

    @cython.cfunc
    def last(self, index: cython.Py_ssize_t) -> str | None:
        """The text in the last cell, of which nobody is to ask for it again: its bytes are let go."""
        found = self.at(index)
        if cython.compiled and self._size > _LONG:
            if self._is_own:
                free(self._text)
            self._text = cython.NULL
            self._is_own = True
            self._only = None
            self._size = self._room = 0
        return found

    def cells(self) -> list[str | None]:
        return [self.at(index) for index in range(len(self))]

    def raw(self) -> bytes:
        """All of them, one behind the other."""
        if cython.compiled:
            raw: bytes = self._text[: self._size]
            return raw
        return bytes(self._bytes)

    @cython.ccall
    def present(self) -> bytes | None:
        """A bit for each that is not missing, from the lowest of each byte on; None where all are there."""
        if not self._missing:
            return None
        bits = bytearray(b"\xff" * (len(self) + 7 >> 3))
        for place in self._missing:
            bits[place >> 3] &= ~(1 << (place & 7))
        return bytes(bits)

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def take(self, ends: IntColumn, missing: Any, raw: bytes | memoryview) -> cython.int:
        """Have the texts of which these are the bytes, that end there."""
        self.ends = ends
        self._missing = missing
        if cython.compiled:
            self._text = copied(raw, cython.address(self._size))
            self._room = self._size
        else:
            self._bytes += raw
            self._size = len(self._bytes)
        return 0

    def __reduce_ex__(self, protocol: SupportsIndex) -> tuple[Any, ...]:
        return _texts, (self.ends, self._missing, _apart(self.raw(), protocol))


@cython.final
@cython.cclass
class DictColumn:
    """Values that many cells have: each is kept once, in the order in which they came first, and has a number.

    There is `room` at once for so many cells.
    """

    def __init__(self, room: cython.Py_ssize_t = 0) -> None:
        self.words: list[Any] = []
        self.numbers = IntColumn(narrow=True, room=room)
        self._known: dict[Any, int] = {}
        self._last: Any = None
        self._number = 0

    def __len__(self) -> int:
        return len(self.numbers)

    @cython.ccall
    @cython.exceptval(-1, check=True)
    def add(self, word: Any) -> cython.int:
        if word is not self._last:  # most follow their like
            number = self._known.get(word)
            if number is None:
                number = self._known[word] = len(self.words)
                self.words.append(word)
            self._last = word
            self._number = number
        return self.numbers.add(self._number)

    @cython.cfunc
    def at(self, index: cython.Py_ssize_t) -> Any:
        """The value in this cell, which is there."""
        return self.words[self.numbers.at(index)]

    @cython.ccall
    def ends(self) -> IntColumn:
        """Return where each sequence ends when all are joined, as the ends of a `TextColumn`."""
        index: cython.Py_ssize_t
        end: cython.Py_ssize_t = 0
        sizes = IntColumn()
        for word in self.words:
            sizes.add(len(word))
        found = IntColumn(narrow=True)
        found.add(0)
        for index in range(len(self)):
            end += sizes.at(self.numbers.at(index))
            found.add(end)
        return found

    @cython.ccall
    def items(self) -> list[Any]:
        """What stands in them, which are sequences, one behind the other."""
        if not any(self.words):
            return []
        return [item for index in range(len(self)) for item in self.at(index)]

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def take(self, words: list[Any], numbers: IntColumn) -> cython.int:
        """Have these values, each once, and the number of each cell's."""
        self.words = words
        self.numbers = numbers
        self._known = {word: number for number, word in enumerate(words)}
        return 0

    def __reduce_ex__(self, protocol: SupportsIndex) -> tuple[Any, ...]:
        return _words, (self.words, self.numbers)


# --- as they go from one process to another ---------------------------------------------------------------------------


def _apart(raw: bytes, protocol: SupportsIndex) -> bytes | PickleBuffer:
    """Bytes for a pickle of this protocol, out of its band if it has one."""
    from pickle import PickleBuffer  # it is what calls this

    return PickleBuffer(raw) if protocol.__index__() >= _OUT_OF_BAND else raw


def _numbers(raw: bytes | memoryview, narrow: bool) -> IntColumn:
    found = IntColumn(narrow=narrow)
    found.take(raw)
    return found


def _texts(ends: IntColumn, missing: set[int], raw: bytes | memoryview) -> TextColumn:
    found = TextColumn()
    found.take(ends, missing, raw)
    return found


def _words(words: list[Any], numbers: IntColumn) -> DictColumn:
    found = DictColumn()
    found.take(words, numbers)
    return found
