"""Decode ISO-2022-JP (Encoding Standard 12.2), the only charset with a state, which escape sequences set.

In: raw bytes. Out: their characters in UTF-8, with offsets, and the state of the decoder at each raw offset.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from typing import TYPE_CHECKING, Final

from absolve.core.lazy_regex import pattern
from absolve.encodings.offset_map import Decoded
from absolve.encodings.standard import jis_x_0208

if TYPE_CHECKING:
    from absolve.core.protocols import Offsets

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


def decode_mapped(raw: bytes, states: States | None = None) -> tuple[bytes, Offsets]:
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
