"""First check of every format: the links of both documents pair up, and the bytes between them are equal.

In: the two entities. Out: differences. Bytes of a link that need no change are compared, too: an unchanged link, and
the end of a reference that only got a prefix, for example `a.html` in `http://h/a.html`.
"""

from __future__ import annotations

import re
from itertools import groupby, pairwise
from typing import TYPE_CHECKING, NamedTuple

from absolve.core.model import Edit, EditOrder, Link, Part
from absolve.document.resolved import link_context, text
from absolve.document.walk import inner_at
from absolve.formats.grammars import WHITE_SPACE
from absolve.rewriting.edits import splice
from absolve.verifying.expected import shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from absolve.core.protocols import Coding, Offsets
    from absolve.document.entity import Entity
    from absolve.verifying.expected import Differences, Expected

    Pair = tuple[Link, Link] | tuple[Part, Part]


_BLANKS = re.compile(b"[%b]*" % WHITE_SPACE)


class Region(NamedTuple):
    """A span of bytes that may differ: its offsets before and after."""

    start: int
    end: int
    new_start: int
    new_end: int


class Side(NamedTuple):
    """An entity of one of the two documents and the contexts of its links.

    `outer` maps an offset in the entity to one in the document. `numbers` are the indexes of its events, by identity.
    """

    entity: Entity
    outer: Callable[[int], int]
    numbers: dict[int, int]

    @property
    def data(self) -> bytes:
        return self.entity.data


def _side(entity: Entity, outer: Callable[[int], int]) -> Side:
    return Side(entity, outer, {})


