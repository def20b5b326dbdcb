"""Update offsets and derived fields of a ZIP central directory after edits (APPNOTE.TXT 6.3.10, 4.3.12 to 4.3.16).

In: the edits of the members, in batches. Out: the same edits, then those of the central directory and its end records.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from operator import attrgetter
from typing import TYPE_CHECKING, Final

from absolve.core.model import Edit

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from absolve.formats.zip.directory import Archive, Place
    from absolve.formats.zip.members import Field

    Edits = Iterator[list[Edit]]

_START: Final = attrgetter("start")
_SOME: Final = 1000  # edits in a batch


def settled(data: bytes, archive: Archive, edits: Iterable[list[Edit]]) -> Edits:
    """Yield the edits in order, with those of the offset fields of everything that moves.

    `edits` come in batches; those before the central directory are in order across batches. Edits of the directory
    are applied to a copy of it at once, because there may be many for each entry, and are yielded last.
    """
    directory = _Directory(data, archive)
    for some in directory.before(edits):
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
    """The edited central directory, and the shift in bytes of each target of its offset fields."""

    def __init__(self, data: bytes, archive: Archive) -> None:
        self._data = data
        self._archive = archive
        self._start = archive.directory
        self._made = bytearray(memoryview(data)[self._start :])
        self._targets = array("q", sorted([*archive.headers, *(place.target for place in archive.places)]))
        self._shifts = array("q")  # of the targets before the last edit, by their numbers
        self._shift = 0  # of all targets after them

    def before(self, edits: Iterable[list[Edit]]) -> Edits:
        """Yield the edits before the directory; apply those inside it."""
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
        """Shift all targets after these edits, which are before the directory and after all earlier ones."""
        for edit in edits:
            while len(self._shifts) < len(self._targets) and self._targets[len(self._shifts)] < edit.end:
                self._shifts.append(self._shift)
            self._shift += len(edit.new) - (edit.end - edit.start)

    def edits(self) -> Edits:
        """Yield the edits of each entry, then those of the end records, in order."""
        for fields, place in self._archive.fields:
            yield sorted([*self._renewed(fields), *self._moved(place)], key=_START)
        for place in self._archive.places:
            yield [*self._moved(place)]

    def _renewed(self, fields: list[Field]) -> list[Edit]:
        """Return edits of all derived fields of an entry if one of them changed, else no edits."""
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
