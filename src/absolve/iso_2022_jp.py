"""ISO-2022-JP (Encoding Standard 12.2): the one charset with state, in which bytes mean what an escape sequence says.

In: raw bytes. Out: their characters in UTF-8, with offsets, and which state the decoder is in at any of them.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from typing import TYPE_CHECKING, Final

from absolve.offsets import Decoded

if TYPE_CHECKING:
    from absolve.typing import Offsets

ASCII, ROMAN, KATAKANA, KANJI_1978, KANJI = range(5)
# The escape sequences that begin each state, by its number
SEQUENCES: Final = (b"\x1b(B", b"\x1b(J", b"\x1b(I", b"\x1b$@", b"\x1b$B")
_REPLACEMENT: Final = "\N{REPLACEMENT CHARACTER}".encode()
_ODD: Final = re.compile(rb"[\x80-\xff\x1b]")  # in ASCII; every other byte is the character that it is there,
_ODD_IN_ROMAN: Final = re.compile(rb"[\x80-\xff\x1b\\~]")  # and in JIS X 0201 Roman but for two
_ROMAN: Final = {0x5C: "\N{YEN SIGN}".encode(), 0x7E: "\N{OVERLINE}".encode()}
_SHIFT: Final = re.compile(rb"\x1b(?:\(I|\$[@B])")
_BACK: Final = re.compile(rb"\x1b\([BJ]")
_NOTHING: Final = re.compile(rb"(?:[\x80-\xff]|\x1b(?!\(I|\$[@B]|\([BJ]))++")  # no characters, and no sequences


class States:
    """The states of a decoder, and the raw offsets from which on it is in each."""

    def __init__(self) -> None:
        self._starts = array("Q")
        self._states = bytearray()

    def begin(self, state: int, position: int) -> None:
        """Add a state that begins behind all others."""
        self._starts.append(position)
        self._states.append(state)

    def at(self, position: int) -> int:
        """Return the state in which the byte at this raw offset is read."""
        number = bisect_right(self._starts, position)
        return self._states[number - 1] if number else ASCII


def decode_mapped(raw: bytes, states: States | None = None) -> tuple[bytes, Offsets]:
    """Return the characters in UTF-8 and their offsets; `states` takes the states that are met."""
    made = Decoded(raw)
    position = 0
    state = ASCII
    while found := (_ODD_IN_ROMAN if state == ROMAN else _ODD).search(raw, position):
        start = found.start()
        if raw[start] in _ROMAN:
            position = start + 1
            made.unit(start, position, _ROMAN[raw[start]])
        else:
            position, state = _shifted(raw, start, state, made, states)
    value, offsets = made.whole()
    return value, offsets


def reads_the_same(raw: bytes, state: int) -> bool:
    """Return whether ASCII bytes (what an edit writes) mean in this state what they mean in ASCII."""
    return state == ASCII or (state == ROMAN and not _ODD_IN_ROMAN.search(raw))


def _shifted(raw: bytes, start: int, state: int, made: Decoded, states: States | None) -> tuple[int, int]:
    """Decode from an escape character to where ASCII or Roman goes on; return that offset and the state there.

    The sequence that begins two-byte characters belongs to the first of them, and the one that ends them to the last:
    an edit then mostly begins and ends in ASCII. The end of a line ends them, too (RFC 1468).
    """
    shift = _SHIFT.match(raw, start)
    position = shift.end() if shift else start
    if shift and states is not None:
        states.begin(SEQUENCES.index(shift[0]), position)
    text = b""  # the character that begins at `start` and was read last
    while shift and position < len(raw) and raw[position] not in b"\x1b\r\n":
        if text:
            made.unit(start, position, text)
            start = position
        end = min(position + (2 if shift[0][1:2] == b"$" else 1), len(raw))
        text = (shift[0] + raw[position:end]).decode("iso2022_jp_ext", "replace").encode()
        position = end
    back = _BACK.match(raw, position)
    if back:
        position = back.end()
        state = SEQUENCES.index(back[0])
    elif shift and raw[position : position + 1] in {b"\r", b"\n"}:
        state = ASCII
    if states is not None and (back or shift):
        states.begin(state, position)
    if start == position and (nothing := _NOTHING.match(raw, start)):  # as one unit: there may be millions
        position = nothing.end()
        text = _REPLACEMENT * (position - start)
    made.unit(start, position, text)
    return position, state
