"""Rename finished files into place; parent process only.

Input: jobs, and `FilesReady` from worker processes. Output: renamed files, and entries in the journal before that.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Self

from absolve.core.errors import DocumentError
from absolve.run import interrupts, leftovers, outputs
from absolve.run.output_folder import OpenFolder
from absolve.run.rewritten_files import unwritable
from absolve.run.syncfs import FileSystems

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from absolve.run.journal import Journal
    from absolve.run.output_folder import OutputFolder
    from absolve.run.results import FilesReady
    from absolve.run.rewrite_task import Job


class Publisher:
    """Rename complete files to their targets, in order; at the end remove temporary files, even of killed runs.

    With a journal, jobs already done are skipped. `inside`: see `RewriteOptions`.
    """

    def __init__(self, token: str, journal: Journal | None = None, inside: OutputFolder | None = None) -> None:
        self._journal = journal
        self._token = token
        self._inside = inside
        self._folders: set[str] = set()  # folders that may contain temporary files of this run (relative to `inside`)
        self._real: dict[str, str] = {}  # folder -> its path without links
        self._put: set[str] = set()  # inputs under way with files already passed to `put`
        self._noted: set[str] = set()  # inputs whose entry is already in the journal
        self.systems = FileSystems()

    def __enter__(self) -> Self:
        if self._inside is not None:
            self.systems.watch(self._inside.path)
        return self

    def __exit__(self, *_: object) -> None:
        with interrupts.deferred():
            for folder in sorted(self._folders):
                with suppress(OSError):
                    opened = OpenFolder(folder) if self._inside is None else self._inside.folder(folder)
                    leftovers.sweep(opened, self._token)
        self.systems.close()

    def watched(self, jobs: Iterable[Job]) -> Iterator[Job]:
        """Yield the jobs to do, and note the folders of their temporary files."""
        seen = self._seen(jobs)
        return self._journal.remaining(seen) if self._journal else seen

    def _seen(self, jobs: Iterable[Job]) -> Iterator[Job]:
        for job in jobs:
            if self._inside is None:
                folder = self._folder(job.target or job.input.name)
                self._folders.add(folder)
                self.systems.watch(folder)
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

    def expect(self, group: Iterable[tuple[Job, FilesReady]]) -> None:
        """Commit the journal entries of a batch of files about to be renamed; on failure `put` tries each one again."""
        if self._journal is None:
            return
        noted = set()
        try:
            for job, ready in group:
                self._journal.note(job, ready.made[-1])
                noted.add(job.input.name)
            self._journal.keep()
        except DocumentError:
            return
        self._noted |= noted

    def put(self, job: Job, ready: FilesReady) -> None:
        """Rename complete files to their targets. On failure remove them and raise DocumentError."""
        self._put.add(job.input.name)
        try:
            for made in ready.made:  # before a backup is put beside
                made.check()
            if self._journal and ready.made and job.input.name not in self._noted:
                self._journal.note(job, ready.made[-1])
                self._journal.keep()
            for made in ready.made:
                (outputs.put if ready.flushed else outputs.settle)(made)
        except (OSError, DocumentError) as error:
            for made in ready.made:
                outputs.discard(made)
            if isinstance(error, DocumentError):
                raise
            raise unwritable(Path(job.target or job.input.name), error) from error

    def ended(self, job: Job, *, failed: bool) -> None:
        """Note the end of a job; an unchanged input gets a journal entry. Raise DocumentError if that fails."""
        put = job.input.name in self._put
        self._put.discard(job.input.name)
        self._noted.discard(job.input.name)
        if self._journal:
            try:
                if not put and not failed:
                    self._journal.note(job)
            finally:
                self._journal.forget(job)
