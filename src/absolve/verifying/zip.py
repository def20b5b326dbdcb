"""Second check of ZIP packages: zipfile lists the same members, and only links in them differ.

In: the two entities. Out: differences. A changed member is compared by the second check of its own media type. A member
that zipfile cannot read must be unchanged.

The indexes and descriptions of a WACZ (1.1.1) state offsets, lengths, sizes and digests of other members. json, hashlib
and zlib find that these are right for the new files; those that were wrong before must stay unchanged.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import re
import struct
import zipfile
import zlib
from functools import cache, partial
from typing import TYPE_CHECKING, Any, Final

from absolve.document.walk import inners
from absolve.verifying import faults_inside
from absolve.verifying.differences import Fault, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from absolve.document.entity import Entity
    from absolve.verifying.meant import Meant

    Read = Callable[[str], bytes]

_HEADER: Final = 30  # bytes of a local header before the name; its last two numbers: the sizes of name and extra field
_UNREADABLE: Final = (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, EOFError, OSError, ValueError)


def faults(before: Entity, after: Entity, meant: Meant) -> Iterator[Fault]:
    """Yield the differences between the members that zipfile reads."""
    try:
        with zipfile.ZipFile(io.BytesIO(before.data)) as old, zipfile.ZipFile(io.BytesIO(after.data)) as new:
            yield from _of_archives(old, new, before, after, meant)
    except _UNREADABLE as error:
        yield Fault("unjudged", f"zipfile cannot read this: {error}")


def _of_archives(
    old: zipfile.ZipFile, new: zipfile.ZipFile, before: Entity, after: Entity, meant: Meant
) -> Iterator[Fault]:
    entries, changed = old.infolist(), new.infolist()
    if len(entries) != len(changed) or old.comment != new.comment:
        words = f"{len(entries)} members before, {len(changed)} after, or the archive comment differs"
        yield Fault("tree", f"zipfile: {words}")
        return
    walked = [{inner.part.start: inner.entity for inner in inners(entity)} for entity in (before, after)]
    for entry, its in zip(entries, changed, strict=True):
        starts = _start(before.data, entry), _start(after.data, its)
        if _is_same(before.data, after.data, starts, (entry, its)):
            continue
        inside = walked[0].get(starts[0]), walked[1].get(starts[1])
        if max(entry.file_size, its.file_size) > before.settings.max_decompressed:
            text = f"zipfile: more bytes come out of it than --max-decompressed (member {shown(entry.filename)})"
            yield Fault("unjudged", text)
            continue
        for fault in _of_members(old, new, (entry, its), inside, meant):
            yield Fault(fault.code, f"zipfile: {fault.text} (member {shown(entry.filename)})")


def _of_members(
    old: zipfile.ZipFile,
    new: zipfile.ZipFile,
    entries: tuple[zipfile.ZipInfo, zipfile.ZipInfo],
    inside: tuple[Entity | None, Entity | None],
    meant: Meant,
) -> Iterator[Fault]:
    if _facts(entries[0]) != _facts(entries[1]):
        yield Fault("attribute", "its entry in the central directory differs")
    contents = [_content(archive, entry) for archive, entry in zip((old, new), entries, strict=True)]
    if contents[0] == contents[1] or _is_about_others(entries[0].filename, old, new):
        return
    one, other = inside
    if one is None or other is None or contents != [one.data, other.data]:
        yield Fault("bytes", "its content differs, or cannot be read in one of the documents")
    else:
        yield from faults_inside(one, other, meant, "member")


def _is_same(
    before: bytes, after: bytes, starts: tuple[int, int], entries: tuple[zipfile.ZipInfo, zipfile.ZipInfo]
) -> bool:
    """Return whether two members are the same bytes, compressed: then nothing need come out of them."""
    (start, start_after), (one, other) = starts, entries
    if (one.CRC, one.file_size, _facts(one)) != (other.CRC, other.file_size, _facts(other)):
        return False
    piece = memoryview(before)[start : start + one.compress_size]
    return piece == memoryview(after)[start_after : start_after + other.compress_size]


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


def _start(data: bytes, entry: zipfile.ZipInfo) -> int:
    """Return the offset of the data of a member, by its local header. Raise BadZipFile for one that is not there."""
    if not 0 <= entry.header_offset <= len(data) - _HEADER:
        raise zipfile.BadZipFile("a member begins outside of it")
    sizes = struct.unpack_from("<HH", data, entry.header_offset + _HEADER - 4)
    return int(entry.header_offset + _HEADER + sum(sizes))


# --- WACZ -------------------------------------------------------------------------------------------------------------

_MOVING: Final = {"offset", "length", "digest", "recordDigest"}
_RECORD_ID: Final = re.compile(rb"(?im)^WARC-Record-ID:[^\n]*|^[a-z]+://[^\n]* [0-9]{14} ")
_LOOKED_AT: Final = 1 << 16


def _is_about_others(name: str, old: zipfile.ZipFile, new: zipfile.ZipFile) -> bool:
    """Return whether this is an index or description of a WACZ with the right values for the new files."""
    read, read_new = (cache(partial(_read, archive)) for archive in (old, new))
    try:
        if name.startswith("indexes/"):
            return _is_right_index(name, read, read_new)
        one, other = json.loads(read(name)), json.loads(read_new(name))
        if name == "datapackage-digest.json":
            one, other = {"resources": [one]}, {"resources": [other]}
        elif name != "datapackage.json":
            return False
        return _is_right_description(one, other, read, read_new)
    except (*_UNREADABLE, KeyError, TypeError, AttributeError):
        return False


def _read(archive: zipfile.ZipFile, name: str) -> bytes:
    """Return the content of a member; raise KeyError for one that is missing or cannot be read."""
    content = _content(archive, archive.getinfo(name))
    if content is None:
        raise KeyError(name)
    return content


def _is_right_description(old: Any, new: Any, read: Read, read_new: Read) -> bool:
    """Return whether two descriptions are equal except for digests and sizes, and these are right."""
    for resource, its in zip(old.get("resources", []), new.get("resources", []), strict=True):
        for stated, now in ((resource, its), (resource.get("stats", {}), its.get("stats", {}))):
            path = resource.get("path")
            for key in {"hash", "bytes"} & stated.keys() & now.keys():
                was, value = stated.pop(key), now.pop(key)
                if not (_says(value, path, read_new) if _says(was, path, read) else was == value):
                    return False
    return bool(old == new)


def _says(value: Any, path: Any, read: Read) -> bool:
    """Return whether this is the size or digest of a file."""
    try:
        content = read(path)
    except KeyError:
        return False
    if isinstance(value, int):
        return value == len(content)
    label, _, digest = str(value).rpartition(":")
    return any(hashlib.new(name, content).hexdigest() == digest for name in ([label] if label else ["sha256", "md5"]))


def _is_right_index(name: str, old: Read, new: Read) -> bool:
    """Return whether two indexes have equal entries, and each refers to the same record or block as before."""
    about = name.removesuffix(".idx") + ".cdx.gz"
    for line, its in zip(_lines(name, old(name)), _lines(name, new(name)), strict=True):
        key, _, text = line.partition("{")
        its_key, _, its_text = its.partition("{")
        entry, now = (json.loads(f"{{{rest}") if rest else {} for rest in (text, its_text))
        steady, its_steady = ({key: it for key, it in one.items() if key not in _MOVING} for one in (entry, now))
        if key != its_key or steady != its_steady:
            return False
        about = str(entry.get("filename") or about)
        if "offset" in entry and _leads(entry, old, about) not in {None, _leads(now, new, about)}:
            return False
    return True


def _lines(name: str, data: bytes) -> list[str]:
    return (gzip.decompress(data) if name.endswith(".gz") else data).decode("utf-8", "replace").splitlines()


def _leads(entry: Any, read: Read, about: str) -> tuple[bytes, bool] | None:
    """Return an identifier of the data that an entry refers to, and whether its digest is right; None for no data."""
    raw = next(_found(read, about), b"")[int(entry["offset"]) :][: int(entry["length"])]
    value = raw[:_LOOKED_AT]
    if raw.startswith(b"\x1f\x8b"):
        machine = zlib.decompressobj(31)
        value = machine.decompress(raw)
        if not machine.eof:
            return None
    record = _RECORD_ID.search(value)
    digest = str(entry.get("recordDigest") or "").rpartition(":")[2]
    is_right = digest == hashlib.sha256(raw).hexdigest()
    return (record[0] if record else value.partition(b"{")[0], is_right) if value else None


def _found(read: Read, name: str) -> Iterator[bytes]:
    for folder in ("archive/", "indexes/", ""):
        try:
            yield read(folder + name)
        except KeyError:
            continue