class Spans:
    """Compare two entities, and the entities inside them."""

    def __init__(self, expected: Expected, differences: Differences) -> None:
        self._expected = expected
        self._differences = differences

    def compare(self, before: Entity, after: Entity) -> None:
        """Add the differences between two documents."""
        self._regions(_side(before, lambda position: position), _side(after, lambda position: position))

    def _regions(self, before: Side, after: Side, own: Sequence[Region] = ()) -> list[Region]:
        """Return the regions where two entities may differ; add a difference for any other.

        `own` are the regions of fields that change with the whole entity.
        """
        old, new = _events(before), _events(after)
        pairs = list(_paired(old, new))
        regions: list[Region] = []
        for quoted, group in groupby(pairs, key=_newly_quoted):
            found = [region for pair in group for region in self._pair_regions(pair, before, after)]
            regions += [self._in_slot(quoted, found, before, after)] if quoted is not None and found else found
        if derived := [*own, *(region for pair in pairs for region in self._field_regions(pair, before, after))]:
            regions = sorted([*regions, *derived])
        settled = next((event for event in before.entity.events if isinstance(event, EditOrder)), None)
        if settled is not None and len(pairs) == len(old) == len(new):
            self._check_rebuilt(settled, regions, before, after)
        elif len(pairs) == len(old) == len(new):
            size, new_size = len(before.data), len(after.data)
            regions = self._between([*regions, Region(size, size, new_size, new_size)], before, after)[:-1]
        else:
            regions = self._between(regions, before, after)
            self._unpaired(old[len(pairs) :], new[len(pairs) :], regions, before, after)
        return regions

    def _pair_regions(self, pair: Pair, before: Side, after: Side) -> Iterator[Region]:
        """Yield the regions where a pair may differ."""
        old, new = pair
        if isinstance(old, Link) and isinstance(new, Link):
            self._check(old, new, before, after)
            region = _changed(old, new, before.data, after.data)
            if region is not None:
                yield region
        elif isinstance(old, Part) and isinstance(new, Part):
            yield from self._in_part(old, new, before, after)

    def _check(self, old: Link, new: Link, before: Side, after: Side) -> None:
        one, other = (
            text(link.coding.decode(side.data[link.start : link.end])) for link, side in ((old, before), (new, after))
        )
        fault = self._expected.fault(old, one, other, link_context(before.entity, old), link_context(after.entity, new))
        if fault is None and old.place.syntax == "bare" and _excess(one) != _excess(other):
            fault = f"{shown(one)} and {shown(other)} differ in the brackets of the text around them"
        if fault is not None:
            self._say("target", f"{_name(old)}: {fault}", old.start, new.start, before, after)

    def _in_part(self, old: Part, new: Part, before: Side, after: Side) -> Iterator[Region]:
        """Yield the regions of an inner entity, mapped to offsets of the outer one."""
        one, other = (inner_at(side.entity, side.numbers[id(part)]) for side, part in ((before, old), (after, new)))
        if one is None or other is None:
            return
        inner, its_inner = (
            _side(inner.entity, _outwards(side, part, inner.offsets))
            for side, part, inner in ((before, old, one), (after, new, other))
        )
        own = [
            Region(field.start - old.start, field.end - old.start, its.start - new.start, its.end - new.start)
            for field, its in zip(old.derived, new.derived, strict=False)
            if old.start <= field.start < old.end
        ]
        regions = self._regions(inner, its_inner, own)
        if one.offsets is None or other.offsets is None:  # encoded as a whole, if its content changed
            if one.entity.data != other.entity.data:
                yield Region(old.start, old.end, new.start, new.end)
            return
        mapped = [
            Region(
                *_mapped(one.offsets, old.start, region.start, region.end),
                *_mapped(other.offsets, new.start, region.new_start, region.new_end),
            )
            for region in regions
        ]
        if hasattr(old.coding, "markup"):
            mapped = [_with_markup(old, region, after.data) for region in mapped]
        if hasattr(old.coding, "wrapped"):
            ends = [Region(at, at, new_at, new_at) for at, new_at in ((old.start, new.start), (old.end, new.end))]
            mapped += _soft_breaks([ends[0], *mapped, ends[1]], before.data, after.data)
            mapped.sort()
        yield from mapped

    def _field_regions(self, pair: Pair, before: Side, after: Side) -> Iterator[Region]:
        """Yield the regions of the derived fields of a part; each must have the value for the new part."""
        old, new = pair
        if not (isinstance(old, Part) and isinstance(new, Part)):
            return
        raw, new_raw = before.data[old.start : old.end], after.data[new.start : new.end]
        if len(old.derived) != len(new.derived):  # a walker derives no field that is wrong
            words = f"a length, digest or checksum of {_name(old)} is no longer right"
            self._say("bytes", words, old.start, new.start, before, after)
        for field, new_field in zip(old.derived, new.derived, strict=False):
            yield Region(field.start, field.end, new_field.start, new_field.end)
            value, new_value = before.data[field.start : field.end], after.data[new_field.start : new_field.end]
            if new_value != (value if raw == new_raw else field.value(new_raw)):
                words = f"a length, digest or checksum of {_name(old)} is wrong: {shown(_excerpt(new_value, 0))}"
                self._say("bytes", words, field.start, new_field.start, before, after)

    def _in_slot(self, coding: Coding, found: list[Region], before: Side, after: Side) -> Region:
        """Return the region of a value that got quotes, and perhaps an equals sign; these are no difference."""
        start, end = coding.slot or (0, 0)
        opening: bytes = coding.settle(b"")[:-1]  # type: ignore[attr-defined]  # a coding with a slot has it
        first, last = found[0], found[-1]
        lead = opening + _quoted(before.data[start : first.start])
        tail = _quoted(before.data[last.end : end]) + b'"'
        region = Region(start, end, first.new_start - len(lead), last.new_end + len(tail))
        right = after.data[region.new_start : first.new_start] == lead
        right = right and after.data[last.new_end : region.new_end] == tail
        for one, other in pairwise(found):
            gap = _quoted(before.data[one.end : other.start])
            right = right and gap == after.data[one.new_end : other.new_start]
        if not right:
            self._say("bytes", "this value differs by more than its quotes", start, region.new_start, before, after)
        return region

    def _between(self, regions: list[Region], before: Side, after: Side) -> list[Region]:
        """Check that the bytes before each region equal the bytes before its counterpart; return all regions.

        Where they differ in mentions only, a region begins and ends there.
        """
        start = new_start = 0
        found: list[Region] = []
        for region in regions:
            old, new = before.data[start : region.start], after.data[new_start : region.new_start]
            if old != new and self._expected.alike(old, new):
                same = _common(old, new)
                rest = _common(old[same:][::-1], new[same:][::-1])
                found.append(Region(start + same, region.start - rest, new_start + same, region.new_start - rest))
            elif old != new:
                same = _common(old, new)
                words = f"{shown(_excerpt(old, same))} before, {shown(_excerpt(new, same))} after"
                self._say("bytes", words, start + same, new_start + same, before, after)
            start, new_start = region.end, region.new_end
            found.append(region)
        return found

    def _check_rebuilt(self, settled: EditOrder, regions: list[Region], before: Side, after: Side) -> None:
        """Check a document whose offsets depend on every edit, as in the directory of a ZIP.

        The changes of the regions are made in the old bytes, and the format settles the rest: the result must be the
        new bytes. All other documents are checked by `_between`.
        """
        changes = [Edit(start, end, after.data[new:new_end]) for start, end, new, new_end in regions]
        changes = [edit for edit in changes if before.data[edit.start : edit.end] != edit.new]
        expected = splice(before.data, [edit for some in settled.edits([changes]) for edit in some])
        if expected != after.data:
            same = _common(expected, after.data)
            words = f"{shown(_excerpt(after.data, same))} after, expected {shown(_excerpt(expected, same))}"
            self._say("bytes", words, min(same, len(before.data)), same, before, after)

    def _unpaired(
        self,
        old: Sequence[Link | Part],
        new: Sequence[Link | Part],
        regions: list[Region],
        before: Side,
        after: Side,
    ) -> None:
        """Add a difference for the first event without a counterpart, where the bytes begin to differ; stop there."""
        _, start, _, new_start = regions[-1] if regions else Region(0, 0, 0, 0)
        ends = [events[0].start if events else len(side.data) for events, side in ((old, before), (new, after))]
        same = _common(before.data[start : ends[0]], after.data[new_start : ends[1]])
        names = [_name(events[0]) if events else "no more links" for events in (old, new)]
        self._say("links", f"{names[0]} before, {names[1]} after", start + same, new_start + same, before, after)

    def _say(self, code: str, words: str, position: int, new_position: int, before: Side, after: Side) -> None:
        self._differences.add_at(code, words, before.outer(position), after.outer(new_position))


