"""What in a ZIP file says where something stands (APPNOTE.TXT 6.3.10): it follows what is put into the members."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from operator import attrgetter
from typing import TYPE_CHECKING, Final

from absolve.core.model import Edit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from absolve.formats.zip.directory import Archive, Place
    from absolve.formats.zip.members import Field

    Edits = Iterator[list[Edit]]

_START: Final = attrgetter("start")
_SOME: Final = 1000  # edits that are given at a time


def settled(
    data: bytes, archive: Archive, edits: Iterable[list[Edit]], follow: Callable[[Edits], Edits] | None = None
) -> Edits:
    """The edits in order, with those of the fields that say where what moves by them stands.

    They come some at a time, those before the central directory in order from one time to the next. Those of the
    directory are held until it is come to, as what they make of it: there may be many for each of its entries.
    `follow` gives those before it with more that they bring about.
    """
    directory = _Directory(data, archive)
    before = directory.before(edits)
    if follow is not None:
        before = directory.before(follow(before))
    for some in before:
        directory.move(some)
        yield some
    found: list[Edit] = []
    for changed in directory.edits():
        found += changed
        if len(found) >= _SOME:
            yield found
            found = []
    if found:
        yield found


class _Directory:
    """The central directory as it becomes, and how far moves what it says the place of."""

    def __init__(self, data: bytes, archive: Archive) -> None:
        self._data = data
        self._archive = archive
        self._start = archive.directory
        self._made = bytearray(memoryview(data)[self._start :])
        self._targets = array("q", sorted([*archive.headers, *(place.target for place in archive.places)]))
        self._shifts = array("q")  # of as many of them as the edits have come to,
        self._shift = 0  # and of what is behind these

    def before(self, edits: Iterable[list[Edit]]) -> Edits:
        """Those of what stands before it; those of its fields are made."""
        for some in edits:
            found: list[Edit] = []
            for edit in sorted(some, key=_START):
                if edit.start < self._start:
                    found.append(edit)
                else:
                    self._made[edit.start - self._start : edit.end - self._start] = edit.new
            if found:
                yield found

    def move(self, edits: list[Edit]) -> None:
        """Let move what is behind edits before it, which stand behind all those that came already."""
        for edit in edits:
            while len(self._shifts) < len(self._targets) and self._targets[len(self._shifts)] < edit.end:
                self._shifts.append(self._shift)
            self._shift += len(edit.new) - (edit.end - edit.start)

    def edits(self) -> Edits:
        """The edits of each entry that changes, and of the end, in order."""
        for fields, place in self._archive.fields:
            yield sorted([*self._renewed(fields), *self._moved(place)], key=_START)
        for place in self._archive.places:
            yield [*self._moved(place)]

    def _renewed(self, fields: list[Field]) -> list[Edit]:
        """Of a member that changed all fields change."""
        found = [Edit(start, start + width, self._new(start, width)) for _, start, width in fields]
        return found if any(self._data[edit.start : edit.end] != edit.new for edit in found) else []

    def _new(self, start: int, width: int) -> bytes:
        start -= self._start
        return bytes(self._made[start : start + width])

    def _moved(self, place: Place) -> Iterator[Edit]:
        start, width, target = place
        index = bisect_left(self._targets, target)
        shift = self._shifts[index] if index < len(self._shifts) else self._shift
        if shift:
            yield Edit(start, start + width, (target - self._archive.start + shift).to_bytes(width, "little"))
