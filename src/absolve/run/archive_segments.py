"""Read a WARC or ARC file record by record, in memory proportional to its largest record.

Input: an open file, or a byte range of it. Output: a `Segment` for each record or for the bytes between records; each
record is walked as a document of its own. The segments in order are the whole file.
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
from absolve.run.segments import Segment, internal_error

if TYPE_CHECKING:
    from collections.abc import Iterator

    from absolve.core.model import Finding
    from absolve.document.walk import Settings
    from absolve.formats.warc.reader import RawSegment


def ranges(file: IO[bytes], settings: Settings, size: int) -> Iterator[ArchiveRange]:
    """Yield ranges of `size` bytes or slightly more that can be processed independently.

    This reads and decompresses the whole archive, but parses only the headers of records. Bytes that cannot be read
    belong to the last range, whose task reports them.
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
    """Advance `course` to the first record at or behind `end`, counting the documents up to there."""
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
    """Return the number of documents in the records of one raw segment, as paths of entities count them."""
    walker = registry.walker(registry.RECORDS)
    if walker is None:
        return 0
    settings = settings._replace(documents=False)  # those without a walker have no number
    documents = sum(type(event) is Part for event in walker(records, charsets.UTF_8, settings))
    return documents if settings.max_depth and documents <= settings.max_links else 0  # else no document is entered


def _is_dictionary(piece: RawSegment) -> bool:
    """Return whether a segment is a Zstandard dictionary, without which the following bytes cannot be read."""
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
    """Yield the segments of an archive, or of a range of it, in order; together they are all its bytes.

    A range begins with a record and includes the bytes behind its last record, up to the next record, whose offset
    `course` has at the end. Behind a Zstandard dictionary the range extends to the end of the file.

    `url` is the retrieval URL that the user gives for all records; `url_source` names the option. Bytes that cannot be
    read are reported and yielded unchanged; a record larger than the settings allow is yielded in several segments. A
    record without links is not walked, unless `every` is true; a record at the start of the file is always walked,
    since diagnostics about the whole archive belong to it.
    """
    seen = not every and settings.max_depth > 0 and settings.max_links > 0  # else each record has a diagnostic
    if within.start:
        file.seek(within.start)
    before = within.before or 0
    end = within.end
    position = END
    most = settings.max_size
    for piece in pieces(file, settings.max_decompressed, start=within.start):
        if piece.records is None:
            if _is_dictionary(piece):
                end = END
            yield Segment(piece.raw, diagnostics=tuple(_diagnostic(finding, name) for finding in piece.findings))
            continue
        if piece.offset >= end:
            position = piece.offset
            break
        if piece.offset and seen and len(piece.records) <= most:
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
            yield Segment(piece.raw, diagnostics=(internal_error(error, document),))
            continue
        before = entity.named
        yield new(Segment, (piece.raw, document, entity, piece.coding, tuple(entity.diagnostics)))
    if course is not None:
        course.position = position
        course.before = before


def _diagnostic(finding: Finding, name: str) -> Diagnostic:
    return Diagnostic(finding.code, f"{finding.text}, at byte {finding.position}", name, failed=finding.failed)


class _Origin:
    """Map an offset in a record to an offset in the file; in a compressed record all map to the record's start."""

    def __init__(self, offset: int, *, exact: bool) -> None:
        self._offset = offset
        self._exact = exact

    def __call__(self, position: int) -> int:
        return self._offset + position if self._exact else self._offset
