"""Archives worked on record by record: a WARC or ARC file of any size, in the memory that its largest record takes.

Each record is a document of its own, walked and rewritten as such; the file is what they are one behind the other.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import IO, TYPE_CHECKING

from absolve.core.errors import FAULTS, Diagnostic, DocumentError
from absolve.core.model import Document, Part, new
from absolve.document.walk import walk
from absolve.encodings import charsets
from absolve.formats import registry
from absolve.formats.warc.reader import DICTIONARY, pieces
from absolve.formats.warc.walker import bare
from absolve.run.archive_ranges import END, WHOLE, ArchiveRange, Progress
from absolve.run.segments import Segment, said_of_fault

if TYPE_CHECKING:
    from collections.abc import Iterator

    from absolve.core.model import Finding
    from absolve.document.entity import Entity
    from absolve.document.walk import Settings
    from absolve.formats.warc.reader import RawSegment


def ranges(file: IO[bytes], settings: Settings, size: int) -> Iterator[ArchiveRange]:
    """An archive as ranges of `size` bytes or somewhat more, that can be worked on one without the other.

    All of it is read and decompressed for that, but of its records only the heads are looked at. What cannot be read
    is in the last of them, and said where that is worked on.
    """
    start = at_start = before = 0
    with suppress(OSError, ValueError, DocumentError):
        for piece in pieces(file, settings.max_decompressed):
            if _is_dictionary(piece):
                break
            if piece.records is None or len(piece.records) > settings.max_size:
                continue
            if piece.offset - start >= size:
                yield ArchiveRange(start, piece.offset, at_start)
                start, at_start = piece.offset, before
            before += _documents(piece.records, settings)
    yield ArchiveRange(start, END, at_start)


def counted(file: IO[bytes], settings: Settings, course: Progress, end: int) -> None:
    """Go on to the first record at `end` or behind, with nothing but the count of the documents that are passed."""
    file.seek(course.position)
    position = END
    for piece in pieces(file, settings.max_decompressed, start=course.position):
        if piece.records is not None:
            if piece.offset >= end:
                position = piece.offset
                break
            if len(piece.records) <= settings.max_size:
                course.before += _documents(piece.records, settings)
        elif _is_dictionary(piece):
            end = END
    course.position = position


def _documents(records: bytes, settings: Settings) -> int:
    """How many documents are numbered in what a piece of an archive holds."""
    walker = registry.walker(registry.RECORDS)
    if walker is None:
        return 0
    documents = sum(type(event) is Part for event in walker(records, charsets.UTF_8, settings))
    return documents if settings.max_depth and documents <= settings.max_links else 0  # else none is entered


def _is_dictionary(piece: RawSegment) -> bool:
    """Whether what comes behind cannot be read without this."""
    return piece.records is None and piece.raw[:4] == DICTIONARY


def stretches(
    file: IO[bytes],
    name: str,
    settings: Settings,
    url: str | None = None,
    url_source: str = "--url",
    within: ArchiveRange = WHOLE,
    *,
    course: Progress | None = None,
    every: bool = False,
) -> Iterator[Segment]:
    """The stretches of an archive that is open for bytes, which are all of it, or of a range of it, in order.

    The range begins with a record; what stands behind its last one is of it, up to where the next one begins, and when
    all is given `course` says where. Behind a dictionary of Zstandard all is of it.

    `url` is the retrieval URL that the user gives for all its records; `url_source` names the option. What cannot be
    read is reported, and stays; a record too large for the settings is yielded in several segments. A record that has
    no links is not walked, unless `every` is true; the first always is, since facts about the whole archive are found
    there.
    """
    seen = not every and settings.max_depth > 0 and settings.max_links > 0  # else something is said of every record
    if within.start:
        file.seek(within.start)
    before = within.before or 0
    end = within.end
    position = END
    most = settings.max_size
    entity: Entity | None = None
    for piece in pieces(file, settings.max_decompressed, start=within.start):
        if piece.records is None:
            if _is_dictionary(piece):
                end = END
            yield Segment(piece.raw, diagnostics=tuple(_said(finding, name) for finding in piece.findings))
            continue
        if piece.offset >= end:
            position = piece.offset
            break
        if entity is not None and seen and len(piece.records) <= most:
            documents = bare(piece.records, settings)
            if documents >= 0:
                before += documents
                yield new(Segment, (piece.raw, None, None, None, ()))
                continue
        document = Document(
            piece.records,
            name=name,
            media_type=registry.RECORDS,
            url=url,
            before=before,
            origin=_Origin(piece.offset, exact=piece.coding is None),
        )
        document.url_source = url_source
        try:
            entity = walk(document, settings)
        except DocumentError as error:
            yield Segment(piece.raw, diagnostics=(error.diagnostic._replace(failed=True),))
            continue
        except FAULTS as error:
            if sys.flags.dev_mode:
                raise
            yield Segment(piece.raw, diagnostics=(said_of_fault(error, document),))
            continue
        before = entity.named
        yield new(Segment, (piece.raw, document, entity, piece.coding, tuple(entity.diagnostics)))
    if course is not None:
        course.position = position
        course.before = before


def _said(finding: Finding, name: str) -> Diagnostic:
    return Diagnostic(finding.code, f"{finding.text}, at byte {finding.position}", name, failed=finding.failed)


class _Origin:
    """Where a byte of a record stands in the file: not known within what is compressed."""

    def __init__(self, offset: int, *, exact: bool) -> None:
        self._offset = offset
        self._exact = exact

    def __call__(self, position: int) -> int:
        return self._offset + position if self._exact else self._offset
