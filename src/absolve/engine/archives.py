"""Inputs as stretches: a WARC or ARC file is worked on record by record, any other document is one stretch."""

from __future__ import annotations

import sys
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Final

from absolve import formats, sources
from absolve.archives import Stretch, ranges, said_of_fault, stretches
from absolve.engine.documents import about_bases, empty, walked
from absolve.engine.pieces import Failure
from absolve.errors import DocumentError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from absolve.engine.documents import Reading
    from absolve.errors import Diagnostic
    from absolve.inputs import Input

RANGE: Final = 16 << 20  # bytes of an archive that a process of this machine lists apart


def is_archive(input_: Input, how: Reading) -> bool:
    """Whether an input is worked on record by record; DocumentError where it cannot be read."""
    if how.media_type is not None:
        return formats.essence_of(how.media_type)[0] == formats.WARC
    return formats.sniff(sources.head(input_.name), input_.name) == formats.WARC


def cut(input_: Input, how: Reading, size: int) -> Iterator[Input]:
    """An input as inputs that are listed apart: an archive of more than `size` bytes in ranges of about as many."""
    try:
        if Path(input_.name).stat().st_size <= size or not is_archive(input_, how):
            yield input_
            return
        with sources.opened(input_.name) as file:
            for within in ranges(file, how.settings, size):
                yield input_._replace(within=within)
    except (OSError, ValueError, DocumentError):  # it does not open: the task will say it
        yield input_


def spread(found: Iterable[Input], how: Reading, jobs: int) -> Iterator[Input]:
    """Inputs for so many processes: where there are fewer, large archives are cut, so that all have work."""
    rest = iter(found)
    first = list(islice(rest, jobs))
    for input_ in first:
        if 1 < jobs > len(first):
            yield from cut(input_, how, RANGE)
        else:
            yield input_
    yield from rest


def each(input_: Input, how: Reading, *, every: bool = False) -> Iterator[Stretch]:
    """The stretches of an input, in their order, with all that is to be said of them; `every` as of `stretches`."""
    if is_archive(input_, how):
        yield from _records(input_, how, every=every)
    else:
        document, entity, diagnostics = walked(input_, how)
        yield Stretch(document.data, document, entity, diagnostics=tuple(diagnostics))


def left(stretch: Stretch, error: Exception) -> Failure:
    """A record that stays because of an error of its own; it is raised where it is no record's, but the input's."""
    record = stretch.document
    if record is None or record.origin is None or (sys.flags.dev_mode and not isinstance(error, DocumentError)):
        raise error
    if isinstance(error, DocumentError):
        return Failure(error.diagnostic, error.excerpt)
    return Failure(said_of_fault(error, record))


def _records(input_: Input, how: Reading, *, every: bool) -> Iterator[Stretch]:
    said: set[Diagnostic] = set()  # of all records together: bases have no place in the file
    is_empty = True
    with sources.opened(input_.name) as file:
        found = stretches(file, input_.name, how.settings, input_.url, input_.said, input_.within, every=every)
        for stretch in found:
            is_empty = False
            about = {} if stretch.entity is None else dict.fromkeys(about_bases(stretch.entity))
            new = tuple(diagnostic for diagnostic in about if diagnostic not in said)
            said.update(new)
            yield stretch._replace(diagnostics=(*stretch.diagnostics, *new)) if new else stretch
    if is_empty:
        yield Stretch(b"", diagnostics=(empty(input_),))
