"""The task of `absolve rewrite`: one input becomes a complete file that is only to be renamed, or bytes to show."""

from __future__ import annotations

import io
import os
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import IO, TYPE_CHECKING, NamedTuple

from absolve.core.errors import FAULTS, Diagnostic, DocumentError
from absolve.rewriting import rewriter
from absolve.rewriting.policy import absolute
from absolve.run import outputs
from absolve.run.load import Walked, is_document, walked
from absolve.run.output_folder import Below, LinkError
from absolve.run.results import BytesRead, Failure, FilesReady, StdoutBytes, guarded
from absolve.run.segment_inputs import each, is_archive, left
from absolve.run.sources import STDIN, opened

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from contextlib import AbstractContextManager

    from absolve.document.entity import Entity
    from absolve.rewriting.policy import Policy
    from absolve.run.inputs import Input
    from absolve.run.load import ReadOptions
    from absolve.run.output_folder import OutputFolder
    from absolve.run.results import TaskResult
    from absolve.run.segments import Segment


class Job(NamedTuple):
    """One input, and the file that its result goes to: None is the standard output, or back to where it came from."""

    input: Input
    target: str | None = None


class RewriteOptions(NamedTuple):
    """How inputs are rewritten.

    `inside` is the folder that outputs go to by their places, and may not leave. `backup` is the suffix of the file
    that keeps what is rewritten in place. `token` is in the names of files that are not complete.
    """

    reading: ReadOptions
    policy: Policy = absolute
    verify: bool = False
    in_place: bool = False
    backup: str | None = None
    inside: OutputFolder | None = None
    token: str = ""


def rewritten(how: RewriteOptions, job: Job) -> Iterator[TaskResult]:
    """One input, rewritten. A file in a folder that is no document is copied, where there is a target."""
    return guarded(job.input.name, _rewritten(how, job), strict=sys.flags.dev_mode)


def _rewritten(how: RewriteOptions, job: Job) -> Iterator[TaskResult]:
    if job.input.found and not is_document(job.input.name, how.reading):
        if job.target is not None:
            yield _copied(how, job)
        return
    if is_archive(job.input, how.reading):
        yield from _archive(how, job)
        return
    found = walked(job.input, how.reading)
    yield from found.diagnostics
    if how.verify or found.entity.is_ambiguous:
        data, faults = new_bytes(how, found)
        yield from faults
        if faults:
            return
        yield from _told(how, job, found.document.data, data)
    else:
        yield from _flowing(how, job, found)
    yield from _late(how, found.entity, found.diagnostics)
    yield BytesRead(len(found.document.data))


def _late(how: RewriteOptions, entity: Entity, known: Sequence[Diagnostic]) -> Iterator[Diagnostic]:
    """Yield the diagnostics that a policy caused while the links were rewritten: those that are not `known` yet."""
    if how.policy is not absolute:
        yield from (diagnostic for diagnostic in entity.diagnostics if diagnostic not in known)


def _told(how: RewriteOptions, job: Job, old: bytes, data: bytes) -> Iterator[TaskResult]:
    """What a document becomes goes to where it belongs."""
    if how.in_place:
        if data != old:
            yield _made_in_place(how, Path(job.input.name), old, data)
    elif job.target is None:
        yield StdoutBytes(data)
    else:
        yield _made(how, job, data)


def _flowing(how: RewriteOptions, job: Job, found: Walked) -> Iterator[TaskResult]:
    """The same as it is made, if it is large; none of it is seen before all is there."""
    old = found.document.data
    spill = _Spill(how, job, old)
    try:
        with spill.stack:
            data = rewriter.rewrite(found.entity, how.policy, spill.write)
            if spill.file is not None:
                spill.write(data)
                if spill.made is None:
                    yield from spill.shown()
        if spill.file is None:
            yield from _told(how, job, old, data)
        elif spill.made is not None:
            yield from spill.ready(spill.made)
    except OSError as error:
        raise unwritable(spill.path, error) from error


