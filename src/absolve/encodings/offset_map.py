"""Map byte offsets in decoded values to byte offsets in their raw bytes (`core.protocols.Offsets`).

In: the units of a value (a character reference, an escape) with their spans, in ascending order; all other bytes are
copied unchanged. Or raw bytes in a charset other than UTF-8: one of one byte or several bytes per character, UTF-16,
ISO-2022-JP. Out: the value, in UTF-8, and for an offset in it the start or end of the raw bytes of the unit there; for
ISO-2022-JP also the state of the decoder at each raw offset.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from codecs import getincrementaldecoder
from typing import TYPE_CHECKING, Final

from absolve.core.byte_scan import ByteBuilder
from absolve.core.column_buffers import NARROW, IntColumn
from absolve.core.lazy_regex import pattern
from absolve.encodings.standard import SURROGATE, corrected, jis_x_0208, unit_at

if TYPE_CHECKING:
    import re
    from codecs import IncrementalDecoder
    from collections.abc import Callable

    import cython

    from absolve.core.protocols import Offsets
    from absolve.encodings.charsets import Charset

_STEP = 5  # an index entry for every 32nd unit (2 ** 5)
_LONG = 1 << 16  # bytes of a value from which on it is built without a list


class UnitOffsets:
    """Offsets as a list of units; the bytes between two units are the same in the value and the raw bytes.

    For example, `a&amp;b` has the value `a&b` and one unit, bytes 1 to 6 for byte 1; offset 2 of the value maps to 6.

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
        self._found_end = self._found_raw_start = self._found_raw_end = 0  # the unit that `_seek` found

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


IDENTITY_OFFSETS: Final = UnitOffsets()


# The diagnostic for links that begin or end inside of a unit.
CUT_OFF: Final = "a link begins or ends inside of what an entity stands for: what is around it is left alone"


def is_cut(offsets: Offsets, position: int) -> bool:
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
                self._offsets = UnitOffsets()
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

    def __init__(self, outer: Offsets, inner: Offsets) -> None:
        self._outer = outer
        self._inner = inner

    def start(self, position: int) -> int:
        return self._outer.start(self._inner.start(position))

    def end(self, position: int) -> int:
        return self._outer.end(self._inner.end(position))


class Joined:
    """Offsets of a value that is joined from pieces of its raw bytes, with markup between them.

    For example, `a<!-- -->b` has the value `ab`: its byte 1 begins at 9, and ends at 1.
    """

    __slots__ = ("_offsets", "_raws", "_values")

    def __init__(self) -> None:
        self._values: list[int] = []  # where each piece begins in the value, and in the raw bytes
        self._raws: list[int] = []
        self._offsets: list[Offsets] = []

    def add(self, value: int, raw: int, offsets: Offsets) -> None:
        """Add a piece that is not empty, after all others."""
        self._values.append(value)
        self._raws.append(raw)
        self._offsets.append(offsets)

    def start(self, position: int) -> int:
        index = bisect_right(self._values, position) - 1
        return self._raws[index] + self._offsets[index].start(position - self._values[index]) if index >= 0 else 0

    def end(self, position: int) -> int:
        index = bisect_left(self._values, position) - 1
        return self._raws[index] + self._offsets[index].end(position - self._values[index]) if index >= 0 else 0


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


# --- charsets of one byte or several bytes per character, in which ASCII bytes are ASCII characters -------------------

_APART = 1024  # approximate bytes between two index entries
_LONGEST = 4  # most bytes of a character
_MOST_KNOWN = 16_384  # characters in the cache of a charset
_MANY = 4096  # pieces joined at once: bounds the memory for them
_KNOWN: dict[Charset, dict[bytes, bytes]] = {}  # cache: raw bytes -> character in UTF-8, b"" if they are none
# Cache of character sizes, indexed by the first two raw bytes, if these determine it: the number of raw bytes, and from
# bit _VALUE on the number of bytes in UTF-8. 0: not computed yet.
_SIZES: dict[Charset, bytearray] = {}
_RAW = 7
_VALUE = 3


