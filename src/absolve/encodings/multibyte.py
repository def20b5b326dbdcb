"""Decode bytes in charsets other than UTF-8 and UTF-16 to UTF-8, with a map of character offsets.

In: raw bytes and a charset, of one byte or several bytes per character. Out: for ASCII-compatible charsets
`CharacterOffsets`, with the value in UTF-8 and its offsets (`core.protocols.Offsets`); for ISO-2022-JP the same two and
the state of the decoder at each raw offset.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from codecs import getincrementaldecoder
from typing import TYPE_CHECKING, Final

from absolve.core.column_buffers import NARROW, IntColumn
from absolve.core.lazy_regex import pattern
from absolve.encodings.offset_map import Decoded
from absolve.encodings.standard import SURROGATE, corrected, jis_x_0208, unit_at

if TYPE_CHECKING:
    from codecs import IncrementalDecoder

    import cython

    from absolve.core.protocols import Offsets
    from absolve.encodings.charsets import Charset


_STEP = 1024  # approximate bytes between two index entries
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
            if size - marked >= _STEP:
                self._values.add(size)
                self._raws.add(i)
                marked = size
                if len(pieces) >= _MANY:
                    value += b"".join(pieces)
                    pieces.clear()
            ascii_end = i
            end = min(i + _STEP, n)
            while ascii_end < end and p[ascii_end] < 128:
                ascii_end += 1
            new = raw[i:end] if ascii_end == end else self._stretch(i, end)
            i = end if ascii_end == end else self._end
            size += len(new)
            pieces.append(new)
        if not value:
            return b"".join(pieces)
        value += b"".join(pieces)
        return bytes(value)

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
    value, offsets = made.whole()
    return value, offsets


def reads_the_same(raw: bytes, state: int) -> bool:
    """Return whether ASCII bytes (those of an edit) are the same characters in this state as in ASCII."""
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
