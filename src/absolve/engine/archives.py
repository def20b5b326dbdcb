"""Inputs as stretches: a WARC or ARC file is worked on record by record, any other document is one stretch."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from absolve import formats, sources
from absolve.archives import Stretch, ranges, said_of_fault, stretches
from absolve.engine.documents import about_bases, empty, walked
from absolve.engine.pieces import Failure
from absolve.errors import DocumentError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from absolve.engine.documents import Reading
    from absolve.errors import Diagnostic
    from absolve.inputs import Input


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
            found = list(ranges(file, how.settings, size))
    except (OSError, ValueError, DocumentError):  # the task will say it
        yield input_
        return
    for within in found:
        yield input_._replace(within=within)


def each(input_: Input, how: Reading) -> Iterator[Stretch]:
    """The stretches of an input, in their order, with all that is to be said of them."""
    if is_archive(input_, how):
        yield from _records(input_, how)
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


def _records(input_: Input, how: Reading) -> Iterator[Stretch]:
    said: set[Diagnostic] = set()  # of all records together: bases have no place in the file
    is_empty = True
    with sources.opened(input_.name) as file:
        for stretch in stretches(file, input_.name, how.settings, input_.url, input_.said, input_.within):
            is_empty = False
            about = {} if stretch.entity is None else dict.fromkeys(about_bases(stretch.entity))
            new = tuple(diagnostic for diagnostic in about if diagnostic not in said)
            said.update(new)
            yield stretch._replace(diagnostics=(*stretch.diagnostics, *new)) if new else stretch
    if is_empty:
        yield Stretch(b"", diagnostics=(empty(input_),))