class CharacterOffsets:
    """Raw bytes decoded to UTF-8, `value`, and the offsets of its characters.

    There is an index entry for about every 1024th byte. Between them characters are counted again, starting from the
    last position found if the offsets ascend.
    """

    def __init__(self, charset: Charset, raw: bytes) -> None:
        self._charset = charset
        self._raw = raw
        self._known = _KNOWN.setdefault(charset, {})
        self._few = 1 if charset.one_byte else 2  # this many bytes determine the size of most characters
        self._sizes: bytearray | None = None  # created on first use
        self._decoder: IncrementalDecoder | None = None
        self._values = IntColumn()  # index entries: offsets in the value, and the raw offsets
        self._raws = IntColumn(narrow=len(raw) <= NARROW)
        self._last = self._last_raw = 0  # the last position found, in the value and in the raw bytes
        self.value = self._decoded()

    def _decoded(self) -> bytes:
        raw: bytes = self._raw
        p: cython.p_const_uchar = raw
        n: cython.Py_ssize_t = len(raw)
        i: cython.Py_ssize_t = 0
        ascii_end: cython.Py_ssize_t
        end: cython.Py_ssize_t
        size: cython.Py_ssize_t = 0
        marked: cython.Py_ssize_t = 0
        pieces: list[bytes] = []
        value = bytearray()
        self._values.add(0)
        self._raws.add(0)
        while i < n:
            if size - marked >= _APART:
                self._values.add(size)
                self._raws.add(i)
                marked = size
                if len(pieces) >= _MANY:
                    value += b"".join(pieces)
                    pieces.clear()
            ascii_end = i
            end = min(i + _APART, n)
            while ascii_end < end and p[ascii_end] < 128:
                ascii_end += 1
            new = raw[i:end] if ascii_end == end else self._stretch(i, end)
            i = end if ascii_end == end else self._end
            size += len(new)
            pieces.append(new)
        return b"".join([value, *pieces])

    def _stretch(self, start: cython.Py_ssize_t, end: cython.Py_ssize_t) -> bytes:
        """Decode the complete characters in a span, at least one, even if it ends behind the span; set `_end`.

        Decoding them together gives the same result as one by one: no character is a prefix of another.
        """
        raw = self._raw[start:end]
        if self._charset.one_byte:
            self._end = end
            return self._charset.decode(raw).encode("utf-8", "surrogatepass")
        decoder: IncrementalDecoder | None = self._decoder
        if decoder is None:
            decoder = self._decoder = getincrementaldecoder(self._charset.codec)("absolve")
        decoder.reset()
        text = decoder.decode(raw)
        self._end = end - len(decoder.getstate()[0])  # without an incomplete character
        if self._end == start:
            return self._character(start)
        text = corrected(self._charset.codec, raw[: self._end - start], text)
        return text.encode("utf-8", "surrogatepass")

    def _character(self, start: cython.Py_ssize_t) -> bytes:
        """Return the character at a raw offset in UTF-8 and set `_end`; a malformed byte is a character of its own."""
        end: cython.Py_ssize_t = start
        most: cython.Py_ssize_t = min(start + (1 if self._charset.one_byte else _LONGEST), len(self._raw))
        while end < most:
            end += 1
            key = self._raw[start:end]
            new = self._known.get(key)
            if new is None:
                new = self._learnt(key)
            if new:
                self._end = end
                return new
        kept, self._end = unit_at(self._charset.codec, self._raw, start)
        return kept.encode("utf-8", "surrogatepass")

    def _learnt(self, raw: bytes) -> bytes:
        """Return raw bytes decoded to one character in UTF-8, b"" if they are none; add it to the cache."""
        text = self._charset.decode(raw)
        new = b"" if not self._charset.one_byte and SURROGATE.search(text) else text.encode("utf-8", "surrogatepass")
        if len(self._known) < _MOST_KNOWN:
            self._known[raw] = new
        return new

    def _found(self, position: cython.Py_ssize_t, after: cython.bint) -> cython.Py_ssize_t:
        """Return the raw offset for an offset of the value; inside a character its start, or its end if `after`."""
        index: cython.Py_ssize_t = self._values.before(position + 1) - 1  # the last index entry up to the position
        at: cython.Py_ssize_t = self._values.at(index)
        i: cython.Py_ssize_t = self._raws.at(index)
        raw: bytes = self._raw
        p: cython.p_const_uchar = raw
        n: cython.Py_ssize_t = len(raw)
        size: cython.int = 0
        if at < self._last <= position:
            at = self._last
            i = self._last_raw
        while at < position and i < n:
            if p[i] < 128:
                at += 1
                i += 1
                continue
            size = self._size(i)
            if at + (size >> _VALUE) > position:
                break
            at += size >> _VALUE
            i += size & _RAW
        self._last = at
        self._last_raw = i
        return i + (size & _RAW) if after and at < position and i < n else i

    def _size(self, start: cython.Py_ssize_t) -> cython.int:
        """Return the sizes of the non-ASCII character at a raw offset, as in `_SIZES`: raw bytes and bytes in UTF-8."""
        raw: bytes = self._raw
        p: cython.p_const_uchar = raw
        key: cython.int = p[start] << 8
        if self._few == 2 and start + 1 < len(raw):
            key |= p[start + 1]
        if self._sizes is None:
            self._sizes = _SIZES.get(self._charset)
            if self._sizes is None:
                self._sizes = _SIZES[self._charset] = bytearray(1 << 16)
        sizes: cython.p_uchar = self._sizes
        if sizes[key]:
            return sizes[key]
        size: cython.int = len(self._character(start)) << _VALUE
        size |= self._end - start
        if self._end - start <= self._few and self._learnt(raw[start : self._end]):  # otherwise more bytes decide
            sizes[key] = size
        return size

    def start(self, position: int) -> int:
        """Return the raw offset at which the character at this offset of the value begins."""
        return self._found(position, False)

    def end(self, position: int) -> int:
        """Return the raw offset at which the character before this offset of the value ends."""
        return self._found(position, True)


