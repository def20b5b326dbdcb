"""Write the files of a rewrite: temporary ones in worker processes, which the parent flushes to the disk and renames.

Input: `RewriteOptions`, jobs and bytes. Output: files that are complete or unchanged, entries in the run's state before
a file is renamed, or bytes for the standard output.
"""

from __future__ import annotations

import os
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final, Self

from absolve.core.errors import DocumentError
from absolve.run import interrupts, leftovers, outputs
from absolve.run.output_folder import Below, OpenFolder
from absolve.run.results import FilesReady, StdoutBytes, unwritable
from absolve.run.sources import STDIN, opened

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from contextlib import AbstractContextManager

    from absolve.run.output_folder import OutputFolder
    from absolve.run.plan import Job, RewriteOptions
    from absolve.run.results import TaskResult
    from absolve.run.state import State

_PIECE: Final = 1 << 20  # bytes that are copied at once


class Output:
    """The output of a job. A temporary file is created when its first bytes come.

    A device and the standard output, for which `made` is None, get nothing before all is complete; with `streams` a
    device gets the bytes as they come. `old` are the bytes of a document in place: it is not written if they stay.
    """

    def __init__(self, how: RewriteOptions, job: Job, old: bytes | None = None, *, streams: bool = False) -> None:
        self.stack = ExitStack()
        self.file: IO[bytes] | None = None
        self.made: outputs.Made | None = None
        self.is_same = old is not None
        self._how = how
        self._job = job
        self._old = old or b""
        self._size = 0
        self._streams = streams

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
        self.is_same = self.is_same and self._old.startswith(piece, self._size)
        self._size += len(piece)
        self.file.write(piece)

    def _opened(self) -> IO[bytes]:
        how = self._how
        output: AbstractContextManager[tuple[IO[bytes], outputs.Made]]
        if how.in_place:
            real = _real_path(self.path)
            output = outputs.preparing(real, like=real, token=how.token)
        elif self.is_stdout or self._is_device:
            if self._streams:
                return self.stack.enter_context(outputs.writing(self.path))
            import tempfile  # imported here: only large documents need it

            return self.stack.enter_context(tempfile.TemporaryFile())
        else:
            output = self._prepared()
        file, made = self.stack.enter_context(output)
        self.made = made._replace(is_sent=how.sends)
        return file

    @property
    def _is_device(self) -> bool:
        """Whether the output is a device or a pipe, which is written only if the user named it as OUT."""
        return self._how.inside is None and outputs.is_device(self.path)

    def _prepared(self) -> AbstractContextManager[tuple[IO[bytes], outputs.Made]]:
        how, job = self._how, self._job
        like = job.input.name if job.input.name != STDIN and not how.sends else None
        place = "_" if how.sends else job.input.place  # a key of a store need not be a path
        below = Below(how.inside, place) if how.inside is not None else None
        if below is None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        return outputs.preparing(job.target or outputs.STDOUT, like=like, token=how.token, below=below)

    def end(self, data: bytes) -> Iterator[StdoutBytes]:
        """Append the last bytes of a document; nothing in place if none changed. Yield what is for the standard output.

        What is not there before all is complete is copied now to a device.
        """
        if self.file is None and (self.is_stdout or (self._how.in_place and data == self._old)):
            yield from [StdoutBytes(data)] if self.is_stdout else []
            return
        self.write(data)
        if self.made is None and self.file is not None:
            self.file.seek(0)
            if self.is_stdout:
                yield from map(StdoutBytes, _pieces(self.file))
                return
            with outputs.writing(self.path) as device:
                device.writelines(_pieces(self.file))

    def ready(self) -> Iterator[FilesReady]:
        """Yield the complete files, in place with the backup; nothing for a document in place that is the same."""
        made = self.made
        if made is None:
            yield from [FilesReady(())] if self.file is not None and not self.is_stdout else []
        elif self._how.in_place and self.is_same and self._size == len(self._old):
            outputs.discard(made)
        else:
            try:
                kept = [*self._backups(Path(made.target))] if self._how.backup is not None else []
            except OSError as error:
                outputs.discard(made)
                raise unwritable(self.name, error) from error
            yield FilesReady((*kept, made))

    def _backups(self, real: Path) -> Iterator[outputs.Made]:
        """Yield a new backup of the file in place; nothing if a backup of an earlier run has the same bytes."""
        path = real.with_name(f"{real.name}{self._how.backup}")
        with real.open("rb") as old:
            for name in outputs.numbered(str(path)):
                if outputs.has(name, old):
                    return
                if not os.path.lexists(name):
                    break
            old.seek(0)
            with outputs.preparing(path, like=real, token=self._how.token, is_new=True) as (file, made):
                file.writelines(_pieces(old))
        yield made


