"""Put finished files on the disk and rename them into place; parent process only.

Input: jobs, and `FilesReady` from worker processes. Output: renamed files, and before that entries in the run's state.
"""

from __future__ import annotations

import os
from collections import deque
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, Self, TypeVar

from absolve.core.errors import DocumentError
from absolve.run import interrupts, leftovers, outputs
from absolve.run.output_folder import OpenFolder
from absolve.run.results import Failure, FilesReady
from absolve.run.rewritten_files import unwritable

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator
    from concurrent.futures import Executor, Future

    from absolve.run.output_folder import OutputFolder
    from absolve.run.plan import Job
    from absolve.run.state import State

Item = TypeVar("Item")

AT_ONCE: Final = 8  # threads that call fsync
AHEAD: Final = 256  # results that wait for the disk, at most


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


def flushed(results: Iterable[tuple[Item, Any]]) -> Generator[tuple[Item, Any]]:
    """Yield all results in order; `FilesReady` when its files are on the disk, or a `Failure` if that fails.

    Meanwhile more results are requested, and their files are flushed by other threads. The first file of a run needs
    no thread.
    """
    threads: Executor | None = None
    waiting: deque[tuple[Item, Any, Future[FilesReady | Failure] | None]] = deque()
    is_first = True
    try:
        for item, piece in results:
            if not (isinstance(piece, FilesReady) and piece.made):
                waiting.append((item, piece, None))
            elif is_first:
                is_first = False
                waiting.append((item, _flushed(piece), None))
            else:
                threads = threads or _threads()
                waiting.append((item, piece, threads.submit(_flushed, piece)))
            while waiting and (len(waiting) > AHEAD or waiting[0][2] is None or waiting[0][2].done()):
                yield _ended(*waiting.popleft())
        while waiting:
            yield _ended(*waiting.popleft())
    finally:
        if threads is not None:
            threads.shutdown(cancel_futures=True)


def _ended(item: Item, piece: Any, call: Future[FilesReady | Failure] | None) -> tuple[Item, Any]:
    return item, piece if call is None else call.result()


def _threads() -> Executor:
    with interrupts.deferred():  # a signal in an import may be printed, and lost
        from concurrent.futures import ThreadPoolExecutor  # imports logging

        return ThreadPoolExecutor(AT_ONCE)


def _flushed(ready: FilesReady) -> FilesReady | Failure:
    """Put files on the disk; if that fails, remove them."""
    try:
        for made in ready.made:
            outputs.flush(made)
    except OSError as error:
        for made in ready.made:
            outputs.discard(made)
        return Failure(unwritable(ready.made[-1].target, error).diagnostic)
    return ready