# --- ISO-2022-JP (Encoding Standard 12.2): the only charset with a state, which escape sequences set ------------------

ASCII, ROMAN, KATAKANA, KANJI_1978, KANJI = range(5)
# The escape sequence that begins each state, indexed by state
SEQUENCES: Final = (b"\x1b(B", b"\x1b(J", b"\x1b(I", b"\x1b$@", b"\x1b$B")
_REPLACEMENT: Final = "\N{REPLACEMENT CHARACTER}".encode()
_ODD: Final = pattern(rb"[\x80-\xff\x0e\x0f\x1b]")  # bytes that are not ASCII characters in the ASCII state,
_ODD_IN_ROMAN: Final = pattern(rb"[\x80-\xff\x0e\x0f\x1b\\~]")  # and in the Roman state
_ROMAN: Final = {0x5C: "\N{YEN SIGN}".encode(), 0x7E: "\N{OVERLINE}".encode()}
_ESCAPE: Final = 0x1B
_SEQUENCE: Final = pattern(rb"\x1b(?:\([BJI]|\$[@B])")
# Neither characters nor escape sequences
_NOTHING: Final = pattern(rb"(?>(?:[\x80-\xff\x0e\x0f]|\x1b(?!\([BJI]|\$[@B]))+)")


class States:
    """The states of a decoder, with the raw offset at which each begins."""

    def __init__(self) -> None:
        self._starts = array("Q")
        self._states = bytearray()

    def begin(self, state: int, position: int) -> None:
        """Add a state that begins at this raw offset, behind all others."""
        self._starts.append(position)
        self._states.append(state)

    def at(self, position: int) -> int:
        """Return the state in which the byte at this raw offset is decoded."""
        number = bisect_right(self._starts, position)
        return self._states[number - 1] if number else ASCII


def decode_shifted(raw: bytes, states: States | None = None) -> tuple[bytes, Offsets]:
    """Return the characters in UTF-8 and their offsets; add all changes of state to `states`.

    A line end does not reset the state, as in browsers (12.2.1).
    """
    made = Decoded(raw)
    states = states if states is not None else States()
    position = 0
    state = ASCII
    while found := (_ODD_IN_ROMAN if state == ROMAN else _ODD).search(raw, position):
        start = found.start()
        if raw[start] in _ROMAN:
            position = start + 1
            made.unit(start, position, _ROMAN[raw[start]])
        elif nothing := _NOTHING.match(raw, start):  # one unit for all: there may be millions
            position = nothing.end()
            made.unit(start, position, _REPLACEMENT * (position - start))
        else:
            position, state = _shifted(raw, start, made, states)
    whole: tuple[bytes, Offsets] = made.whole()
    return whole


def reads_the_same(raw: bytes, state: int) -> bool:
    """Return whether the ASCII bytes of an edit are the same characters in this state as in ASCII."""
    return state == ASCII or (state == ROMAN and not _ODD_IN_ROMAN.search(raw))


def _shifted(raw: bytes, start: int, made: Decoded, states: States) -> tuple[int, int]:
    """Decode from an escape sequence to the next ASCII or Roman text; return its offset and state.

    The sequence that begins a two-byte or katakana state is part of that state's first character, the one that ends it
    part of the last: so most edits begin and end in ASCII.
    """
    position = start
    state = ASCII
    text = b""  # the last character decoded; its unit begins at `start`
    while position < len(raw):
        sequence = _SEQUENCE.match(raw, position) if raw[position] == _ESCAPE else None
        if sequence is None:
            if text:
                made.unit(start, position, text)
                start = position
            text, position = _character(raw, position, state)
            continue
        state = SEQUENCES.index(sequence[0])
        if text and state not in {ASCII, ROMAN}:
            made.unit(start, position, text)
            start, text = position, b""
        position = sequence.end()
        states.begin(state, position)
        if state in {ASCII, ROMAN}:
            break
    made.unit(start, position, text)
    return position, state


def _character(raw: bytes, position: int, state: int) -> tuple[bytes, int]:
    """Return the character at an offset, in a state other than ASCII and Roman, and the offset of the next one."""
    byte = raw[position]
    if state == KATAKANA:
        return chr(0xFF61 - 0x21 + byte).encode() if 0x21 <= byte <= 0x5F else _REPLACEMENT, position + 1
    pair = raw[position : position + 2]
    if not 0x21 <= byte <= 0x7E or len(pair) == 1 or pair[1] == _ESCAPE:
        return _REPLACEMENT, position + 1
    text = jis_x_0208(*pair) if 0x21 <= pair[1] <= 0x7E else ""
    return text.encode() or _REPLACEMENT, position + 2