def _real_path(path: Path) -> Path:
    """Return the file to replace in place, with links resolved. Raise OSError if it is special or read-only."""
    real = path.resolve()
    if not real.is_file():
        raise OSError(0, "this is not a regular file")
    outputs.check_writable(real)
    return real


def _pieces(file: IO[bytes]) -> Iterator[bytes]:
    while piece := file.read(_PIECE):
        yield piece


def copied(how: RewriteOptions, job: Job) -> Iterator[TaskResult]:
    """Copy a file that is not a document. Raise DocumentError, which names the file or its output."""
    output = Output(how, job)
    with opened(job.input.name, job.input.root) as old, output.written():
        output.write(b"")
        for piece in _pieces(old):
            output.write(piece)
    yield from output.ready()


# --- in the parent process --------------------------------------------------------------------------------------------


class Publisher:
    """Rename complete files to their targets, in order; at the end remove temporary files, even of killed runs.

    With the state of a run, jobs already done are skipped. `inside`: see `RewriteOptions`.
    """

    def __init__(self, token: str, state: State | None = None, inside: OutputFolder | None = None) -> None:
        self._state = state
        self._token = token
        self._inside = inside
        self._folders: set[str] = set()  # folders that may contain temporary files of this run (relative to `inside`)
        self._real: dict[str, str] = {}  # folder -> its path without links
        self._put: set[str] = set()  # inputs under way with files already passed to `put`

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with interrupts.deferred():
            for folder in sorted(self._folders):
                with suppress(OSError):
                    opened = OpenFolder(folder) if self._inside is None else self._inside.folder(folder)
                    leftovers.sweep(opened, self._token)

    def watched(self, jobs: Iterable[Job]) -> Iterator[Job]:
        """Yield the jobs to do, and note the folders of their temporary files."""
        seen = self._seen(jobs)
        return seen if self._state is None else self._state.remaining(seen, lambda job: job)

    def _seen(self, jobs: Iterable[Job]) -> Iterator[Job]:
        for job in jobs:
            if self._inside is None:
                self._folders.add(self._folder(job.target or job.input.name))
            else:
                self._folders.add(job.input.place.rpartition("/")[0])
            yield job

    def _folder(self, path: str) -> str:
        """Return the folder of a path's file without links; cached by folder, since there are very many paths."""
        if os.path.islink(path):  # noqa: PTH114
            return os.path.dirname(os.path.realpath(path))  # noqa: PTH120
        above = os.path.dirname(path)  # noqa: PTH120
        if above not in self._real:
            self._real[above] = os.path.realpath(above)
        return self._real[above]

    def put(self, job: Job, ready: FilesReady) -> None:
        """Rename files on the disk (`flushed`) to their targets. On failure remove them and raise DocumentError."""
        self._put.add(job.input.name)
        try:
            for made in ready.made:  # before a backup is put beside
                made.check()
            if self._state is not None and ready.made:
                self._state.done(job.input, ready.made[-1])
                self._state.keep()
            for made in ready.made:
                outputs.put(made)
        except (OSError, DocumentError) as error:
            for made in ready.made:
                outputs.discard(made)
            if isinstance(error, DocumentError):
                raise
            raise unwritable(job.target or job.input.name, error) from error

    def ended(self, job: Job, *, failed: bool) -> None:
        """Note the end of a job: without a new file, and no failure, its file is unchanged. Raise DocumentError."""
        put = job.input.name in self._put
        self._put.discard(job.input.name)
        if self._state is not None:
            self._state.ended(job.input, is_done=not put and not failed)
