"""The one place of a rewrite from which files come to stand where they are to stand, whatever process made them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Self

from absolve import outputs
from absolve.engine.rewriting import unwritable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from absolve.engine.pieces import Ready
    from absolve.engine.rewriting import Job


class Putting:
    """Puts what is ready, in its order; when it is left what is not put is gone, also where a process was killed."""

    def __init__(self, token: str) -> None:
        self._token = token
        self._folders: set[str] = set()  # where files of this run may stand that are not complete

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for folder in self._folders:
            outputs.sweep(folder, self._token)

    def watched(self, jobs: Iterable[Job]) -> Iterator[Job]:
        """The same jobs, as they are given out."""
        for job in jobs:
            path = job.target or job.input.name
            self._folders.add(os.path.dirname(os.path.realpath(path)))  # noqa: PTH120 - for each of very many
            yield job

    def put(self, job: Job, ready: Ready) -> None:
        """Let complete files stand where they are to stand; DocumentError where they cannot."""
        try:
            for made in ready.made:
                outputs.put(made)
        except OSError as error:
            for made in ready.made:
                outputs.discard(made)
            raise unwritable(Path(job.target or job.input.name), error) from error