class _Spill:
    """A file for what a document becomes, opened when the first piece comes, under a name that is not its last one.

    For what goes to no file it has no name, and `made` is None.
    """

    def __init__(self, how: RewriteOptions, job: Job, old: bytes) -> None:
        self.stack = ExitStack()
        self.path = Path(job.input.name if how.in_place else job.target or outputs.STDOUT)
        self.file: IO[bytes] | None = None
        self.made: outputs.Made | None = None
        self._how = how
        self._job = job
        self._old = old
        self._size = 0
        self._is_same = True

    def write(self, piece: bytes) -> None:
        """Take the next piece; OSError, and DocumentError, where there is no place for it."""
        file = self.file
        if file is None:
            file = self.file = self._opened()
        self._is_same = self._is_same and self._old.startswith(piece, self._size)
        self._size += len(piece)
        file.write(piece)

    def _opened(self) -> IO[bytes]:
        how, job = self._how, self._job
        prepared: AbstractContextManager[tuple[IO[bytes], outputs.Made]]
        if how.in_place:
            real = _real(self.path)
            prepared = outputs.preparing(real, like=real, token=how.token)
        elif job.target is None or _is_device(how, job):
            import tempfile  # large documents want it

            return self.stack.enter_context(tempfile.TemporaryFile())
        else:
            prepared = _prepared(how, job)
        file, self.made = self.stack.enter_context(prepared)
        return file

    def shown(self) -> Iterator[TaskResult]:
        """All pieces for the standard output, or for a device."""
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
        """The file, if it is another than it was; in place with one of what it was."""
        if self._how.in_place and self._is_same and self._size == len(self._old):
            outputs.discard(made)
        elif self._how.in_place and self._how.backup is not None:
            try:
                kept = _kept(self._how, Path(made.target), io.BytesIO(self._old))
            except OSError:
                outputs.discard(made)
                raise
            yield FilesReady((*kept, made))
        else:
            yield FilesReady((made,))


_AT_ONCE = 1 << 20


def new_bytes(how: RewriteOptions, found: Walked) -> tuple[bytes, list[Failure]]:
    """What a document becomes; and what else than links would change, so that it must stay."""
    data = rewriter.rewrite(found.entity, how.policy)
    if not (how.verify or found.entity.is_ambiguous):
        return data, []
    from absolve import verifying

    differences = verifying.differences(found.entity, found.document, data, how.policy)
    if differences:
        text = "this stays as it is: nothing proves that only links change"
        differences.append(Diagnostic("unverified", text, found.entity.name))
    return data, [Failure(difference) for difference in differences]


def record_bytes(how: RewriteOptions, stretch: Segment) -> tuple[bytes, list[Failure]]:
    """What a stretch of an input becomes; its own bytes where nothing may change, or something failed."""
    if stretch.document is None or stretch.entity is None:
        return stretch.raw, []
    try:
        record, faults = new_bytes(how, Walked(stretch.document, stretch.entity, []))
        return (stretch.raw if faults else stretch.written(record)), faults
    except (DocumentError, *FAULTS) as error:
        return stretch.raw, [left(stretch, error)]


# --- archives ---------------------------------------------------------------------------------------------------------


class _Written(NamedTuple):
    """The bytes that a stretch of an archive becomes, and whether they are others than it had."""

    data: bytes
    changed: bool


def _archive(how: RewriteOptions, job: Job) -> Iterator[TaskResult]:
    """An archive, record by record; one of which nothing proves that only its links change stays as it is."""
    if how.in_place:
        yield from _archive_in_place(how, Path(job.input.name), _stretches(how, job))
    elif job.target is None:
        for piece in _stretches(how, job):
            yield StdoutBytes(piece.data) if isinstance(piece, _Written) else piece
    else:
        yield from _archive_to(how, job, _stretches(how, job))


def _stretches(how: RewriteOptions, job: Job) -> Iterator[TaskResult | _Written]:
    size = 0
    for stretch in each(job.input, how.reading):
        yield from stretch.diagnostics
        size += len(stretch.raw)
        data, faults = record_bytes(how, stretch)
        yield from faults
        if stretch.entity is not None:
            yield from _late(how, stretch.entity, stretch.diagnostics)
        yield _Written(data, data is not stretch.raw)
    yield BytesRead(size)


class _Filling:
    """A file that is filled with what an archive becomes, and whether anything changed."""

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
        if _is_device(how, job):
            with outputs.writing(_target(job)) as file:
                yield from filling.fill(file, pieces)
            return
        with _prepared(how, job) as (file, made):
            yield from filling.fill(file, pieces)
    except OSError as error:
        raise unwritable(_target(job), error) from error
    yield FilesReady((made,))


