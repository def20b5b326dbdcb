"""Inputs as stretches: a WARC or ARC file is worked on record by record, any other document is one stretch."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from absolve.core.errors import DocumentError
from absolve.formats import registry
from absolve.run import sources
from absolve.run.archive_ranges import END, ArchiveRange
from absolve.run.load import about_bases, empty, walked
from absolve.run.results import Failure
from absolve.run.segments import Segment, said_of_fault

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from absolve.core.errors import Diagnostic
    from absolve.run.archive_ranges import Progress
    from absolve.run.inputs import Input
    from absolve.run.load import ReadOptions

LARGE: Final = 16 << 20  # bytes: what fewer take is less than what starting processes does
RANGE: Final = 2 << 20  # bytes of a larger archive that a process of this machine lists apart, at least
LONGEST: Final = 8 << 20  # and at most: large ranges wait less for each other, and are held in memory
EACH: Final = 16  # ranges for each process of an archive between these: all have work up to the end


def is_archive(input_: Input, how: ReadOptions) -> bool:
    """Whether an input is worked on record by record; DocumentError where it cannot be read."""
    if how.media_type is not None:
        return registry.essence_of(how.media_type)[0] == registry.WARC
    return registry.sniff(sources.head(input_.name), input_.name) == registry.WARC


def cut(input_: Input, how: ReadOptions, size: int) -> Iterator[Input]:
    """An input as inputs that are listed apart: an archive of more than `size` bytes in ranges of about as many.

    All of it is read and decompressed for that: each range can be listed whatever becomes of the others.
    """
    try:
        if Path(input_.name).stat().st_size <= size or not is_archive(input_, how):
            yield input_
            return
        from absolve.run.archive_segments import ranges  # and with it what reads WARC: few inputs are

        with sources.opened(input_.name) as file:
            for within in ranges(file, how.settings, size):
                yield input_._replace(within=within)
    except (OSError, ValueError, DocumentError):  # it does not open: the task will say it
        yield input_


def spread(found: Iterable[Input], how: ReadOptions, jobs: int) -> Iterator[Input]:
    """Inputs for so many processes: large archives are cut, so that all have work; nothing of them is read for that.

    What is in a range but the first is not known then: who lists it has to look (`engine.turns`).
    """
    for input_ in found:
        size = _size(input_, how) if jobs > 1 else 0
        if size <= LARGE:
            yield input_
            continue
        step = min(max(size // (EACH * jobs), RANGE), LONGEST)
        for start in range(0, size, step):
            end = start + step if start + step < size else END
            yield input_._replace(within=ArchiveRange(start, end, None if start else 0))


def _size(input_: Input, how: ReadOptions) -> int:
    """The bytes of an archive that can be cut anywhere; 0 for any other input.

    Of frames of Zstandard none can be read without the dictionary that may come first.
    """
    try:
        if not is_archive(input_, how):
            return 0
        from absolve.formats.compression import ZSTD_FRAME, is_skippable

        head = sources.head(input_.name)
        is_cut = not head.startswith(ZSTD_FRAME) and not is_skippable(head[:4])
        return Path(input_.name).stat().st_size if is_cut else 0
    except (OSError, ValueError, DocumentError):  # it does not open: the task will say it
        return 0


def each(input_: Input, how: ReadOptions, course: Progress | None = None, *, every: bool = False) -> Iterator[Segment]:
    """The stretches of an input, in their order, with all that is to be said of them.

    `every` and, of an archive, `course` as of `stretches`.
    """
    if is_archive(input_, how):
        yield from _records(input_, how, course, every=every)
    else:
        document, entity, diagnostics = walked(input_, how)
        yield Segment(document.data, document, entity, diagnostics=tuple(diagnostics))


def left(stretch: Segment, error: Exception) -> Failure:
    """A record that stays because of an error of its own; it is raised where it is no record's, but the input's."""
    record = stretch.document
    if record is None or record.origin is None or (sys.flags.dev_mode and not isinstance(error, DocumentError)):
        raise error
    if isinstance(error, DocumentError):
        return Failure(error.diagnostic, error.excerpt)
    return Failure(said_of_fault(error, record))


def _records(input_: Input, how: ReadOptions, course: Progress | None, *, every: bool) -> Iterator[Segment]:
    from absolve.run.archive_segments import stretches

    said: set[Diagnostic] = set()  # of all records together: bases have no place in the file
    is_empty = True
    with sources.opened(input_.name) as file:
        named = (input_.name, how.settings, input_.url, input_.url_source)
        for stretch in stretches(file, *named, input_.within, course=course, every=every):
            is_empty = False
            about = {} if stretch.entity is None else dict.fromkeys(about_bases(stretch.entity))
            new = tuple(diagnostic for diagnostic in about if diagnostic not in said)
            said.update(new)
            yield stretch._replace(diagnostics=(*stretch.diagnostics, *new)) if new else stretch
    if is_empty:
        yield Segment(b"", diagnostics=(empty(input_),))
