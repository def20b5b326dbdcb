"""Edits: encode a new reference as one, splice them into bytes, and convert them to edits of an outer document.

In: a link with its old and new reference; or bytes and edits (byte offsets and new bytes) in order. Out: an `Edit` that
changes as few bytes as possible, in the coding and the syntax of the attribute value; new bytes, or other edits.
"""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING

from absolve.core.byte_scan import ByteBuilder, cut
from absolve.core.model import Edit, Part, edit_at
from absolve.document.resolved import placeholder_at, text, value_of
from absolve.encodings.codings import LOOK_AHEAD
from absolve.encodings.offset_map import UnitOffsets, is_cut
from absolve.formats.grammars import ESCAPES, is_read

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import cython

    from absolve.core.model import Link
    from absolve.core.protocols import Coding, Offsets
    from absolve.document.entity import Entity
    from absolve.document.resolved import LinkContext


_AROUND = LOOK_AHEAD
_QUOTE = re.compile(b'"')
_AT_ONCE = 4 << 20  # bytes per call of `spill`
_AHEAD = 32 << 20  # bytes allocated in advance at most
_LARGE = 1 << 20  # bytes of an edit that is spilled without a copy


def splice(data: bytes, edits: Sequence[Edit]) -> bytes:
    """Return the bytes with every edit applied, in one pass; the same object if there is none.

    For example, `abcd` with `Edit(1, 2, b"X")` gives `aXcd`. Raise ValueError unless the edits are in the
    order of their spans and do not overlap.
    """
    splicer = Splicer(data)
    splicer.take(edits)
    return splicer.finish()


