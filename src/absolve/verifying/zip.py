"""Second check of ZIP packages: zipfile lists the same members, and only links in them differ.

In: the two entities. Out: differences. A changed member is compared by the second check of its own media type. A member
that zipfile cannot read must be unchanged.
"""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from typing import TYPE_CHECKING, Final

from absolve.document.walk import inners
from absolve.verifying import judge, wacz
from absolve.verifying.differences import Differences, shown

if TYPE_CHECKING:
    from collections.abc import Callable

    from absolve.document.entity import Entity
    from absolve.verifying.meant import Meant

_HEADER: Final = 30  # bytes of a local header before the name; its last two numbers: the sizes of name and extra field
_UNREADABLE: Final = (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, EOFError, OSError, ValueError)


def compare(before: Entity, after: Entity, meant: Meant, differences: Differences) -> None:
    """Add the differences between the members that zipfile reads."""
    found = _Judge(before, after, meant, differences)
    try:
        with zipfile.ZipFile(io.BytesIO(before.data)) as one, zipfile.ZipFile(io.BytesIO(after.data)) as other:
            found.archives(one, other)
    except _UNREADABLE as error:
        differences.add("unjudged", f"zipfile cannot read this: {error}", None, None)


class _Judge:
    def __init__(self, before: Entity, after: Entity, meant: Meant, differences: Differences) -> None:
        self._sides = [
            (entity.data, {inner.part.start: inner.entity for inner in inners(entity)}) for entity in (before, after)
        ]
        self._meant = meant
        self._differences = differences

    def archives(self, old: zipfile.ZipFile, new: zipfile.ZipFile) -> None:
        """Add the differences between two archives."""
        entries, changed = old.infolist(), new.infolist()
        if len(entries) != len(changed) or old.comment != new.comment:
            words = f"{len(entries)} members before, {len(changed)} after, or the archive comment differs"
            self._differences.add("tree", f"zipfile: {words}", None, None)
            return
        for entry, its in zip(entries, changed, strict=True):
            if _facts(entry) != _facts(its):
                self._say("attribute", "its entry in the central directory differs", entry)
            one, other = (_content(archive, item) for archive, item in ((old, entry), (new, its)))
            if one != other and not self._is_about_others(entry.filename, old, new):
                self._member(one, other, entry, its)

    def _is_about_others(self, name: str, old: zipfile.ZipFile, new: zipfile.ZipFile) -> bool:
        """Return whether this is an index or description of a WACZ with the right values for the new files."""
        try:
            return wacz.fault(name, _reader(old), _reader(new)) is None
        except (*_UNREADABLE, KeyError, TypeError, AttributeError):
            return False

    def _member(self, one: bytes | None, other: bytes | None, entry: zipfile.ZipInfo, its: zipfile.ZipInfo) -> None:
        inside = [_inside(*side, item) for side, item in zip(self._sides, (entry, its), strict=True)]
        if inside[0] is None or inside[1] is None or (one, other) != (inside[0].data, inside[1].data):
            self._say("bytes", "its content differs, or cannot be read in one of the documents", entry)
            return
        found = Differences(inside[0], inside[1])
        judge(inside[0], inside[1], self._meant, found)
        for diagnostic in found.diagnostics:
            self._say(
                diagnostic.code, f"at {diagnostic.line}:{diagnostic.column} of this member: {diagnostic.text}", entry
            )

    def _say(self, code: str, words: str, entry: zipfile.ZipInfo) -> None:
        self._differences.add(code, f"zipfile: {words} (member {shown(entry.filename)})", None, None)


def _facts(entry: zipfile.ZipInfo) -> list[object]:
    """Return the values of a directory entry, without offset, sizes and checksum."""
    moving = {"CRC", "compress_size", "file_size", "header_offset", "_raw_time", "_end_offset", "extra"}
    facts = [getattr(entry, name, None) for name in entry.__slots__ if name not in moving]
    return [*facts, len(entry.extra)]  # only the length, because the sizes may be in it (ZIP64)


def _content(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> bytes | None:
    """Return the content of a member, its checksum verified; None where it cannot be read."""
    try:
        return archive.read(entry)
    except _UNREADABLE:
        return None


def _reader(archive: zipfile.ZipFile) -> Callable[[str], bytes]:
    """Return a function that reads a member by name; it raises KeyError for one that is missing or cannot be read."""

    def read(name: str) -> bytes:
        content = _content(archive, archive.getinfo(name))
        if content is None:
            raise KeyError(name)
        return content

    return read


def _inside(data: bytes, walked: dict[int, Entity], entry: zipfile.ZipInfo) -> Entity | None:
    """Return the entity of a member from `walked`, by the offset of its data; None where absolve does not read it."""
    sizes = struct.unpack_from("<HH", data, entry.header_offset + _HEADER - 4)
    return walked.get(entry.header_offset + _HEADER + sum(sizes))