def _archive_in_place(how: RewriteOptions, path: Path, pieces: Iterator[TaskResult | _Written]) -> Iterator[TaskResult]:
    filling = _Filling()
    ready: list[outputs.Made] = []
    try:
        real = _real(path)
        with outputs.preparing(real, like=real, token=how.token) as (file, made):
            yield from filling.fill(file, pieces)
        ready.append(made)
        if not filling.changed:
            outputs.discard(made)
            return
        if how.backup is not None:
            with real.open("rb") as old:
                ready[:0] = _kept(how, real, old)
    except OSError as error:
        for one in ready:
            outputs.discard(one)
        raise unwritable(path, error) from error
    yield FilesReady(tuple(ready))


# --- files ------------------------------------------------------------------------------------------------------------


def _target(job: Job) -> Path:
    """The path that the user knows a job's output by."""
    return Path(job.target or outputs.STDOUT)


def _is_device(how: RewriteOptions, job: Job) -> bool:
    """Whether a job's output is a device or a pipe, which only who names one by itself can want to be written."""
    return how.inside is None and outputs.is_device(_target(job))


def _prepared(how: RewriteOptions, job: Job) -> AbstractContextManager[tuple[IO[bytes], outputs.Made]]:
    """A file for a job's output, in its folder, under a name that is not its last one; as of `outputs.preparing`."""
    target, source = _target(job), Path(job.input.name)
    like = source if job.input.name != STDIN and source.is_file() else None
    if how.inside is None:
        target.parent.mkdir(parents=True, exist_ok=True)
        return outputs.preparing(target, like=like, token=how.token)
    return outputs.preparing(target, like=like, token=how.token, below=Below(how.inside, job.input.place))


def _made(how: RewriteOptions, job: Job, data: bytes) -> FilesReady:
    try:
        if _is_device(how, job):
            outputs.write(_target(job), data)
            return FilesReady(())
        with _prepared(how, job) as (file, made):
            file.write(data)
    except OSError as error:
        raise unwritable(_target(job), error) from error
    return FilesReady((made,))


def _made_in_place(how: RewriteOptions, path: Path, old: bytes, data: bytes) -> FilesReady:
    """In place: what a link leads to is written. Another name of a file (a hard link) keeps the old bytes."""
    made: list[outputs.Made] = []
    try:
        real = _real(path)
        if how.backup is not None:
            made += _kept(how, real, io.BytesIO(old))
        with outputs.preparing(real, like=real, token=how.token) as (file, new):
            file.write(data)
        made.append(new)
    except OSError as error:
        for one in made:
            outputs.discard(one)
        raise unwritable(path, error) from error
    return FilesReady(tuple(made))


def _real(path: Path) -> Path:
    """The file that a name in place leads to; OSError where it is none that can be replaced."""
    real = path.resolve()
    if not real.is_file():
        raise OSError(0, "this is no regular file")
    outputs.check_writable(real)
    return real


def _kept(how: RewriteOptions, real: Path, old: IO[bytes]) -> Iterator[outputs.Made]:
    """The backup of a file that has these bytes, if there is to be one; none where one of an earlier run has them."""
    from shutil import copyfileobj

    path = real.with_name(f"{real.name}{how.backup}")
    for name in outputs.numbered(str(path)):
        if outputs.has(name, old):
            return
        if not os.path.lexists(name):
            break
    old.seek(0)
    with outputs.preparing(path, like=real, token=how.token, is_new=True) as (file, made):
        copyfileobj(old, file)
    yield made


def _copied(how: RewriteOptions, job: Job) -> FilesReady:
    """A file that is no document, as it is; DocumentError that names it where it cannot be read, else its output."""
    from shutil import copyfileobj

    with opened(job.input.name) as old:
        try:
            with _prepared(how, job) as (file, made):
                copyfileobj(old, file)
        except OSError as error:
            raise unwritable(_target(job), error) from error
    return FilesReady((made,))


def unwritable(path: Path, error: OSError) -> DocumentError:
    code = "outside" if isinstance(error, LinkError) else "unwritable"
    return DocumentError(Diagnostic(code, error.strerror or str(error), str(path)))