def _events(side: Side) -> list[Link | Part]:
    events = list(side.entity.events)
    side.numbers.update((id(event), number) for number, event in enumerate(events))
    found = [event for event in events if isinstance(event, (Link, Part))]
    return sorted(found, key=lambda event: event.start)


def _paired(old: list[Link | Part], new: list[Link | Part]) -> Iterator[Pair]:
    """Yield pairs of events, up to the first pair of different kinds."""
    for one, other in zip(old, new, strict=False):
        if _name(one) != _name(other):
            return
        yield one, other  # type: ignore[misc]  # equal names: both are of one kind


def _name(event: Link | Part) -> str:
    if isinstance(event, Link):
        return f"{event.place.element} {event.place.attribute}".rstrip()
    return f"{event.name or 'a part'} of type {event.media_type}"


def _newly_quoted(pair: Pair) -> Coding | None:
    """Return the coding of a value that had no quotes before and has them after; else None."""
    old, new = pair
    return old.coding if old.coding.slot is not None and new.coding.slot is None else None


def _quoted(raw: bytes) -> bytes:
    return raw.replace(b'"', b"&quot;")


def _changed(old: Link, new: Link, before: bytes, after: bytes) -> Region | None:
    """Return the region of a link without the unchanged bytes at its end; None if all its bytes are equal."""
    raw, new_raw = before[old.start : old.end], after[new.start : new.end]
    if raw == new_raw:
        return None
    if (
        not new_raw and old.coding.slot is None
    ):  # an empty reference is placed after all the white space that was around it
        blanks = len(_BLANKS.match(before, old.end)[0])  # type: ignore[index]  # it matches the empty string, too
        return Region(old.start, old.end, new.start - blanks, new.end - blanks)
    (value, offsets), (new_value, new_offsets) = old.coding.decode_mapped(raw), new.coding.decode_mapped(new_raw)
    if offsets is None or new_offsets is None:
        return Region(old.start, old.end, new.start, new.end)
    same = _common(value[::-1], new_value[::-1])
    while same and not (_is_whole(value, offsets, same) and _is_whole(new_value, new_offsets, same)):
        same -= 1
    kept = new_kept = 0
    if same:
        kept = len(raw) - offsets.start(len(value) - same)
        new_kept = len(new_raw) - new_offsets.start(len(new_value) - same)
        canonical = new.coding.encode(new_value[len(new_value) - same :], after[new.end : new.end + 64])
        if raw == value and raw[-kept:] != new_raw[-new_kept:] == canonical:
            kept = new_kept = 0  # the new context needs an escape, the old one did not
    # A character reference before a link gets its missing semicolon where the link would continue it.
    ended = before[old.start - 1 : old.start].isalnum() and after[new.start - 1 : new.start] == b";"
    return Region(old.start, old.end - kept, new.start - ended, new.end - new_kept)


