"""Split inputs into segments: a WARC or ARC file into its records, any other document is one segment.

Input: an `Input`. Output: its `Segment`s with diagnostics; or an archive as several inputs with byte ranges, for
parallel work.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from absolve.core.errors import DocumentError
from absolve.document.reporting import about_bases, overruled
from absolve.formats import registry
from absolve.run import sources
from absolve.run.archive_ranges import END, ArchiveRange
from absolve.run.load import empty, walked
from absolve.run.results import Failure
from absolve.run.segments import Segment, internal_error

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from absolve.core.errors import Diagnostic
    from absolve.run.archive_ranges import Progress
    from absolve.run.inputs import Input
    from absolve.run.load import ReadOptions

LARGE: Final = 16 << 20  # bytes: a smaller archive is done sooner than worker processes start
RANGE: Final = 2 << 20  # minimum size in bytes of a range for a local process
LONGEST: Final = 8 << 20  # maximum: larger ranges wait less for each other, but need more memory for buffers
EACH: Final = 16  # ranges per process, between these sizes, so that all processes have work up to the end


def is_archive(input_: Input, how: ReadOptions, head: bytes | None = None) -> bool:
    """Return whether an input is a WARC or ARC file; `head` are its first bytes, if they are read already.

    Raise DocumentError if it cannot be read.
    """
    if how.media_type is not None:
        return registry.essence_of(how.media_type)[0] == registry.WARC
    if head is None:
        head = sources.head(input_.name)
    return registry.sniff(head, input_.name) == registry.WARC


def cut(input_: Input, how: ReadOptions, size: int) -> Iterator[Input]:
    """Yield an input, or, for an archive of more than `size` bytes, an input for each range of about that size.

    This reads and decompresses the whole archive, so that each range can be listed independently.
    """
    try:
        if Path(input_.name).stat().st_size <= size or not is_archive(input_, how):
            yield input_
            return
        from absolve.run.archive_segments import ranges  # imports the WARC reader, which few inputs need

        with sources.opened(input_.name) as file:
            for within in ranges(file, how.settings, size):
                yield input_._replace(within=within)
    except (OSError, ValueError, DocumentError):  # cannot be opened: the task reports it
        yield input_


def spread(found: Iterable[Input], how: ReadOptions, jobs: int) -> Iterator[Input]:
    """Yield inputs for `jobs` processes: large archives are cut into ranges at arbitrary offsets, without reading them.

    The first record of each range but the first is unknown: the task searches for it (`archive_turns`).
    """
    for input_ in found:
        size = _size(input_, how) if jobs > 1 else 0
        if not size:
            yield input_
            continue
        step = min(max(size // (EACH * jobs), RANGE), LONGEST)
        for start in range(0, size, step):
            end = start + step if start + step < size else END
            yield input_._replace(within=ArchiveRange(start, end, None if start else 0))


def _size(input_: Input, how: ReadOptions) -> int:
    """Return the size in bytes of a large archive that can be cut at any offset; 0 for any other input.

    Zstandard frames may need a dictionary at the start of the file, so such archives cannot be cut.
    """
    try:
        size = os.stat(input_.name).st_size  # noqa: PTH116 - faster, for very many
        if size <= LARGE:
            return 0
        head = sources.head(input_.name)
        if not is_archive(input_, how, head):
            return 0
        from absolve.formats.compression import ZSTD_FRAME, is_skippable

        is_cut = not head.startswith(ZSTD_FRAME) and not is_skippable(head[:4])
    except (OSError, ValueError, DocumentError):  # cannot be opened: the task reports it
        return 0
    return size if is_cut else 0


def each(
    input_: Input, how: ReadOptions, course: Progress | None = None, *, every: bool = False, head: bytes | None = None
) -> Iterator[Segment]:
    """Yield the segments of an input, in order, with their diagnostics.

    `every` and, for an archive, `course`: see `archive_segments.stretches`. `head`: see `is_archive`.
    """
    if is_archive(input_, how, head):
        yield from _records(input_, how, course, every=every)
    else:
        document, entity, diagnostics = walked(input_, how)
        yield Segment(document.data, document, entity, diagnostics=tuple(diagnostics))


def left(segment: Segment, error: Exception) -> Failure:
    """Return the failure of a record, which is left unchanged; re-raise the error if the segment is the whole input."""
    record = segment.document
    if record is None or record.origin is None or (sys.flags.dev_mode and not isinstance(error, DocumentError)):
        raise error
    if isinstance(error, DocumentError):
        return Failure(error.diagnostic, error.excerpt)
    return Failure(internal_error(error, record))


def _records(input_: Input, how: ReadOptions, course: Progress | None, *, every: bool) -> Iterator[Segment]:
    from absolve.run.archive_segments import stretches

    reported: set[Diagnostic] = set()  # over all records: diagnostics about bases have no position in the file
    is_empty, asks = True, input_.shares and input_.url is not None
    with sources.opened(input_.name) as file:
        named = (input_.name, how.settings, input_.url, input_.url_source)
        for segment in stretches(file, *named, input_.within, course=course, every=every):
            is_empty = False
            about = {} if segment.entity is None else dict.fromkeys(about_bases(segment.entity))
            new = tuple(diagnostic for diagnostic in about if diagnostic not in reported)
            if asks and segment.entity is not None and (lost := overruled(segment.entity)):
                asks = False  # one record stands for all
                new = (*new, *lost)
            reported.update(new)
            yield segment._replace(diagnostics=(*segment.diagnostics, *new)) if new else segment
    if is_empty:
        yield Segment(b"", diagnostics=(empty(input_),))
