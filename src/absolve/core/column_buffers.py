"""Append-only columns in Arrow's memory layout: integers, UTF-8 texts and dictionary-encoded values.

In: one cell at a time. Out: cells by index, or whole buffers of raw bytes. Columns can be pickled, with protocol 5
out of band, to go from a worker to the parent process without another copy. Compiled, the cells are in malloc'ed
memory; interpreted, in `array` and `bytearray`. Indexes are not checked.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from typing import TYPE_CHECKING, Any, Final, SupportsIndex

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pickle import PickleBuffer

    import cython

    from absolve.core.arrow_stream import Array
else:
    from absolve.core import _cython as cython

if cython.compiled:
    from cython.cimports.absolve.core.column_buffers import copied, grown
    from cython.cimports.libc.stdlib import free
    from cython.cimports.libc.string import memcmp, memcpy


NARROW: Final = (1 << 31) - 1  # the largest number of 32 bits
_OUT_OF_BAND: Final = 5  # the first pickle protocol with out-of-band buffers
_MOST_BYTES = NARROW  # in a text column: end offsets have 32 bits


class IntColumn:
    """Integers of 64 bits, or of 32 if `narrow`; `room` is the number of cells to allocate at first."""

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

    def add(self, number: cython.Py_ssize_t) -> cython.int:
        """Append a number; compiled code does not check that it fits a narrow column."""
        if cython.compiled:
            if self._size == self._room:
                self._grow(2 * self._room + 60)
            if self._narrow:
                cython.cast(cython.p_int, self._cells)[self._size] = number
            else:
                cython.cast(cython.p_longlong, self._cells)[self._size] = number
        else:
            self._numbers.append(number)
        self._size += 1
        return 0

    def extend(self, numbers: IntColumn, first: cython.Py_ssize_t = 0, more: cython.Py_ssize_t = 0) -> cython.int:
        """Append the numbers of another column from the index `first` on, each increased by `more`."""
        index: cython.Py_ssize_t
        for index in range(first, len(numbers)):
            self.add(numbers.at(index) + more)
        return 0

    def _grow(self, room: cython.Py_ssize_t) -> cython.int:
        """Allocate `room` cells in all."""
        if cython.compiled:
            self._cells = grown(self._cells, room * (4 if self._narrow else 8))
            self._room = room
        return 0

    def at(self, index: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Return the number in an existing cell."""
        if cython.compiled:
            if self._narrow:
                return cython.cast(cython.p_int, self._cells)[index]
            return cython.cast(cython.p_longlong, self._cells)[index]
        return self._numbers[index]

    def before(self, number: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Return how many cells are less than a number; the cells must be sorted (binary search)."""
        first: cython.Py_ssize_t = 0
        last: cython.Py_ssize_t = self._size
        while first < last:
            middle: cython.Py_ssize_t = (first + last) >> 1
            if self.at(middle) < number:
                first = middle + 1
            else:
                last = middle
        return first

    def cut(self, size: cython.Py_ssize_t) -> cython.int:
        """Truncate the column to `size` cells."""
        if not cython.compiled:
            del self._numbers[size:]
        self._size = size
        return 0

    def cells(self) -> list[int]:
        return [self.at(index) for index in range(self._size)]

    def mapped(self, numbers: IntColumn) -> IntColumn:
        """Return `numbers` at the indexes that this column holds; both columns and the result are narrow."""
        index: cython.Py_ssize_t
        found = IntColumn(narrow=True, room=self._size)
        if cython.compiled:
            new: cython.p_int = cython.cast(cython.p_int, found._cells)
            own: cython.p_int = cython.cast(cython.p_int, self._cells)
            values: cython.p_int = cython.cast(cython.p_int, numbers._cells)
            for index in range(self._size):
                new[index] = values[own[index]]
        else:
            found._numbers.extend([numbers.at(at) for at in self._numbers])
        found._size = self._size
        return found

    def array(self) -> Array:
        """Return the column as an array of Arrow (`arrow_stream`)."""
        return self._size, (None, self), (), None

    def put(self, block: Any, at: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Copy the cells to an offset of memory, unless that is NULL; return their size in bytes."""
        size: cython.Py_ssize_t = self._size * (4 if self._narrow else 8)
        if cython.compiled and block and size:
            memcpy(block + at, self._cells, size)
        return size

    def raw(self) -> bytes:
        """Return the cells as bytes, in native byte order."""
        if cython.compiled:
            raw: bytes = self._cells[: self._size * (4 if self._narrow else 8)]
            return raw
        return self._numbers.tobytes()

    def take(self, raw: bytes | memoryview) -> cython.int:
        """Fill the empty column from the bytes that `raw` returned."""
        if cython.compiled:
            self._cells = copied(raw, cython.address(self._size))
            self._size = self._room = self._size // (4 if self._narrow else 8)
        else:
            self._numbers.frombytes(raw)
            self._size = len(self._numbers)
        return 0

    def __reduce_ex__(self, protocol: SupportsIndex) -> tuple[Any, ...]:
        return _numbers, (_apart(self.raw(), protocol), self._narrow)


class TextColumn:
    """UTF-8 texts, each may be missing (null); raise OverflowError for 2 GB and more of text.

    `before` is a column whose size serves as the estimate for the first allocation.
    """

    def __init__(self, before: TextColumn | None = None) -> None:
        rows = len(before.ends) if before is not None else 0
        # Arrow's offsets: 0, then the byte offset of each text's end.
        self.ends: IntColumn = IntColumn(narrow=True, room=rows)
        self.ends.add(0)
        self._missing: set[int] = set()
        self._size = 0
        if cython.compiled:
            self._room = 0
            self._text: Any = cython.NULL
            if before is not None:
                self._grow(before._size)  # noqa: SLF001 - of its class
        else:
            self._bytes = bytearray()

    def __dealloc__(self) -> None:
        if cython.compiled:
            free(self._text)

    def __len__(self) -> int:
        return len(self.ends) - 1

    def add(self, text: bytes | None) -> cython.int:
        """Append a text in UTF-8, or a missing one; raise OverflowError for 2 GB and more in all."""
        if text is None:
            self._missing.add(len(self))
            return self.ends.add(self._size)
        return self.add_behind(b"", text, 0, len(text))

    def add_behind(self, prefix: bytes, data: bytes, start: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.int:
        """Add the text `prefix + data[start:end]`; both are UTF-8."""
        first: cython.Py_ssize_t = len(prefix)
        size: cython.Py_ssize_t = first + end - start
        if size > _MOST_BYTES - self._size:
            raise OverflowError("text of 2 GB and more at once")
        if cython.compiled:
            if size > self._room - self._size:
                self._grow(size)
            if first:
                memcpy(self._text + self._size, cython.cast(cython.p_const_uchar, prefix), first)
            if end > start:  # `_text` may still be NULL
                memcpy(self._text + self._size + first, cython.cast(cython.p_const_uchar, data) + start, end - start)
        else:
            self._bytes += prefix + data[start:end]
        self._size += size
        return self.ends.add(self._size)

    def extend(self, texts: TextColumn) -> cython.int:
        """Append the texts of another column; raise OverflowError for 2 GB and more in all."""
        rows = len(self)
        size: cython.Py_ssize_t = texts._size
        if size > _MOST_BYTES - self._size:
            raise OverflowError("text of 2 GB and more at once")
        self._missing.update([rows + place for place in texts._missing])
        if not cython.compiled:
            self._bytes += texts._bytes
        elif size:
            if size > self._room - self._size:
                self._grow(size)
            memcpy(self._text + self._size, texts._text, size)
        self.ends.extend(texts.ends, 1, self._size)
        self._size += size
        return 0

    def _grow(self, size: cython.Py_ssize_t) -> cython.int:
        """Make room for at least `size` bytes more."""
        if cython.compiled:
            room: cython.Py_ssize_t = 2 * self._room + size + 2048
            self._text = grown(self._text, room)
            self._room = room
        return 0

    def at(self, index: cython.Py_ssize_t) -> str | None:
        """Return the text of an existing cell, None if it is missing."""
        start: cython.Py_ssize_t = self.ends.at(index)
        end: cython.Py_ssize_t = self.ends.at(index + 1)
        if start == end:
            return None if index in self._missing else ""
        if cython.compiled:
            return self._text[start:end].decode("utf-8")
        return self._bytes[start:end].decode()

    def equals(self, other: TextColumn, index: cython.Py_ssize_t) -> cython.bint:
        """Return whether a cell has the same text as in another column; False for empty and missing ones."""
        start: cython.Py_ssize_t = self.ends.at(index)
        size: cython.Py_ssize_t = self.ends.at(index + 1) - start
        first: cython.Py_ssize_t = other.ends.at(index)
        if size != other.ends.at(index + 1) - first or not size:
            return False
        if cython.compiled:
            return memcmp(self._text + start, other._text + first, size) == 0
        return self._bytes[start : start + size] == other._bytes[first : first + size]

    def cells(self) -> list[str | None]:
        return [self.at(index) for index in range(len(self))]

    def put(self, block: Any, at: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Copy all texts to an offset of memory, unless that is NULL; return their size in bytes."""
        if cython.compiled and block and self._size:
            memcpy(block + at, self._text, self._size)
        return self._size

    def raw(self) -> bytes:
        """Return all texts, concatenated."""
        if cython.compiled:
            raw: bytes = self._text[: self._size]
            return raw
        return bytes(self._bytes)

    def with_any(self, characters: bytes) -> list[int]:
        """Return the indexes of the cells that contain any of these ASCII characters, found in all texts together."""
        raw = self.raw()
        found = set()
        for character in characters:
            place = raw.find(character)
            ends = self.ends.cells() if place >= 0 else []
            while place >= 0:
                at = bisect_right(ends, place)
                found.add(at - 1)
                place = raw.find(character, ends[at])
        return sorted(found)

    def begun_by(self, characters: bytes) -> list[int]:
        """Return the indexes of the cells that begin with any of these bytes."""
        raw: bytes = self.raw() + b"\0"
        index: cython.Py_ssize_t
        ends = self.ends
        found = []
        for index in range(len(self) if characters else 0):
            first: cython.Py_ssize_t = ends.at(index)
            if raw[first] in characters and first < ends.at(index + 1):
                found.append(index)
        return found

    def missing(self) -> list[int]:
        """Return the indexes of the missing cells."""
        return sorted(self._missing)

    def present(self) -> bytes | None:
        """Return Arrow's validity bitmap (a set bit: present, least significant bit first), None if none is missing."""
        if not self._missing:
            return None
        bits = bytearray(b"\xff" * (len(self) + 7 >> 3))
        for place in self._missing:
            bits[place >> 3] &= ~(1 << (place & 7))
        return bytes(bits)

    def array(self) -> Array:
        """Return the column as an array of Arrow."""
        return len(self), (self.present(), self.ends, self), (), None

    def take(self, ends: IntColumn, missing: Any, raw: bytes | memoryview) -> cython.int:
        """Fill the empty column from end offsets, the indexes of missing cells, and the concatenated texts."""
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


def encoded(words: Iterable[str | None], shown: Callable[[str], str]) -> TextColumn:
    """Return words, and None for missing ones, as a column; `shown` replaces lone surrogates in a text."""
    found = TextColumn()
    for word in words:
        found.add(None if word is None else word.encode() if word.isascii() else shown(word).encode())
    return found


_NO_VALUE: Final = object()
_FEW = 16  # words to be compared by identity


class DictColumn:
    """Dictionary-encoded values: for example, `a`, `a`, `b` have the `words` a and b, and the `numbers` 0, 0, 1.

    `room` is the number of cells to allocate at first.
    """

    def __init__(self, room: cython.Py_ssize_t = 0) -> None:
        self.words: list[Any] = []
        self.numbers = IntColumn(narrow=True, room=room)
        self._known: dict[Any, int] = {}
        self._last: Any = _NO_VALUE
        self._number = 0

    def __len__(self) -> int:
        return len(self.numbers)

    def add(self, word: Any) -> cython.int:
        """Append a value, which must be hashable."""
        if word is not self._last:  # most cells repeat the one before
            self._number = self._number_of(word)
            self._last = word
        return self.numbers.add(self._number)

    def _number_of(self, word: Any) -> cython.Py_ssize_t:
        place: cython.Py_ssize_t
        for place in range(min(_FEW, len(self.words))):  # most words are constants
            if self.words[place] is word:
                return place
        number = self._known.get(word)
        if number is None:
            number = self._known[word] = len(self.words)
            self.words.append(word)
        found: cython.Py_ssize_t = number
        return found

    def extend(self, values: DictColumn) -> cython.int:
        """Append the values of another column."""
        numbers = IntColumn(narrow=True)
        for word in values.words:
            numbers.add(self._number_of(word))
        return self.numbers.extend(values.numbers.mapped(numbers))

    def at(self, index: cython.Py_ssize_t) -> Any:
        """Return the value of an existing cell."""
        return self.words[self.numbers.at(index)]

    def part(self, place: cython.Py_ssize_t) -> DictColumn:
        """Return a column of the values at this place of each value, which is a tuple."""
        numbers = IntColumn(narrow=True, room=len(self.words))
        found = DictColumn()
        for word in self.words:
            numbers.add(found._number_of(word[place]))
        found.numbers = self.numbers.mapped(numbers)
        return found

    def ends(self) -> IntColumn:
        """Return Arrow's list offsets: for example, 0, 1, 1, 3 for the cells `(a,)`, `()` and `(b, c)`."""
        index: cython.Py_ssize_t
        end: cython.Py_ssize_t = 0
        sizes = IntColumn(room=len(self.words))
        for word in self.words:
            sizes.add(len(word))
        found = IntColumn(narrow=True, room=len(self) + 1)
        found.add(0)
        for index in range(len(self)):
            end += sizes.at(self.numbers.at(index))
            found.add(end)
        return found

    def items(self) -> list[Any]:
        """Return the concatenation of all cells, which are sequences."""
        if not any(self.words):
            return []
        index: cython.Py_ssize_t
        found: list[Any] = []
        for index in range(len(self)):
            word = self.words[self.numbers.at(index)]
            if word:
                found += word
        return found

    def array(self, shown: Callable[[str], str], present: bytes | None = None) -> Array:
        """Return the column of words, some of them missing, as an Arrow array with a dictionary."""
        return len(self.numbers), (present, self.numbers), (), encoded(self.words, shown).array()

    def lists(self, shown: Callable[[str], str], present: bytes | None = None) -> Array:
        """Return the column of sequences of words as an array of lists."""
        return len(self.numbers), (present, self.ends()), (encoded(self.items(), shown).array(),), None

    def take(self, words: list[Any], numbers: IntColumn) -> cython.int:
        """Fill the empty column from distinct values and the index of each cell's."""
        self.words = words
        self.numbers = numbers
        self._known = {word: number for number, word in enumerate(words)}
        return 0

    def __reduce_ex__(self, protocol: SupportsIndex) -> tuple[Any, ...]:
        return _words, (self.words, self.numbers)


# --- pickling ---------------------------------------------------------------------------------------------------------


def _apart(raw: bytes, protocol: SupportsIndex) -> bytes | PickleBuffer:
    """Return bytes for a pickle: an out-of-band buffer if the protocol has them."""
    from pickle import PickleBuffer  # already imported: pickle is the caller

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