class Splicer:
    """Apply edits as they come, without storing them, up to `most` bytes of output.

    Compiled, every byte is copied directly to its final position. Output is passed to the callback `spill`, if there is
    one, in pieces of some megabytes; `spilled` counts these bytes. Only the span from `start` to `end` is produced (by
    default all); every edit must be inside it.
    """

    def __init__(
        self,
        data: bytes,
        most: cython.Py_ssize_t = sys.maxsize,
        spill: Callable[[bytes], object] | None = None,
        start: cython.Py_ssize_t = 0,
        end: cython.Py_ssize_t = -1,
    ) -> None:
        self._data = data
        self._most = most
        self._spill = spill
        self.spilled = 0
        self._read = start  # offset in `data` up to which output is complete
        self._end = len(data) if end < 0 else end
        self._made: ByteBuilder | None = None

    def take(self, edits: Sequence[Edit]) -> cython.bint:
        """Apply edits behind all previous ones; return False if the output would exceed `most`.

        Raise ValueError for an edit that overlaps another or the end.
        """
        edit: Edit
        size: cython.Py_ssize_t = 0
        start: cython.Py_ssize_t = self._read
        for edit in edits:
            if edit.start < start or edit.end < edit.start or edit.end > self._end:
                raise ValueError(f"{edit!r} overlaps the edit before it, or the end")
            size += edit.start - start + len(edit.new)
            start = edit.end
        if not edits:
            return True
        if self._spill is not None and size > _AT_ONCE and len(edits) > 1:  # a base URL of 1 MB in each edit
            half = len(edits) // 2
            return self.take(edits[:half]) and self.take(edits[half:])
        if self._spill is not None and size > _LARGE and len(edits) == 1:
            return self._put_down(edits[0])
        made: ByteBuilder | None = self._made
        if made is None:
            rest: cython.Py_ssize_t = self._end - start
            room: cython.Py_ssize_t = size + rest  # enough if no more edits come
            done: cython.Py_ssize_t = start - self._read
            if rest > done > 0:  # or if the rest grows as the beginning did
                room += min(max(size - done, 0) * rest // done + (rest >> 4), _AHEAD)
            made = self._made = ByteBuilder(room if self._spill is None else min(room, size + _AT_ONCE))
        if size > self._most - self.spilled - made.size:
            return False
        made.splice(self._data, self._read, edits, size)
        self._read = start
        if self._spill is not None and made.size >= _AT_ONCE:
            self.spilled += made.size
            self._spill(made.finish())
            self._made = ByteBuilder(0)
        return True

    def _put_down(self, edit: Edit) -> cython.bint:
        """Apply one edit of more than 1 MB, as `take` does, without copying its new bytes."""
        made: ByteBuilder = self._made if self._made is not None else ByteBuilder()
        if made.size + edit.start - self._read + len(edit.new) > self._most - self.spilled:
            return False
        made.add(self._data, self._read, edit.start)
        self._read = edit.end
        for piece in (made.finish(), edit.new):
            if piece:
                self.spilled += len(piece)
                self._spill(piece)  # type: ignore[misc]  # not None here
        self._made = ByteBuilder()
        return True

    def finish(self) -> bytes:
        """Return the bytes with every edit applied, without the spilled ones; the same object if there was no edit.

        This must be the last call.
        """
        made: ByteBuilder | None = self._made
        if made is None:
            return self._data
        made.add(self._data, self._read, self._end)
        return made.finish()


def _raw_start(offsets: Offsets, position: cython.Py_ssize_t) -> cython.Py_ssize_t:
    """Return `offsets.start(position)`, by a C call for the most frequent class of offsets."""
    if type(offsets) is UnitOffsets:
        known: UnitOffsets = offsets
        return known.start(position)
    return offsets.start(position)


def _raw_end(offsets: Offsets, position: cython.Py_ssize_t) -> cython.Py_ssize_t:
    """Return `offsets.end(position)` likewise."""
    if type(offsets) is UnitOffsets:
        known: UnitOffsets = offsets
        return known.end(position)
    return offsets.end(position)


def lower(edits: Sequence[Edit], data: bytes, part: Part, offsets: Offsets) -> list[Edit]:
    """Encode edits of an inner document (`part`) for the outer one (`data`): for example, `&amp;` for `&`."""
    edit: Edit
    coding = part.coding
    start: cython.Py_ssize_t = part.start
    end: cython.Py_ssize_t = part.end
    first: cython.Py_ssize_t
    last: cython.Py_ssize_t
    lowered: list[Edit] = []
    encoder = getattr(coding, "encoder", None)  # for a coding that encodes different spans differently
    for edit in edits:
        first = _raw_start(offsets, edit.start)
        last = _raw_end(offsets, edit.end) if edit.end > edit.start else first
        encode = coding.encode if encoder is None else encoder(first, last)
        first += start
        last += start
        after = cut(data, last, min(last + _AROUND, end))
        new = encode(edit.new, after, cut(data, max(start, first - _AROUND), first))
        lowered.append(edit_at(first, last, new))
    return lowered


def moved(edits: Sequence[Edit], by: cython.Py_ssize_t) -> list[Edit]:
    """Return edits of a verbatim inner document moved to its offset: for example, from 1 to 6 if it begins at 5."""
    edit: Edit
    found: list[Edit] = []
    for edit in edits:
        found.append(edit_at(edit.start + by, edit.end + by, edit.new))  # noqa: PERF401 - in C it has a type here
    return found


def kept_end(coding: Coding, value: bytes, raw: bytes) -> tuple[int, int]:
    """Return how many bytes at the end of the new value the old raw bytes can still encode, and their offset in `raw`.

    For example, the new value `x&b` keeps two bytes of the raw `a&amp;b`, from offset 1.
    """
    old, offsets = coding.decode_mapped(raw)
    if offsets is None:
        return 0, len(raw)
    kept = 0
    for one, other in zip(reversed(value), reversed(old), strict=False):
        if one != other:
            break
        kept += 1
    while kept:
        position = len(old) - kept
        # Do not cut inside a character (UTF-8) or inside its encoded form.
        if not is_cut(offsets, position) and old[position] & 0xC0 != 0x80:
            break
        kept -= 1
    return kept, offsets.start(len(old) - kept) if kept else len(raw)


def shortened(edit: Edit, value: bytes, offsets: Offsets) -> Edit:
    """Return an edit without the unchanged bytes at its end: for example, `abc` to `xbc` becomes `a` to `x`."""
    end: cython.Py_ssize_t = edit.end
    size: cython.Py_ssize_t = len(edit.new)
    while end > edit.start and size and value[end - 1] == edit.new[size - 1]:
        end -= 1
        size -= 1
    while end < edit.end and (_raw_end(offsets, end) > _raw_start(offsets, end) or value[end] & 0xC0 == 0x80):
        end += 1
        size += 1
    return edit if end == edit.end else edit_at(edit.start, end, edit.new[:size])


def settled(data: bytes, coding: Coding, changed: list[Edit]) -> list[Edit]:
    """Return the edits of an attribute value with the quotes that it needs: for example, `=x` becomes `="a b"`."""
    start, end = coding.slot or (0, 0)
    inside = [Edit(edit.start - start, edit.end - start, edit.new) for edit in changed]
    raw = splice(data[start:end], inside)
    final = coding.settle(raw)  # type: ignore[attr-defined]  # a coding with a slot has it
    if final == raw:
        return changed
    found = [Edit(start, start, coding.settle(b"")[:-1])]  # type: ignore[attr-defined]
    position = start
    for edit in (*changed, Edit(end, end, b'"')):
        found += (Edit(*quote.span(), b"&quot;") for quote in _QUOTE.finditer(data, position, edit.start))
        found.append(edit)
        position = edit.end
    return found


class ValueEncoder:
    """Like `settled`, with at most three resulting edits, and without storing the edits, a million for one value."""

    def __init__(self, data: bytes, coding: Coding) -> None:
        self._data = data
        self._coding = coding
        self._start, self._end = coding.slot or (0, 0)
        self._read = self._start
        self._made = ByteBuilder(self._end - self._start)

    def take(self, edit: Edit) -> cython.int:
        """Apply an edit behind all previous ones. Raise ValueError if it overlaps one."""
        if not self._read <= edit.start <= edit.end <= self._end:
            raise ValueError(f"{edit!r} overlaps the edit before it, or the end")
        self._made.add(self._data, self._read, edit.start)
        self._made.add(edit.new, 0, len(edit.new))
        self._read = edit.end
        return 0

    def settled(self) -> list[Edit]:
        """Return the edits that write the new value and the quotes that it needs. This must be the last call."""
        self._made.add(self._data, self._read, self._end)
        raw = self._made.finish()
        before, inside, after = self._coding.parts(raw)  # type: ignore[attr-defined]  # a coding with a slot has it
        whole = edit_at(self._start, self._end, inside)
        if not before:
            return [whole]
        return [edit_at(self._start, self._start, before), whole, edit_at(self._end, self._end, after)]


# --- a new reference --------------------------------------------------------------------------------------------------


class Written:
    """Caches for one LinkContext and one coding, of results that do not depend on the bytes around a link.

    `known`: raw bytes -> their edit (by offsets into them) or None. `prefixes`: a prefix of a URL -> its bytes.
    """

    def __init__(self) -> None:
        self.known: dict[bytes, Edit | None] = {}
        self.prefixes: dict[str, bytes] = {}


def edit_of(
    entity: Entity, link: Link, context: LinkContext, reference: str, new: str, raw: bytes, written: Written
) -> Edit | None:
    """Return the edit that writes the policy's new reference, by offsets into the link's raw bytes; None if unchanged.

    If the new reference ends with the old one, only the prefix is inserted, and the old bytes are kept. `written` is a
    cache for this context and coding; for a link whose preceding bytes matter, an empty one.
    """
    if new == reference:
        return None
    if context.place.syntax != "url" and context.place.syntax in ESCAPES:
        if not new and context.place.syntax in _LISTS:
            return None
        if not is_read(context.place.syntax, new):
            return None
        # Nothing is escaped in the own placeholder of a reference and behind it: another program reads that. Its blanks
        # and commas separate nothing, so it stays where it would be replaced.
        rest = reference[placeholder_at(reference) :]
        if not new.endswith(rest):
            return None
        before = link.coding.decode(_before(entity.own_data, link.start))
        new = text(ESCAPES[context.place.syntax](value_of(new[: len(new) - len(rest)]), before)) + rest
    if reference and new.endswith(reference):
        prefix = new[: -len(reference)]
        known = written.prefixes.get(prefix)
        if known is None:
            known = link.coding.encode(value_of(prefix), raw[:LOOK_AHEAD], _before(entity.own_data, link.start))
            if len(known) <= _LONGEST_KNOWN and not _DEPENDS.search(prefix):
                # otherwise its encoding depends on the bytes around it
                written.prefixes[prefix] = known
        return Edit(0, 0, known)
    value = value_of(new)
    # If the raw bytes equal the value, encoding it again gives the same bytes, but for `<` and the like.
    is_same = value_of(reference) == raw and placeholder_at(reference) == len(reference)
    kept, at = (0, len(raw)) if is_same else kept_end(link.coding, value, raw)
    after = raw[at:] + entity.own_data[link.end : link.end + LOOK_AHEAD]
    return Edit(0, at, link.coding.encode(value[: len(value) - kept], after, _before(entity.own_data, link.start)))


def _before(data: bytes, start: cython.Py_ssize_t) -> bytes:
    """Return the bytes before a link that a coding may look at."""
    return data[start - LOOK_AHEAD if start > LOOK_AHEAD else 0 : start]


_LONGEST_KNOWN = 1 << 16  # bytes of a prefix that is cached
# A prefix whose encoding depends on the next bytes: a character reference, an escape, the end of a comment or section.
_DEPENDS = re.compile(r"[&\\]|[]!?-]\Z")
# In these no empty reference can be written.
_LISTS = frozenset({"commas", "destination", "refresh", "semicolons", "spaces", "srcset", "tasks", "uri"})