def _is_whole(value: bytes, offsets: Offsets, size: int) -> bool:
    """Return whether the last `size` bytes of a value begin at a character, and at a unit of the coding."""
    position = len(value) - size
    return offsets.end(position) <= offsets.start(position) and value[position] & 0xC0 != 0x80


def _mapped(offsets: Offsets, by: int, start: int, end: int) -> tuple[int, int]:
    first = offsets.start(start)
    return by + first, by + (offsets.end(end) if end > start else first)


def _with_markup(part: Part, region: Region, after: bytes) -> Region:
    """Return a region with the markup that a rewrite keeps after the new bytes: a comment inside a reference."""
    kept: bytes = part.coding.markup(region.start - part.start, region.end - part.start)  # type: ignore[attr-defined]
    end = region.new_end
    return region._replace(new_end=end + len(kept)) if after.startswith(kept, end) else region


_SOFT_BREAK = re.compile(rb"=\r?\n")


def _soft_breaks(regions: list[Region], before: bytes, after: bytes) -> Iterator[Region]:
    """Yield a region for each soft line break (RFC 2045 6.7) that was added to a changed line, outside the regions.

    The first and the last of `regions` are empty, at the start and end of the part.
    """
    for index, (last, region) in enumerate(pairwise(regions)):
        start, end = last.end, region.start
        line_end = before.find(b"\n", start, end) if index else -1
        line_end = end if index and line_end < 0 else line_end
        line_start = before.rfind(b"\n", start, end) if index < len(regions) - 2 else end
        new_start = last.new_end
        for found in _SOFT_BREAK.finditer(after, new_start, region.new_start):
            size = found.start() - new_start
            if before[start : start + size] != after[new_start : found.start()]:
                break
            start, new_start = start + size, found.end()
            if before.startswith(found[0], start):
                start += len(found[0])
            elif start <= line_end or start > line_start:
                yield Region(start, start, *found.span())


def _outwards(side: Side, part: Part, offsets: Offsets | None) -> Callable[[int], int]:
    """Return a function from offsets in a part to offsets in the document."""
    return lambda position: side.outer(part.start + (offsets.start(position) if offsets is not None else 0))


def _excess(url: str) -> tuple[int, int]:
    """Return the opening minus the closing brackets in a URL, round and square: for example, (-1, 0) in `a)`."""
    return url.count("(") - url.count(")"), url.count("[") - url.count("]")


def _common(one: bytes, other: bytes) -> int:
    """Return the length of the common prefix of two byte strings: for example, 2 for `abc` and `abd`."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _excerpt(data: bytes, position: int) -> str:
    return data[position : position + 40].decode("utf-8", "replace")
