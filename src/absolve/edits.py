"""Edits: splice them into bytes, and lower those of an inner document to the one around it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import cython

    from absolve.typing import Coding, Offsets
else:
    from absolve import _cython as cython

if cython.compiled:
    from cython.cimports.absolve.model import Edit
    from cython.cimports.cpython.bytes import PyBytes_AS_STRING, PyBytes_FromStringAndSize
    from cython.cimports.libc.string import memcpy
else:
    from absolve.model import Edit

# Bytes that a coding is shown of what follows, and of what stands before; the longest named reference has 33.
LOOK_AHEAD = 64


def splice(data: bytes, edits: Sequence[Edit]) -> bytes:
    """The bytes with every edit made; the very same object where there is none.

    Edits are in the order of their spans and do not overlap; ValueError where they are not. One pass, one copy.
    """
    if not edits:
        return data
    edit: Edit
    position: cython.Py_ssize_t = 0
    size: cython.Py_ssize_t = len(data)
    for edit in edits:
        if edit.start < position or edit.end < edit.start or edit.end > len(data):
            raise ValueError(f"{edit!r} overlaps what stands before it, or the end")
        position = edit.end
        size += len(edit.new) - (edit.end - edit.start)
    position = 0
    if cython.compiled:  # every byte goes straight to where it stands in the end
        old: cython.p_const_uchar = data
        spliced = PyBytes_FromStringAndSize(cython.NULL, size)
        end = cython.cast(cython.p_uchar, PyBytes_AS_STRING(spliced))
        for edit in edits:
            memcpy(end, old + position, edit.start - position)
            end += edit.start - position
            memcpy(end, cython.cast(cython.p_const_uchar, edit.new), len(edit.new))
            end += len(edit.new)
            position = edit.end
        memcpy(end, old + position, len(data) - position)
        return spliced
    pieces: list[bytes] = []
    for edit in edits:
        pieces += (data[position : edit.start], edit.new)
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
