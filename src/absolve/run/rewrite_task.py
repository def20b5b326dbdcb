"""Task of `absolve rewrite`: from one input to a complete temporary file, or to bytes for the standard output.

Input: a `Job` and `RewriteOptions`. Output: diagnostics, failures, `FilesReady` or `StdoutBytes`, the bytes read. The
parent process renames the files (`publish`).
"""

from __future__ import annotations

import io
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final, NamedTuple

from absolve.core.errors import FAULTS, Diagnostic, DocumentError
from absolve.rewriting import rewriter
from absolve.rewriting.policy import absolute
from absolve.run import outputs, sources, special_files
from absolve.run.load import Walked, each, is_archive, is_document, left, not_read, walked
from absolve.run.results import BytesRead, ChangeCounts, Failure, FilesReady, LogRows, StdoutBytes, guarded, met_by
from absolve.run.rewritten_files import (
    backups,
    copied,
    is_device,
    made_file,
    made_in_place,
    prepared,
    real_path,
    target_of,
    unwritable,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from contextlib import AbstractContextManager

    from absolve.document.entity import Entity
    from absolve.document.resolved import Resolved
    from absolve.rewriting.policy import Policy
    from absolve.run.load import Segment
    from absolve.run.plan import Job, RewriteOptions
    from absolve.run.results import TaskResult


def rewritten(how: RewriteOptions, job: Job, *, strict: bool = False) -> Iterator[TaskResult]:
    """Yield the results for one input. A file found in a folder that is not a document is copied to its target.

    `strict`: raise errors that are no DocumentError and no OSError, such as those of the policy.
    """
    results = _in_place(how, job) if how.in_place else _rewritten(how, job)
    return guarded(job.input.name, results, strict=strict or sys.flags.dev_mode)


def _in_place(how: RewriteOptions, job: Job) -> Iterator[TaskResult]:
    """Yield the results for a file in place, which may replace it only as it was before it was read."""
    before = outputs.state_of(job.input.name)
    for result in _rewritten(how, job):
        if isinstance(result, FilesReady) and result.made:
            *kept, made = result.made
            yield result._replace(made=(*kept, made._replace(replaces=before)))
        else:
            yield result


def _rewritten(how: RewriteOptions, job: Job) -> Iterator[TaskResult]:
    head = sources.head(job.input.name, found=True) if job.input.found else None
    if head is not None and not is_document(job.input.name, head, how.reading):
        yield not_read(job.input)
        if job.target is not None:
            yield copied(how, job)
        return
    if is_archive(job.input, how.reading, head):
        yield from _archive(how, job)
        return
    found = walked(job.input, how.reading)
    yield from found.diagnostics
    tally = rewriter.Tally()
    if how.verify or found.entity.is_ambiguous:
        data, faults = new_bytes(how, found, tally)
        yield from faults
        if faults:
            return
        yield from _result(how, job, found.document.data, data)
        yield from elsewhere(found, how.policy, tally)
    else:
        yield from _spilled(how, job, found, tally)
    yield from _late(how, found.entity, found.diagnostics)
    yield from logged(how, found.entity, job.input.name)
    yield ChangeCounts(tally.links, tally.changed, min(tally.changed, 1), met_by(how.policy))
    yield BytesRead(len(found.document.data), 1)


def _late(how: RewriteOptions, entity: Entity, known: Sequence[Diagnostic]) -> Iterator[Diagnostic]:
    """Yield the diagnostics that a policy caused while the links were rewritten: those that are not `known` yet."""
    if how.policy is not absolute:
        seen = set(known)
        yield from (diagnostic for diagnostic in entity.each_diagnostic() if diagnostic not in seen)


def logged(how: RewriteOptions, entity: Entity, name: str) -> Iterator[LogRows]:
    """Yield the changes of a document, if they are wanted."""
    if how.log is not None:
        from absolve.run import change_log  # imports the inventory

        for rows in change_log.chunks(entity, how.policy, name):
            yield LogRows(how.log.of(change_log.COLUMNS, rows))


def _result(how: RewriteOptions, job: Job, old: bytes, data: bytes) -> Iterator[TaskResult]:
    """Yield the new bytes of a document as a file or for the standard output; nothing if unchanged in place."""
    if how.in_place:
        if data != old:
            yield made_in_place(how, Path(job.input.name), old, data)
    elif job.target is None:
        yield StdoutBytes(data)
    else:
        yield made_file(how, job, data)


def _spilled(how: RewriteOptions, job: Job, found: Walked, tally: rewriter.Tally) -> Iterator[TaskResult]:
    """Rewrite a document, spilling a large result to a temporary file; nothing is printed before all is complete."""
    old = found.document.data
    spill = _Spill(how, job, old)
    try:
        with spill.stack:
            data = rewriter.rewrite(found.entity, how.policy, spill.write, tally)
            if spill.file is not None:
                spill.write(data)
                if spill.made is None:
                    yield from spill.shown()
        if spill.file is None:
            yield from _result(how, job, old, data)
        elif spill.made is not None:
            yield from spill.ready(spill.made)
        yield from elsewhere(found, how.policy, tally)
    except OSError as error:
        raise unwritable(spill.path, error) from error


class _Spill:
    """A temporary file for a large result, created when its first bytes come.

    For a device or the standard output the file is unnamed, and `made` is None.
    """

    def __init__(self, how: RewriteOptions, job: Job, old: bytes) -> None:
        self.stack = ExitStack()
        self.file: IO[bytes] | None = None
        self.made: outputs.Made | None = None
        self._how = how
        self._job = job
        self._old = old
        self._size = 0
        self._is_same = True

    @property
    def path(self) -> Path:
        """The path of the result, for messages and for a large result."""
        return Path(self._job.input.name if self._how.in_place else self._job.target or special_files.STDOUT)

    def write(self, piece: bytes) -> None:
        """Append bytes. Raise OSError or DocumentError if they cannot be written."""
        file = self.file
        if file is None:
            file = self.file = self._opened()
        self._is_same = self._is_same and self._old.startswith(piece, self._size)
        self._size += len(piece)
        file.write(piece)

    def _opened(self) -> IO[bytes]:
        how, job = self._how, self._job
        output: AbstractContextManager[tuple[IO[bytes], outputs.Made]]
        if how.in_place:
            real = real_path(self.path)
            output = outputs.preparing(real, like=real, token=how.token)
        elif job.target is None or is_device(how, job):
            import tempfile  # imported here: only large documents need it

            return self.stack.enter_context(tempfile.TemporaryFile())
        else:
            output = prepared(how, job)
        file, self.made = self.stack.enter_context(output)
        return file

    def shown(self) -> Iterator[TaskResult]:
        """Yield the bytes for the standard output, or copy them to a device."""
        file = self.file
        if file is None:
            return
        file.seek(0)
        if self._job.target is None:
            while piece := file.read(_AT_ONCE):
                yield StdoutBytes(piece)
            return
        from shutil import copyfileobj

        with outputs.writing(self.path) as device:
            copyfileobj(file, device, _AT_ONCE)
        yield FilesReady(())

    def ready(self, made: outputs.Made) -> Iterator[TaskResult]:
        """Yield the file, in place with its backup; nothing if it is unchanged in place."""
        if self._how.in_place and self._is_same and self._size == len(self._old):
            outputs.discard(made)
        elif self._how.in_place and self._how.backup is not None:
            try:
                kept = backups(self._how, Path(made.target), io.BytesIO(self._old))
            except OSError:
                outputs.discard(made)
                raise
            yield FilesReady((*kept, made))
        else:
            yield FilesReady((made,))


_AT_ONCE = 1 << 20


def new_bytes(
    how: RewriteOptions, found: Walked, tally: rewriter.Tally | None = None
) -> tuple[bytes, list[Failure]]:
    """Return the new bytes of a document, and failures if verification finds other changes than links.

    Verification runs if requested, and for ambiguous pages. With failures the document must be left unchanged. The
    links are added to the `tally`.
    """
    data = rewriter.rewrite(found.entity, how.policy, None, tally)
    if not (how.verify or found.entity.is_ambiguous):
        return data, []
    from absolve import verifying

    differences = verifying.differences(found.entity, found.document, data, how.policy)
    if differences:
        text = "left unchanged: verification could not prove that only links change"
        differences.append(Diagnostic("unverified", text, found.entity.name))
    return data, [Failure(difference) for difference in differences]


def record_bytes(
    how: RewriteOptions, segment: Segment, tally: rewriter.Tally | None = None
) -> tuple[bytes, list[Failure]]:
    """Return the new bytes of a segment, or its own bytes if it is not a document or failed; and the failures."""
    if segment.document is None or segment.entity is None:
        return segment.raw, []
    try:
        record, faults = new_bytes(how, Walked(segment.document, segment.entity, []), tally)
        return (segment.raw if faults else segment.written(record)), faults
    except (DocumentError, *FAULTS) as error:
        return segment.raw, [left(segment, error)]


_BROWSERS: Final = "whatwg"  # the profile of browsers
_LITERAL: Final = "rfc1808"  # the one that keeps `..` above the root


def elsewhere(document: Walked, policy: Policy, tally: rewriter.Tally) -> Iterator[Diagnostic]:
    """Yield how many links lead elsewhere in a browser, or climb above the root, for each of the two.

    The document is searched, which costs as much as the rewrite, only where its `tally` has a sign of such links.
    """
    settings = document.entity.settings
    if settings.profile == _BROWSERS or not tally.odd:
        return
    from absolve.inventory.problems import is_never  # most rewrites need no room of the inventory

    divergent = above = 0

    def count(resolved: Resolved) -> None:
        nonlocal divergent, above
        compared = resolved.context.base_context.compared()
        if not is_never(resolved.reference) and compared.divergent(resolved.reference):
            divergent += 1
        elif settings.profile == _LITERAL and compared.climbs_above_root(resolved.reference):
            above += policy(resolved) not in {None, resolved.reference}

    rewriter.edits(document.entity, count)
    name = document.entity.name
    if divergent:
        yield Diagnostic("divergent", f"{_links(divergent, 'lead')} elsewhere in a browser", name)
    if above:
        yield Diagnostic("above-root", f"{_links(above, 'climb')} above the root, and {_keep(above)} /../", name)


def _links(number: int, verb: str) -> str:
    return f"{number:,} link{'s'[: number > 1]} {verb}{'s'[: number == 1]}"


def _keep(number: int) -> str:
    return "keeps" if number == 1 else "keep"


# --- archives ---------------------------------------------------------------------------------------------------------


class _Written(NamedTuple):
    """New bytes of a segment of an archive, and whether they differ from the old ones."""

    data: bytes
    changed: bool


def _archive(how: RewriteOptions, job: Job) -> Iterator[TaskResult]:
    """Rewrite an archive record by record; a record that fails verification is left unchanged."""
    if how.in_place:
        yield from _archive_in_place(how, Path(job.input.name), _segments(how, job))
    elif job.target is None:
        for piece in _segments(how, job):
            yield StdoutBytes(piece.data) if isinstance(piece, _Written) else piece
    else:
        yield from _archive_to(how, job, _segments(how, job))


def _segments(how: RewriteOptions, job: Job) -> Iterator[TaskResult | _Written]:
    size = number = links = changed = documents = 0
    for segment in each(job.input, how.reading):
        yield from segment.diagnostics
        size += len(segment.raw)
        tally = rewriter.Tally()
        data, faults = record_bytes(how, segment, tally)
        yield from faults
        if segment.entity is not None:
            yield from _late(how, segment.entity, segment.diagnostics)
            number += 1
            links += tally.links
            if not faults and tally.changed:
                yield from logged(how, segment.entity, job.input.name)
                changed += tally.changed
                documents += 1
        yield _Written(data, data is not segment.raw)
    yield ChangeCounts(links, changed, documents, met_by(how.policy))
    yield BytesRead(size, number)


class _Filling:
    """Write the segments of an archive to a file, and note whether any changed."""

    def __init__(self) -> None:
        self.changed = False

    def fill(self, file: IO[bytes], pieces: Iterator[TaskResult | _Written]) -> Iterator[TaskResult]:
        for piece in pieces:
            if isinstance(piece, _Written):
                file.write(piece.data)
                self.changed = self.changed or piece.changed
            else:
                yield piece


def _archive_to(how: RewriteOptions, job: Job, pieces: Iterator[TaskResult | _Written]) -> Iterator[TaskResult]:
    filling = _Filling()
    try:
        if is_device(how, job):
            with outputs.writing(target_of(job)) as file:
                yield from filling.fill(file, pieces)
            return
        with prepared(how, job) as (file, made):
            yield from filling.fill(file, pieces)
    except OSError as error:
        raise unwritable(target_of(job), error) from error
    yield FilesReady((made,))


def _archive_in_place(how: RewriteOptions, path: Path, pieces: Iterator[TaskResult | _Written]) -> Iterator[TaskResult]:
    filling = _Filling()
    ready: list[outputs.Made] = []
    try:
        real = real_path(path)
        with outputs.preparing(real, like=real, token=how.token) as (file, made):
            yield from filling.fill(file, pieces)
        ready.append(made)
        if not filling.changed:
            outputs.discard(made)
            return
        if how.backup is not None:
            with real.open("rb") as old:
                ready[:0] = backups(how, real, old)
    except OSError as error:
        for one in ready:
            outputs.discard(one)
        raise unwritable(path, error) from error
    yield FilesReady(tuple(ready))
