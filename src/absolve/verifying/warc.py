"""Second check of WARC (ISO 28500) and ARC files: warcio reads the same records, equal except for the links.

In: the two entities. Out: differences. The block of a changed record is compared by the second check of its own media
type. Without warcio this check is skipped.
"""

from __future__ import annotations

import gzip
import io
import zlib
from collections import deque
from contextlib import redirect_stderr
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from absolve.document.walk import inners
from absolve.formats import registry
from absolve.verifying import faults_inside
from absolve.verifying.differences import Fault, shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from absolve.document.entity import Entity
    from absolve.verifying.meant import Meant

    _Inside = tuple[bytes, Entity]

_LENGTHS: Final = frozenset({"content-length", "length"})  # of WARC, and of ARC
_DERIVED: Final = _LENGTHS | {"warc-block-digest", "warc-payload-digest"}
_ANOTHER: Final = Fault("tree", "its block differs")
_ZSTANDARD: Final = b"\x28\xb5\x2f\xfd"


class _Record(NamedTuple):
    """A record as warcio reads it; `digests`: whether they are right, None if there are none."""

    url: str
    fields: list[tuple[str, str]]
    block: bytes
    digests: bool | None

    @property
    def others(self) -> list[tuple[str, str]]:
        """Return the fields that do not depend on the block."""
        return [(name, value) for name, value in self.fields if name.lower() not in _DERIVED]


def faults(before: Entity, after: Entity, meant: Meant) -> Iterator[Fault]:
    """Yield the differences between the records that warcio reads; none if it is not installed."""
    try:
        import warcio  # noqa: F401 - to test whether it is installed
    except ImportError:
        return
    try:
        old, new = (_records(entity.data) for entity in (before, after))
    except (OSError, EOFError, ValueError, AttributeError, zlib.error) as error:  # e.g. for a response without a URL
        yield Fault("unjudged", f"warcio cannot read this: {error}")
        return
    if len(old) != len(new):
        yield Fault("tree", f"warcio: {len(old):,} records before, {len(new):,} after")
        return
    inside, its_inside = (deque(_insides(entity)) for entity in (before, after))
    pairs = zip(old, new, strict=True)
    found = [(old.url, fault) for old, new in pairs for fault in _of_records(old, new, inside, its_inside, meant)]
    unseen = inside or its_inside  # if any are left, warcio and absolve disagree on the records
    for url, fault in found:
        if not (unseen and fault is _ANOTHER):
            yield Fault(fault.code, f"warcio: {fault.text} (in the record of {url})")
    if unseen:
        yield Fault("unjudged", "warcio does not see all records that absolve has read")


def _records(data: bytes) -> list[_Record]:
    """Return all records up to the first that warcio cannot read."""
    if data.startswith(_ZSTANDARD):
        import zstandard

        with zstandard.ZstdDecompressor().stream_reader(data, read_across_frames=True) as reader:
            data = reader.read()
    blocks, whole = _read(data, no_record_parse=True)
    if not whole and data.startswith(b"\x1f\x8b"):  # warcio requires one record in each member
        data = gzip.decompress(data)
        blocks, _ = _read(data, no_record_parse=True)
    parsed, _ = _read(data, check_digests=True)
    digests = [record.digest_checker.passed for record, _ in parsed]
    return [
        _Record(_url(record), list(record.rec_headers.headers), block, passed)
        for (record, block), passed in zip(blocks, digests, strict=False)
    ]


def _read(data: bytes, **options: bool) -> tuple[list[tuple[Any, bytes]], bool]:
    """Return each record with its unparsed bytes, and whether warcio read the file to its end."""
    from warcio.archiveiterator import ArchiveIterator
    from warcio.exceptions import ArchiveLoadFailed

    found: list[tuple[Any, bytes]] = []
    with redirect_stderr(io.StringIO()):  # warcio prints its warnings
        try:
            found.extend((record, record.raw_stream.read()) for record in ArchiveIterator(io.BytesIO(data), **options))
        except ArchiveLoadFailed:
            return found, False
    return found, True


def _url(record: Any) -> str:
    names = ("WARC-Target-URI", "uri", "WARC-Record-ID")
    return str(next((value for name in names if (value := record.rec_headers.get_header(name))), "no URL"))


def _insides(entity: Entity) -> Iterator[_Inside]:
    """Yield each block that absolve has read, and its entity."""
    for part, inner, _ in inners(entity):
        if inner.media_type == registry.RECORDS:
            yield from _insides(inner)
        else:
            yield entity.data[part.start : part.end], inner


def _of_records(
    old: _Record, new: _Record, inside: deque[_Inside], its_inside: deque[_Inside], meant: Meant
) -> Iterator[Fault]:
    """Yield the differences between two records; take their entities, if they are the next that absolve has read."""
    is_read = inside and its_inside and (inside[0][0], its_inside[0][0]) == (old.block, new.block)
    walked = (inside.popleft()[1], its_inside.popleft()[1]) if is_read else None
    if old.block == new.block:
        if old.fields != new.fields:
            yield Fault("attribute", f"its header differs: {_first(old.fields, new.fields)}")
        return
    if old.others != new.others:
        yield Fault("attribute", f"its header differs: {_first(old.others, new.others)}")
    for (name, length), (_, value) in zip(old.fields, new.fields, strict=False):
        expected = str(len(new.block)) if length == str(len(old.block)) else length
        if name.lower() in _LENGTHS and value != expected:
            yield Fault("attribute", f"its {name} changed to {shown(value)}, expected {shown(expected)}")
    if old.digests is True and new.digests is not True:
        yield Fault("attribute", "its digests were right before, and are wrong after")
    if walked is None:
        yield _ANOTHER
    else:
        yield from faults_inside(*walked, meant)


def _first(old: list[tuple[str, str]], new: list[tuple[str, str]]) -> str:
    """Return a text for the first field that differs."""
    pairs = ((one, other) for one, other in zip(old, new, strict=False) if one != other)
    one, other = next(pairs, (("", ""), ("", "")))
    return f"{shown(': '.join(one))} before, {shown(': '.join(other))} after"
