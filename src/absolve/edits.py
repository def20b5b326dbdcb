"""Edits: splice them into bytes, and lower those of an inner document to the one around it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from absolve.model import Edit

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from absolve.typing import Coding, Offsets

# Bytes that a coding is shown of what follows, and of what stands before; the longest named reference has 33.
LOOK_AHEAD = 64


def splice(data: bytes, edits: Sequence[Edit]) -> bytes:
    """The bytes with every edit made; the very same object where there is none.

    Edits are in the order of their spans and do not overlap. One pass, one copy.
    """
    if not edits:
        return data
    pieces: list[bytes] = []
    position = 0
    for edit in edits:
        pieces.append(data[position : edit.start])
        pieces.append(edit.new)
        position = edit.end
    pieces.append(data[position:])
    return b"".join(pieces)


def lower(edits: Iterable[Edit], raw: bytes, start: int, coding: Coding, offsets: Offsets) -> list[Edit]:
    """The edits of an inner document as edits of the outer one: `raw` stands there from `start` on, in `coding`."""
    lowered: list[Edit] = []
    encoder = getattr(coding, "encoder", None)  # of a coding whose stretches are coded each in its own way
    for edit in edits:
        first = offsets.start(edit.start)
        last = offsets.end(edit.end) if edit.end > edit.start else first
        encode = coding.encode if encoder is None else encoder(first, last)
        new = encode(edit.new, raw[last : last + LOOK_AHEAD], raw[max(0, first - LOOK_AHEAD) : first])
        lowered.append(Edit(start + first, start + last, new))
    return lowered
