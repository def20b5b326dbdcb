"""Task of `absolve rewrite`: from one input to a complete temporary file, or to bytes for the standard output.

Input: a `Job` and `RewriteOptions`. Output: diagnostics, failures, `FilesReady` or `StdoutBytes`, the bytes read. The
parent process renames the files (`plan.Publisher`).
"""

from __future__ import annotations

import os
import stat
import sys
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final, NamedTuple

from absolve.core.errors import FAULTS, Diagnostic, DocumentError
from absolve.rewriting import rewriter
from absolve.rewriting.policy import absolute
from absolve.run import outputs, sources
from absolve.run.load import Walked, head_of, is_archive, is_document, left, not_read, segments_in, walked
from absolve.run.output_folder import Below, check_links
from absolve.run.results import (
    BytesRead,
    ChangeCounts,
    Failure,
    FilesReady,
    StdoutBytes,
    guarded,
    met_by,
    rules_of,
    unwritable,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from absolve.document.entity import Entity
    from absolve.rewriting.policy import Policy
    from absolve.run.plan import Job, RewriteOptions
    from absolve.run.results import TaskResult

_PIECE: Final = 1 << 20  # bytes that are copied, or compared, at once


class Output:
    """The output of a job, created before its input is read. A temporary file is created for its first bytes.

    A device and the standard output, for which `written_file` is None, get no bytes before all are complete; with
    `streams` a device gets the bytes as they come. `old` are the bytes of a document, with which `is_same` compares the
    new ones: a file in place is not written if they are equal, and is replaced only if it is unchanged since the read.
    """

    def __init__(self, how: RewriteOptions, job: Job, *, streams: bool = False) -> None:
        self.stack = ExitStack()
        self.file: IO[bytes] | None = None
        self.written_file: outputs.WrittenFile | None = None
        self.old: bytes | None = None
        self.is_same = True
        self._how = how
        self._job = job
        self._size = 0
        self._streams = streams
        self._before = outputs.state_of(job.input.name) if how.in_place else None

    @property
    def path(self) -> Path:
        """The path of the result, for messages and for a large result."""
        return Path(self._job.input.name if self._how.in_place else self._job.target or outputs.STDOUT)

    @property
    def name(self) -> str:
        """The name of the result, for messages: a path, or a URL of a store."""
        return self._job.target if self._how.sends and self._job.target is not None else str(self.path)

    @property
    def is_stdout(self) -> bool:
        return self._job.target is None and not self._how.in_place

    @contextmanager
    def written(self) -> Iterator[None]:
        """Complete the file at the end of the block. Raise DocumentError, which names the output."""
        try:
            with self.stack:
                yield
        except OSError as error:
            raise unwritable(self.name, error) from error

    def write(self, piece: bytes) -> None:
        """Append bytes. Raise OSError or DocumentError if they cannot be written."""
        if self.file is None:
            self.file = self._opened()
        if self.old is not None:
            self.is_same = self.is_same and self.old.startswith(piece, self._size)
        self._size += len(piece)
        self.file.write(piece)

    def _opened(self) -> IO[bytes]:
        how, job = self._how, self._job
        place = "_" if how.sends else job.input.place  # a key of a store need not be a path
        below = Below(how.inside, place) if how.inside is not None else None
        like: Path | str | None = job.input.name if job.input.name != sources.STDIN and not how.sends else None
        target: Path | str = job.target or outputs.STDOUT
        if how.in_place:
            check_links(self.path)
            target = like = self.path.resolve()
            if not target.is_file():
                raise OSError(0, "this is not a regular file")
            outputs.check_writable(target)
        elif self.is_stdout or (below is None and outputs.is_device(self.path)):  # one that the user named as OUT
            if self._streams:
                return self.stack.enter_context(outputs.writing(self.path))
            import tempfile  # imported here: only large documents need it

            return self.stack.enter_context(tempfile.TemporaryFile())
        elif below is None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        file, written = self.stack.enter_context(outputs.preparing(target, like=like, token=how.token, below=below))
        self.written_file = written._replace(is_sent=how.sends, replaces=self._before)
        return file

    def end(self, data: bytes) -> Iterator[StdoutBytes]:
        """Append the last bytes of a document, in place only if bytes changed. Yield bytes for the standard output.

        A device gets the bytes that waited for the end now.
        """
        if self.file is None and (self.is_stdout or (self._how.in_place and data == self.old)):
            yield from [StdoutBytes(data)] if self.is_stdout else []
            return
        self.write(data)
        if self.written_file is None and self.file is not None:
            self.file.seek(0)
            if self.is_stdout:
                yield from map(StdoutBytes, _pieces(self.file))
                return
            with outputs.writing(self.path) as device:
                device.writelines(_pieces(self.file))

    def ready(self) -> Iterator[FilesReady]:
        """Yield the complete files, in place with the backup; nothing for an unchanged document in place."""
        written = self.written_file
        is_whole = self.old is None or self._size == len(self.old)
        if written is None:
            yield from [FilesReady(())] if self.file is not None and not self.is_stdout else []
        elif self._how.in_place and self.is_same and is_whole:
            outputs.discard(written)
        else:
            try:
                kept = [*self._backups(Path(written.target))] if self._how.backup is not None else []
            except OSError as error:
                outputs.discard(written)
                raise unwritable(self.name, error) from error
            yield FilesReady((*kept, written))

    def _backups(self, real: Path) -> Iterator[outputs.WrittenFile]:
        """Yield a new backup of the file in place, unless an earlier run's backup has the same bytes."""
        path = real.with_name(f"{real.name}{self._how.backup}")
        with real.open("rb") as old:
            for name in outputs.numbered(str(path)):
                if _has(name, old):
                    return
                if not os.path.lexists(name):
                    break
            old.seek(0)
            with outputs.preparing(path, like=real, token=self._how.token, is_new=True) as (file, written):
                file.writelines(_pieces(old))
        yield written


def _pieces(file: IO[bytes]) -> Iterator[bytes]:
    while piece := file.read(_PIECE):
        yield piece


def copied(how: RewriteOptions, job: Job) -> Iterator[TaskResult]:
    """Copy a file that is not a document. Raise DocumentError, which names the file or its output."""
    output = Output(how, job)
    with sources.opened(job.input.name, job.input.root) as old, output.written():
        output.write(b"")
        for piece in _pieces(old):
            output.write(piece)
    yield from output.ready()


def rewritten(how: RewriteOptions, job: Job, *, strict: bool = False) -> Iterator[TaskResult]:
    """Yield the results for one input. A file found in a folder that is not a document is copied to its target.

    `strict`: raise errors other than DocumentError and OSError, for example errors of the policy.
    """
    results = document_results(how, job, _rewritten, copies=job.target is not None)
    return guarded(job.input.name, results, strict=strict or sys.flags.dev_mode)


def document_results(
    how: RewriteOptions,
    job: Job,
    work: Callable[[RewriteOptions, Job, bytes | None], Iterator[TaskResult]],
    *,
    copies: bool = False,
) -> Iterator[TaskResult]:
    """Yield the results of the work on one input; for a file found in a folder that is no document, its old hosts.

    `work` gets the first bytes, if they are known. With `copies` a file that is no document is copied.
    """
    head = head_of(job.input)
    if head is None or is_document(job.input, head, how.reading):
        yield from work(how, job, head)
        return
    if _leads_from_hosts(how.policy):
        from absolve.run import change_log

        yield from change_log.hosts_left_in_file(how.policy, job.input, head, how.reading)
    if copies:
        yield from copied(how, job)
    yield not_read(job.input, head)  # the input stays as it is, or was copied


def _rewritten(how: RewriteOptions, job: Job, head: bytes | None) -> Iterator[TaskResult]:
    if is_archive(job.input, how.reading, head):
        yield from _archive(how, job)
        return
    output = Output(how, job)
    found = walked(job.input, how.reading, how.policy)
    yield from found.diagnostics
    date(how.policy, found.entity, job.input.name)
    tally = rewriter.Tally()
    output.old = found.document.data
    with output.written():
        if how.verify or found.entity.is_ambiguous or _leads_from_hosts(how.policy):
            data, faults = new_bytes(how, found, tally)
            yield from faults
            if faults:
                return
        else:
            data = rewriter.rewrite(found.entity, how.policy, output.write, tally)
        yield from output.end(data)
    yield from output.ready()
    yield from _noted(how, found.entity, data, tally, found.diagnostics, is_whole=True)
    yield tally_of(how, tally)
    yield BytesRead(len(found.document.data), 1)


def tally_of(how: RewriteOptions, tally: rewriter.Tally) -> ChangeCounts:
    """Return the counts of one document."""
    changed = min(tally.changed, 1)
    return ChangeCounts(tally.links, tally.changed, changed, met_by(how.policy), tally.companions)


def _noted(
    how: RewriteOptions,
    entity: Entity,
    data: bytes | None,
    tally: rewriter.Tally,
    known: Sequence[Diagnostic],
    *,
    is_whole: bool = False,
) -> Iterator[TaskResult]:
    """Yield as `change_log.noted`, whose imports most pages do not need."""
    has_signs = tally.odd or (tally.changed and (b"ecurity-" in entity.data or b"ECURITY-" in entity.data))
    if how.policy is absolute and how.log is None and not has_signs:
        return
    from absolve.run import change_log

    yield from change_log.noted(how, entity, data, tally, known, is_whole=is_whole)


def _leads_from_hosts(policy: Policy) -> bool:
    rules = rules_of(policy)
    return rules is not None and bool(rules.old_hosts or rules.mentions)


def date(policy: Policy, entity: Entity, name: str) -> None:
    """Give a policy's rules the date of a document, if they need it: its capture's date, or its file's."""
    rules = rules_of(policy)
    if rules is None or not rules.needs_date:
        return
    from absolve.inventory.documents import Documents

    rows = Documents(name)
    for _ in rows.fill(entity):
        break
    written = next((row.date for row in rows.taken() if row.date), None)
    rules.date = _digits(written) if written else sources.modified(name)


def _digits(date: str) -> str:
    """Return an ISO 8601 date as YYYYMMDDhhmmss in UTC, as far as it is known: for example, "20200102"."""
    from datetime import UTC, datetime

    with suppress(ValueError):
        found = datetime.fromisoformat(date)
        if found.tzinfo is not None:
            return found.astimezone(UTC).strftime(sources.DIGITS)
    return "".join(filter(str.isdecimal, date))[:14]


def new_bytes(how: RewriteOptions, found: Walked, tally: rewriter.Tally | None = None) -> tuple[bytes, list[Failure]]:
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


# --- archives ---------------------------------------------------------------------------------------------------------


class Written(NamedTuple):
    """New bytes of a segment of an archive, and whether they differ from the old ones."""

    data: bytes
    changed: bool


def _archive(how: RewriteOptions, job: Job) -> Iterator[TaskResult]:
    """Rewrite an archive record by record; a record that fails verification is left unchanged."""
    output = Output(how, job, streams=True)
    with output.written():
        for piece in segments(how, job):
            if not isinstance(piece, Written):
                yield piece
            elif output.is_stdout:
                yield StdoutBytes(piece.data)
            else:
                output.write(piece.data)
                output.is_same = output.is_same and not piece.changed
    yield from output.ready()


def segments(how: RewriteOptions, job: Job) -> Iterator[TaskResult | Written]:
    """Yield the new bytes of each segment of an input, its diagnostics and failures, and the counts at the end."""
    size = number = links = changed = documents = companions = 0
    for segment in segments_in(job.input, how.reading, policy=how.policy):
        yield from segment.diagnostics
        size += len(segment.raw)
        if segment.entity is not None:
            date(how.policy, segment.entity, job.input.name)
        tally = rewriter.Tally()
        data, record = segment.raw, None  # the new record is without compression; None for one that failed
        if segment.document is not None and segment.entity is not None:
            try:
                new, faults = new_bytes(how, Walked(segment.document, segment.entity, []), tally)
            except (DocumentError, *FAULTS) as error:
                new, faults = b"", [left(segment, error)]
            yield from faults
            if not faults:
                data, record = segment.written(new), new
            elif segment.document.origin is None:
                return  # this is the whole input
        if segment.entity is not None:
            yield from _noted(how, segment.entity, record, tally, segment.diagnostics)
            number += 1
            links += tally.links
            companions += tally.companions
            if record is not None and tally.changed:
                changed += tally.changed
                documents += 1
        yield Written(data, data is not segment.raw)
    yield ChangeCounts(links, changed, documents, met_by(how.policy), companions)
    yield BytesRead(size, number)


def _has(path: str, data: IO[bytes]) -> bool:
    """Return whether a path is a regular file, not a link, with exactly the bytes of a stream."""
    try:
        state = os.lstat(path)
        if not stat.S_ISREG(state.st_mode) or state.st_size != data.seek(0, os.SEEK_END):
            return False
        number = os.open(path, os.O_RDONLY | outputs.NO_LINK)
    except OSError:
        return False
    data.seek(0)
    with os.fdopen(number, "rb") as file:
        while piece := file.read(_PIECE):
            if piece != data.read(_PIECE):
                return False
    return True
